"""What the plan says of modules to whoever builds them: streams that leave or enter, size, networks inside."""

from __future__ import annotations

from collections import Counter

from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings


def check_interfaces(phase: PhaseFacts, findings: Findings) -> None:
    """Judge that a module is of one network, and that each implementation is made and is as its modules are.

    All modules of a slot that share one pblock for want of rectangles may be of several.
    """
    joined = {entry["module"] for entry in phase.raw["joined"]}
    for module in phase.raw["modules"]:
        networks = {phase.folded[name].row["network"]: None for name in module["engines"] if name in phase.folded}
        if len(networks) > 1 and module["name"] not in joined:
            message = f"it holds engines of {', '.join(networks)}, a module that is not joined is of one network"
            findings.add("module-mixed", f"{phase.where} module {module['name']}", message)
    blocks = {name: entry for held in phase.raw["floorplan"].values() for name, entry in held["pblocks"].items()}
    for made in phase.raw["implementations"]:
        where = f"{phase.where} implementation {made['name']}"
        modules = [module for module in phase.raw["modules"] if module["implementation"] == made["name"]]
        if not modules:
            findings.add("implementation-needless", where, "no module is made of it")
            continue
        _check_ports(phase, made, modules, where, findings)
        _check_window(made, modules, blocks, where, findings)


def check_joined(phase: PhaseFacts, findings: Findings) -> None:
    """Judge that what shares a pblock for want of rectangles is a module of the slot that is said, with a reason."""
    for number, entry in enumerate(phase.raw["joined"]):
        where, name, parts = f"{phase.where}.joined[{number}]", entry["module"], entry["modules"]
        if name not in phase.modules:
            findings.add("wrong-joined", where, f"{name} is no module of the phase")
        elif phase.raw["partition"]["assignment"].get(name) != entry["slot"]:
            findings.add("wrong-joined", where, f"{name} is not in {entry['slot']}")
        if [other["module"] for other in phase.raw["joined"]].index(name) < number:
            findings.add("wrong-joined", where, f"{name} is listed twice")
        engines = len(phase.modules[name]["engines"]) if name in phase.modules else len(parts)
        if not 2 <= len(set(parts)) == len(parts) <= engines:
            message = f"{name} of {engines} engines has the parts {', '.join(parts) or 'none'}"
            findings.add("wrong-joined", where, message)
        if not entry["why"]:
            findings.add("wrong-joined", where, "it does not say why")


def _check_ports(phase: PhaseFacts, made: Record, modules: list[Record], where: str, findings: Findings) -> None:
    """Judge that the ports are the channels that cross the bounds of the first of its modules."""
    own = {*modules[0]["engines"]}
    expected = Counter(
        (channel["name"], direction, channel["width_bits"])
        for channel in phase.channels
        for direction, inside, other in (("out", "source", "target"), ("in", "target", "source"))
        if channel[inside] in own and channel[other] not in own
    )
    stated = Counter((port["channel"], port["direction"], port["width_bits"]) for port in made["ports"])
    for channel, direction, width in expected - stated:
        findings.add("implementation-port", where, f"{direction} {channel} of {width} bits is no port of it")
    for channel, direction, width in stated - expected:
        findings.add("implementation-port", where, f"no {channel} of {width} bits goes {direction} there")


def _check_window(
    made: Record, modules: list[Record], blocks: dict[str, Record], where: str, findings: Findings
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
