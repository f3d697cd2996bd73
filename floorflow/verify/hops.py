"""How many SLR boundaries of an FPGA streams cross one after the other, and what the plan says to that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from floorflow.verify.edge_loads import overloaded
from floorflow.verify.hardware.routes import RouteStep, Slot, links_on
from floorflow.verify.phase_facts import PhaseFacts, stream_wires
from floorflow.verify.records import Record, add, amounts, excess, limit_of
from floorflow.verify.sums import slot_totals
from floorflow.verify.violations import Findings

HOPS_UNLESS_ASKED = 1
"""Boundaries that a stream may cross unless the options allow more, or no assignment does with so few."""
LOGIC_A_BIT, LOGIC_MORE = 4, 200
"""LUTs and flip-flops, by width and beside, below which a FIFO stays that becomes a few words deeper."""


def check_hops(phase: PhaseFacts, options: Record, slls: list[Record], findings: Findings) -> None:
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
        _check_proof(phase, options, slls, allowed, findings)
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


def _check_proof(phase: PhaseFacts, options: Record, slls: list[Record], most: int, findings: Findings) -> None:
    """Judge that fewer hops will not do at once: in the plan as it is, or with one module in another slot.

    The proof itself is claimed. Where modules must fit rectangles of their own only the plan as it is counts.
    """
    where = f"{phase.where}.partition.hops"
    furthest = max((step.hops for _, step in _stretches(phase)), default=0)
    if furthest < most:
        findings.add("false-hop-proof", where, f"says that {most} are needed, no stream crosses over {furthest}")
        return
    if options["keep_granularity"]:
        return
    far = [channel for channel, step in _stretches(phase) if step.hops == most]
    ends = {phase.module_of.get(channel[side]) for channel in far for side in ("source", "target")} - {None}
    for module in sorted(str(name) for name in ends):
        for slot in phase.slots.values():
            moved = _with(phase, module, slot)
            if _is_nearer(phase, moved, most) and _has_room(phase, moved, options["cap"], slls):
                message = f"with {module} in {slot.name} no stream crosses more than {most - 1}, and limits are kept"
                findings.add("false-hop-proof", where, message)
                return


def _with(phase: PhaseFacts, module: str, slot: Slot) -> PhaseFacts:
    """Return the phase with a module in a slot."""
    partition = phase.raw["partition"]
    assignment = {**partition["assignment"], module: slot.name}
    return replace(phase, raw={**phase.raw, "partition": {**partition, "assignment": assignment}})


def _is_nearer(phase: PhaseFacts, moved: PhaseFacts, most: int) -> bool:
    """Whether no stream crosses as many boundaries, and each passes the links that it passed before."""
    for channel in phase.channels:
        before, after = phase.route(channel), moved.route(channel)
        if before is None or after is None or links_on(before) != links_on(after):
            return False
        if any(step.boundaries and step.hops >= most for step in after):
            return False
    return True


def _has_room(phase: PhaseFacts, moved: PhaseFacts, cap: dict[str, float], slls: list[Record]) -> bool:
    """Whether slots and boundaries hold what was moved, FIFOs that become deeper taken at more than they can cost."""
    bits = [c["width_bits"] for c in phase.channels if _stages(moved, c) > _stages(phase, c)]
    logic = sum(LOGIC_A_BIT * width + LOGIC_MORE for width in bits)
    blocks = sum(width // 18 + 1 for width in bits)
    more = {"LUT": logic, "FF": logic, "BRAM18": blocks, "URAM": blocks, "DSP": 0}
    for name, demand in slot_totals(moved).items():
        limit = limit_of(cap, amounts(moved.slots[name].entry["available"]))
        if excess(add(demand, more), limit):
            return False
    return not overloaded(moved, slls)


def _stages(phase: PhaseFacts, channel: Record) -> int:
    return phase.stages(phase.route(channel) or ())
