"""What every SLR boundary and every direction of every link carries, against its capacity and the plan's list."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from floorflow.verify.phase_facts import PhaseFacts, stream_wires
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings

LINK_TOLERANCE = 1e-9
"""Share by which a sum of rates may exceed a link's capacity: rounding, no more."""


@dataclass(frozen=True, slots=True)
class Load:
    """Wires over a boundary or Gb/s over a link in one direction."""

    kind: str
    use: float
    capacity: float

    @property
    def is_too_much(self) -> bool:
        """Whether it is more than can be carried."""
        return self.use > self.capacity * (1 + (LINK_TOLERANCE if self.kind == "link" else 0))


def check_loads(phase: PhaseFacts, slls: list[Record], findings: Findings) -> None:
    """Judge that nothing is overloaded and that the plan's list is complete and right."""
    loads = _loads(phase, slls)
    for name, load in loads.items():
        where = f"{phase.where} load {name}"
        if load.is_too_much:
            unit = "wires" if load.kind == "sll" else "Gb/s"
            findings.add(f"{load.kind}-overload", where, f"needs {load.use} {unit}, has {load.capacity}")
    _check_list(phase, loads, findings)


def overloaded(phase: PhaseFacts, slls: list[Record]) -> bool:
    """Whether some boundary or link would have to carry more than it can."""
    return any(load.is_too_much for load in _loads(phase, slls).values())


def _loads(phase: PhaseFacts, slls: list[Record]) -> dict[str, Load]:
    return {**_wires(phase, slls), **_rates(phase)}


def _wires(phase: PhaseFacts, slls: list[Record]) -> dict[str, Load]:
    """Wires used of every boundary; one that the platform does not list has none."""
    capacity = {(sll["lower"], sll["upper"]): sll["wires"] for sll in slls}
    used: Counter[tuple[str, str]] = Counter()
    for channel in phase.channels:
        for lower, upper in phase.boundaries(phase.route(channel) or ()):
            used[(lower.name, upper.name)] += stream_wires(channel["width_bits"])
    names = sorted({*capacity, *used})
    return {f"{pair[0]}-{pair[1]}": Load("sll", used[pair], capacity.get(pair, 0)) for pair in names}


def _rates(phase: PhaseFacts) -> dict[str, Load]:
    """Gb/s in each direction of every link."""
    used: dict[str, float] = {}
    capacity: dict[str, float] = {}
    for _, link in sorted(phase.links.items()):
        for source, target in ((link.lower, link.upper), (link.upper, link.lower)):
            capacity[f"{source.fpga}>{target.fpga}"] = link.entry["gbps"]
    for channel in phase.channels:
        for step in phase.route(channel) or ():
            if step.link:
                name = f"{step.source.fpga}>{step.target.fpga}"
                used[name] = used.get(name, 0.0) + phase.gbps(channel)
    return {name: Load("link", used.get(name, 0.0), most) for name, most in capacity.items()}


def _check_list(phase: PhaseFacts, loads: dict[str, Load], findings: Findings) -> None:
    where = f"{phase.where}.partition.loads"
    stated = phase.raw["partition"].get("loads")
    if stated is None:
        findings.add("load-missing", where, "there is no list of loads")
        return
    for name, count in Counter(entry["name"] for entry in stated).items():
        if name not in loads:
            findings.add("load-needless", where, f"{name} is no boundary and no direction of a link")
        elif count > 1:
            findings.add("load-needless", where, f"{name} is listed {count} times")
    for name in sorted({*loads} - {entry["name"] for entry in stated}):
        findings.add("load-missing", where, f"{name} is not listed")
    for entry in stated:
        load = loads.get(entry["name"])
        if load is not None:
            for key in ("kind", "use", "capacity"):
                findings.expect("wrong-load", f"{where} {entry['name']}", key, entry[key], getattr(load, key))
