"""Modules to whoever builds them: which are one circuit, their ports and windows, and what shares a pblock.

A placed circuit can be moved if columns are of one kind, hard blocks are met at the same row of their tiles, and clock
spines (the middle of each clock region), edges of clock regions and SLR boundaries lie between the same rows.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from floorflow.verify.facts import PhaseFacts
from floorflow.verify.hardware.boards import Boards
from floorflow.verify.hardware.geometry import Device, Rectangle
from floorflow.verify.phase_records import ChannelRecord, ImplementationRecord, ModuleRecord, PblockRecord
from floorflow.verify.violations import Findings

Cell = tuple[str, int | None]


def moves_onto(device: Device, window: Sequence[Rectangle], other: Sequence[Rectangle]) -> bool:
    """Whether the rectangles of one window, each moved as far, are those of the other and meet the same cells."""
    own, others = (sorted(areas, key=lambda area: (area.left, area.bottom)) for areas in (window, other))
    if len(own) != len(others):
        return False
    pairs = list(zip(own, others, strict=True))
    moves = {(b.left - a.left, b.bottom - a.bottom) for a, b in pairs}
    moves |= {(b.right - a.right, b.top - a.top) for a, b in pairs}
    return len(moves) == 1 and all(list(_rows(device, a)) == list(_rows(device, b)) for a, b in pairs)


def _rows(device: Device, area: Rectangle) -> Iterator[tuple[list[Cell], str]]:
    """Yield the cells of each row, and what lies between it and the next one inside."""
    ends = {device.slr_rows(number)[1] for number in range(len(device.raw["slrs"]))}
    for row in range(area.bottom, area.top + 1):
        region, height = divmod(row, device.region_rows)
        layout = device.raw["layouts"][device.raw["clock_region_layouts"][region]]
        phases = {char: _phase(device, char, height) for char in set(layout[area.left : area.right + 1])}
        cells = [(char, phases[char]) for char in layout[area.left : area.right + 1]]
        yield cells, "" if row == area.top else _above(device, row, ends)


def _phase(device: Device, char: str, height: int) -> int | None:
    """Return which row of its tile a kind of column has at a height of the clock region, None below its tiles."""
    entry = device.raw["legend"][char]
    above = height - entry.get("first_row", 0)
    return above % (entry.get("tile_rows") or 1) if above >= 0 else None


def _above(device: Device, row: int, ends: set[int]) -> str:
    if row in ends:
        return "SLR"
    place = (row + 1) % device.region_rows
    return "region" if place == 0 else "spine" if place == device.region_rows // 2 else ""


def check_implementations(phase: PhaseFacts, boards: Boards) -> None:
    """Judge what is said of each module's likeness, and that those that share an implementation are one circuit."""
    listed = Counter(entry["name"] for entry in phase.raw["implementations"])
    for name, count in listed.items():
        if count > 1:
            phase.add("implementation-unknown", phase.where, f"implementation {name} is listed {count} times")
    made: dict[str, ModuleRecord] = {}
    for module in phase.raw["modules"]:
        name, where = module["implementation"], f"{phase.where} module {module['name']}"
        if name not in listed:
            phase.add("implementation-unknown", where, f"implementation {name} is not listed")
        original = made.setdefault(name, module)
        if original is not module:
            _check_pair(phase, original, module, boards)
    _check_likeness(phase)


def _check_pair(phase: PhaseFacts, original: ModuleRecord, module: ModuleRecord, boards: Boards) -> None:
    """Judge that two modules with one implementation are the same circuit on the same columns and rows."""
    where, other = f"{phase.where} module {module['name']}", original["name"]
    if _circuits(phase, original) != _circuits(phase, module) or _ends(phase, original) != _ends(phase, module):
        message = f"differs from {other}, as {module['implementation']} is made once"
        phase.add("implementation-mismatch", where, message)
    elif _built(phase, original) != _built(phase, module):
        phase.add("implementation-mismatch", where, f"its FIFOs, converters or wires are not those of {other}")
    for one in (original, module):
        baked = [name for name in one["engines"] if name in phase.folded and phase.folded[name].facts.own_circuit]
        if baked:
            message = f"{baked[0]} has constants in its logic, and {module['implementation']} is made once"
            phase.add("implementation-constants", where, message)
    homes = [_home(phase, one, boards) for one in (original, module)]
    if homes[0] is None or homes[1] is None:
        return
    (device, window), (other_device, other_window) = homes[0], homes[1]
    same_die = device.raw["layouts"] == other_device.raw["layouts"]
    if not same_die or not moves_onto(device, window, other_window):
        phase.add("implementation-moved", where, f"it cannot lie as {other} does on other columns and rows")


def _home(phase: PhaseFacts, module: ModuleRecord, boards: Boards) -> tuple[Device, list[Rectangle]] | None:
    """Return the die and the rectangles of a module; None where it has none there, which is told elsewhere."""
    for fpga, floorplan in phase.raw["floorplan"].items():
        entry = floorplan["pblocks"].get(module["name"])
        if entry is not None and fpga in boards:
            areas = list(map(Rectangle.of, entry["rectangles"]))
            return (boards[fpga].device, areas) if all(map(boards[fpga].device.contains, areas)) else None
    return None


def _check_likeness(phase: PhaseFacts) -> None:
    """Judge what every module is like, whether it is reused, and that it says why not."""
    first: dict[str, str] = {}
    likes = {}
    for module in phase.raw["modules"]:
        likeness = json.dumps([_circuits(phase, module), _ends(phase, module)], sort_keys=True)
        likes[module["name"]] = first.setdefault(likeness, module["name"])
    alike = Counter(likes.values())
    shared = Counter(module["implementation"] for module in phase.raw["modules"])
    for module in phase.raw["modules"]:
        where, name = f"{phase.where} module {module['name']}", module["name"]
        phase.expect("wrong-likeness", where, "like", module["like"], likes[name])
        reused = shared[module["implementation"]] > 1
        phase.expect("wrong-reuse", where, "reused", module["reused"], reused)
        owes = alike[likes[name]] > 1 and not reused
        if owes != bool(module["why_not"]):
            told = "does not say why" if owes else f"says {module['why_not']!r:.60}, which nobody asks"
            phase.add("wrong-reuse", where, f"{alike[likes[name]]} modules are like it or itself: it {told}")


def _circuits(phase: PhaseFacts, module: ModuleRecord) -> list[tuple[object, ...]]:
    """Return kind, attributes, widths and folding of each engine, in the module's order."""
    known = [phase.folded[name] for name in module["engines"] if name in phase.folded]
    return [
        (
            one.kind,
            one.entry["attributes"],
            one.folding["attributes"],
            [one.entry["weight_bits"], one.entry["input_bits"], one.entry["output_bits"]],
        )
        for one in known
    ]


def _ends(phase: PhaseFacts, module: ModuleRecord) -> list[str]:
    """Return which ports of its engines, by their numbers, streams join, or lead in or out by."""
    return sorted(repr(ends) for ends, _ in _streams(phase, module))


def _built(phase: PhaseFacts, module: ModuleRecord) -> list[str]:
    """Return the same with the wires, and with the FIFOs and converters that the module holds."""
    return sorted(repr((ends, _held(channel, module["name"]))) for ends, channel in _streams(phase, module))


def _streams(phase: PhaseFacts, module: ModuleRecord) -> list[tuple[object, ChannelRecord]]:
    place = {name: number for number, name in enumerate(module["engines"])}
    found: list[tuple[object, ChannelRecord]] = []
    for channel in phase.channels:
        source, target = place.get(channel["source"]), place.get(channel["target"])
        if source is not None or target is not None:
            out = None if source is None else (source, channel["source_port"])
            into = None if target is None else (target, channel["target_port"])
            found.append(((out, into), channel))
    return found


def _held(channel: ChannelRecord, module: str) -> tuple[object, ...]:
    fifo = (channel["fifo_depth"], channel["fifo_style"]) if channel["fifo_module"] == module else None
    between = (channel["converter"], channel["source_width_bits"], channel["target_width_bits"])
    converts = channel["converter"] is not None and channel["converter_module"] == module
    return channel["width_bits"], fifo, between if converts else None


def check_interfaces(phase: PhaseFacts) -> None:
    """Judge that a module is of one network, and that each implementation is made and is as its modules are.

    All modules of a slot that share one pblock for want of rectangles may be of several.
    """
    joined = {entry["module"] for entry in phase.raw["joined"]}
    for module in phase.raw["modules"]:
        networks = {phase.folded[name].row["network"]: None for name in module["engines"] if name in phase.folded}
        if len(networks) > 1 and module["name"] not in joined:
            message = f"it holds engines of {', '.join(networks)}, a module that is not joined is of one network"
            phase.add("module-mixed", f"{phase.where} module {module['name']}", message)
    blocks = {name: entry for held in phase.raw["floorplan"].values() for name, entry in held["pblocks"].items()}
    for made in phase.raw["implementations"]:
        where = f"{phase.where} implementation {made['name']}"
        modules = [module for module in phase.raw["modules"] if module["implementation"] == made["name"]]
        if not modules:
            phase.add("implementation-needless", where, "no module is made of it")
            continue
        _check_ports(phase, made, modules, where)
        _check_window(made, modules, blocks, where, phase.findings)


def check_joined(phase: PhaseFacts) -> None:
    """Judge that what shares a pblock for want of rectangles is a module of the slot that is said, with a reason."""
    for number, entry in enumerate(phase.raw["joined"]):
        where, name, parts = f"{phase.where}.joined[{number}]", entry["module"], entry["modules"]
        if name not in phase.modules:
            phase.add("wrong-joined", where, f"{name} is no module of the phase")
        elif phase.raw["partition"]["assignment"].get(name) != entry["slot"]:
            phase.add("wrong-joined", where, f"{name} is not in {entry['slot']}")
        if [other["module"] for other in phase.raw["joined"]].index(name) < number:
            phase.add("wrong-joined", where, f"{name} is listed twice")
        engines = len(phase.modules[name]["engines"]) if name in phase.modules else len(parts)
        if not 2 <= len(set(parts)) == len(parts) <= engines:
            message = f"{name} of {engines} engines has the parts {', '.join(parts) or 'none'}"
            phase.add("wrong-joined", where, message)
        if not entry["why"]:
            phase.add("wrong-joined", where, "it does not say why")


def _check_ports(phase: PhaseFacts, made: ImplementationRecord, modules: list[ModuleRecord], where: str) -> None:
    """Judge that the ports are the channels that cross the bounds of the first of its modules."""
    own = {*modules[0]["engines"]}
    expected: Counter[tuple[str, str, int]] = Counter(
        (channel["name"], direction, channel["width_bits"])
        for channel in phase.channels
        for direction, inside, other in (
            ("out", channel["source"], channel["target"]),
            ("in", channel["target"], channel["source"]),
        )
        if inside in own and other not in own
    )
    stated: Counter[tuple[str, str, int]] = Counter(
        (port["channel"], port["direction"], port["width_bits"]) for port in made["ports"]
    )
    for channel, direction, width in expected - stated:
        phase.add("implementation-port", where, f"{direction} {channel} of {width} bits is no port of it")
    for channel, direction, width in stated - expected:
        phase.add("implementation-port", where, f"no {channel} of {width} bits goes {direction} there")


def _check_window(
    made: ImplementationRecord,
    modules: list[ModuleRecord],
    blocks: dict[str, PblockRecord],
    where: str,
    findings: Findings,
) -> None:
    """Judge that the window is as many columns and rows as the box around the rectangles of each of its modules."""
    for module in modules:
        areas = blocks[module["name"]]["rectangles"] if module["name"] in blocks else []
        if areas:
            size = {
                "columns": max(area["right"] for area in areas) - min(area["left"] for area in areas) + 1,
                "rows": max(area["top"] for area in areas) - min(area["bottom"] for area in areas) + 1,
            }
            findings.expect("implementation-window", where, "window", made["window"], size)
