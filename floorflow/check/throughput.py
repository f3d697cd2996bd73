"""Engines, foldings, cycles and rates of a phase, derived again from kinds and attributes."""

from __future__ import annotations

from floorflow.check.cycles import CYCLES
from floorflow.check.engines import AttributeProblem, FoldedEngine, bits_of
from floorflow.check.facts import PhaseFacts, topological_order
from floorflow.check.foldings import objections, window_objections
from floorflow.check.shape import Record
from floorflow.check.violations import Findings

_TYPE_ATTRIBUTES = {
    "input_bits": ("inputDataType", "dataType", "InputDataType"),
    "output_bits": ("outputDataType", "dataType", "OutputDataType"),
    "weight_bits": ("weightDataType",),
}
"""Attributes that state an engine's data types, by the width that they decide."""


def check_engines(plan: Record, findings: Findings) -> None:
    """Judge engines on their own: unique names, known kinds, bit widths that fit the data types."""
    seen: set[str] = set()
    for network in plan["networks"]:
        for engine in network["engines"]:
            where = f"engine {engine['name']}"
            if engine["name"] in seen:
                findings.add("engine-repeated", where, "two engines have this name")
            seen.add(engine["name"])
            if engine["kind"] not in CYCLES:
                findings.add("unknown-kind", where, f"check does not know the kind {engine['kind']}")
            _check_types(engine, where, findings)


def _check_types(engine: Record, where: str, findings: Findings) -> None:
    for width, attributes in _TYPE_ATTRIBUTES.items():
        if width == "weight_bits" and not engine["kind"].startswith(("MVAU", "VVAU")):
            continue  # elsewhere weightDataType is the type of thresholds
        for attribute in attributes:
            if attribute not in engine["attributes"]:
                continue
            stated = engine["attributes"][attribute]
            if not isinstance(stated, str) or bits_of(stated) != engine[width]:
                findings.add("type-width-mismatch", where, f"{width} is {engine[width]}, {attribute} is {stated}")


def check_throughput(phase: PhaseFacts, clock_mhz: float, findings: Findings) -> None:
    """Judge foldings, cycles, the interval and the estimates of a phase."""
    cycles = {name: _check_engine(engine, phase, findings) for name, engine in phase.folded.items()}
    for channel in phase.channels:
        _check_window(phase, channel, findings)
    if not cycles:
        return
    interval = max(cycles.values())
    where = f"{phase.where}.folding.cycles"
    findings.expect("wrong-interval", where, "the interval", phase.raw["folding"]["cycles"], interval)
    _check_estimates(phase, cycles, clock_mhz, findings)


def _check_engine(engine: FoldedEngine, phase: PhaseFacts, findings: Findings) -> int:
    """Judge one folding and return its cycles, the derived ones where they can be derived."""
    where = f"{phase.where} engine {engine.name}"
    stated = int(engine.folding["cycles"])
    if engine.kind not in CYCLES:
        return stated
    problems = objections(engine)
    for problem in problems:
        findings.add("illegal-folding", where, problem)
    try:
        derived = CYCLES[engine.kind](engine)
    except (AttributeProblem, ZeroDivisionError) as problem:
        if not problems:
            findings.add("engine-malformed", where, str(problem))
        return stated
    findings.expect("wrong-cycles", where, "cycles", stated, derived)
    return derived


def _check_window(phase: PhaseFacts, channel: Record, findings: Findings) -> None:
    source, target = (phase.folded.get(channel[end]) for end in ("source", "target"))
    if source is None or target is None:
        return
    try:
        problems = list(window_objections(source, target))
    except AttributeProblem:
        return  # reported where the engine itself is judged
    for problem in problems:
        findings.add("illegal-folding", f"{phase.where} engine {source.name}", problem)


def critical_path(successors: dict[str, list[str]], cycles: dict[str, int]) -> int:
    """Return the largest sum of cycles along a path: FINN's (pessimistic) latency."""
    arrival = dict.fromkeys(successors, 0)
    longest = 0
    for name in topological_order(successors):
        done = arrival[name] + cycles[name]
        longest = max(longest, done)
        for follower in successors[name]:
            arrival[follower] = max(arrival[follower], done)
    return longest


def _check_estimates(phase: PhaseFacts, cycles: dict[str, int], clock_mhz: float, findings: Findings) -> None:
    stated, where = phase.raw["estimates"], f"{phase.where}.estimates"
    interval = max(cycles.values())
    bottleneck = next(name for name, count in cycles.items() if count == interval)
    latency = critical_path(phase.successors, cycles)
    derived = {
        "clock_mhz": clock_mhz,
        "cycles": interval,
        "fps": clock_mhz * 1e6 / interval if interval else None,
        "latency_us": latency / clock_mhz if clock_mhz else None,
        "bottleneck": bottleneck,
    }
    for key, value in derived.items():
        findings.expect("wrong-estimate", f"{where}.{key}", key, stated[key], value)
