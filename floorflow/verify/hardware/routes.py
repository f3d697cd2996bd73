"""Which FPGAs are joined, and the one route between two slots: fewest links, fewest SLR boundaries, then first slots.

Derived from what is left to go: how many links and boundaries lie between each slot and the target, and from the source
on always the first slot, in the platform's order, from which as little is left as can be.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, pairwise
from math import ceil
from pathlib import PurePosixPath

from floorflow.verify.plan_records import FpgaRecord, LinkRecord, PlanRecord, SlotRecord
from floorflow.verify.records import Record

TOPOLOGIES = ("pair", "chain", "ring", "star", "mesh", "full")


@lru_cache(maxsize=16)
def joined_pairs(topology: str, fpga_count: int) -> tuple[tuple[int, int], ...]:
    """Return the pairs of FPGAs, by number and the lower first, between which there is a link."""
    everyone = ((low, high) for high in range(fpga_count) for low in range(high))
    return tuple(pair for pair in everyone if _are_joined(topology, *pair, fpga_count))


def _are_joined(topology: str, low: int, high: int, fpga_count: int) -> bool:
    if topology == "full":
        return True
    if topology == "star":
        return low == 0
    if topology == "mesh":
        (row, column), (other_row, other_column) = (_place_in_mesh(n, fpga_count) for n in (low, high))
        return abs(row - other_row) + abs(column - other_column) == 1
    return high - low == 1 or (topology == "ring" and high - low == fpga_count - 1)


def _place_in_mesh(number: int, fpga_count: int) -> tuple[int, int]:
    """Return row and column: rows are the least numbers of FPGAs whose square holds all, every other one backwards."""
    width = next(n for n in range(1, fpga_count + 1) if n * n >= fpga_count)
    row, column = divmod(number, width)
    return row, column if row % 2 == 0 else width - 1 - column


PLATFORM_FILE_SCHEMA = "floorflow-platform/1"


def own_name(text: str) -> str:
    """Return what a board or kind of link is called, of which the file gives the name or the path."""
    return PurePosixPath(text).stem


@dataclass(frozen=True, slots=True)
class Join:
    """A link of the file: two FPGAs by number, the lower first, the file of its kind, and SLRs that the file states."""

    lower: int
    upper: int
    kind: Record
    ends: Mapping[str, str]


def described_by(plan: PlanRecord) -> str | None:
    """Return the platform file's place below ``platform/``; None if the plan's FPGAs are a number of equal boards."""
    name = f"platforms/{plan['platform']['name']}.yaml"
    return name if name in plan["platform"]["files"] and name.count("/") == 1 else None


def kinds_of(content: Record) -> list[str]:
    """Return the names of the kinds of link, in order and each once."""
    return list(dict.fromkeys(own_name(item["kind"]) for item in content.get("links", [])))


def joins_of(content: Record, kinds: Mapping[str, Record]) -> list[Join]:
    """Return the links of a file that can be: see `link_objections` for the others."""
    found = []
    for item in content.get("links", []):
        ends = [_number(name) for name in item["between"]]
        kind = kinds.get(own_name(item["kind"]))
        if len(ends) == 2 and kind is not None and None not in ends:
            lower, upper = sorted(number for number in ends if number is not None)
            found.append(Join(lower, upper, kind, item.get("ends", {})))
    return found


def link_objections(content: Record, joins: Sequence[Join]) -> Iterator[tuple[str, str]]:
    """Yield ``(field, message)`` for all that a platform file must not say of its links."""
    count = len(content["fpgas"])
    for number, item in enumerate(content.get("links", [])):
        ends = [_number(name) for name in item["between"]]
        if len(ends) != 2 or len({*ends}) != 2 or not all(n is not None and n < count for n in ends):
            yield f"links[{number}].between", f"{', '.join(item['between'])} are no two of the file's {count} FPGAs"
        for name in sorted({*item.get("ends", {})} - {*item["between"]}):
            yield f"links[{number}].ends", f"{name} is not at this link"
    for (lower, upper), times in Counter((join.lower, join.upper) for join in joins).items():
        if times > 1:
            yield "links", f"fpga{lower} and fpga{upper} are joined {times} times"
    reached = {0}
    for _ in range(count):
        reached |= {n for join in joins if {join.lower, join.upper} & reached for n in (join.lower, join.upper)}
    for number in sorted({*range(count)} - reached):
        yield "links", f"none leads from fpga0 to fpga{number}"


def _number(name: str) -> int | None:
    digits = name.removeprefix("fpga")
    return int(digits) if name.startswith("fpga") and digits.isascii() and digits.isdecimal() else None


KERNEL_KIND, KERNEL_HZ, KERNEL_CYCLES, WORD_CYCLES = "aurora-100g", 300_000_000, 80, 64
"""Links with kernels at their ends, the clock of these, and what a word takes in them: a packet of 64 words before its
own and 16 cycles of that clock, and as many of the network's as a word of the link is filled at the most."""
SLL_COST, HALF_COST, LINK_COST = 1, 1, 10
"""What a wire costs over one boundary, from half to half of an SLR, and over a link."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for modules, one SLR of one FPGA or a half of it."""

    name: str
    fpga: str
    fpga_number: int
    slr: int
    entry: SlotRecord


Boundary = tuple[Slot, Slot]
"""The two slots at an SLR boundary, the lower first."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link between slots of two FPGAs, ``lower`` of that with the lower number, usable in both directions."""

    lower: Slot
    upper: Slot
    entry: LinkRecord
    kernels: bool = False

    @property
    def latency_us(self) -> float:
        """Time from end to end, in one direction."""
        return self.entry["latency_us"]

    def cycles(self, clock_mhz: float) -> int:
        """Return the cycles of a word from end to end: with kernels it waits for the rest of its own, and a packet."""
        taken, clock = Fraction(str(self.latency_us)), Fraction(str(clock_mhz))
        taken += Fraction(KERNEL_CYCLES * 10**6, KERNEL_HZ) if self.kernels else 0
        return ceil(taken * clock) + (WORD_CYCLES if self.kernels else 0)


@dataclass(frozen=True, slots=True)
class RouteStep:
    """A run of SLR boundaries inside one FPGA, in the order of crossing, or, with ``link``, one link."""

    source: Slot
    target: Slot
    boundaries: tuple[Boundary, ...] = ()
    link: Link | None = None

    @property
    def kind(self) -> str:
        """What the plan calls it."""
        return "link" if self.link else "sll" if self.hops else "half"

    @property
    def hops(self) -> int:
        """SLR boundaries crossed; 1 for a link."""
        return 1 if self.link else sum(lower.slr != upper.slr for lower, upper in self.boundaries)

    @property
    def cost_per_wire(self) -> int:
        """What each wire costs on this step: over the n-th SLR boundary n times as much as over the first."""
        halves = len(self.boundaries) - self.hops
        return LINK_COST if self.link else SLL_COST * sum(range(1, self.hops + 1)) + HALF_COST * halves


Route = tuple[RouteStep, ...]
Joint = Link | Boundary
_Left = tuple[int, int]
"""Links and SLR boundaries that are left to pass."""


@dataclass(frozen=True)
class Roads:
    """Every slot's neighbours by the slots' names, in the platform's order, with what lies between."""

    slots: Mapping[str, Slot]
    near: Mapping[str, Mapping[str, Joint]]

    def route(self, source: Slot, target: Slot) -> Route | None:
        """Return the steps from one slot to another, none inside a slot; None if nothing leads there."""
        left = self._left(target.name)
        if source.name not in left:
            return None
        passed = [source.name]
        while passed[-1] != target.name:
            here = passed[-1]
            on_the_way = (n for n, joint in self.near[here].items() if n in left and _via(joint, left[n]) == left[here])
            passed.append(next(on_the_way))
        return tuple(self._steps(passed))

    def _left(self, target: str) -> dict[str, _Left]:
        """Return what is left to pass from each slot that leads to the target: lowered until nothing changes."""
        left: dict[str, _Left] = {target: (0, 0)}
        changed = [target]
        while changed:
            here = changed.pop()
            for slot, joint in self.near.get(here, {}).items():
                so_far = _via(joint, left[here])
                if slot not in left or so_far < left[slot]:
                    left[slot] = so_far
                    changed.append(slot)
        return left

    def _steps(self, passed: list[str]) -> Iterable[RouteStep]:
        taken = [(self.slots[a], self.slots[b], self.near[a][b]) for a, b in pairwise(passed)]
        for link, run in groupby(enumerate(taken), key=lambda item: item[0] if isinstance(item[1][2], Link) else -1):
            steps = [step for _, step in run]
            source, target = steps[0][0], steps[-1][1]
            joint = steps[0][2]
            if link >= 0 and isinstance(joint, Link):
                yield RouteStep(source, target, link=joint)
            else:
                yield RouteStep(source, target, tuple(j for *_, j in steps if not isinstance(j, Link)))


def _via(joint: Joint, left: _Left) -> _Left:
    """Return what is left on the near side of a link or boundary."""
    return (left[0] + 1, left[1]) if isinstance(joint, Link) else (left[0], left[1] + 1)


def roads(slots: Mapping[str, Slot], boundaries: Iterable[tuple[str, str]], links: Iterable[Link]) -> Roads:
    """Return what joins the slots, which are in the platform's order; a boundary by the names of its two slots."""
    order = {name: place for place, name in enumerate(slots)}
    near: dict[str, dict[str, Joint]] = {name: {} for name in slots}
    joints: list[tuple[str, str, Joint]] = [
        (lower, upper, (slots[lower], slots[upper])) for lower, upper in boundaries if lower in slots and upper in slots
    ]
    joints += [(link.lower.name, link.upper.name, link) for link in links]
    for a, b, joint in joints:
        near[a].setdefault(b, joint)
        near[b].setdefault(a, joint)
    return Roads(slots, {name: dict(sorted(to.items(), key=lambda item: order[item[0]])) for name, to in near.items()})


NO_ROADS = Roads({}, {})


def has_kernels(kind: str, fpgas: Iterable[FpgaRecord]) -> bool:
    """Whether a kind of link has kernels between cards with these parts: Alveo's are called ``xcu``."""
    return kind == KERNEL_KIND and all(fpga["part"].startswith("xcu") for fpga in fpgas)


def links_on(route: Route) -> list[Link]:
    """Return the links that a route passes, in order."""
    return [step.link for step in route if step.link]
