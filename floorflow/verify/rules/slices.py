"""Register slices of a phase and its longest streams, from pblocks, ports and SLR boundaries, by docs/plan.md."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from math import ceil

from floorflow.verify.facts import PhaseFacts, is_outside
from floorflow.verify.hardware.boards import Board, Boards
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.phase_records import ChannelRecord, LongStreamRecord
from floorflow.verify.records import RESOURCE_NAMES, SIDES, amounts, limit_of
from floorflow.verify.rules.sums import left_of, slot_totals
from floorflow.verify.violations import Findings

TILES_AND_MHZ = 60_000
"""Columns and rows that one cycle reaches over, times MHz."""
COMFORTABLE = 0.6
"""Share of them that a stream has between registers."""
SLICE_WORDS = 2
LISTED = 5
TINY = 1e-9
BITS_SHORT = 0.95
"""A slice holds two words in registers; estimates may be so much lower."""
MOST = 1000
"""More slices than any stream needs: so many cross the largest die at its highest clock a hundred times."""
ROOM_FOR_MANY = 32
"""So many LUTs and flip-flops a bit and slice in every slot of a way are room enough, streams beside it included."""


@dataclass(frozen=True)
class Stretch:
    """A stream on its FPGA: its slots from its source on, columns in all, and rows in each part between registers.

    ``slots`` has one slot for each part, that of the source where nothing stands between.
    """

    fpga: str
    slots: tuple[str, ...]
    columns: float
    rows: tuple[float, ...]

    @cached_property
    def tiles(self) -> float:
        """From end to end."""
        return self.columns + sum(self.rows)

    def needed(self, reach: float) -> int:
        """Return the fewest slices: enough parts for the rows of each, and for all tiles together."""
        return max(sum(self._parts(reach)), ceil(self.tiles / reach - TINY)) - len(self.rows)

    def _parts(self, reach: float) -> list[int]:
        return [max(1, ceil(rows / reach - TINY)) for rows in self.rows]

    def longest(self, slices: int) -> float:
        """Return the shortest reach for which so many slices are enough."""
        slices = min(slices, MOST)
        parts = range(1, slices + 2)
        tried = {self.tiles / (slices + len(self.rows)), *(rows / n for rows in self.rows for n in parts)}
        return min((reach for reach in tried if reach > 0 and self.needed(reach) <= slices), default=0.0)

    def homes(self, slices: int, reach: float) -> list[str]:
        """Return the slot of each slice: those that rows need, and the rest at the source."""
        parts = [count - 1 for count in self._parts(reach)]
        if self.needed(reach) > slices:
            parts = [0] * len(parts)
        parts[0] += slices - sum(parts)
        return [slot for slot, count in zip(self.slots, parts, strict=True) for _ in range(count)]


def check_slices(phase: PhaseFacts, boards: Boards, cap: Mapping[str, float]) -> None:
    """Judge slices of every channel, what they cost, that streams that meet wait for none, and the longest streams."""
    reach = COMFORTABLE * TILES_AND_MHZ / phase.clock_mhz if phase.clock_mhz else 0.0
    if reach < COMFORTABLE or not {*phase.fpgas} <= {*boards}:
        return  # reported where options and platform are judged
    ways = dict(_stretches(phase, boards))
    _check_counts(phase, ways, reach)
    free = _free(phase, cap)
    for channel in phase.channels:
        where = f"{phase.where} channel {channel['name']}"
        way = ways.get(channel["name"])
        homes = [] if way is None else way.homes(min(channel["slices"], MOST), reach)
        phase.expect("wrong-slices", where, "slice_slots", channel["slice_slots"], homes)
        _check_cost(phase, channel, where)
    _check_left_out(phase, ways, free)
    for fpga, floorplan in phase.raw["floorplan"].items():
        own = {name: way for name, way in ways.items() if way.fpga == fpga and way.tiles}
        where = f"{phase.where}.floorplan.{fpga}"
        _check_longest(floorplan["longest"], list(_longest(phase, own, reach)), where, phase.findings)
    if phase.back_end is not None:
        built = phase.back_end.builds_slices(phase.raw, phase.where)
        phase.expect("wrong-slices-built", phase.where, "slices_built", phase.raw["slices_built"], built)
        fifos = phase.back_end.crosses_by_fifos(phase.where)
        slices = phase.back_end.crosses_by_slices(phase.where)
        for name, entry in phase.fpgas.items():
            where = f"platform.fpgas {name}.crossing"
            phase.expect("wrong-slices-built", where, "fifos", entry["crossing"]["fifos"], fifos)
            phase.expect("wrong-slices-built", where, "slices", entry["crossing"]["slices"], slices)


def _stretches(phase: PhaseFacts, boards: Boards) -> Iterator[tuple[str, Stretch]]:
    """Yield the streams between two pblocks of an FPGA, or a pblock and the host's port; inside one they are points."""
    boxes = {
        name: (fpga, reduce(Rectangle.around, map(Rectangle.of, entry["rectangles"])))
        for fpga, floorplan in phase.raw["floorplan"].items()
        for name, entry in floorplan["pblocks"].items()
        if entry["rectangles"]
    }
    fpgas = list(phase.fpgas)
    for channel in phase.channels:
        homes = [phase.module_of.get(channel[end]) for end in SIDES]
        ends = [
            (fpgas[-side], phase.host_of(boards[fpgas[-side]], channel[end]).host_port)
            if is_outside(channel[end])
            else boxes.get(str(home))
            for side, (end, home) in enumerate(zip(SIDES, homes, strict=True))
        ]
        slots = phase.ends(channel)
        if ends[0] and ends[1] and slots and ends[0][0] == ends[1][0]:
            yield channel["name"], _stretch(phase, boards[ends[0][0]], channel, ends[0][1], ends[1][1])


def _stretch(phase: PhaseFacts, board: Board, channel: ChannelRecord, source: Rectangle, target: Rectangle) -> Stretch:
    """Return a stream as rows from its source on, with registers where the board has them."""
    (x, y), (other_x, other_y) = source.middle, target.middle
    low, high = min(y, other_y), max(y, other_y)
    passed = [pair for pair in phase.boundaries(phase.route(channel) or ()) if phase.register_stages[pair[0].fpga]]
    passed.sort(key=lambda pair: pair[0].slr)
    edges = sorted(
        (board.device.slr_rows(lower.slr)[1] + board.device.slr_rows(upper.slr)[0]) / 2 for lower, upper in passed
    )
    stops = [low, *(min(max(edge, low), high) for edge in edges), high]
    rows = [after - before for before, after in pairwise(stops)]
    ends = phase.ends(channel)
    first = [ends[0]] if ends else []
    slots = [passed[0][0], *(upper for _, upper in passed)] if passed else first
    names = [slot.name for slot in slots]
    if y > other_y:
        rows, names = rows[::-1], names[::-1]
    return Stretch(slots[0].fpga, tuple(names), abs(x - other_x), tuple(rows))


def _check_counts(phase: PhaseFacts, ways: Mapping[str, Stretch], reach: float) -> None:
    """Judge that long streams have the slices that they need, and streams that meet these as many as must wait."""
    needed = _in_any_place(phase, {name: way.needed(reach) for name, way in ways.items()})
    for channel in phase.channels:
        left_out, where = channel["slices_left_out"], f"{phase.where} channel {channel['name']}"
        if left_out:
            phase.expect("wrong-slices", where, "slices_left_out", left_out, needed.get(channel["name"], 0))
    least = {c["name"]: needed.get(c["name"], 0) for c in phase.channels if not c["slices_left_out"]}
    stated = {channel["name"]: channel["slices"] for channel in phase.channels}
    inside = {name for name, way in ways.items() if len(way.slots) == 1}
    tries = [balance(phase, least, ways.keys())]
    # Where the tool cannot build slices in several SLRs, no stream over a boundary has any.
    far = [c for c in phase.channels if needed.get(c["name"], 0) and c["name"] not in inside]
    if all(channel["slices_left_out"] for channel in far):
        tries.append(balance(phase, least, inside))
    if stated in tries:
        return
    expected = tries[-1] if tries[-1] is not None else {}
    for name, count in stated.items():
        where = f"{phase.where} channel {name}"
        phase.expect("wrong-slices", where, "slices", count, expected.get(name, needed.get(name, 0)))


def _in_any_place(phase: PhaseFacts, needed: dict[str, int]) -> dict[str, int]:
    """Return the slices of each channel; copies of a network, which are made alike, have those of any of them."""
    if not phase.copies:
        return needed
    bare = {name: _bare(name) for name in needed}
    most: Counter[str] = Counter()
    for name, count in needed.items():
        most[bare[name]] = max(most[bare[name]], count)
    return {name: most[own] for name, own in bare.items()}


def _bare(channel: str) -> str:
    """Return what a channel is called in the network that copies are made of."""
    return "->".join(end.partition("/")[2] or end for end in channel.split("->"))


def balance(phase: PhaseFacts, least: Mapping[str, int], may: Collection[str]) -> dict[str, int] | None:
    """Return the slices of each channel with which no FIFO holds more than it can, None if there are none.

    An end is late by the most cycles of slices on any path to it. A FIFO bears as many cycles between its ends as it
    has words more than ``fifo_needed``; beyond, a channel that ``may`` gets slices, and another's source is made late.
    """
    late: Counter[str] = Counter()
    ends = {channel[end] for channel in phase.channels for end in SIDES}
    # A FIFO with too few words is reported where depths are judged.
    spare = {
        c["name"]: max(0, c["fifo_depth"] - c["fifo_needed"]) if c["fifo_needed"] else None for c in phase.channels
    }
    for _ in range(len(ends) + 1):
        before = late.copy()
        for channel in phase.channels:
            source, target, own = channel["source"], channel["target"], channel["name"]
            late[target] = max(late[target], late[source] + least.get(own, 0))
            bears = spare[own]
            if own not in may and bears is not None:
                late[source] = max(late[source], late[target] - bears)
        if late == before:
            break
    else:
        return None
    counts = {}
    for channel in phase.channels:
        waits, bears = late[channel["target"]] - late[channel["source"]], spare[channel["name"]]
        more = 0 if bears is None or channel["name"] not in may else waits - bears
        counts[channel["name"]] = max(least.get(channel["name"], 0), more)
    return counts


def _check_cost(phase: PhaseFacts, channel: ChannelRecord, where: str) -> None:
    """Judge that slices lie where they are listed, all at one price, which is enough for two words in registers."""
    held: Counter[str] = Counter(channel["slice_slots"])
    stated = {slot: amounts(entry) for slot, entry in channel["slice_resources"].items()}
    phase.expect("wrong-slice-resources", where, "slots of slice_resources", sorted(stated), sorted(held))
    if {*stated} != {*held} or not held:
        return
    first = min(held)
    price = {name: stated[first][name] // held[first] for name in RESOURCE_NAMES}
    for slot, count in sorted(held.items()):
        told = {name: count * price[name] for name in RESOURCE_NAMES}
        phase.expect("wrong-slice-resources", f"{where} slot {slot}", "slice_resources", stated[slot], told)
    least = int(BITS_SHORT * SLICE_WORDS * channel["width_bits"])
    exact = phase.back_end is not None and not phase.back_end.may_cost_nothing(where)
    if exact and price["FF"] < least:
        message = f"a slice has {price['FF']} FF, two words of {channel['width_bits']} bits take {least} at the least"
        phase.add("wrong-slice-resources", where, message)


def _free(phase: PhaseFacts, cap: Mapping[str, float]) -> dict[str, dict[str, int]]:
    totals = slot_totals(phase)
    limits = {name: limit_of(cap, left_of(phase, name)) for name in phase.slots}
    return {name: {r: limit[r] - totals[name][r] for r in ("LUT", "FF")} for name, limit in limits.items()}


def _check_left_out(phase: PhaseFacts, ways: Mapping[str, Stretch], free: Mapping[str, Mapping[str, int]]) -> None:
    """Judge that a stream goes without slices only where room is short, where it leaves its SLR, or FIFOs forbid it.

    Of copies of a network, which are made alike, all go without them if one has to. What is free of an SLR is no sign
    of room where several copies share it, for each has a band of its own.
    """
    roomy: dict[str, dict[str, str]] = {}
    short, held = set[str](), Counter(copy["slot"] for copy in phase.copies.values())
    for channel in phase.channels:
        way, own = ways.get(channel["name"]), _bare(channel["name"]) if phase.copies else channel["name"]
        if way is None or not channel["slices_left_out"]:
            continue
        much = None if len(way.slots) > 1 else room_enough(phase, channel, ways)
        if much is not None and all(min(free[slot].values()) >= much[slot] and held[slot] < 2 for slot in much):
            told = f"{', '.join(way.slots)} has {free[way.slots[0]]} free"
            roomy.setdefault(own, {})[f"{phase.where} channel {channel['name']}"] = told
        else:
            short.add(own)
    for own in roomy.keys() - short:
        for where, told in roomy[own].items():
            phase.add("slices-left-out", where, told)


def room_enough(phase: PhaseFacts, channel: ChannelRecord, ways: Mapping[str, Stretch]) -> dict[str, int] | None:
    """Return LUTs and flip-flops, by slot, that are enough for what a channel is without; None if FIFOs forbid it.

    Channels that meet it would wait, and get slices, too.
    """
    have = {other["name"]: other["slices"] for other in phase.channels}
    counts = balance(phase, have | {channel["name"]: channel["slices_left_out"]}, ways.keys())
    if counts is None:
        return None
    much: Counter[str] = Counter()
    for other in phase.channels:
        more = counts[other["name"]] - have[other["name"]]
        for slot in ways[other["name"]].slots if more > 0 else ():
            much[slot] += ROOM_FOR_MANY * more * (other["width_bits"] + 4)
    return much


def _longest(phase: PhaseFacts, ways: Mapping[str, Stretch], reach: float) -> Iterator[LongStreamRecord]:
    count = {channel["name"]: channel["slices"] for channel in phase.channels}
    rows = [(name, way, way.longest(count[name])) for name, way in ways.items()]
    rows.sort(key=lambda row: (row[2] <= reach, -row[1].longest(0)))
    for name, way, tiles in rows[:LISTED]:
        yield {
            "channel": name,
            "tiles": way.tiles,
            "unsliced_tiles": way.longest(0),
            "way_tiles": tiles,
            "reach_tiles": reach / COMFORTABLE,
            "comfortable_tiles": reach,
            "slices": count[name],
        }


def _check_longest(
    stated: list[LongStreamRecord], derived: list[LongStreamRecord], where: str, findings: Findings
) -> None:
    findings.expect("wrong-longest", where, "number of longest", len(stated), len(derived))
    for number, (row, expected) in enumerate(zip(stated, derived, strict=False)):
        findings.compare("wrong-longest", f"{where}.longest[{number}]", row, expected)
