"""Engines, foldings, cycles and rates of a phase, derived again from kinds and attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from floorflow.verify.engines import AttributeProblem, FoldedEngine, bits_of
from floorflow.verify.files.reader import NUMBER_LIMIT
from floorflow.verify.finn.cycles import CYCLES
from floorflow.verify.finn.foldings import objections, window_objections
from floorflow.verify.finn.window_fill import reads_only_padding
from floorflow.verify.hardware.routes import links_on
from floorflow.verify.phase_facts import PhaseFacts, topological_order
from floorflow.verify.plan_structure import Record
from floorflow.verify.violations import Findings

_TYPE_ATTRIBUTES = {
    "input_bits": ("inputDataType", "dataType", "InputDataType"),
    "output_bits": ("outputDataType", "dataType", "OutputDataType"),
    "weight_bits": ("weightDataType",),
}
"""Attributes that state an engine's data types, by the width that they decide."""


def check_engines(plan: Record, findings: Findings) -> None:
    """Check engines on their own: unique names, known kinds, bit widths that fit the data types."""
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
            _check_types_of_ports(engine, where, findings)


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


def _check_types_of_ports(engine: Record, where: str, findings: Findings) -> None:
    """Check joins and forks: the types of their ports are known, and copies are as wide as the original."""
    types = engine["attributes"].get("inputDataTypes", [])
    for data_type in types if isinstance(types, list) else [types]:
        if not isinstance(data_type, str) or bits_of(data_type) is None:
            findings.add("type-width-mismatch", where, f"inputDataTypes holds {data_type!r}, expected a FINN data type")
    if engine["kind"].startswith("DuplicateStreams") and engine["output_bits"] != engine["input_bits"]:
        widths = f"{engine['input_bits']} bits enter, {engine['output_bits']} leave each output"
        findings.add("type-width-mismatch", where, widths)


def check_types(phase: PhaseFacts, findings: Findings) -> None:
    """Check that the ends of every channel agree on its data type, where both engines state one."""
    for channel in phase.channels:
        source, target = (phase.folded.get(channel[end]) for end in ("source", "target"))
        if source is None or target is None:
            continue
        stated = source.output_type, target.input_type(channel["target_port"])
        if None not in stated and stated[0] != stated[1]:
            where = f"{phase.where} channel {channel['name']}"
            findings.add("type-mismatch", where, f"{source.name} emits {stated[0]}, {target.name} takes {stated[1]}")


def check_throughput(phase: PhaseFacts, findings: Findings) -> None:
    """Check foldings, cycles, the interval and the estimates of a phase."""
    cycles = {name: _check_engine(engine, phase, findings) for name, engine in phase.folded.items()}
    for channel in phase.channels:
        _check_window(phase, channel, findings)
    if not cycles:
        findings.add("engine-missing", phase.where, "there is no engine with a folding")
        return
    interval = max(cycles.values())
    where = f"{phase.where}.folding.cycles"
    findings.expect("wrong-interval", where, "the interval", phase.raw["folding"]["cycles"], interval)
    _check_estimates(phase, cycles, findings)


def _check_engine(engine: FoldedEngine, phase: PhaseFacts, findings: Findings) -> int:
    """Check one folding and return its cycles, the derived ones where they can be derived."""
    where = f"{phase.where} engine {engine.name}"
    stated = int(engine.folding["cycles"])
    if engine.kind not in CYCLES:
        return stated
    problems = objections(engine)
    for problem in problems:
        findings.add("illegal-folding", where, problem)
    try:
        derived = CYCLES[engine.kind](engine)
    except (AttributeProblem, ArithmeticError) as problem:
        if not problems:
            findings.add("engine-malformed", where, str(problem))
        return stated
    if derived >= NUMBER_LIMIT:
        findings.add("engine-malformed", where, "attributes and folding give 2^63 cycles or more")
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
        return  # reported where the engine itself is checked
    for problem in problems:
        findings.add("illegal-folding", f"{phase.where} engine {source.name}", problem)


def critical_path(edges: Iterable[tuple[str, str, float]], weights: Mapping[str, float]) -> float:
    """Return the largest sum of weights of nodes and edges along a path; nodes without a weight have 0.

    ``edges`` are ``(source, target, weight)``; nodes on or behind a cycle are left out.
    """
    leaving: dict[str, list[tuple[str, float]]] = {name: [] for name in weights}
    for source, target, weight in edges:
        leaving.setdefault(source, []).append((target, weight))
        leaving.setdefault(target, [])
    arrival = dict.fromkeys(leaving, 0.0)
    longest = 0.0
    for name in topological_order({name: [target for target, _ in pairs] for name, pairs in leaving.items()}):
        done = arrival[name] + weights.get(name, 0.0)
        longest = max(longest, done)
        for target, weight in leaving[name]:
            arrival[target] = max(arrival[target], done + weight)
    return longest


def _latency_us(phase: PhaseFacts, cycles: dict[str, int]) -> float | None:
    """Return the time of the slowest path from host to host: cycles of engines and latencies of links."""
    if not phase.clock_mhz:
        return None
    edges = [
        (channel["source"], channel["target"], sum(link.latency_us for link in links_on(phase.route(channel) or ())))
        for channel in phase.channels
    ]
    return critical_path(edges, {name: count / phase.clock_mhz for name, count in cycles.items()})


def _check_estimates(phase: PhaseFacts, cycles: dict[str, int], findings: Findings) -> None:
    stated, where = phase.raw["estimates"], f"{phase.where}.estimates"
    interval = max(cycles.values())
    bottleneck = next(name for name, count in cycles.items() if count == interval)
    clock_mhz = phase.clock_mhz
    derived = {
        "clock_mhz": clock_mhz,
        "cycles": interval,
        "fps": clock_mhz * 1e6 / interval if interval else None,
        "latency_us": _latency_us(phase, cycles),
        "bottleneck": bottleneck,
    }
    for key, value in derived.items():
        findings.expect("wrong-estimate", f"{where}.{key}", key, stated[key], value)
    _check_first_frame(phase, findings)
    if stated.get("throughput") is not None:
        _check_sustained(phase, findings)


def _check_first_frame(phase: PhaseFacts, findings: Findings) -> None:
    """Judge that the first frame is not done before its words can have passed the registers and links on a path."""
    stated = (phase.raw["estimates"].get("throughput") or {}).get("first_frame_cycles")
    if stated is None:
        return
    unread = _engines_whose_data_is_never_read(phase)
    edges = [
        (channel["source"], channel["target"], float(_route_cycles(phase, channel)))
        for channel in phase.channels
        if channel["target"] not in unread
    ]
    least = critical_path(edges, {})
    if stated < least:
        message = f"first_frame_cycles is {stated}, registers and links on a path take {least:.0f}"
        findings.add("wrong-estimate", f"{phase.where}.estimates.throughput", message)


def _engines_whose_data_is_never_read(phase: PhaseFacts) -> set[str]:
    """Return the paddings of which the windows behind them read nothing but what is padded: they wait for no data."""
    joined = ((phase.folded.get(c["target"]), phase.folded.get(c["source"])) for c in phase.channels)
    return {padding.name for window, padding in joined if window and padding and reads_only_padding(window, padding)}


def _route_cycles(phase: PhaseFacts, channel: Record) -> int:
    """Cycles that a word spends in registers, one in each, and on links, exact in the decimals of the plan."""
    route = phase.route(channel) or ()
    links = (Fraction(str(link.entry["latency_us"])) * Fraction(str(phase.clock_mhz)) for link in links_on(route))
    return phase.stages(route) + sum(math.ceil(cycles) for cycles in links)


def _check_sustained(phase: PhaseFacts, findings: Findings) -> None:
    """Judge what the plan says that its FIFOs keep: no more than deeper ones, and nothing in a deadlock."""
    estimates, where = phase.raw["estimates"], f"{phase.where}.estimates"
    stated = estimates["throughput"]
    kept = stated["interval_cycles"]
    full = stated["full_rate_cycles"]
    if kept is not None and (kept < (full or 0) or stated["deadlock"]):
        message = f"interval_cycles is {kept}, of deep enough FIFOs {full}; deadlocks: {len(stated['deadlock'])}"
        findings.add("wrong-estimate", f"{where}.throughput", message)
    sustained = 0.0 if stated["deadlock"] else phase.clock_mhz * 1e6 / kept if kept else None
    findings.expect(
        "wrong-estimate", f"{where}.sustained_fps", "sustained_fps", estimates.get("sustained_fps"), sustained
    )
    depths = {channel["name"]: channel["fifo_depth"] for channel in phase.channels}
    for row in stated["shallow"]:
        if depths.get(row["channel"]) != row["planned"] or row["planned"] >= row["needed"]:
            message = (
                f"{row['channel']} has {depths.get(row['channel'])} words, stated {row['planned']} of {row['needed']}"
            )
            findings.add("wrong-estimate", f"{where}.throughput.shallow", message)
