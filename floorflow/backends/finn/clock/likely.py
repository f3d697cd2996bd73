"""Between which clocks a design of FINN's engines is likely to end after routing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, floor

from floorflow.backends.clock import ClockTarget, LikelyClock
from floorflow.backends.finn.clock.delays import DELAYS, ERROR, Delays, known_part
from floorflow.backends.finn.clock.limits import label_select_notes
from floorflow.backends.finn.clock.paths import SHELL, Path, paths
from floorflow.dataflow.model import Attributes, Engine, FoldedDataflow, Option


@dataclass(frozen=True, slots=True)
class BuiltEngine:
    """An engine as the clock depends on it: FINN's op type, its attributes with the folding, and its LUTs."""

    name: str
    kind: str
    attributes: Attributes
    luts: int


@dataclass(frozen=True, slots=True)
class SlowestPath:
    """What sets the period of a design; ``engine`` is empty for what all designs have."""

    period_ns: float
    engine: str
    path: Path


def slowest_path(engines: Iterable[BuiltEngine], target: ClockTarget, delays: Delays = DELAYS) -> SlowestPath | None:
    """Return the path that takes longest on the slowest of the parts, or None if a part's delays are not known."""
    if not all(known_part(part) for part in target.parts):
        return None
    found = [("", 0, SHELL), *((e.name, e.luts, path) for e in engines for path in paths(e.kind, e.attributes))]
    dies = delays.several_dies if target.several_dies else 1.0
    timed = [
        SlowestPath(dies * delays.path_ns(path, part, target.period_ns, luts), name, path)
        for part in target.parts
        for name, luts, path in found
    ]
    return max(timed, key=lambda each: each.period_ns)


def likely_clock(folded: FoldedDataflow, target: ClockTarget) -> LikelyClock | None:
    """Return the clocks of a folded design, in whole MHz, with what in the folding limits it; None on unknown parts."""
    engines = [built_engine(engine, folded.options[engine.name]) for engine in folded.dataflow.engines]
    slowest = slowest_path(engines, target)
    if slowest is None:
        return None
    low, high = floor(1e3 / (slowest.period_ns * ERROR)), ceil(1e3 * ERROR / slowest.period_ns)
    notes = (*_unlikely(slowest, high, target), *label_select_notes(folded, target, DELAYS, ERROR))
    return LikelyClock(low, high, slowest.engine, slowest.path.what, notes)


def built_engine(engine: Engine, option: Option) -> BuiltEngine:
    """Return a folded engine."""
    attributes = {**engine.attributes, **option.folding}
    return BuiltEngine(engine.name, option.kind or engine.kind, attributes, option.resources.lut)


def _unlikely(slowest: SlowestPath, high_mhz: int, target: ClockTarget) -> Iterator[str]:
    if high_mhz < target.clock_mhz:
        what = f"{slowest.engine}: {slowest.path.what}" if slowest.engine else slowest.path.what
        yield (
            f"{target.clock_mhz:g} MHz is an unlikely clock: by the few builds that are known (docs/clock.md) "
            f"{high_mhz} MHz is the most to hope for ({what}); rates are told for {target.clock_mhz:g} MHz"
        )
