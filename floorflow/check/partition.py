"""The partition of a phase: assignment, crossings, cost and the load of every boundary between slots."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from floorflow.check.facts import PhaseFacts, Slot, stream_wires
from floorflow.check.shape import Record
from floorflow.check.violations import Findings


def check_assignment(phase: PhaseFacts, findings: Findings) -> None:
    """Judge that every module is in one slot that exists."""
    assignment, where = phase.raw["partition"]["assignment"], f"{phase.where}.partition.assignment"
    for name in phase.modules:
        if name not in assignment:
            findings.add("module-unassigned", where, f"{name} is in no slot")
    for name, slot in assignment.items():
        if name not in phase.modules:
            findings.add("module-unknown", where, f"{name} is no module")
        if slot not in phase.slots:
            findings.add("slot-unknown", where, f"{name} is in {slot}")


@dataclass(frozen=True, slots=True)
class Crossing:
    """A channel between two slots of one FPGA."""

    channel: Record
    source: Slot
    target: Slot

    @property
    def hops(self) -> int:
        """Boundaries that it crosses."""
        return abs(self.source.slr - self.target.slr)

    @property
    def wires(self) -> int:
        """Wires that it takes of each boundary."""
        return stream_wires(self.channel["width_bits"])


def crossing_channels(phase: PhaseFacts) -> dict[str, Crossing]:
    """Return every channel between two slots of one FPGA, by name."""
    found: dict[str, Crossing] = {}
    for channel in phase.channels:
        ends = phase.ends(channel)
        if ends and ends[0].name != ends[1].name and ends[0].fpga == ends[1].fpga:
            found[channel["name"]] = Crossing(channel, *ends)
    return found


def check_crossings(phase: PhaseFacts, slls: list[Record], findings: Findings) -> None:
    """Judge the list of crossings, the cost and the wires over every boundary."""
    partition, where = phase.raw["partition"], f"{phase.where}.partition"
    expected = crossing_channels(phase)
    listed = Counter(crossing["channel"] for crossing in partition["crossings"])
    for name in expected:
        if name not in listed:
            findings.add("crossing-missing", where, f"channel {name} runs between slots")
    for name, count in listed.items():
        if name not in expected:
            findings.add("crossing-needless", where, f"channel {name} does not run between slots")
        elif count > 1:
            findings.add("crossing-needless", where, f"channel {name} is listed {count} times")
    for crossing in partition["crossings"]:
        if crossing["channel"] in expected:
            _check_crossing(phase, crossing, expected[crossing["channel"]], findings)
    _check_load(phase, expected, slls, findings)
    cost = sum(crossing.wires * crossing.hops for crossing in expected.values())
    findings.expect("wrong-cost", where, "cost", partition["cost"], cost)


def _check_crossing(phase: PhaseFacts, stated: Record, crossing: Crossing, findings: Findings) -> None:
    where, channel = f"{phase.where} crossing {stated['channel']}", crossing.channel
    estimates = phase.raw["estimates"]
    frame_bits = channel["words_per_frame"] * channel["width_bits"]
    derived = {
        "source": crossing.source.name,
        "target": crossing.target.name,
        "width_bits": channel["width_bits"],
        "gbps": frame_bits * estimates["fps"] / 1e9,
        "hops": crossing.hops,
        "kind": "sll",
    }
    for key, value in derived.items():
        findings.expect("wrong-crossing", where, key, stated[key], value)


def _check_load(
    phase: PhaseFacts,
    expected: dict[str, Crossing],
    slls: list[Record],
    findings: Findings,
) -> None:
    load: Counter[tuple[str, str]] = Counter()
    for crossing in expected.values():
        for lower, upper in phase.boundaries(crossing.source, crossing.target):
            load[(lower.name, upper.name)] += crossing.wires
    wires = {(sll["lower"], sll["upper"]): sll["wires"] for sll in slls}
    for boundary, used in sorted(load.items()):
        if used > wires.get(boundary, 0):
            where = f"{phase.where} boundary {boundary[0]}-{boundary[1]}"
            findings.add("sll-overload", where, f"needs {used} wires, has {wires.get(boundary, 0)}")
