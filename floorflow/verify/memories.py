"""What the plan says of large memories: whose they are, and what they take."""

from __future__ import annotations

from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import Record, amounts
from floorflow.verify.violations import Findings


def check_memories(phase: PhaseFacts, findings: Findings) -> None:
    """Check that each is of an engine or a channel of the phase, once, and as the plan has it."""
    channels, seen = {channel["name"]: channel for channel in phase.channels}, set[str]()
    for memory in phase.raw["memories"]:
        name, where = memory["name"], f"{phase.where}.memories {memory['name']}"
        if name in seen:
            findings.add("wrong-memory", where, "is listed twice")
        seen.add(name)
        if memory["kind"] == "fifo" and name in channels:
            _check_fifo(memory, channels[name], where, findings)
        elif memory["kind"] == "weights" and name in phase.folded:
            use = amounts(phase.folded[name].folding["resources"])
            findings.expect("wrong-memory", where, "resources", amounts(memory["resources"]), use)
        else:
            findings.add("wrong-memory", where, f"a {memory['kind']} of that name is not in the phase")
        if memory["style"] in {other["style"] for other in memory["others"]}:
            findings.add("wrong-memory", where, f"{memory['style']} is no other memory")


def _check_fifo(memory: Record, channel: Record, where: str, findings: Findings) -> None:
    bits = channel["width_bits"] * channel["fifo_depth"]
    findings.expect("wrong-memory", where, "bits", memory["bits"], bits)
    findings.expect("wrong-memory", where, "style", memory["style"], channel["fifo_style"])
    use = amounts(channel["fifo_resources"])
    findings.expect("wrong-memory", where, "resources", amounts(memory["resources"]), use)
