"""Engines whose weights the host writes: whether the plan names them, and whether they buy what they must."""

from __future__ import annotations

from collections.abc import Sequence

from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings

WORTH = 0.9
"""A rate below this share of the plan's must be all that there is without such engines."""


def check_host_weights(plan: Record, phases: Sequence[PhaseFacts], findings: Findings) -> None:
    """Judge ``host_weights`` of every network in a phase; what options rule out the back end's part judges."""
    for phase in phases:
        for network, part in phase.parts.items():
            if phase.back_end is not None:
                _check_part(plan["options"], phase, network, part, findings)


def _check_part(options: Record, phase: PhaseFacts, network: str, part: Record, findings: Findings) -> None:
    where, stated = f"{phase.where} network {network}.host_weights", part["host_weights"]
    engines = phase.engines_of(network)
    written = [name for name, engine in engines.items() if engine.facts.host_writes]
    spared = options.get("keep_folding") is not True and any(e.facts.host_spared for e in engines.values())
    if stated is None:
        if spared and written:
            findings.add("host-weights-differ", where, f"is null, the host has to write {', '.join(written)}")
        return
    if not spared:
        findings.add(
            "host-weights-differ", where, "is stated, though the options do not spare the host, or keep foldings"
        )
    findings.expect("host-weights-differ", where, "engines", sorted(stated["engines"]), sorted(written))
    if stated["least"] > len(stated["engines"]):
        findings.add("bound-above-objective", where, f"least {stated['least']} is above the number of engines")
    _check_order(options, part, where, findings)
    if written and not _is_worth_it(options["objective"], part):
        told = f"without that {stated['without_cycles']} cycles, bound {stated['without_bound_cycles']}"
        findings.add("host-weights-needless", where, told)


def _cycles(objective: str, part: Record) -> float:
    """Return what counts: the interval, or the latency in cycles."""
    latency = part["folding"]["stats"]["objective"]
    return float(latency if objective == "latency" and latency is not None else part["interval_cycles"])


def _check_order(options: Record, part: Record, where: str, findings: Findings) -> None:
    """Judge that bounds are below what they bound, as far as they were worked out."""
    stated = part["host_weights"]
    pairs = [("without_cycles", "without_bound_cycles"), ("without_bound_cycles", "bound_cycles")]
    for name, bound in pairs:
        if stated[name] is not None and stated[bound] is not None and stated[name] < stated[bound]:
            findings.add("wrong-bound", where, f"{name} {stated[name]} is below {bound} {stated[bound]}")
    bound, interval = stated["bound_cycles"], part["interval_cycles"]
    if options["objective"] == "throughput" and bound is not None and bound > interval:
        findings.add("bound-above-objective", where, f"bound_cycles {bound} is above interval {interval}")
    if stated["without_cycles"] is not None and not stated["sought"]:
        findings.add("host-weights-differ", where, "without_cycles is that of a design that was not sought")


def _is_worth_it(objective: str, part: Record) -> bool:
    """Whether without such engines nothing fits, or less than the share that counts is proven or was found."""
    stated, cycles = part["host_weights"], _cycles(objective, part)
    if stated["without_bound_cycles"] is None:
        return True
    if stated["sought"] and stated["without_cycles"] is None:
        return True
    if objective == "resources":
        return False
    known = stated["without_cycles"] if stated["sought"] else stated["without_bound_cycles"]
    return bool(cycles < WORTH * known)
