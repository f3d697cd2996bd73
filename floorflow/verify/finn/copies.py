"""v++'s configuration of a card with copies or several networks, read strictly: every line, unit and port once.

Keys and ports are those that FINN writes for one copy (its VitisLink; tests/emit/test_relink.py has its file).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from floorflow.verify.back_end import Row
from floorflow.verify.phase_records import PhaseRecord
from floorflow.verify.plan_records import PlanRecord

NAME = "copies-linked-otherwise"
MEANING = (
    "vitis/floorflow.cfg does not link the plan's copies or networks: a kernel, unit, port, SLR or memory is absent or "
    "another"
)
DMA = ("idma", "odma")
_SECTION = re.compile(r"\[(connectivity|vivado|advanced)\]")
_LINES = {
    "nk": re.compile(r"([A-Za-z_]\w*):([1-9]\d*):([\w.]+)"),
    "slr": re.compile(r"(\w+):(SLR\d+)"),
    "sp": re.compile(r"(\w+)\.(\w+):(\w+\[\d+\])"),
    "stream_connect": re.compile(r"(\w+)\.(m_axis_\d+):(\w+)\.(s_axis_\d+)"),
}
NOWHERE = "no SLR"
PARTITION = "StreamingDataflowPartition_"
_OF_NETWORK = re.compile(r"network(\d+)_(\w+)")
_COPY = re.compile(r"(.+)_(\d+)")


@dataclass
class Links:
    """What a configuration says: units by kernel, the SLRs and memory ports of units, streams, and what is no line."""

    units: dict[str, list[str]] = field(default_factory=dict)
    slrs: dict[str, list[str]] = field(default_factory=dict)
    memories: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    streams: list[tuple[str, str, str, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def read_links(text: str) -> Links:
    """Read a configuration."""
    found, section = Links(), ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            match = _SECTION.fullmatch(line)
            section = match[1] if match else ""
            if match is None:
                found.faults.append(f"line {number}: {line} is no section")
            continue
        if section == "connectivity":
            _take(found, line, number)
        elif "=" not in line or not section:
            found.faults.append(f"line {number}: {line} stands in no section, or sets nothing")
    return found


def _take(found: Links, line: str, number: int) -> None:
    key, _, value = line.partition("=")
    match = _LINES[key].fullmatch(value) if key in _LINES else None
    if match is None:
        found.faults.append(f"line {number}: {line} is none that connects")
    elif key == "nk":
        names = match[3].split(".")
        if len(names) != int(match[2]) or match[1] in found.units:
            found.faults.append(
                f"line {number}: {match[1]} has {len(names)} names for {match[2]} units, or stands twice"
            )
        found.units[match[1]] = names
    elif key == "slr":
        found.slrs.setdefault(match[1], []).append(match[2])
    elif key == "sp":
        found.memories.setdefault(match[1], []).append((match[2], match[3]))
    else:
        found.streams.append((match[1], match[2], match[3], match[4]))


Places = tuple[Mapping[str, Mapping[str, Any]], Mapping[str, str], Mapping[str, Sequence[str]]]
"""floorplan.json of a network, what its nodes are called there by engine, and the SLRs of each stream's slices."""


def check_networks(plan: PlanRecord, phase: PhaseRecord, text: str, places: Mapping[str, Places]) -> Iterator[str]:
    """Yield what is wrong with the configuration of a card with several networks; ``places`` are theirs, by name."""
    found, (fpga,) = read_links(text), plan["platform"]["fpgas"]
    yield from found.faults
    yield from _of_ports(found)
    names = [network["name"] for network in plan["networks"]]
    if [line for line in text.splitlines() if line.startswith("# build: ")] != [
        f"# build: finn/{n}/build" for n in names
    ]:
        yield f"its builds are not those of {', '.join(names)}, in this order"
    if f"# mhz: {round(plan['options']['clock_mhz'])}" not in text.splitlines():
        yield f"it is not for {plan['options']['clock_mhz']:g} MHz"
    for kernel, units in found.units.items():
        number, bare = _prefix(kernel)
        if len(units) != 1 or _number(units[0]) != number or number not in range(len(names)):
            yield f"{kernel} is {', '.join(units)}, expected one unit that ends in the number of its network"
        elif not units[0].startswith(DMA) and _base(units[0]) != bare:
            yield f"{kernel} is called {units[0]}, and run.py looks for {bare}_{number}"
    (host,) = (slot for slot in fpga["slots"] if slot["name"] == fpga["host_slot"])
    free = len(fpga["slots"]) > 1 and phase["constraint_styles"].get(host["name"]) == "none"
    for number, name in enumerate(names):
        own = {kernel: units[0] for kernel, units in found.units.items() if _prefix(kernel)[0] == number}
        if sorted(own) != sorted(f"network{number}_{PARTITION}{n}" for n in range(len(own))):
            yield f"kernels of {name} are {', '.join(sorted(own))}, FINN numbers them from 0"
        units = list(own.values())
        dma = [unit for unit in units if unit.startswith(DMA)]
        yield from _of_network(
            found, units, name, _planned(phase, places.get(name, ({}, {}, {})), NOWHERE if free else host["slr"])
        )
        yield from _of_dma(found, dma, fpga["host_memory"] or None, None if free else host["slr"])
        yield from _of_ends(phase, dma, name)
        yield from _unreached(found, units, dma)


@dataclass(frozen=True)
class _Planned:
    """SLRs of a network's kernels, the streams between them, and the pairs of different SLRs that these join."""

    slrs: Counter[str]
    streams: int
    crossings: Counter[str]


def _planned(phase: PhaseRecord, places: Places, host: str) -> _Planned:
    entries, names, slices = places
    own = {name: entry for name, entry in entries.items() if name != "Defaults"}
    held = {entry["partition_id"] for name, entry in own.items() if name in names.values() or name.startswith("IODMA")}
    kernels = {entry["partition_id"]: _slr(entry) for entry in own.values()}
    # A FIFO or converter that is a kernel by itself makes two streams of one.
    streams, crossings = len(kernels.keys() - held), Counter[str]()
    for channel in phase["channels"]:
        source, target = (own.get(names.get(end, "")) for end in (channel["source"], channel["target"]))
        if (source or {}).get("partition_id", "host") != (target or {}).get("partition_id", "host"):
            streams += 1
            first, last = (host if end is None else _slr(end) for end in (source, target))
            crossings.update(_apart([first, *slices.get(channel["name"], ()), last]))
    return _Planned(Counter(kernels.values()), streams, crossings)


def _apart(slrs: Sequence[str]) -> Iterator[str]:
    """Yield the pairs of different SLRs next to one another on the way of a stream."""
    yield from (f"{one} to {other}" for one, other in pairwise(slrs) if one != other)


def _slr(entry: Mapping[str, Any]) -> str:
    return NOWHERE if entry["slr"] < 0 else f"SLR{entry['slr']}"


def _of_network(found: Links, own: Sequence[str], name: str, planned: _Planned) -> Iterator[str]:
    """Yield where kernels or streams of a network lie elsewhere than planned."""
    slr = {unit: " and ".join(found.slrs.get(unit, [NOWHERE])) for unit in own}
    ends = [(slr[a], slr.get(b, NOWHERE)) for a, _, b, _ in found.streams if a in slr]
    crossings = Counter(pair for own_ends in ends for pair in _apart(own_ends))
    for what, there, wanted in (
        ("kernels", Counter(slr.values()), planned.slrs),
        ("streams", crossings, planned.crossings),
    ):
        if there != wanted:
            yield f"{what} of {name} are {_told(there)}, planned {_told(wanted)}"
    if len(ends) != planned.streams:
        yield f"{len(ends)} streams join kernels of {name}, planned {planned.streams}"


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} x {what}" for what, count in sorted(counts.items())) or "none"


def _prefix(kernel: str) -> tuple[int, str]:
    match = _OF_NETWORK.fullmatch(kernel)
    return (int(match[1]), match[2]) if match else (-1, kernel)


def check_copies(plan: PlanRecord, phase: PhaseRecord, text: str, rows: Mapping[str, Row]) -> Iterator[str]:
    """Yield what is wrong with the configuration of a card with several copies; ``rows`` are the engines by id."""
    found, copies = read_links(text), (plan.get("replicas") or {"placed": []})["placed"]
    yield from found.faults
    yield from _of_units(found, len(copies))
    slr_of = {slot["name"]: slot["slr"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]}
    units = [unit for names in found.units.values() for unit in names]
    shapes = []
    for number, copy in enumerate(copies):
        own = [unit for unit in units if _number(unit) == number]
        dma = [unit for unit in own if unit.startswith(DMA)]
        yield from _of_dma(found, dma, copy["memory"], slr_of[copy["slot"]])
        yield from _of_ends(phase, dma, copy["network"])
        engines = (row for row in rows.values() if row["network"] == copy["network"])
        planned = {slr_of[row["slot"]] for row in engines if row["slot"] is not None}
        there = {slr for unit in own if unit not in dma for slr in found.slrs.get(unit, [])}
        if planned != there:
            yield f"copy {number} lies in {', '.join(sorted(there))}, planned in {', '.join(sorted(planned))}"
        shapes.append(sorted(_shape(found, number)))
        yield from _unreached(found, own, dma)
    yield from (f"copy {n} is joined otherwise than the first" for n, own in enumerate(shapes) if own != shapes[0])


def _of_ends(phase: PhaseRecord, dma: Sequence[str], network: str) -> Iterator[str]:
    """Yield where a network, or a copy, has not a DMA engine for each stream of the host."""
    for way, side, wanted in (("idma", "source", "host:in"), ("odma", "target", "host:out")):
        needed = sum(str(c[side]).startswith(f"{network}/{wanted}") for c in phase["channels"])  # type: ignore[literal-required]
        if sum(unit.startswith(way) for unit in dma) != needed:
            yield f"{network} has not the {needed} {way} that its streams need"


def _of_units(found: Links, copies: int) -> Iterator[str]:
    """Yield units that are absent, or several, or not one for each copy, and ports that are joined twice."""
    yield from _of_ports(found)
    for kernel, names in found.units.items():
        if [_number(name) for name in names] != list(range(copies)):
            yield f"{kernel} has units {', '.join(names)}, not one for each of {copies} copies"
    for unit in (unit for names in found.units.values() for unit in names):
        if len(found.slrs.get(unit, [])) != 1:
            yield f"{unit} lies in {len(found.slrs.get(unit, []))} SLRs"


def _of_ports(found: Links) -> Iterator[str]:
    """Yield units that are absent or there twice, and ports that are joined twice, or to another copy or network."""
    units = [unit for names in found.units.values() for unit in names]
    yield from (f"{unit} is {count} units" for unit, count in Counter(units).items() if count > 1)
    absent = {*found.slrs, *found.memories, *(end for s in found.streams for end in (s[0], s[2]))} - {*units}
    yield from (f"{unit} is no compute unit" for unit in sorted(absent))
    ports = Counter(end for a, i, b, j in found.streams for end in (f"{a}.{i}", f"{b}.{j}"))
    yield from (f"{port} is joined {count} times" for port, count in ports.items() if count > 1)
    numbers: dict[tuple[str, str], set[int]] = {}
    for port in ports:
        unit, _, name = port.partition(".")
        way, _, number = name.rpartition("_")
        numbers.setdefault((unit, way), set()).add(int(number))
    for (unit, way), own in numbers.items():
        if own != set(range(len(own))):
            yield f"{unit} has {len(own)} ports {way} in use, with the numbers {sorted(own)}: FINN counts them from 0"
    yield from (
        f"{a} sends to {b}, which is of another copy or network"
        for a, _, b, _ in found.streams
        if _number(a) != _number(b)
    )
    yield from (f"{unit} has no port to memory" for unit in found.memories if not unit.startswith(DMA))


def _of_dma(found: Links, dma: Sequence[str], memory: str | None, slr: str | None) -> Iterator[str]:
    """Yield DMA engines at another memory or in another SLR than planned; None: v++ chooses."""
    for unit in dma:
        ports = [] if memory is None else [("m_axi_gmem0", memory)]
        if found.memories.get(unit, []) != ports:
            yield f"{unit} is at {found.memories.get(unit)}, planned at {memory} by m_axi_gmem0"
        if found.slrs.get(unit, []) != ([] if slr is None else [slr]):
            yield f"{unit} is in {found.slrs.get(unit)}, planned in {slr}"


def _unreached(found: Links, own: Sequence[str], dma: Sequence[str]) -> Iterator[str]:
    """Yield units without the streams that they need: a kernel reads and sends, a DMA engine does one of these."""
    sends, reads = {s[0] for s in found.streams}, {s[2] for s in found.streams}
    for unit in own:
        needs = [("sends nothing", sends)] if unit.startswith("idma") else [("reads nothing", reads)]
        needs = needs if unit in dma else [("sends nothing", sends), ("reads nothing", reads)]
        yield from (f"{unit} {what}" for what, known in needs if unit not in known)


def _shape(found: Links, number: int) -> Iterator[tuple[str, ...]]:
    for a, i, b, j in found.streams:
        if _number(a) == number:
            yield _base(a), i, _base(b), j


def _number(unit: str) -> int:
    match = _COPY.fullmatch(unit)
    return int(match[2]) if match else -1


def _base(unit: str) -> str:
    match = _COPY.fullmatch(unit)
    return match[1] if match else unit
