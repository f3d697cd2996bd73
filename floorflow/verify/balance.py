"""Balanced rates: the cycles of consecutive layers, against the share by which the options let them differ."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from floorflow.verify.engines import PlannedEngine
from floorflow.verify.phase_facts import PhaseFacts
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings

FINEST_EPSILON = 10_000
"""The share counts as the nearest fraction with at most this denominator."""


def check_balance(plan: Record, phase: PhaseFacts, findings: Findings) -> None:
    """Judge every pair of layers of a phase between which no other layer lies."""
    epsilon = plan["options"].get("epsilon")
    if epsilon is None:
        return
    most = 1 + Fraction(epsilon).limit_denominator(FINEST_EPSILON)
    for one, other in _consecutive(phase):
        low, high = sorted(_cycles(phase.folded[name]) for name in (one, other))
        if high > most * low:
            message = f"{one} and {other} take {low} and {high} cycles, options.epsilon is {epsilon}"
            findings.add("rates-unbalanced", phase.where, message)


def check_price(plan: Record, findings: Findings) -> None:
    """Judge that a search tells what it could do without balance only where there is one, and that it is no worse."""
    epsilon, objective = plan["options"].get("epsilon"), plan["options"]["objective"]
    for network in plan["networks"]:
        where, free = f"network {network['name']}.search", network["search"].get("without_balance")
        if free is None:
            continue
        if epsilon is None:
            findings.add("wrong-bound", where, "without_balance is told, and options.epsilon asks for no balance")
        cycles = free["bound_cycles"]
        if cycles is not None and (objective != "throughput" or cycles > network["search"]["bound_cycles"]):
            message = f"without_balance.bound_cycles is {cycles}, with balance {network['search']['bound_cycles']}"
            findings.add("wrong-bound", where, f"{message}, the objective {objective}")


def _cycles(engine: PlannedEngine) -> int:
    return int(engine.folding["cycles"]) if engine.facts.cycles is None else engine.facts.cycles


def _consecutive(phase: PhaseFacts) -> Iterator[tuple[str, str]]:
    """Yield the pairs of layers, engines with weights that are a module's core, that other engines at most part."""
    cores = {name: engine.entry for name, engine in phase.folded.items() if engine.entry["role"] == "core"}
    layers = [name for name, entry in cores.items() if entry["weight_bits"]]
    for name in layers:
        seen: set[str] = set()
        waiting = list(phase.successors[name])
        while waiting:
            follower = waiting.pop()
            if follower in seen:
                continue
            seen.add(follower)
            if follower in layers:
                yield name, follower
            else:
                waiting += phase.successors[follower]
