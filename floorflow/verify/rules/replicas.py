"""Copies of a network: that they are one implementation, as many as told, each with the host at a memory channel."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from floorflow.verify.facts import believed_fps, parts_of
from floorflow.verify.hardware.boards import BoardProblem, Boards
from floorflow.verify.plan_records import CopyRecord, PlanRecord, ReplicasRecord
from floorflow.verify.violations import Findings, close

NAME, DIFFER = "wrong-replicas", "copies-differ"


def check_replicas(plan: PlanRecord, boards: Boards, findings: Findings) -> None:
    """Judge ``replicas`` against options, board, networks and rates."""
    stated, asked = plan.get("replicas"), plan["options"].get("replicas")
    if stated is None:
        if asked not in (None, 1):
            findings.add(NAME, "replicas", f"is missing, though {asked} copies were asked for")
        return
    if asked != "auto":
        findings.expect(NAME, "replicas", "copies", stated["copies"], asked)
    _check_numbers(plan, stated, findings)
    for number, copy in enumerate(stated["placed"]):
        _check_place(plan, copy, f"replicas.placed[{number}]", boards, findings)
    first, *others = [list(_kernel(plan, copy["network"])) for copy in stated["placed"]]
    for copy, kernel in zip(stated["placed"][1:], others, strict=True):
        unlike = next((a for a, b in zip(first, kernel, strict=False) if a != b), None)
        if unlike is not None or len(kernel) != len(first):
            findings.add(
                DIFFER, f"network {copy['network']}", f"is made otherwise than the first copy: {unlike!s:.120}"
            )


def _check_numbers(plan: PlanRecord, stated: ReplicasRecord, findings: Findings) -> None:
    count, names = len(stated["placed"]), [copy["network"] for copy in stated["placed"]]
    findings.expect(NAME, "replicas", "placed", names, [network["name"] for network in plan["networks"]])
    own = [f"{stated['network']}_{number}" for number in range(count)] if count > 1 else [stated["network"]]
    findings.expect(NAME, "replicas", "networks", names, own)
    if -(-stated["copies"] // stated["cards"]) != count or len(plan["platform"]["fpgas"]) != 1:
        told = f"{stated['copies']} copies on {stated['cards']} cards are not {count} on each"
        findings.add(NAME, "replicas.copies", told)
    each = min((believed_fps(part["estimates"]) for name in names for _, part in parts_of(plan, name)), default=0.0)
    fps, bound = stated["copies"] * each, stated["bound_fps"]
    findings.expect(NAME, "replicas", "fps", stated["fps"], fps)
    cycles = max((network["search"]["bound_cycles"] for network in plan["networks"]), default=0)
    derived = stated["copies"] * plan["options"]["clock_mhz"] * 1e6 / cycles if cycles else 0.0
    findings.expect(NAME, "replicas", "bound_fps", bound, derived)
    if bound < fps and not close(bound, fps):
        findings.add("bound-above-objective", "replicas.bound_fps", f"{bound:g} is below the {fps:g} that are reached")


def _check_place(plan: PlanRecord, copy: CopyRecord, where: str, boards: Boards, findings: Findings) -> None:
    board = boards.get(copy["fpga"])
    if board is None:
        findings.expect(NAME, where, "fpga", copy["fpga"], plan["platform"]["fpgas"][0]["name"])
        return
    try:
        own = board.at(copy["memory"])
        memory, slr, port = own.host_memory, own.host_slr, own.host_port
    except BoardProblem as problem:
        findings.add(NAME, where, str(problem))
        return
    findings.expect(NAME, where, "memory", copy["memory"], memory and memory["name"])
    findings.expect(NAME, where, "port", copy["port"], asdict(port))
    slots = [slot["name"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"] if slot["slr"] == slr]
    findings.expect(NAME, where, "slot", [copy["slot"]], slots)


def _kernel(plan: PlanRecord, network: str) -> Iterator[Any]:
    """Yield what a copy's implementation is: engines with foldings, then streams with FIFOs, converters and slices."""
    prefix = f"{network}/" if len(plan["networks"]) > 1 else ""
    for entry in plan["networks"]:
        if entry["name"] == network:
            yield from ((e["name"], e["kind"], e["attributes"]) for e in entry["engines"])
    for phase, part in parts_of(plan, network):
        for name, folded in part["folding"]["engines"].items():
            yield name.removeprefix(prefix), folded["attributes"], folded["resources"]
        for channel in phase["channels"]:
            if channel["source"].startswith(prefix):
                widths = channel["width_bits"], channel["source_width_bits"], channel["target_width_bits"]
                fifo = channel["fifo_depth"], channel["fifo_style"], channel["converter"], channel["slices"]
                ends = channel["source"].removeprefix(prefix), channel["target"].removeprefix(prefix)
                yield ends, channel["source_port"], channel["target_port"], widths, fifo
