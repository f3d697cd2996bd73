"""How many SLR boundaries of an FPGA streams cross one after the other, and what the plan says to that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from floorflow.verify.hardware.routes import Route, RouteStep, Slot
from floorflow.verify.phase_facts import PhaseFacts, stream_wires
from floorflow.verify.sums import amounts, excess, limit_of, slot_totals
from floorflow.verify.templates import Record
from floorflow.verify.violations import Findings

HOPS_UNLESS_ASKED = 1
"""Boundaries that a stream may cross unless the options allow more, or no assignment does with so few."""


def check_hops(phase: PhaseFacts, options: Record, findings: Findings) -> None:
    """Judge that no stream goes further than the options, or a proof that is not plainly wrong, allow."""
    stated, where = phase.raw["partition"]["hops"], f"{phase.where}.partition.hops"
    asked, proven = options["max_hops"], bool(stated["proof"].strip())
    allowed = HOPS_UNLESS_ASKED if asked is None else asked
    if not proven:
        findings.expect("wrong-hops", where, "most", stated["most"], allowed)
    elif asked is not None or stated["most"] <= allowed:
        findings.add("wrong-hops", where, f"a proof that {stated['most']} hops are needed, where {allowed} are allowed")
    else:
        allowed = stated["most"]
        _check_proof(phase, options, allowed, where, findings)
    for channel, step in _stretches(phase):
        if step.hops > allowed:
            place = f"{phase.where} channel {channel['name']}"
            crossed = f"from {step.source.name} to {step.target.name}"
            findings.add("too-many-hops", place, f"crosses {step.hops} SLR boundaries {crossed}, {allowed} are allowed")
    _check_list(phase, stated["streams"], where, findings)


def _stretches(phase: PhaseFacts) -> Iterator[tuple[Record, RouteStep]]:
    """Yield every run of boundaries inside one FPGA that a channel crosses."""
    for channel in phase.channels:
        for step in phase.route(channel) or ():
            if step.boundaries:
                yield channel, step


def _check_list(phase: PhaseFacts, stated: list[Record], where: str, findings: Findings) -> None:
    """Judge that the plan lists each stream over several boundaries with the registers that it relies on."""
    expected = [_far(phase, channel, step) for channel, step in _stretches(phase) if step.hops > 1]
    for entry in stated:
        if entry not in expected:
            findings.add("wrong-hops", where, f"{entry['channel']} is listed, and does not cross these boundaries so")
    for entry in expected:
        if stated.count(entry) != 1:
            findings.add("wrong-hops", where, f"{entry['channel']} is listed {stated.count(entry)} times as it is")


def _far(phase: PhaseFacts, channel: Record, step: RouteStep) -> dict[str, Any]:
    """Return how the plan lists a stream over several boundaries."""
    registers = []
    for lower, upper in step.boundaries:
        stages = phase.register_stages[lower.fpga]
        flops = stages * stream_wires(channel["width_bits"])
        registers.append({"boundary": f"{lower.name}-{upper.name}", "stages": stages, "flip_flops": flops})
    ends = {"source": step.source.name, "target": step.target.name}
    return {"channel": channel["name"], **ends, "hops": step.hops, "registers": registers}


def _check_proof(phase: PhaseFacts, options: Record, most: int, where: str, findings: Findings) -> None:
    """Judge that fewer hops will not do at once: in the plan as it is, or with one module in another slot.

    The proof itself is claimed. Where modules must fit rectangles of their own only the plan as it is counts.
    """
    furthest = max((step.hops for _, step in _stretches(phase)), default=0)
    if furthest < most:
        findings.add(
            "false-hop-proof", where, f"{most} hops are needed, it says, and no stream crosses over {furthest}"
        )
        return
    if options["keep_granularity"]:
        return
    far = [channel for channel, step in _stretches(phase) if step.hops == most]
    ends = {phase.module_of.get(channel[side]) for channel in far for side in ("source", "target")} - {None}
    for module in sorted(str(name) for name in ends):
        for slot in phase.slots.values():
            if _does_with_fewer(phase, options, most, module, slot):
                message = f"with {module} in {slot.name} no stream crosses more than {most - 1}, and limits are kept"
                findings.add("false-hop-proof", where, message)
                return


def _does_with_fewer(phase: PhaseFacts, options: Record, most: int, module: str, slot: Slot) -> bool:
    """Whether a module fits another slot, no stream then takes new ways, and none crosses as many boundaries."""
    partition = phase.raw["partition"]
    if slot.name == partition["assignment"].get(module):
        return False
    assignment = {**partition["assignment"], module: slot.name}
    moved = replace(phase, raw={**phase.raw, "partition": {**partition, "assignment": assignment}})
    for channel in phase.channels:
        before, after = phase.route(channel), moved.route(channel)
        if before is None or after is None or not _joints(after) <= _joints(before):
            return False
        if any(step.boundaries and step.hops >= most for step in after):
            return False
    limit = limit_of(options["cap"], amounts(slot.entry["available"]))
    return not excess(slot_totals(moved)[slot.name], limit)


def _joints(route: Route) -> set[object]:
    """Return the boundaries and links that a route passes."""
    joints: set[object] = {(lower.name, upper.name) for step in route for lower, upper in step.boundaries}
    return joints | {step.link.entry["name"] for step in route if step.link}
