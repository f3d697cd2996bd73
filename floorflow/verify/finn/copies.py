"""v++'s configuration of a card with copies, read strictly: every line, every compute unit and every port once.

Keys and ports are those that FINN writes for one copy (its VitisLink; tests/emit/test_relink.py has its file).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from floorflow.verify.back_end import Row
from floorflow.verify.phase_records import PhaseRecord
from floorflow.verify.plan_records import CopyRecord, PlanRecord

NAME = "copies-linked-otherwise"
MEANING = (
    "vitis/floorflow.cfg does not link the plan's copies: a kernel, unit, port, SLR or memory is absent or another"
)
DMA = ("idma", "odma")
_SECTION = re.compile(r"\[(connectivity|vivado|advanced)\]")
_LINES = {
    "nk": re.compile(r"([A-Za-z_]\w*):([1-9]\d*):([\w.]+)"),
    "slr": re.compile(r"(\w+):(SLR\d+)"),
    "sp": re.compile(r"(\w+)\.(\w+):(\w+\[\d+\])"),
    "stream_connect": re.compile(r"(\w+)\.(m_axis_\d+):(\w+)\.(s_axis_\d+)"),
}
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
        yield from _of_dma(found, dma, copy, slr_of[copy["slot"]])
        ends = [c for c in phase["channels"] if c["source"].startswith(f"{copy['network']}/")]
        for way, side, wanted in (("idma", "source", "host:in"), ("odma", "target", "host:out")):
            needed = sum(str(c[side]).startswith(f"{copy['network']}/{wanted}") for c in ends)  # type: ignore[literal-required]
            if sum(unit.startswith(way) for unit in dma) != needed:
                yield f"copy {number} has not the {needed} {way} that its streams need"
        engines = (row for row in rows.values() if row["network"] == copy["network"])
        planned = {slr_of[row["slot"]] for row in engines if row["slot"] is not None}
        there = {slr for unit in own if unit not in dma for slr in found.slrs.get(unit, [])}
        if planned != there:
            yield f"copy {number} lies in {', '.join(sorted(there))}, planned in {', '.join(sorted(planned))}"
        shapes.append(sorted(_shape(found, number)))
        yield from _unreached(found, own, dma)
    yield from (f"copy {n} is joined otherwise than the first" for n, own in enumerate(shapes) if own != shapes[0])


def _of_units(found: Links, copies: int) -> Iterator[str]:
    """Yield units that are absent, or several, or not one for each copy, and ports that are joined twice."""
    units = [unit for names in found.units.values() for unit in names]
    yield from (f"{unit} is {count} units" for unit, count in Counter(units).items() if count > 1)
    for kernel, names in found.units.items():
        if [_number(name) for name in names] != list(range(copies)):
            yield f"{kernel} has units {', '.join(names)}, not one for each of {copies} copies"
    absent = {*found.slrs, *found.memories, *(end for s in found.streams for end in (s[0], s[2]))} - {*units}
    yield from (f"{unit} is no compute unit" for unit in sorted(absent))
    ports = Counter(end for a, i, b, j in found.streams for end in (f"{a}.{i}", f"{b}.{j}"))
    yield from (f"{port} is joined {count} times" for port, count in ports.items() if count > 1)
    yield from (
        f"{a} sends to {b}, which is of another copy" for a, _, b, _ in found.streams if _number(a) != _number(b)
    )
    for unit in units:
        if len(found.slrs.get(unit, [])) != 1:
            yield f"{unit} lies in {len(found.slrs.get(unit, []))} SLRs"
    yield from (f"{unit} has no port to memory" for unit in found.memories if not unit.startswith(DMA))


def _of_dma(found: Links, dma: Sequence[str], copy: CopyRecord, slr: str) -> Iterator[str]:
    """Yield DMA engines at another memory or in another SLR than planned."""
    for unit in dma:
        ports = [] if copy["memory"] is None else [("m_axi_gmem0", copy["memory"])]
        if found.memories.get(unit, []) != ports:
            yield f"{unit} is at {found.memories.get(unit)}, planned at {copy['memory']} by m_axi_gmem0"
        if found.slrs.get(unit) != [slr]:
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
