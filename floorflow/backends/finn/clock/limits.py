"""Foldings of LabelSelect that cannot reach the clock asked for: its running maximum is a chain of PE comparisons.

Only this chain is known well enough (two builds within 3%) to leave foldings out; all else is told, not decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from floorflow.backends.clock import ClockTarget
from floorflow.backends.finn.clock.delays import DELAYS, Delays, known_part
from floorflow.backends.finn.clock.paths import Path, label_select_levels
from floorflow.backends.finn.kinds.kind import divisors
from floorflow.dataflow.model import Attributes, Dataflow, Engine, FoldedDataflow, Option
from floorflow.dataflow.options import OptionGroup

LABEL_SELECT = "LabelSelect_hls"
MARGIN = 1.1
"""A folding is left out if its chain takes so much longer than the period asked for."""


def misses_clock(kind: str, attributes: Attributes, target: ClockTarget | None) -> bool:
    """Whether an engine with its folding alone misses the clock by far; never with PE = 1, than which is no shorter."""
    pe = attributes.get("PE", 1)
    if target is None or kind != LABEL_SELECT or not isinstance(pe, int) or pe == 1:
        return False
    return chain_ns(attributes, pe, target) > MARGIN * target.period_ns


def chain_ns(attributes: Attributes, pe: int, target: ClockTarget, delays: Delays = DELAYS) -> float:
    """Return how long the comparisons of ``pe`` labels take on the slowest of the parts; 0 if none is known."""
    path = Path(label_select_levels(attributes, pe), "")
    return max((delays.path_ns(path, p, target.period_ns, 0) for p in target.parts if known_part(p)), default=0.0)


def within_clock(
    groups: Sequence[OptionGroup], dataflow: Dataflow, target: ClockTarget | None
) -> tuple[OptionGroup, ...]:
    """Return option groups without the foldings of LabelSelect that miss the clock by far."""
    chains = {engine.name: engine for engine in dataflow.engines if engine.kind == LABEL_SELECT}
    return tuple(
        _reaching(group, chains[group.engines[0]], target) if group.engines[0] in chains else group for group in groups
    )


def _reaching(group: OptionGroup, engine: Engine, target: ClockTarget | None) -> OptionGroup:
    def reaches(option: Option) -> bool:
        return not misses_clock(engine.kind, {**engine.attributes, **option.folding}, target)

    return replace(group, rows=tuple(row for row in group.rows if reaches(row[0])))


def left_out(dataflow: Dataflow, target: ClockTarget | None) -> Iterator[str]:
    """Yield a sentence for every LabelSelect that loses foldings."""
    for engine in dataflow.engines:
        widest = widest_reaching(engine, target)
        if target is not None and widest is not None:
            wider = next(pe for pe in divisors(_labels(engine)) if pe > widest)
            levels = label_select_levels(engine.attributes, wider)
            chain = chain_ns(engine.attributes, wider, target)
            yield (
                f"{engine.name}: PE above {widest} is left out at {target.clock_mhz:g} MHz: {wider} labels, compared "
                f"one after another, are about {levels:.0f} levels of logic in one cycle ({chain:.1f} ns by estimate); "
                "a lower clock allows more, and a folding that is kept is not limited"
            )


def widest_reaching(engine: Engine, target: ClockTarget | None) -> int | None:
    """Return the largest PE that is not left out, or None if all may be taken."""
    if engine.kind != LABEL_SELECT:
        return None
    every = divisors(_labels(engine))
    kept = [pe for pe in every if not misses_clock(engine.kind, {**engine.attributes, "PE": pe}, target)]
    return None if len(kept) == len(every) else max(kept)


def label_select_notes(folded: FoldedDataflow, target: ClockTarget, delays: Delays, error: float) -> Iterator[str]:
    """Yield what LabelSelect does to the clock of a design, or the clock to its rate."""
    for engine in folded.dataflow.engines:
        if engine.kind != LABEL_SELECT:
            continue
        option = folded.options[engine.name]
        pe = option.folding.get("PE", 1)
        if (
            isinstance(pe, int)
            and pe > 1
            and error * chain_ns(engine.attributes, pe, target, delays) > target.period_ns
        ):
            levels = label_select_levels(engine.attributes, pe)
            yield f"PE = {pe} of {engine.name} limits the clock: about {levels:.0f} levels of logic in one cycle"
        elif option.cycles == folded.interval_cycles and pe == widest_reaching(engine, target):
            yield from left_out(replace(folded.dataflow, engines=(engine,)), target)


def _labels(engine: Engine) -> int:
    labels = engine.attributes.get("Labels", 1)
    return labels if isinstance(labels, int) else 1
