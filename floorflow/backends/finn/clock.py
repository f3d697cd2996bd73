"""How fast FINN's engines can be clocked: logic levels by structure, delays by part, and what both leave open.

A level is a LUT or the start of a carry chain, with the net behind it. What HLS may cut by registers (trees of adders,
comparisons with thresholds) is ``scheduled``: HLS fills each stage up to the period that it is told. What it may not
cut is a loop that needs its own result a cycle later: the running maximum of LabelSelect, the counters of every loop.

Structure from finn-hlslib (``maxpool.h``, ``mvau.hpp``, ``mac.hpp``) and from the worst paths that Vivado reported
(docs/clock.md). Only LabelSelect's running maximum, a chain of PE comparisons, is known well enough (two builds within
3%) to leave foldings out that cannot reach the clock asked for; all else is told, not decided.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, log2, sqrt
from typing import Literal

from floorflow.backends.clock import ClockTarget, LikelyClock
from floorflow.backends.finn.attributes import bits_of
from floorflow.backends.finn.kinds.kind import divisors
from floorflow.dataflow.model import Attributes, AttributeValue, Dataflow, Engine, FoldedDataflow, Option
from floorflow.dataflow.options import OptionGroup

Nets = Literal["short", "engine", "control"]

LEVELS_PER_ADDER = 3.0
"""Two LUTs and a carry chain: what an adder or a comparison took on every path that was reported."""
LEVELS_PER_COUNT = 2.0
"""A step of a tree that counts bits: its sums are so narrow that they need no carry chain."""
LEVELS_PER_LABEL = 3.0
"""A comparison with the largest value so far, and its choice: 14 and 15 levels were built with PE = 5."""
CARRY_BITS = 8
"""Bits that one carry chain compares without passing on to a next one (7 series: two a LUT, four LUTs)."""
CHAINED_LEVELS = 0.2
"""A further link of a carry chain, which has no net."""
COUNTER_LEVELS = 6 + 7 * CHAINED_LEVELS
"""A loop's 32-bit counter: choose, add 1, compare, clear. Five LUTs and eight links of carry were built."""
RTL_LEVELS = 6.0
"""FINN's RTL engines have a register behind each step; none was ever reported as the worst path."""


@dataclass(frozen=True, slots=True)
class Path:
    """One path: its levels, and what it is in words.

    ``scheduled``: HLS cuts it to what fits the period. ``nets``: short ones, ones as long as the engine is large, or
    ones that control a whole engine (one net, a hundred registers).
    """

    levels: float
    what: str
    scheduled: bool = False
    nets: Nets = "short"


SHELL = Path(COUNTER_LEVELS, "loop counters of HLS", nets="control")
DMA_ALONE = replace(SHELL, what="loop counters of the DMA engines, which HLS builds")
"""The same where all engines are RTL: in every design the DMA engines are built by HLS."""


def paths(kind: str, attributes: Attributes) -> Iterator[Path]:
    """Yield the paths of an engine with its folding, by FINN's op type and attributes."""
    if not kind.endswith("_hls"):
        yield Path(RTL_LEVELS, "RTL between registers")
        return
    yield SHELL
    stem = kind.removesuffix("_hls")
    if stem == "LabelSelect":
        pe = _integer(attributes, "PE")
        yield Path(label_select_levels(attributes, pe), f"{pe} comparisons one after another (PE = {pe})")
    elif stem in ("MVAU", "VVAU"):
        yield Path(_sum_levels(attributes), "sum of products", scheduled=True, nets="engine")
        if not _integer(attributes, "noActivation", 0):
            yield _thresholds(attributes, "outputDataType")
    elif stem == "Thresholding":
        yield _thresholds(attributes, "outputDataType")
    elif stem in ("Pool", "GlobalAccPool", "AddStreams", "ChannelwiseOp") or stem.startswith("Elementwise"):
        yield Path(LEVELS_PER_ADDER + 1, "arithmetic", scheduled=True, nets="engine")


def label_select_levels(attributes: Attributes, pe: int) -> float:
    """Return the levels of LabelSelect's running maximum, over ``pe`` values a cycle."""
    bits = bits_of(str(attributes.get("inputDataType", "INT8")))
    # Of the K best, each is held against two neighbours at once, which takes one choice more.
    several = 1 if _integer(attributes, "K") > 1 else 0
    links = max(0, ceil(bits / CARRY_BITS) - 1)
    return pe * (LEVELS_PER_LABEL + several + CHAINED_LEVELS * links)


def _sum_levels(attributes: Attributes) -> float:
    """Product, tree of adders over SIMD products, and the accumulator; one-bit products are part of the tree."""
    bits = [bits_of(str(attributes.get(name, "INT8"))) for name in ("inputDataType", "weightDataType")]
    step = LEVELS_PER_COUNT if max(bits) == 1 else LEVELS_PER_ADDER
    product = LEVELS_PER_ADDER * log2(min(bits)) if attributes.get("resType") == "lut" else 0.0
    return product + step * log2(_integer(attributes, "SIMD")) + LEVELS_PER_ADDER


def _thresholds(attributes: Attributes, output: str) -> Path:
    """One comparison for each step, and the tree that counts those passed."""
    steps = 2 ** bits_of(str(attributes.get(output, "BINARY"))) - 1
    levels = LEVELS_PER_ADDER + LEVELS_PER_COUNT * log2(steps)
    return Path(levels, f"thresholds of {steps} steps", scheduled=True, nets="engine")


def _integer(attributes: Attributes, name: str, default: int = 1) -> int:
    value: AttributeValue = attributes.get(name, default)
    return value if isinstance(value, int) else default


Family = Literal["7series", "ultrascale+"]

HLS_SHARE = 0.73
"""Share of the period that HLS fills with logic: Vitis HLS keeps 27% as clock uncertainty, unless told otherwise."""
OVERHEAD_NS: dict[Family, float] = {"7series": 1.0, "ultrascale+": 0.5}
"""A register's own times, skew and uncertainty at speed grade -1, rounded from the reports (0.6 to 1.3, 0.4)."""
LARGEST_LUTS = 20_000
"""Of the largest engine in a build whose clock is known; how nets grow beyond it is not, so they are taken not to."""
_GRADES: dict[Family, dict[int, float]] = {
    "7series": {1: 1.0, 2: 0.84, 3: 0.75},
    "ultrascale+": {1: 1.0, 2: 0.86, 3: 0.76},
}
"""Delay by speed grade, relative to -1: the ratio of the fastest clocks of block RAM and DSP (DS181, DS925)."""
_FAMILIES: tuple[tuple[re.Pattern[str], Family], ...] = (
    (re.compile(r"x[acq]7"), "7series"),
    (re.compile(r"x[acq]r?(zu|au|k2|ux|su|u\d|[kv]u\d+p)"), "ultrascale+"),
)
_GRADE = re.compile(r"-L?([123])L?[EIMQV]*(-|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Delays:
    """Coefficients; benchmarks/clock.py fits them.

    ``level_ns`` is a LUT with a short net at speed grade -1; ``control`` is how much longer a level takes whose net
    controls an engine, ``spread`` by how much it grows with the root of 10,000 LUTs of its engine; ``hls_level`` is
    what HLS takes a level to be, in ``level_ns``; ``several_dies`` is what crossing dies does to the period.
    """

    level_ns: Mapping[Family, float]
    control: float
    spread: float
    hls_level: float
    several_dies: float

    def scheduled_levels(self, part: str, period_ns: float) -> float:
        """Return how many levels HLS puts between two registers on a part when it is told that period."""
        family, grade = _family_and_grade(part)
        return HLS_SHARE * period_ns / (self.hls_level * self.level_ns[family] * grade)

    def path_ns(self, path: Path, part: str, period_ns: float, engine_luts: int) -> float:
        """Return how long a routed path takes in an engine of so many LUTs, built for a period."""
        family, grade = _family_and_grade(part)
        levels = path.levels
        if path.scheduled:
            levels = min(levels, self.scheduled_levels(part, period_ns))
        spread = self.spread * sqrt(min(engine_luts, LARGEST_LUTS) / 1e4)
        longer = {"short": 1.0, "control": self.control, "engine": 1 + spread}
        return grade * (OVERHEAD_NS[family] + levels * self.level_ns[family] * longer[path.nets])


DELAYS = Delays(
    level_ns={"7series": 0.735, "ultrascale+": 0.366},
    control=1.56,
    spread=0.44,
    hls_level=1.52,
    several_dies=1.17,
)
"""Fitted to all builds at hand by benchmarks/clock.py."""
ERROR = 1.2
"""Factor on the period, up or down, within which 17 of 18 builds lie when a fit has seen none of their source."""


def known_part(part: str) -> bool:
    """Whether the delays of a part's family are known: no build on Versal, nor on UltraScale without the +, was."""
    return _family(part) is not None


def _family(part: str) -> Family | None:
    return next((family for pattern, family in _FAMILIES if pattern.match(part.lower())), None)


def _family_and_grade(part: str) -> tuple[Family, float]:
    """Return the family of a known part and its factor; a name without a speed grade counts as -1, the slowest."""
    family = _family(part)
    if family is None:
        raise ValueError(f"no delays are known for {part}")
    found = _GRADE.search(part)
    return family, _GRADES[family][int(found[1])] if found else 1.0


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
    found = [(e.name, e.luts, path) for e in engines for path in paths(e.kind, e.attributes)]
    found = [("", 0, SHELL if any(path == SHELL for *_, path in found) else DMA_ALONE), *found]
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
