"""Engines, foldings, cycles and rates of a phase, from kinds and attributes; balance, limits, weights of the host."""

import math
from collections.abc import Collection, Iterator
from fractions import Fraction
from itertools import pairwise

from floorflow.verify.back_end import PlannedEngine
from floorflow.verify.facts import PhaseFacts, Phases
from floorflow.verify.graphs import critical_path
from floorflow.verify.hardware.routes import links_on
from floorflow.verify.phase_records import ChannelRecord, HostWeightsRecord, PartRecord, ThroughputRecord
from floorflow.verify.plan_records import EngineRecord, OptionsRecord, PlanRecord
from floorflow.verify.records import RESOURCE_NAMES, ROUNDING, SIDES, repeated
from floorflow.verify.violations import Findings

Edge = tuple[str, str, float]
"""From, to, and what the way takes."""


def check_throughput(phase: PhaseFacts) -> None:
    """Check foldings, cycles, and the interval and estimates of every network of a phase."""
    cycles = {name: check_engine(engine, phase) for name, engine in phase.folded.items()}
    for channel in phase.channels:
        source, target = (phase.folded.get(channel[end]) for end in SIDES)
        if source is not None and target is not None and phase.back_end is not None:
            phase.back_end.check_joined(source.row, target.row, f"{phase.where} engine {source.name}")
    for network, part in phase.parts.items():
        where = f"{phase.where} network {network}"
        own = {name: cycles[name] for name in phase.engines_of(network)}
        if not own:
            phase.add("engine-missing", where, "there is no engine with a folding")
            continue
        phase.expect("wrong-interval", where, "interval_cycles", part["interval_cycles"], max(own.values()))
        _check_estimates(phase, network, own)


def check_engine(engine: PlannedEngine, phase: PhaseFacts) -> int:
    """Check what one folding gives and return its cycles, the derived ones where they can be derived."""
    where = f"{phase.where} engine {engine.name}"
    stated = engine.folding["cycles"]
    for resource, least in engine.facts.least_resources.items():
        if engine.folding["resources"][resource] < least:
            told = f"{resource} is {engine.folding['resources'][resource]}, it needs {least} at the least"
            phase.add("resources-too-few", where, told)
    _check_parallelism(engine, where, phase.findings)
    if engine.facts.cycles is None:
        return stated
    phase.expect("wrong-cycles", where, "cycles", stated, engine.facts.cycles)
    return engine.facts.cycles


def _check_parallelism(engine: PlannedEngine, where: str, findings: Findings) -> None:
    """Judge that rows of parallelism stand once, stay within their most, and are the folding of their name."""
    rows, attributes = engine.folding["parallelism"], engine.folding["attributes"]
    for name, count in repeated(row["name"] for row in rows):
        findings.add("wrong-parallelism", where, f"{name} stands {count} times")
    for row in rows:
        if row["value"] > row["most"]:
            findings.add("wrong-parallelism", where, f"{row['name']} is {row['value']}, at most {row['most']}")
        if row["name"] in attributes:
            stated, folded = row["value"], attributes[row["name"]]
            findings.expect("wrong-parallelism", where, f"{row['name']} of parallelism", stated, folded)


def _latency_us(phase: PhaseFacts, network: str, cycles: dict[str, int]) -> float | None:
    """Return the time of the slowest path from end to end: cycles of engines and latencies of links."""
    if not phase.clock_mhz:
        return None
    edges = [
        (channel["source"], channel["target"], sum(link.latency_us for link in links_on(phase.route(channel) or ())))
        for channel in phase.channels_of(network)
    ]
    return critical_path(edges, {name: count / phase.clock_mhz for name, count in cycles.items()})


def _check_estimates(phase: PhaseFacts, network: str, cycles: dict[str, int]) -> None:
    stated, where = phase.parts[network]["estimates"], f"{phase.where} network {network}.estimates"
    interval = max(cycles.values())
    bottleneck = next(name for name, count in cycles.items() if count == interval)
    clock_mhz = phase.clock_mhz
    derived = {
        "clock_mhz": clock_mhz,
        "fps": clock_mhz * 1e6 / interval if interval else None,
        "latency_us": _latency_us(phase, network, cycles),
        "bottleneck": bottleneck,
    }
    phase.findings.compare_at("wrong-estimate", where, stated, derived)
    expected = stated["expected_cycles"]
    if expected is not None and expected < interval:
        message = f"is {expected}, starting anew takes nothing off the interval of {interval}"
        phase.add("wrong-estimate", f"{where}.expected_cycles", message)
    _check_likely_clock(phase, network)
    throughput = stated["throughput"]
    if throughput is None:
        phase.expect("wrong-estimate", f"{where}.sustained_fps", "sustained_fps", stated["sustained_fps"], None)
        return
    if expected is not None and throughput["interval_cycles"] is not None:
        longest = max(throughput["interval_cycles"], interval)
        phase.expect("wrong-estimate", where, "expected_cycles", expected, longest)
    _check_known(throughput, f"{where}.throughput", phase.findings)
    _check_first_frame(phase, network, throughput["first_frame_cycles"])
    _check_sustained(phase, network, throughput)


def _check_likely_clock(phase: PhaseFacts, network: str) -> None:
    """Judge that a range of clocks is one, and that the engine which limits it runs; the figures are an estimate."""
    stated = phase.parts[network]["estimates"].get("likely_clock")
    if stated is None:
        return
    where = f"{phase.where} network {network}.estimates.likely_clock"
    if not 0 < stated["low_mhz"] <= stated["high_mhz"]:
        message = f"{stated['low_mhz']} to {stated['high_mhz']} MHz is no range of clocks"
        phase.add("wrong-estimate", where, message)
    if stated["engine"] and stated["engine"] not in phase.parts[network]["folding"]["engines"]:
        phase.add("wrong-estimate", where, f"engine {stated['engine']} does not run here")


def _check_known(stated: ThroughputRecord, where: str, findings: Findings) -> None:
    """Judge that the first word is no later than the frame, and that what is not known, and only that, is excused."""
    first_word, first_frame = stated["first_word_cycles"], stated["first_frame_cycles"]
    if first_word is not None and first_frame is not None and first_word > first_frame:
        told = f"the first word comes at {first_word}, the frame is done at {first_frame}"
        findings.add("wrong-estimate", where, told)
    kept = (stated["interval_cycles"], first_word, first_frame)
    excused = bool(stated["not_analysed"].strip())
    if None in kept and not stated["deadlock"] and not excused:
        findings.add("wrong-estimate", where, "a number is not known, and not_analysed does not say why")
    if excused and None not in (*kept, stated["full_rate_cycles"]):
        findings.add("wrong-estimate", where, "not_analysed says why something is not known, and all is")


def _check_first_frame(phase: PhaseFacts, network: str, stated: int | None) -> None:
    """Judge that the first frame is not done before its words can have passed the registers and links on a path."""
    if stated is None:
        return
    unread = _engines_whose_data_is_never_read(phase)
    edges = [
        (channel["source"], channel["target"], float(_route_cycles(phase, channel)))
        for channel in phase.channels_of(network)
        if channel["target"] not in unread
    ]
    least = critical_path(_leading_out(edges, phase.engines_of(network)), {})
    if stated < least:
        message = f"first_frame_cycles is {stated}, registers, slices and links on a path take {least:.0f}"
        phase.add("wrong-estimate", f"{phase.where} network {network}.estimates.throughput", message)


def _leading_out(edges: list[Edge], engines: Collection[str]) -> list[Edge]:
    """Return the edges from which a path leads outside: what comes before data that nothing reads is not waited for."""
    kept = edges
    while True:
        going_on = {source for source, _, _ in kept}
        left = [edge for edge in kept if edge[1] not in engines or edge[1] in going_on]
        if len(left) == len(kept):
            return kept
        kept = left


def _engines_whose_data_is_never_read(phase: PhaseFacts) -> set[str]:
    """Return the engines of which those behind them read nothing that has to be waited for."""
    back_end, unread = phase.back_end, set()
    for channel in phase.channels:
        source, target = (phase.folded.get(channel[end]) for end in SIDES)
        where = f"{phase.where} channel {channel['name']}"
        if source and target and back_end and back_end.reads_no_data(source.row, target.row, where):
            unread.add(source.name)
    return unread


def _route_cycles(phase: PhaseFacts, channel: ChannelRecord) -> int:
    """Cycles that a word spends in registers and slices, one in each, and on links."""
    route = phase.route(channel) or ()
    return phase.stages(route) + channel["slices"] + phase.link_cycles(route)


def _check_sustained(phase: PhaseFacts, network: str, stated: ThroughputRecord) -> None:
    """Judge what the plan says that its FIFOs keep: no more than deeper ones, and nothing in a deadlock."""
    estimates, where = phase.parts[network]["estimates"], f"{phase.where} network {network}.estimates"
    kept, full = stated["interval_cycles"], stated["full_rate_cycles"]
    if kept is not None and (kept < (full or 0) or stated["deadlock"]):
        message = f"interval_cycles is {kept}, of deep enough FIFOs {full}; deadlocks: {len(stated['deadlock'])}"
        phase.add("wrong-estimate", f"{where}.throughput", message)
    sustained = 0.0 if stated["deadlock"] else phase.clock_mhz * 1e6 / kept if kept else None
    phase.expect("wrong-estimate", f"{where}.sustained_fps", "sustained_fps", estimates["sustained_fps"], sustained)
    depths = {channel["name"]: channel["fifo_depth"] for channel in phase.channels_of(network)}
    for row in stated["shallow"]:
        if depths.get(row["channel"]) != row["planned"] or row["planned"] >= row["needed"]:
            message = (
                f"{row['channel']} has {depths.get(row['channel'])} words, stated {row['planned']} of {row['needed']}"
            )
            phase.add("wrong-estimate", f"{where}.throughput.shallow", message)


FINEST_EPSILON = 10_000
"""The share counts as the nearest fraction with at most this denominator."""


def check_balance(plan: PlanRecord, phase: PhaseFacts) -> None:
    """Judge every pair of layers of a phase between which no other layer lies."""
    epsilon = plan["options"].get("epsilon")
    if epsilon is None:
        return
    most = 1 + Fraction(epsilon).limit_denominator(FINEST_EPSILON)
    for one, other in _consecutive(phase):
        low, high = sorted(_cycles(phase.folded[name]) for name in (one, other))
        if high > most * low:
            message = f"{one} and {other} take {low} and {high} cycles, options.epsilon is {epsilon}"
            phase.add("rates-unbalanced", phase.where, message)


def check_price(plan: PlanRecord, findings: Findings) -> None:
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
    return engine.folding["cycles"] if engine.facts.cycles is None else engine.facts.cycles


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


LEAST_ALLOWED = {"LUT": 20_000, "DSP": 128}
"""What an engine may always have, however small its slot."""
KEPT = "folding kept"
REASONS = (KEPT, "none of the engine", "none of the network", "no plan found")
"""Why an engine may be above a limit: the first where foldings are kept, the others where they are not."""

Key = tuple[str, str, str]
"""Phase, engine and limit."""


def check_engine_limits(plan: PlanRecord, phases: Phases, findings: Findings) -> None:
    """Judge what the plan says of engines' products, and that those above a limit are listed, and no others."""
    above: dict[Key, tuple[int, int]] = {}
    for phase in phases:
        for name, engine in phase.folded.items():
            where = f"{phase.where} engine {name}"
            stated, facts = engine.folding, engine.facts
            if phase.back_end is not None:
                findings.expect("wrong-products", where, "products", stated["products"], facts.products)
                known = stated["beyond_known_builds"]
                findings.expect("wrong-products", where, "beyond_known_builds", known, facts.beyond_known_builds)
            for limit, value, allowed in _above(plan["options"], phase, engine):
                above[phase.name, name, limit] = value, allowed
    _check_listed(plan, above, findings)


def _above(options: OptionsRecord, phase: PhaseFacts, engine: PlannedEngine) -> Iterator[tuple[str, int, int]]:
    """Yield each limit that an engine is above, with what it has and what is allowed."""
    most, row = options["max_products"], engine.folding
    products = engine.facts.products if phase.back_end is not None else row["products"]
    allowed_products = _products_allowed(most, engine.entry)
    if products > allowed_products:
        yield "products", products, int(allowed_products)
    slot = phase.slots.get(engine.row["slot"] or "")
    for resource in RESOURCE_NAMES if slot is not None else ():
        share = options["max_engine_share"][resource]
        allowed = math.floor(share * slot.entry["available"][resource] + ROUNDING) if slot is not None else 0
        allowed = max(allowed, LEAST_ALLOWED.get(resource, 0))
        if share < 1 and row["resources"][resource] > allowed:
            yield resource, row["resources"][resource], allowed


def _products_allowed(most: int | str, entry: EngineRecord) -> float:
    """Return how many products an engine may form: the number for the widest operands that are not above its own."""
    if most == "none":
        return math.inf
    if isinstance(most, int):
        return most
    by_bits = {int(bits): int(count) for bits, _, count in (pair.partition(":") for pair in most.split(","))}
    own = max(1, entry["weight_bits"], entry["input_bits"])
    return by_bits[max(bits for bits in by_bits if bits <= own)]


def _check_listed(plan: PlanRecord, above: dict[Key, tuple[int, int]], findings: Findings) -> None:
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


def check_host_weights(options: OptionsRecord, phase: PhaseFacts) -> None:
    """Judge ``host_weights`` of every network in a phase; what options rule out the back end's part judges."""
    for network, part in phase.parts.items() if phase.back_end is not None else ():
        _check_part(options, phase, network, part)


def _check_part(options: OptionsRecord, phase: PhaseFacts, network: str, part: PartRecord) -> None:
    where, stated = f"{phase.where} network {network}.host_weights", part["host_weights"]
    engines = phase.engines_of(network)
    written = [name for name, engine in engines.items() if engine.facts.host_writes]
    spared = options.get("keep_folding") is not True and any(e.facts.host_spared for e in engines.values())
    if stated is None:
        if spared and written:
            phase.add("host-weights-differ", where, f"is null, the host has to write {', '.join(written)}")
        return
    if not spared:
        phase.add("host-weights-differ", where, "is stated, though the options do not spare the host, or keep foldings")
    phase.expect("host-weights-differ", where, "engines", sorted(stated["engines"]), sorted(written))
    if stated["least"] > len(stated["engines"]):
        phase.add("bound-above-objective", where, f"least {stated['least']} is above the number of engines")
    _check_bounds(options, stated, part["interval_cycles"], where, phase.findings)
    latency, cycles = part["folding"]["stats"]["objective"], float(part["interval_cycles"])
    if options["objective"] == "latency" and latency is not None:
        cycles = latency
    if written and not _is_worth_it(options["objective"], stated, cycles):
        told = f"without that {stated['without_cycles']} cycles, bound {stated['without_bound_cycles']}"
        phase.add("host-weights-needless", where, told)


def _check_bounds(
    options: OptionsRecord, stated: HostWeightsRecord, interval: int, where: str, findings: Findings
) -> None:
    """Judge that bounds are below what they bound, as far as they were worked out."""
    names = ("without_cycles", "without_bound_cycles", "bound_cycles")
    known = stated["without_cycles"], stated["without_bound_cycles"], stated["bound_cycles"]
    for (above, value), (below, least) in pairwise(zip(names, known, strict=True)):
        if value is not None and least is not None and value < least:
            findings.add("wrong-bound", where, f"{above} {value} is below {below} {least}")
    bound = stated["bound_cycles"]
    if options["objective"] == "throughput" and bound is not None and bound > interval:
        findings.add("bound-above-objective", where, f"bound_cycles {bound} is above interval {interval}")
    if stated["without_cycles"] is not None and not stated["sought"]:
        findings.add("host-weights-differ", where, "without_cycles is that of a design that was not sought")


def _is_worth_it(objective: str, stated: HostWeightsRecord, cycles: float) -> bool:
    """Whether without such engines nothing fits, or less than the share that counts is proven or was found."""
    known = stated["without_cycles"] if stated["sought"] else stated["without_bound_cycles"]
    if stated["without_bound_cycles"] is None or known is None:
        return True
    return objective != "resources" and cycles < WORTH * known
