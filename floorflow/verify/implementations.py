"""Rules on modules that are made once: who is like whom, and that nothing makes those differ that share a circuit."""

from __future__ import annotations

import json
from collections import Counter

from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.geometry import Device, Rectangle
from floorflow.verify.hardware.relocation import moves_onto
from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings


def check_implementations(phase: PhaseFacts, boards: dict[str, Board], findings: Findings) -> None:
    """Judge what is said of each module's likeness, and that those that share an implementation are one circuit."""
    listed = Counter(entry["name"] for entry in phase.raw["implementations"])
    for name, count in listed.items():
        if count > 1:
            findings.add("implementation-unknown", phase.where, f"implementation {name} is listed {count} times")
    made: dict[str, Record] = {}
    for module in phase.raw["modules"]:
        name, where = module["implementation"], f"{phase.where} module {module['name']}"
        if name not in listed:
            findings.add("implementation-unknown", where, f"implementation {name} is not listed")
        original = made.setdefault(name, module)
        if original is not module:
            _check_pair(phase, original, module, boards, findings)
    _check_likeness(phase, findings)


def _check_pair(
    phase: PhaseFacts, original: Record, module: Record, boards: dict[str, Board], findings: Findings
) -> None:
    """Judge that two modules with one implementation are the same circuit on the same columns and rows."""
    where, other = f"{phase.where} module {module['name']}", original["name"]
    if _engines(phase, original) != _engines(phase, module) or _ends(phase, original) != _ends(phase, module):
        message = f"differs from {other}, as {module['implementation']} is made once"
        findings.add("implementation-mismatch", where, message)
    elif _built(phase, original) != _built(phase, module):
        findings.add("implementation-mismatch", where, f"its FIFOs, converters or wires are not those of {other}")
    for one in (original, module):
        baked = [name for name in one["engines"] if name in phase.folded and phase.folded[name].facts.own_circuit]
        if baked:
            message = f"{baked[0]} has constants in its logic, and {module['implementation']} is made once"
            findings.add("implementation-constants", where, message)
    homes = [_home(phase, one, boards) for one in (original, module)]
    if homes[0] is not None and homes[1] is not None and not _moves(homes[0], homes[1]):
        findings.add("implementation-moved", where, f"it cannot lie as {other} does on other columns and rows")


def _moves(home: tuple[Device, list[Rectangle]], other: tuple[Device, list[Rectangle]]) -> bool:
    same_die = home[0].raw["layouts"] == other[0].raw["layouts"]
    return same_die and moves_onto(home[0], home[1], other[1])


def _home(phase: PhaseFacts, module: Record, boards: dict[str, Board]) -> tuple[Device, list[Rectangle]] | None:
    """Return the die and the rectangles of a module; None where it has none there, which is told elsewhere."""
    for fpga, floorplan in phase.raw["floorplan"].items():
        entry = floorplan["pblocks"].get(module["name"])
        if entry is not None and fpga in boards:
            areas = [Rectangle(a["left"], a["bottom"], a["right"], a["top"]) for a in entry["rectangles"]]
            return (boards[fpga].device, areas) if all(map(boards[fpga].device.contains, areas)) else None
    return None


def _check_likeness(phase: PhaseFacts, findings: Findings) -> None:
    """Judge what every module is like, whether it is reused, and that it says why not."""
    first: dict[str, str] = {}
    likes = {}
    for module in phase.raw["modules"]:
        likeness = json.dumps([_engines(phase, module), _ends(phase, module)], sort_keys=True)
        likes[module["name"]] = first.setdefault(likeness, module["name"])
    alike = Counter(likes.values())
    shared = Counter(module["implementation"] for module in phase.raw["modules"])
    for module in phase.raw["modules"]:
        where, name = f"{phase.where} module {module['name']}", module["name"]
        findings.expect("wrong-likeness", where, "like", module["like"], likes[name])
        reused = shared[module["implementation"]] > 1
        findings.expect("wrong-reuse", where, "reused", module["reused"], reused)
        owes = alike[likes[name]] > 1 and not reused
        if owes != bool(module["why_not"]):
            told = "does not say why" if owes else f"says {module['why_not']!r:.60}, which nobody asks"
            findings.add("wrong-reuse", where, f"{alike[likes[name]]} modules are like it or itself: it {told}")


def _engines(phase: PhaseFacts, module: Record) -> list[tuple[object, ...]]:
    """Return kind, attributes, widths and folding of each engine, in the module's order."""
    known = [phase.folded[name] for name in module["engines"] if name in phase.folded]
    bits = ("weight_bits", "input_bits", "output_bits")
    return [
        (one.kind, one.entry["attributes"], one.folding["attributes"], [one.entry[name] for name in bits])
        for one in known
    ]


def _ends(phase: PhaseFacts, module: Record) -> list[str]:
    """Return which ports of its engines, by their numbers, streams join, or lead in or out by."""
    return sorted(repr(ends) for ends, _ in _streams(phase, module))


def _built(phase: PhaseFacts, module: Record) -> list[str]:
    """Return the same with the wires, and with the FIFOs and converters that the module holds."""
    return sorted(repr((ends, _held(channel, module["name"]))) for ends, channel in _streams(phase, module))


def _streams(phase: PhaseFacts, module: Record) -> list[tuple[object, Record]]:
    place = {name: number for number, name in enumerate(module["engines"])}
    found: list[tuple[object, Record]] = []
    for channel in phase.channels:
        source, target = place.get(channel["source"]), place.get(channel["target"])
        if source is not None or target is not None:
            out = None if source is None else (source, channel["source_port"])
            into = None if target is None else (target, channel["target_port"])
            found.append(((out, into), channel))
    return found


def _held(channel: Record, module: str) -> tuple[object, ...]:
    fifo = (channel["fifo_depth"], channel["fifo_style"]) if channel["fifo_module"] == module else None
    between = (channel["converter"], channel["source_width_bits"], channel["target_width_bits"])
    converts = channel["converter"] is not None and channel["converter_module"] == module
    return channel["width_bits"], fifo, between if converts else None
