"""JSON objects and amounts of resources, as all rules read them."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

Record = dict[str, Any]
"""One JSON object."""
RESOURCE_NAMES = ("LUT", "FF", "BRAM18", "URAM", "DSP")
"""Keys of every ``resources`` object, in the order of messages."""
TERMS = ("wire", "reach", "congestion")
"""Terms of the objective of placement."""
ROUNDING = 1e-9
"""Added before a limit is rounded down, so that 0.7 x 10 is 7."""
HIGHEST = 2**63 - 1
"""The largest integer that every reader of a plan can store."""


def is_count(value: object) -> bool:
    """Whether the value is a non-negative integer below 2^63 (booleans are not)."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST


def is_unbuilt(warnings: Iterable[str]) -> bool:
    """Whether the warnings of a plan say what keeps its tools from building it."""
    return any(warning.startswith("cannot be built yet: ") for warning in warnings)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A kind of single value: a word, a text that the pattern matches as a whole, or of a type and within bounds."""

    expected: str
    types: tuple[type, ...] = ()
    minimum: float = -math.inf
    maximum: float = math.inf
    above: float = -math.inf
    below: float = math.inf
    words: tuple[str, ...] = ()
    pattern: str = ""

    def holds(self, value: Any) -> bool:
        """Whether a value is of this kind; true and false are no numbers."""
        if isinstance(value, str) and (value in self.words or re.fullmatch(self.pattern or "(?!)", value)):
            return True
        if not isinstance(value, self.types) or (isinstance(value, bool) and bool not in self.types):
            return False
        if not isinstance(value, int | float) or isinstance(value, bool):
            return True
        inside = self.minimum <= value <= self.maximum and self.above < value < self.below
        return inside and math.isfinite(value)


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys that a table of equal values must have."""

    names: tuple[str, ...]


NUMBER = (int, float)
Count = Annotated[int, Scalar("a non-negative integer below 2^63", (int,), 0, HIGHEST)]
PositiveCount = Annotated[int, Scalar("a positive integer", (int,), 1, HIGHEST)]
Share = Annotated[float, Scalar("a number of 0 or more", NUMBER, 0)]
Positive = Annotated[float, Scalar("a number above 0", NUMBER, above=0)]
Probability = Annotated[float, Scalar("a probability", NUMBER, above=0, below=1)]
Confidence = Annotated[
    float | Literal["none"], Scalar("none or a probability", NUMBER, above=0, below=1, words=("none",))
]
FpgaCount = Annotated[int | Literal["auto"], Scalar("auto or a number", (int,), 0, HIGHEST, words=("auto",))]
MostProducts = Annotated[
    int | str,
    Scalar(
        "none, a positive integer, or one for each width of operands from 1 on",
        (int,),
        1,
        HIGHEST,
        words=("none",),
        pattern="1:[1-9][0-9]{0,17}(,[1-9][0-9]{0,3}:[1-9][0-9]{0,17})*",
    ),
]
FolderName = Annotated[str, Scalar("a plain file name", pattern=r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")]
FileName = Annotated[str, Scalar("a file's name without folders", pattern="[^/]+")]
ReportPath = Annotated[
    str, Scalar("a path below the folder of reports", pattern=r"(?!\.{1,2}(/|$))[^/]+(/(?!\.{1,2}(/|$))[^/]+)*")
]
Sha256 = Annotated[str, Scalar("64 hexadecimal digits", pattern="[0-9a-f]{64}")]
EngineId = Annotated[str, Scalar("the id of an engine", pattern=r"((?!\.{1,2}/)[A-Za-z0-9_.\-]+/)?[A-Za-z0-9_]+")]
PLAIN_NAME = Scalar("a name of letters, digits and _ . -", pattern=r"(?!\.{1,2}$)[A-Za-z0-9_.\-]+")
PlainName = Annotated[str, PLAIN_NAME]
Name = Annotated[str, Scalar("a name of letters, digits and _", pattern="[A-Za-z0-9_]+")]
Numbers = Annotated[str, Scalar("whole numbers with a space between two", pattern="[0-9]{1,15}( [0-9]{1,15})*")]
Refused = Annotated[
    str,
    Scalar(
        "what a refusal can be of",
        words=(
            *("budget", "budgets together", "folding limit", "folding method", "larger budget"),
            *("larger budget at least", "engine too slow", "engine too large", "engine limit", "module too large"),
            *("module barred", "module without rectangle", "slots together", "each slot", "slot", "segments"),
            *("area of each slot", "hops", "slots and hops", "order", "link streams", "slots and edges", "edge"),
            *("edges together", "partition limit", "partition method", "shortest routes", "tree of links"),
            *("crossing FIFOs", "merge"),
            *("merged cycle", "merged limit", "link", "memory", "rate alone", "rates together", "slot rectangles"),
            *("no rectangle", "fixed pblock", "overlap", "no room", "unbuildable", "wide stream", "shallow FIFO"),
            *("deadlock", "analysis steps", "analysis", "likelihood"),
        ),
    ),
]
Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")
PORTS: dict[Side, Literal["source_port", "target_port"]] = {"source": "source_port", "target": "target_port"}
"""Ends of a channel, and where it tells the port of each."""
Style = Literal["none", "slr", "soft", "hard"]
Reconfigure = Literal["none", "full", "partial"]
Goal = Literal["throughput", "latency"]
Preset = Literal["safe", "balanced", "max"]
Stage = Literal["fold", "partition", "place"]
Direction = Literal["in", "out"]
Amounts = Annotated[dict[str, Count], Keys(RESOURCE_NAMES)]
"""An amount of each resource."""
Fractions = Annotated[dict[str, float], Keys(RESOURCE_NAMES)]
SomeFractions = Annotated[dict[str, float | None], Keys(RESOURCE_NAMES)]
Terms = Annotated[dict[str, Share], Keys(TERMS)]
RectangleRecord = Annotated[dict[str, Count], Keys(("left", "bottom", "right", "top"))]
"""Columns and rows of tiles, the last included."""


Item = TypeVar("Item")


def repeated(names: Iterable[Item]) -> Iterator[tuple[Item, int]]:
    """Yield what stands several times, in order, with how often."""
    yield from ((name, count) for name, count in Counter(names).items() if count > 1)


def amounts(entry: Mapping[str, Any]) -> Amounts:
    """Return the five resources of an entry, 0 of those that it does not name, and nothing else."""
    return {name: entry.get(name, 0) for name in RESOURCE_NAMES}


def total(parts: Iterable[Mapping[str, Any]]) -> Amounts:
    """Sum of amounts."""
    found = amounts({})
    for part in parts:
        for name in RESOURCE_NAMES:
            found[name] += part[name]
    return found


def add(first: Amounts, second: Amounts) -> Amounts:
    """Sum of two amounts."""
    return total((first, second))


def limit_of(fractions: Mapping[str, float], whole: Amounts) -> Amounts:
    """Largest whole amount under a cap or fill; a fraction outside [0, 1], reported elsewhere, counts as its end."""
    within = {name: min(1.0, max(0.0, fractions[name])) for name in RESOURCE_NAMES}
    return {name: math.floor(within[name] * whole[name] + ROUNDING) for name in RESOURCE_NAMES}


def excess(demand: Amounts, limit: Amounts) -> str:
    """Describe every resource of which more is needed than allowed; empty if all fits."""
    over = [name for name in RESOURCE_NAMES if demand[name] > limit[name]]
    return ", ".join(f"{name} needs {demand[name]}, limit {limit[name]}" for name in over)
