"""The partition of a phase: assignment, crossings and their cost, what boundaries and links carry, and hops."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase

from floorflow.verify.facts import PhaseFacts, stream_wires
from floorflow.verify.hardware.boards import Boards
from floorflow.verify.hardware.routes import Route, RouteStep, Slot, links_on
from floorflow.verify.phase_records import (
    ChannelRecord,
    CrossingRecord,
    FarRegisterRecord,
    FarStreamRecord,
    StatsRecord,
    WishRecord,
    WithoutWishRecord,
)
from floorflow.verify.plan_records import BoundaryRecord, OptionsRecord
from floorflow.verify.records import SIDES, add, excess, limit_of
from floorflow.verify.rules.claims import check_stats
from floorflow.verify.rules.sums import left_of, slot_totals
from floorflow.verify.violations import Findings


def check_assignment(phase: PhaseFacts) -> None:
    """Judge that every module is in one slot that exists."""
    assignment, where = phase.raw["partition"]["assignment"], f"{phase.where}.partition.assignment"
    for name in phase.modules:
        if name not in assignment:
            phase.add("module-unassigned", where, f"{name} is in no slot")
    for name, slot in assignment.items():
        if name not in phase.modules:
            phase.add("module-unknown", where, f"{name} is no module")
        if slot not in phase.slots:
            phase.add("slot-unknown", where, f"{name} is in {slot}")


def check_crossings(phase: PhaseFacts) -> None:
    """Judge the list of crossings and the cost; the crossings of a channel stand in the order of its route."""
    partition, where = phase.raw["partition"], f"{phase.where}.partition"
    listed: dict[str, list[CrossingRecord]] = {}
    for crossing in partition["crossings"]:
        listed.setdefault(crossing["channel"], []).append(crossing)
    cost = 0
    for channel in phase.channels:
        route = phase.route(channel)
        stated = listed.pop(channel["name"], [])
        if route is None:
            continue  # reported where ends and links are judged
        cost += sum(stream_wires(channel["width_bits"]) * step.cost_per_wire for step in route)
        if _check_number(stated, route, f"{where} channel {channel['name']}", phase.findings):
            for entry, step in zip(stated, route, strict=True):
                _check_crossing(phase, channel, entry, step)
    for name in sorted(listed):
        phase.add("crossing-needless", where, f"{name} is no channel")
    phase.expect("wrong-cost", where, "cost", partition["cost"], cost)


COMFORTABLE = {"LUT": 0.6, "BRAM18": 0.75}
ENDS = ["least full", "fewest crossings", "taken"]


def check_evenness(phase: PhaseFacts) -> None:
    """Judge that the plan is what was taken, that nothing in it lies beyond either end, and the rule that took it."""
    partition, where = phase.raw["partition"], f"{phase.where}.partition.evenness"
    stated, name = partition["evenness"], "evenness-differs"
    if stated is None:
        return
    if [row["end"] for row in stated["rows"]] != ENDS or len(phase.slots) < 2:
        phase.add(name, where, f"rows are not {', '.join(ENDS)} of several slots")
        return
    even, few, taken = stated["rows"]
    links = [stream_wires(crossing["width_bits"]) for crossing in partition["crossings"] if crossing["kind"] == "link"]
    plan = {
        "fullness": partition["fullness"],
        "crossings": partition["stats"],
        "links": len(links),
        "link_wires": sum(links),
    }
    phase.findings.compare_at(name, f"{where} taken", taken, plan)
    for row in stated["rows"]:
        check_stats(row["fullness"], f"{where} {row['end']}.fullness", phase.findings)
        check_stats(row["crossings"], f"{where} {row['end']}.crossings", phase.findings)
    if any((row["fullness"]["objective"] or 0) < (even["fullness"]["objective"] or 0) - 1e-9 for row in (few, taken)):
        phase.add(name, where, "what is told to be least full is not")
    costs = [(row["links"], row["link_wires"], row["crossings"]["objective"] or 0) for row in stated["rows"]]
    if min(costs) < costs[1]:
        phase.add(name, where, "what is told to have the fewest crossings has not")
    shares = partition["utilisation"].values()
    if stated["rule"] == "comfortable" and any(own[r] >= most for own in shares for r, most in COMFORTABLE.items()):
        phase.add(name, where, "slots are not below 60% of their LUT and 75% of their BRAM18")


def _check_number(stated: list[CrossingRecord], route: Route, where: str, findings: Findings) -> bool:
    steps = Counter((step.source.name, step.target.name) for step in route)
    entries = Counter((entry["source"], entry["target"]) for entry in stated)
    if len(stated) < len(route):
        source, target = next(iter(steps - entries))
        findings.add("crossing-missing", where, f"the crossing from {source} to {target} is not listed")
    if len(stated) > len(route):
        source, target = next(iter(entries - steps))
        findings.add("crossing-needless", where, f"it does not run from {source} to {target}, or is listed twice")
    return len(stated) == len(route)


def _check_crossing(phase: PhaseFacts, channel: ChannelRecord, stated: CrossingRecord, step: RouteStep) -> None:
    where = f"{phase.where} crossing {channel['name']} {step.source.name}>{step.target.name}"
    derived = {
        "source": step.source.name,
        "target": step.target.name,
        "width_bits": channel["width_bits"],
        "gbps": phase.gbps(channel),
        "hops": step.hops,
        "kind": step.kind,
    }
    phase.compare("wrong-crossing", where, stated, derived)


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


def check_loads(phase: PhaseFacts, slls: list[BoundaryRecord]) -> None:
    """Judge that nothing is overloaded and that the plan's list is complete and right."""
    loads = _loads(phase, slls)
    for name, load in loads.items():
        where = f"{phase.where} load {name}"
        if load.is_too_much:
            unit = "Gb/s" if load.kind == "link" else "wires"
            phase.add(
                "link-overload" if load.kind == "link" else "sll-overload",
                where,
                f"needs {load.use} {unit}, has {load.capacity}",
            )
    _check_loads_listed(phase, loads)


def overloaded(phase: PhaseFacts, slls: list[BoundaryRecord]) -> bool:
    """Whether some boundary or link would have to carry more than it can."""
    return any(load.is_too_much for load in _loads(phase, slls).values())


def _loads(phase: PhaseFacts, slls: list[BoundaryRecord]) -> dict[str, Load]:
    return {**_wires(phase, slls), **_rates(phase)}


def _wires(phase: PhaseFacts, slls: list[BoundaryRecord]) -> dict[str, Load]:
    """Wires used of every boundary; one that the platform does not list has none."""
    capacity = {(sll["lower"], sll["upper"]): sll["wires"] for sll in slls}
    kinds = {(sll["lower"], sll["upper"]): sll["kind"] for sll in slls}
    used: Counter[tuple[str, str]] = Counter()
    for channel in phase.channels:
        for lower, upper in (pair for step in phase.route(channel) or () for pair in step.boundaries):
            used[(lower.name, upper.name)] += stream_wires(channel["width_bits"])
    names = sorted({*capacity, *used})
    return {f"{pair[0]}-{pair[1]}": Load(kinds.get(pair, "sll"), used[pair], capacity.get(pair, 0)) for pair in names}


def _rates(phase: PhaseFacts) -> dict[str, Load]:
    used: dict[str, float] = {}
    capacity: dict[str, float] = {}
    for _, link in sorted(phase.links.items()):
        for source, target in ((link.lower, link.upper), (link.upper, link.lower)):
            capacity[f"{source.fpga}>{target.fpga}"] = link.entry["gbps"] / (1 + link.entry["overhead"])
    for channel in phase.channels:
        for step in phase.route(channel) or ():
            if step.link:
                name = f"{step.source.fpga}>{step.target.fpga}"
                used[name] = used.get(name, 0.0) + phase.gbps(channel)
    return {name: Load("link", used.get(name, 0.0), most) for name, most in capacity.items()}


def _check_loads_listed(phase: PhaseFacts, loads: dict[str, Load]) -> None:
    where = f"{phase.where}.partition.loads"
    stated = phase.raw["partition"]["loads"]
    for name, count in Counter(entry["name"] for entry in stated).items():
        if name not in loads:
            phase.add("load-needless", where, f"{name} is no boundary and no direction of a link")
        elif count > 1:
            phase.add("load-needless", where, f"{name} is listed {count} times")
    for name in sorted({*loads} - {entry["name"] for entry in stated}):
        phase.add("load-missing", where, f"{name} is not listed")
    for entry in stated:
        load = loads.get(entry["name"])
        if load is not None:
            phase.compare("wrong-load", f"{where} {entry['name']}", entry, asdict(load))


HOPS_UNLESS_ASKED = 1
"""Boundaries that a stream may cross unless the options allow more, or no assignment does with so few."""
LOGIC_A_BIT, LOGIC_MORE = 4, 200
"""LUTs and flip-flops, by width and beside, below which a FIFO stays that becomes a few words deeper."""


def check_hops(phase: PhaseFacts, options: OptionsRecord, slls: list[BoundaryRecord]) -> None:
    """Judge that no stream goes further than the options, or a proof that is not plainly wrong, allow."""
    stated, where = phase.raw["partition"]["hops"], f"{phase.where}.partition.hops"
    asked, proven = options["max_hops"], bool(stated["proof"].strip())
    allowed = HOPS_UNLESS_ASKED if asked is None else asked
    if not proven:
        phase.expect("wrong-hops", where, "most", stated["most"], allowed)
    elif asked is not None or stated["most"] <= allowed:
        phase.add("wrong-hops", where, f"a proof that {stated['most']} hops are needed, where {allowed} are allowed")
    else:
        allowed = stated["most"]
        _check_proof(phase, options, slls, allowed)
    for channel, step in _stretches(phase):
        if step.hops > allowed:
            place = f"{phase.where} channel {channel['name']}"
            crossed = f"from {step.source.name} to {step.target.name}"
            phase.add("too-many-hops", place, f"crosses {step.hops} SLR boundaries {crossed}, {allowed} are allowed")
    _check_streams_listed(phase, stated["streams"], where)


def check_order(phase: PhaseFacts, options: OptionsRecord) -> None:
    """Judge that no stream goes back to an earlier FPGA, unless the options allow it."""
    for channel in () if options["allow_cycles"] else phase.channels:
        ends = phase.ends(channel)
        if ends is not None and ends[0].fpga_number > ends[1].fpga_number:
            way = f"goes back from {ends[0].fpga} to {ends[1].fpga}"
            phase.add("stream-back", f"{phase.where} channel {channel['name']}", way)


def check_link_streams(phase: PhaseFacts, options: OptionsRecord, boards: Boards) -> None:
    """Judge that no link carries more streams in one direction than asked, or than cables take in the build."""
    asked = options["link_streams"]
    of_a_cable = None if phase.back_end is None else phase.back_end.streams_a_cable(phase.where)
    ends = Counter(slot.fpga for link in phase.links.values() for slot in (link.lower, link.upper))
    links = [step for channel in phase.channels for step in phase.route(channel) or () if step.link]
    carried = Counter((step.source.fpga, step.target.fpga) for step in links)
    for pair, streams in sorted(carried.items()):
        cages = [(boards[fpga].link or {}).get("max_links") for fpga in pair if fpga in boards]
        cables = [max(1, most // ends[fpga]) for fpga, most in zip(pair, cages, strict=False) if most is not None]
        most = asked
        if asked is None and of_a_cable is not None:
            most = min((of_a_cable * count for count in cables), default=None)
        if most is not None and streams > most:
            told = f"{streams} streams from {pair[0]} to {pair[1]}, {most} are allowed"
            phase.add("link-streams", f"{phase.where}.partition.crossings", told)


def _stretches(phase: PhaseFacts) -> Iterator[tuple[ChannelRecord, RouteStep]]:
    """Yield every run of boundaries inside one FPGA that a channel crosses."""
    for channel in phase.channels:
        for step in phase.route(channel) or ():
            if step.boundaries:
                yield channel, step


def _check_streams_listed(phase: PhaseFacts, stated: list[FarStreamRecord], where: str) -> None:
    """Judge that the plan lists each stream over several boundaries with the registers that it relies on."""
    expected = [_far(phase, channel, step) for channel, step in _stretches(phase) if step.hops > 1]
    for entry in stated:
        if entry not in expected:
            phase.add("wrong-hops", where, f"{entry['channel']} is listed, and does not cross these boundaries so")
    for entry in expected:
        if stated.count(entry) != 1:
            phase.add("wrong-hops", where, f"{entry['channel']} is listed {stated.count(entry)} times as it is")


def _far(phase: PhaseFacts, channel: ChannelRecord, step: RouteStep) -> FarStreamRecord:
    """Return how the plan lists a stream over several boundaries."""
    registers: list[FarRegisterRecord] = []
    for lower, upper in phase.boundaries((step,)):
        stages = phase.register_stages[lower.fpga]
        flops = stages * stream_wires(channel["width_bits"]) * phase.stage_of_a_wire["FF"]
        registers.append({"boundary": f"{lower.name}-{upper.name}", "stages": stages, "flip_flops": flops})
    return {
        "channel": channel["name"],
        "source": step.source.name,
        "target": step.target.name,
        "hops": step.hops,
        "registers": registers,
    }


def _check_proof(phase: PhaseFacts, options: OptionsRecord, slls: list[BoundaryRecord], most: int) -> None:
    """Judge that fewer hops will not do at once: in the plan as it is, or with one module in another slot.

    The proof itself is claimed. Where modules must fit rectangles of their own only the plan as it is counts.
    """
    where = f"{phase.where}.partition.hops"
    furthest = max((step.hops for _, step in _stretches(phase)), default=0)
    if furthest < most:
        phase.add("false-hop-proof", where, f"says that {most} are needed, no stream crosses over {furthest}")
        return
    if options["keep_granularity"]:
        return
    far = [channel for channel, step in _stretches(phase) if step.hops == most]
    ends = {phase.module_of.get(channel[side]) for channel in far for side in SIDES} - {None}
    for module in sorted(str(name) for name in ends):
        for slot in phase.slots.values():
            partition = phase.raw["partition"]
            assignment = {**partition["assignment"], module: slot.name}
            moved = replace(phase, raw={**phase.raw, "partition": {**partition, "assignment": assignment}})
            wishes = phase.raw["partition"].get("wishes")
            if not all(_is_kept(moved, line) for line in (wishes["lines"] if wishes else ())):
                continue
            if _is_nearer(phase, moved, most) and _has_room(phase, moved, options["cap"], slls):
                message = f"with {module} in {slot.name} no stream crosses more than {most - 1}, and limits are kept"
                phase.add("false-hop-proof", where, message)
                return


def _is_nearer(phase: PhaseFacts, moved: PhaseFacts, most: int) -> bool:
    """Whether no stream crosses as many boundaries, and each passes the links that it passed before."""
    for channel in phase.channels:
        before, after = phase.route(channel), moved.route(channel)
        if before is None or after is None or links_on(before) != links_on(after):
            return False
        if any(step.boundaries and step.hops >= most for step in after):
            return False
    return True


def _has_room(phase: PhaseFacts, moved: PhaseFacts, cap: dict[str, float], slls: list[BoundaryRecord]) -> bool:
    """Whether slots and boundaries hold what was moved, FIFOs that become deeper taken at more than they can cost."""
    bits = [c["width_bits"] for c in phase.channels if _stages(moved, c) > _stages(phase, c)]
    logic = sum(LOGIC_A_BIT * width + LOGIC_MORE for width in bits)
    blocks = sum(width // 18 + 1 for width in bits)
    more = {"LUT": logic, "FF": logic, "BRAM18": blocks, "URAM": blocks, "DSP": 0}
    for name, demand in slot_totals(moved).items():
        limit = limit_of(cap, left_of(moved, name))
        if excess(add(demand, more), limit):
            return False
    return not overloaded(moved, slls)


def _stages(phase: PhaseFacts, channel: ChannelRecord) -> int:
    return phase.stages(phase.route(channel) or ())


def check_wishes(phase: PhaseFacts, options: OptionsRecord, boards: Boards) -> None:
    """Judge that engines lie as each line of the user's wishes says, and what is said of the plan without it."""
    wishes, where = phase.raw["partition"].get("wishes"), f"{phase.where}.partition.wishes"
    if (wishes is None) != (options.get("constraints") is None):
        phase.add("wrong-wish", where, "there are wishes without a file of them, or a file without wishes")
    for number, line in enumerate(wishes["lines"] if wishes else ()):
        place, lie, ties = f"{where}.lines[{number}]", _where(phase, line), line["kind"] in ("together", "apart")
        if "" in lie or len({*line["engines"]}) < max(1 + ties, len(lie)) or ties == bool(line["places"]):
            phase.add("wrong-wish", place, "names no engines, unknown ones or one twice, or slots where there are none")
            continue
        meant = sorted(slot.name for slot in phase.slots.values() if not ties and _leaves(phase, line, slot, boards))
        phase.expect("wrong-wish", place, "slots", sorted(line["slots"]), meant)
        if not _is_kept(phase, line):
            pairs = ", ".join(f"{name} in {slot}" for name, slot in zip(line["engines"], lie, strict=True))
            phase.add("wish-broken", place, f"{line['kind']} {', '.join(line['names'])}: {pairs}")
        if wishes is not None and line["without"] is not None:
            _check_without(phase, wishes["stats"], line["without"], place)


def _where(phase: PhaseFacts, line: WishRecord) -> list[str]:
    """Return the slot of each engine of a wish; empty where there is none."""
    assignment = phase.raw["partition"]["assignment"]
    return [assignment.get(phase.module_of.get(engine, ""), "") for engine in line["engines"]]


def _is_kept(phase: PhaseFacts, line: WishRecord) -> bool:
    lie = _where(phase, line)
    tied = {"together": len({*lie}) == 1, "apart": len({*lie}) == len(lie)}
    return tied.get(line["kind"], {*lie} <= {*line["slots"]})


def _leaves(phase: PhaseFacts, line: WishRecord, slot: Slot, boards: Boards) -> bool:
    """Whether a line leaves a slot to its engines, by the words that stand there."""
    slr = slot.entry["slr"]
    if line["kind"] == "beside":
        listed = boards[slot.fpga].raw.get("memories") or [] if slot.fpga in boards else []
        here = {memory["name"]: "memory" for memory in listed if memory["slr"] == slr}
        at_end = slot.fpga_number in (0, len(phase.fpgas) - 1)
        at_host = at_end and slot.name == phase.fpgas[slot.fpga]["host_slot"]
        return bool({*here, *here.values(), "host" if at_host else ""} & {*line["places"]})
    meets = any(fnmatchcase(word, place) for word in (slot.name, slot.fpga, slr) for place in line["places"])
    return meets != (line["kind"] == "forbid")


def _check_without(phase: PhaseFacts, of_all: StatsRecord | None, without: WithoutWishRecord, where: str) -> None:
    """Judge that what may lie wherever it might before costs no more, and that bounds are no higher."""
    check_stats(without["stats"], where, phase.findings)
    costs = without["stats"]["objective"], of_all and of_all["objective"], phase.raw["partition"]["cost"]
    if None in costs or list(costs) != sorted(costs):  # type: ignore[type-var]  # None is looked for first
        phase.add(
            "wrong-wish", where, f"crossings cost {costs[0]} without it, {costs[1]} with all, {costs[2]} in the plan"
        )
    longest = max(part["interval_cycles"] for part in phase.raw["networks"])
    if without["bound_cycles"] is not None and without["bound_cycles"] > longest:
        phase.add("wrong-wish", where, f"bound {without['bound_cycles']} is above the plan's {longest} cycles")
