"""What single engines may be: within the limits that the options ask for, and with weights that the host writes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from floorflow.verify.back_end import PlannedEngine
from floorflow.verify.facts import PhaseFacts
from floorflow.verify.records import RESOURCE_NAMES, ROUNDING, Record
from floorflow.verify.violations import Findings

LEAST_ALLOWED = {"LUT": 20_000, "DSP": 128}
"""What an engine may always have, however small its slot."""
KEPT = "folding kept"
REASONS = (KEPT, "none of the engine", "none of the network", "no plan found")
"""Why an engine may be above a limit: the first where foldings are kept, the others where they are not."""

Key = tuple[str, str, str]
"""Phase, engine and limit."""


def check_engine_limits(plan: Record, phases: Sequence[PhaseFacts], findings: Findings) -> None:
    """Judge what the plan says of engines' products, and that those above a limit are listed, and no others."""
    above: dict[Key, tuple[int, int]] = {}
    for phase in phases:
        for name, engine in phase.folded.items():
            where = f"{phase.where} engine {name}"
            stated, facts = engine.row["folding"], engine.facts
            if phase.back_end is not None:
                findings.expect("wrong-products", where, "products", stated["products"], facts.products)
                known = stated["beyond_known_builds"]
                findings.expect("wrong-products", where, "beyond_known_builds", known, facts.beyond_known_builds)
            for limit, value, allowed in _above(plan["options"], phase, engine):
                above[phase.name, name, limit] = value, allowed
    _check_listed(plan, above, findings)


def _above(options: Record, phase: PhaseFacts, engine: PlannedEngine) -> Iterator[tuple[str, int, int]]:
    """Yield each limit that an engine is above, with what it has and what is allowed."""
    most, row = options["max_products"], engine.row["folding"]
    products = engine.facts.products if phase.back_end is not None else row["products"]
    allowed_products = _products_allowed(most, engine.row["entry"])
    if products > allowed_products:
        yield "products", products, int(allowed_products)
    slot = phase.slots.get(engine.row["slot"])
    for resource in RESOURCE_NAMES if slot is not None else ():
        share = options["max_engine_share"][resource]
        allowed = math.floor(share * slot.entry["available"][resource] + ROUNDING) if slot is not None else 0
        allowed = max(allowed, LEAST_ALLOWED.get(resource, 0))
        if share < 1 and row["resources"][resource] > allowed:
            yield resource, row["resources"][resource], allowed


def _products_allowed(most: int | str, entry: Record) -> float:
    """Return how many products an engine may form: the number for the widest operands that are not above its own."""
    if most == "none":
        return math.inf
    if isinstance(most, int):
        return most
    by_bits = {int(bits): int(count) for bits, _, count in (pair.partition(":") for pair in most.split(","))}
    own = max(1, entry["weight_bits"], entry["input_bits"])
    return by_bits[max(bits for bits in by_bits if bits <= own)]


def _check_listed(plan: Record, above: dict[Key, tuple[int, int]], findings: Findings) -> None:
    kept, listed = plan["options"].get("keep_folding") is True, set[Key]()
    for entry in plan["limits_lifted"]:
        key = entry["phase"], entry["engine"], entry["limit"]
        where = f"limits_lifted {entry['phase']} engine {entry['engine']} {entry['limit']}"
        if key not in above or key in listed:
            findings.add("limit-lifted-wrongly", where, "is listed twice, or above no such limit")
        else:
            stated = entry["value"], entry["allowed"]
            findings.expect("limit-lifted-wrongly", where, "value and allowed", stated, above[key])
        if entry["reason"] not in REASONS or (entry["reason"] == KEPT) != kept:
            given = "is" if kept else "is not"
            findings.add("limit-lifted-wrongly", where, f"reason {entry['reason']!r:.60}, and the folding {given} kept")
        listed.add(key)
    for (phase, engine, limit), (value, allowed) in above.items():
        if (phase, engine, limit) not in listed:
            message = f"{limit}: {value}, {allowed} allowed, and limits_lifted does not list it"
            findings.add("engine-above-limit", f"phase {phase} engine {engine}", message)


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
    _check_bounds(options, part, where, findings)
    if written and not _is_worth_it(options["objective"], part):
        told = f"without that {stated['without_cycles']} cycles, bound {stated['without_bound_cycles']}"
        findings.add("host-weights-needless", where, told)


def _cycles(objective: str, part: Record) -> float:
    """Return what counts: the interval, or the latency in cycles."""
    latency = part["folding"]["stats"]["objective"]
    return float(latency if objective == "latency" and latency is not None else part["interval_cycles"])


def _check_bounds(options: Record, part: Record, where: str, findings: Findings) -> None:
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
