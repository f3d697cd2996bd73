"""What holds across the phases of a plan: names, where networks and engines run, what passes, and which way."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from floorflow.verify.facts import End, PhaseFacts, Phases, engine_id
from floorflow.verify.graphs import has_cycle
from floorflow.verify.plan_records import NetworkRecord, PlanRecord
from floorflow.verify.records import PORTS, SIDES, repeated
from floorflow.verify.violations import Findings


def check_names(plan: PlanRecord, findings: Findings) -> None:
    """Judge that networks, phases and the engines of a network have each a name of their own."""
    for what in ("networks", "phases"):
        for name, count in repeated(entry["name"] for entry in plan[what]):
            findings.add("name-repeated", what, f"{count} are called {name}")
    for network in plan["networks"]:
        for name, count in repeated(engine["name"] for engine in network["engines"]):
            where = f"network {network['name']} engine {name}"
            findings.add("engine-repeated", where, f"{count} engines have this name")


def check_runs(plan: PlanRecord, phases: Phases, findings: Findings) -> None:
    """Judge that phases run networks of the plan in its order, and that everything runs in one phase at least."""
    names = [network["name"] for network in plan["networks"]]
    for phase in phases:
        stated = [part["network"] for part in phase.raw["networks"]]
        if not stated or stated != [name for name in names if name in stated]:
            message = f"runs {', '.join(stated) or 'nothing'}; expected some of {', '.join(names)}, once and in order"
            findings.add("phase-networks", phase.where, message)
    several = len(names) > 1
    ran = {name for phase in phases for name in phase.folded}
    for network in plan["networks"]:
        where = f"network {network['name']}"
        if not any(network["name"] in phase.parts for phase in phases):
            findings.add("network-missing", where, "it runs in no phase")
        for engine in network["engines"]:
            if engine_id(network["name"], engine["name"], several=several) not in ran:
                findings.add("engine-missing", f"{where} engine {engine['name']}", "it has no folding in any phase")


def check_traces(plan: PlanRecord, phases: Phases, findings: Findings) -> None:
    """Judge that what the search tried for a network was for a phase in which the network runs."""
    for network in plan["networks"]:
        runs_in = {phase.name for phase in phases if network["name"] in phase.parts}
        for number, row in enumerate(network["trace"]):
            if row["phase"] not in runs_in:
                where = f"network {network['name']} trace[{number}]"
                known = ", ".join(sorted(runs_in)) or "none"
                findings.add("trace-phase", where, f"phase {row['phase']}; the network runs in {known}")


@dataclass(frozen=True, slots=True)
class Passing:
    """A stream at one of its ends in one phase; ``side`` is that of the end, ``bits`` pass in a frame."""

    phase: int
    where: str
    side: str
    end: End
    port: int
    bits: int


def check_passing(phases: Phases, findings: Findings) -> None:
    """Judge what passes between phases, to and from the host, and through the ports of engines in several phases."""
    passing = [row for number, phase in enumerate(phases) for row in _passing(number, phase)]
    _check_memory([row for row in passing if row.end.kind == "memory"], findings)
    _check_handed_over([row for row in passing if row.end.kind == "phase"], phases, findings)
    _check_host([row for row in passing if row.end.kind == "host"], findings)
    _check_engine_ports([row for row in passing if row.end.kind == "engine"], phases, findings)


def _passing(number: int, phase: PhaseFacts) -> Iterator[Passing]:
    for channel in phase.channels:
        bits = channel["words_per_frame"] * channel["width_bits"]
        for side in SIDES:
            end = phase.end(channel, side)
            if end is not None:
                where = f"{phase.where} channel {channel['name']}"
                yield Passing(number, where, side, end, channel[PORTS[side]], bits)


def _check_memory(passing: list[Passing], findings: Findings) -> None:
    """Judge that each buffer is written once by one phase and read in a later one, all of it."""
    buffers: dict[End, list[Passing]] = {}
    for row in passing:
        buffers.setdefault(row.end, []).append(row)
    for end, rows in buffers.items():
        writes = [row for row in rows if row.side == "target"]
        reads = [row for row in rows if row.side == "source"]
        if len(writes) > 1:
            findings.add("memory-rewritten", writes[1].where, f"memory:{end.name} is written by {writes[0].where} too")
        for row in reads:
            if not any(write.phase < row.phase for write in writes):
                findings.add("memory-unwritten", row.where, f"no earlier phase writes memory:{end.name}")
        for row in writes:
            if not any(read.phase > row.phase for read in reads):
                findings.add("memory-unread", row.where, f"no later phase reads memory:{end.name}")
        _check_bits(writes[:1] + reads, findings)


def _check_handed_over(passing: list[Passing], phases: Phases, findings: Findings) -> None:
    """Judge that what one phase hands to another is what that one takes from it, and the other way round."""
    numbers = {phase.name: number for number, phase in enumerate(phases)}
    for row in passing:
        other = numbers.get(row.end.phase)
        if other is None or other == row.phase:
            findings.add("phase-unknown", row.where, f"{row.end.phase} is no other phase")
            continue
        back = End(row.end.network, "phase", row.end.name, phases[row.phase].name)
        same_side = [r for r in passing if (r.phase, r.end, r.side) == (row.phase, row.end, row.side)]
        partners = [r for r in passing if (r.phase, r.end) == (other, back) and r.side != row.side]
        if len(partners) != 1 or len(same_side) != 1:
            message = f"{row.end.name} has {len(partners)} counterparts in phase {row.end.phase}, expected one"
            findings.add("handover-mismatch", row.where, message)
        elif row.side == "target":
            _check_bits([row, *partners], findings)


def _check_host(passing: list[Passing], findings: Findings) -> None:
    """Judge that a network's host ports are numbered from 0 over all phases, each for one tensor."""
    ports: dict[tuple[str, str], dict[str, list[Passing]]] = {}
    for row in passing:
        ports.setdefault((row.end.network, row.side), {}).setdefault(row.end.name, []).append(row)
    for (network, side), found in ports.items():
        word = "in" if side == "source" else "out"
        if {*found} != {f"{word}{number}" for number in range(len(found))}:
            message = f"the host's {word}puts are {', '.join(sorted(found))}, expected numbers from 0 without gaps"
            findings.add("port-mismatch", f"network {network}", message)
        for rows in found.values():
            _check_bits(rows, findings)


def _check_engine_ports(passing: list[Passing], phases: Phases, findings: Findings) -> None:
    """Judge that an engine has the same ports, with as many bits a frame, in every phase that has it."""
    ports: dict[tuple[End, str, int], list[Passing]] = {}
    runs = [{(engine.row["network"], engine.entry["name"]) for engine in phase.folded.values()} for phase in phases]
    for row in passing:
        ports.setdefault((row.end, row.side, row.port), []).append(row)
    for (end, side, port), rows in ports.items():
        _check_bits(rows, findings)
        has = {number for number, engines in enumerate(runs) if (end.network, end.name) in engines}
        for number in sorted(has - {row.phase for row in rows}):
            message = f"port {port} ({side}) has a channel in another phase and none here"
            findings.add("port-mismatch", f"{phases[number].where} engine {end.name}", message)


def _check_bits(rows: list[Passing], findings: Findings) -> None:
    """Judge that all of these pass as many bits a frame as the first."""
    for row in rows[1:]:
        if row.bits != rows[0].bits:
            message = f"{row.bits} bits a frame pass, {rows[0].bits} at {rows[0].where}"
            findings.add("frame-mismatch", row.where, message)


Node = tuple[str, ...]
"""An engine, a buffer, or a stream from one phase to another; ends of the host are nodes without a way on."""


def check_direction(plan: PlanRecord, phases: Phases, findings: Findings) -> None:
    """Judge that each network is one graph without a circle, in the order of its engines and of the phases."""
    for network in plan["networks"]:
        edges = _edges(network["name"], phases)
        followers = _between_engines(edges)
        where = f"network {network['name']}"
        if has_cycle(followers):
            findings.add("cyclic-dataflow", where, "over all phases some engines depend on their own output")
        _check_order(network, followers, findings)
    if plan["schedule"] is not None and plan["schedule"]["kind"] == "reconfigure":
        _check_time(phases, findings)


def _edges(network: str, phases: Phases) -> list[tuple[Node, Node]]:
    edges = []
    for phase in phases:
        for channel in phase.channels:
            source, target = phase.end(channel, "source"), phase.end(channel, "target")
            if source is not None and target is not None and source.network == target.network == network:
                edges.append((_node(source, "source", phase.name), _node(target, "target", phase.name)))
    return edges


def _node(end: End, side: str, phase: str) -> Node:
    """Return the same node for both ends of what is handed over: its two phases in the order of the stream."""
    if end.kind != "phase":
        return end.kind, end.name
    way = (phase, end.phase) if side == "target" else (end.phase, phase)
    return end.kind, end.name, *way


def _between_engines(edges: Sequence[tuple[Node, Node]]) -> dict[str, list[str]]:
    """Return which engines each engine feeds, in its phase or through what passes between phases."""
    readers: dict[Node, list[str]] = {}
    for source, target in edges:
        if target[0] == "engine":
            readers.setdefault(source, []).append(target[1])
    followers: dict[str, list[str]] = {node[1]: [] for edge in edges for node in edge if node[0] == "engine"}
    for source, target in edges:
        if source[0] == "engine":
            followers[source[1]] += [target[1]] if target[0] == "engine" else readers.get(target, [])
    return followers


def _check_order(network: NetworkRecord, followers: dict[str, list[str]], findings: Findings) -> None:
    """Judge that every engine stands before those that it feeds: bottleneck and names of cells go by that order."""
    place = {engine["name"]: number for number, engine in enumerate(network["engines"])}
    for name, behind in followers.items():
        for other in behind:
            if name in place and other in place and place[name] >= place[other]:
                message = f"it feeds {other}, which does not stand behind it"
                findings.add("engine-order", f"network {network['name']} engine {name}", message)


def _check_time(phases: Phases, findings: Findings) -> None:
    """Judge that what one phase hands to another is handed to a later one."""
    numbers = {phase.name: number for number, phase in enumerate(phases)}
    for number, phase in enumerate(phases):
        for channel in phase.channels:
            end = phase.end(channel, "target")
            if end is not None and end.kind == "phase" and numbers.get(end.phase, number) < number:
                message = f"it goes to phase {end.phase}, which runs before"
                findings.add("handover-backwards", f"{phase.where} channel {channel['name']}", message)


def check_provenance(plan: PlanRecord, findings: Findings) -> None:
    """Judge the options that the plan repeats elsewhere, and that every engine carries out an operation."""
    options, name = plan["options"], "wrong-option"
    findings.expect(name, "options", "seed", options["seed"], plan["seed"])
    if options["fpgas"] != "auto":
        cards = (plan.get("replicas") or {"cards": 1})["cards"]
        findings.expect(name, "options", "fpgas", options["fpgas"], cards * len(plan["platform"]["fpgas"]))
    for network in plan["networks"]:
        operations = {operation["name"] for operation in network["operations"]}
        for engine in network["engines"]:
            if engine["operation"] not in operations:
                message = f"{engine['operation']} is no operation of the network"
                findings.add("operation-unknown", f"network {network['name']} engine {engine['name']}", message)
