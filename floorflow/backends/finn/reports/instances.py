"""Which instances in reports are which engines of a plan, or which nodes of a build's graph.

Strict: a name is compared as a whole, never by its start. FINN's cells are called
``StreamingDataflowPartition_1_MVAU_hls_0``, inside a cell of their partition, or plain ``MVAU_hls_0`` in a stitched
design. FINN counts each op type in graph order, and parallel branches have no one order: on a real build (a 4-bit
residual network), ``ConvolutionInputGenerator_rtl_13`` and ``_14`` of a residual block's two branches changed places
between the graph that was folded and the kernel that Vivado saw.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from floorflow.backends.builds import BuiltNode, Role
from floorflow.backends.finn.read.graph import Graph
from floorflow.backends.finn.step_data import foreseen, networks_in
from floorflow.backends.instances import Instances, RejectedMatch, plain_name
from floorflow.backends.reports import Report, Row
from floorflow.errors import some
from floorflow.facts import Plan
from floorflow.resources import Resources

# ruff: noqa: D102 - the interface says what its methods return


def interchangeable(plan: Plan, phase: int, partition_ids: Mapping[str, int] | None = None) -> dict[str, list[str]]:
    """Return, for engines whose number is not sure, the other engines that may have it; those that differ only.

    Two engines of a kind keep their order in every graph order if one leads to the other. ``partition_ids``: only
    engines of one partition are counted together; None: all.
    """
    folded = plan.phases[phase].engines
    engines = [engine for engine in plan.only_network.engines if engine.name in folded]
    kinds: dict[object, list[str]] = defaultdict(list)
    hardware = {}
    for e in engines:
        kinds[e.kind, partition_ids[e.name] if partition_ids else 0].append(e.name)
        hardware[e.name] = e.attributes, e.weight_bits, e.input_bits, e.output_bits, folded[e.name].attributes
    ends = ((channel.source, channel.target) for channel in plan.phases[phase].channels)
    return _rivals(hardware, kinds, ends)


def interchangeable_nodes(graph: Graph) -> dict[str, list[str]]:
    """Return the same for a graph as it was read: engines of a kind on parallel branches that are other hardware."""
    kinds: dict[object, list[str]] = defaultdict(list)
    for engine in graph.engines:
        kinds[engine.kind].append(engine.name)
    hardware = {engine.name: (engine.attributes, engine.folding) for engine in graph.engines}
    return _rivals(hardware, kinds, ((one.stream.source, one.stream.target) for one in graph.streams))


def _rivals(
    hardware: Mapping[str, object], kinds: Mapping[object, list[str]], ends: Iterable[tuple[str, str]]
) -> dict[str, list[str]]:
    """Return the rivals of engines, which stand in the order of the data flow, by what they are and how counted."""
    targets: dict[str, list[str]] = defaultdict(list)
    for source, target in ends:
        targets[source].append(target)
    behind = _reached([*hardware], targets)
    found = {}
    for group in kinds.values():
        for name in group:
            parallel = (o for o in group if o not in behind[name] and name not in behind[o])
            rivals = [other for other in parallel if hardware[other] != hardware[name]]
            if rivals:
                found[name] = rivals
    return found


def _reached(names: list[str], targets: Mapping[str, list[str]]) -> dict[str, set[str]]:
    """Return for every name all that its output reaches, itself included; they stand in the order of the data flow."""
    reached: dict[str, set[str]] = {}
    for name in reversed(names):
        reached[name] = {name}.union(*(reached.get(target, set()) for target in targets.get(name, ())))
    return reached


_PARTITION = re.compile(r"StreamingDataflowPartition_(\d+)")
_IN_PARTITION = re.compile(r"StreamingDataflowPartition_(\d+)_(.+)")
_BLOCK_DESIGN = re.compile(r"finn_design_(.+)_0")
"""Vivado's name of a node's module in FINN's block design: that of a design that was synthesised alone."""
_STREAM = re.compile(r"(Streaming(?:FIFO|DataWidthConverter)(?:_rtl|_hls)?)_\d+(?:_\d+)?")
DESIGN = "(top)"
"""FINN's name of the whole design."""


@dataclass(frozen=True)
class Names:
    """What engines may be called in reports: by the plan's names, and by partition and FINN's name in it."""

    engines: frozenset[str]
    local: Mapping[tuple[int, str], str]
    kinds: frozenset[str]
    ids: Mapping[str, int]
    """Number of every engine's kernel."""

    @property
    def partitions(self) -> set[int]:
        """The partitions of the plan's floorplan.json."""
        return {number for number, _ in self.local}


def names_of(plan: Plan, phase: int) -> Names:
    """Return the names of a plan's engines, as its finn/floorplan.json makes FINN number them."""
    (one,) = networks_in(plan, phase)
    graph = foreseen(one)
    ids = {name: graph.kernel_of[identity] for name, identity in one.id_of.items()}
    local = {(ids[name], graph.inner_names[identity]): name for name, identity in one.id_of.items()}
    return Names(frozenset(ids), local, frozenset(engine.kind for engine in one.engines), ids)


def node_of(path: Sequence[str]) -> tuple[int | None, str]:
    """Return the partition that a path lies in, None if it names none, and FINN's name of its last cell."""
    name = plain_name(path[-1])
    inside = _IN_PARTITION.fullmatch(name)
    if inside:
        return int(inside[1]), inside[2]
    block = _BLOCK_DESIGN.fullmatch(name)
    above = [match for match in map(_PARTITION.fullmatch, path[:-1]) if match]
    return int(above[-1][1]) if above else None, block[1] if block else name


@dataclass(frozen=True)
class FinnInstances(Instances):
    """The nodes of a build.

    ``whole``: the one partition of the reports is the whole network, so that its names are the plan's. ``rivals``:
    the engines whose number another may have.
    """

    names: Names
    whole: bool
    rivals: Mapping[str, Sequence[str]]
    rejected: tuple[RejectedMatch, ...] = ()

    def engine(self, path: Sequence[str]) -> str | None:
        partition, node = node_of(path)
        if partition is None or self.whole:
            return node if node in self.names.engines else None
        return self.names.local.get((partition, node))

    def doubt(self, engine: str, path: Sequence[str]) -> RejectedMatch | None:
        """Return that a number in a partition is not sure."""
        rivals = self.rivals.get(engine, ())
        if not rivals or node_of(path)[0] is None:
            return None
        reason = f"FINN numbers a partition's nodes anew, and {some(rivals)} on a parallel branch may be it"
        return RejectedMatch(engine, "number not sure", reason)

    def stream(self, path: Sequence[str]) -> tuple[str, str] | None:
        partition, node = node_of(path)
        stream = _STREAM.fullmatch(node)
        return (stream[1], f"{partition}/{node}") if stream else None

    def is_design(self, path: Sequence[str]) -> bool:
        return tuple(path) == (DESIGN,)


def instances(plan: Plan, phase: int, reports: Sequence[Report]) -> FinnInstances:
    """Return the instances of a build of a phase of a plan of one network, by all that its reports name."""
    names = names_of(plan, phase)
    seen = _partitions(names, reports)
    whole = len(seen) == 1 and (len(names.partitions) == 1 or _covers(names, reports))
    rejected: tuple[RejectedMatch, ...] = ()
    if len(seen) > 1 and len(names.partitions) == 1:
        rejected = (_other_partitions(seen),)
        names = replace(names, local={})
    return FinnInstances(names, whole, interchangeable(plan, phase, None if whole else names.ids), rejected)


def _other_partitions(seen: Iterable[int]) -> RejectedMatch:
    numbers = sorted(seen)
    reason = f"the plan has one partition, the reports {len(numbers)}; FINN numbers nodes anew in each"
    listed = ", ".join(map(str, numbers))
    return RejectedMatch(f"StreamingDataflowPartition {listed}", "other partitions than planned", reason)


def _partitions(names: Names, reports: Iterable[Report]) -> set[int]:
    """Return the partitions in which reports have nodes of the plan's kinds; those of DMA engines have none."""
    nodes = (node_of(row.path) for report in reports for row in report.rows)
    return {partition for partition, node in nodes if partition is not None and node.rpartition("_")[0] in names.kinds}


def _covers(names: Names, reports: Iterable[Report]) -> bool:
    """Whether reports have a node of every engine's own name, as a build without floorplan.json has."""
    nodes = (node_of(row.path) for report in reports for row in report.rows)
    return names.engines <= {node for partition, node in nodes if partition is not None}


ROLES: tuple[tuple[str, Role], ...] = (
    ("StreamingFIFO", "FIFO"),
    ("StreamingDataWidthConverter", "converter"),
    ("IODMA", "DMA"),
)
"""Nodes that FINN adds around the network and that pass data on, by the start of their names."""


def matched(nodes: Sequence[BuiltNode], rows: Sequence[Row]) -> tuple[tuple[BuiltNode, ...], tuple[Row, ...]]:
    """Return the nodes with their rows, and the rows that are no node.

    A row whose node the graph has not is still a FIFO, a converter or a DMA engine if FINN's name says so. A name
    without partition belongs to a row only if no other partition has a node of that name.
    """
    keys = [node_of(row.path) for row in rows]
    count = Counter(name for _, name in keys)
    places = {node_of((node.name,)): place for place, node in enumerate(nodes)}
    held = list(nodes)
    unmatched = []
    for row, (partition, name) in zip(rows, keys, strict=True):
        place = places.get((partition, name))
        if place is None and count[name] == 1:
            place = places.get((None, name))
        if place is not None and held[place].built is None:
            held[place] = replace(held[place], instance=row.instance, built=row.resources)
            continue
        beside = _beside_the_graph(row.path[-1], name, row.resources, row.instance)
        if beside is None:
            unmatched.append(row)
        else:
            held.append(beside)
    return tuple(held), tuple(unmatched)


def _beside_the_graph(name: str, plain: str, built: Resources | None, instance: str) -> BuiltNode | None:
    """Return a node that only the report has, which FINN adds around the network; None for anything else."""
    role = next((role for start, role in ROLES if plain.startswith(start)), None)
    if role is None:
        return None
    return BuiltNode(name, plain.rpartition("_")[0], role, instance=instance, built=built)


def numbered_as_built(nodes: Sequence[BuiltNode], rows: Iterable[Row]) -> tuple[tuple[BuiltNode, ...], tuple[str, ...]]:
    """Return FIFOs and converters under the names of the report where FINN numbered them anew, and a note on each kind.

    FINN splits deep FIFOs (``StreamingFIFO_rtl_7_2``) and counts all of a kind anew in the kernel. As many of a kind
    in the report as in the graph have the same order; otherwise nothing tells which is which, and the nodes of the
    graph stay without a row.
    """
    reported = _names_by_kind(name for _, name in (node_of(row.path) for row in rows))
    renamed: dict[str, str] = {}
    notes = []
    for kind, held in _by_kind(nodes).items():
        names = sorted(reported[kind], key=lambda name: int(name.rpartition("_")[2]))
        if not names or {node.name for node in held} <= set(names):
            continue
        if len(names) == len(held):
            renamed |= {node.name: name for node, name in zip(held, names, strict=True)}
            notes.append(f"{len(held)} {kind} were numbered anew when they were built: matched by their order")
        else:
            renamed |= {node.name: f"{node.name} (before the build)" for node in held}
            notes.append(
                f"the report has {len(names)} {kind}, the graph {len(held)} under other numbers: not matched one by one"
            )
    return tuple(replace(node, name=renamed.get(node.name, node.name)) for node in nodes), tuple(notes)


def _by_kind(nodes: Iterable[BuiltNode]) -> dict[str, list[BuiltNode]]:
    """Return FIFOs and converters by their op types; DMA engines are known by their kernels."""
    found: dict[str, list[BuiltNode]] = defaultdict(list)
    for node in nodes:
        if node.role in {"FIFO", "converter"}:
            found[node.kind].append(node)
    return found


def _names_by_kind(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        kind, _, number = name.rpartition("_")
        if number.isdecimal():
            found[kind].append(name)
    return found


_NODE = re.compile(r"(?P<kind>[A-Z]\w*?)_\d+(?:_\d+)?")
"""FINN's name of a node: its op type, and a number, or two where a FIFO was split."""


def node_rows_of(rows: Sequence[Row], design: str) -> tuple[Row, ...]:
    """Return the rows of Vivado's hierarchy that are FINN's nodes, and the whole under FINN's name of it.

    A node is the first cell on its path that has a node's name inside a partition, or in a design without partitions;
    what lies inside it is its own. All else is the shell, which is what is left of the whole.
    """
    partitioned = any(_in_partition(row.path) for row in rows)
    taken: set[tuple[str, ...]] = set()
    found = [Row((design,), row.resources) for row in rows if len(row.path) == 1][:1]
    for row in rows:
        inside = any(row.path[:depth] in taken for depth in range(1, len(row.path)))
        if inside or not _NODE.fullmatch(node_of(row.path)[1]) or (partitioned and not _in_partition(row.path)):
            continue
        taken.add(row.path)
        partition, name = node_of(row.path)
        plain = name if partition is None else f"StreamingDataflowPartition_{partition}_{name}"
        found.append(Row((plain,), row.resources))
    return tuple(found)


def _in_partition(path: Sequence[str]) -> bool:
    """Whether a cell is inside a partition, which itself has the name of a node."""
    partition, name = node_of(path)
    return partition is not None and not name.startswith("StreamingDataflowPartition_")


def reported_nodes(rows: Iterable[Row], foldings: Mapping[str, Mapping[str, Any]]) -> tuple[BuiltNode, ...]:
    """Return the nodes that a report names, with the foldings of final_hw_config.json, where there is no graph.

    A node that the configuration has and the report has not was dissolved by Vivado; without any row nothing tells.
    """
    nodes, named = [], set()
    for row in rows:
        _, name = node_of(row.path)
        match = _NODE.fullmatch(name)
        if match is None or len(row.path) != 1:
            continue
        named.add(name)
        nodes.append(_reported(name, match["kind"], foldings.get(name, {}), row))
    for name, folding in foldings.items():
        match = _NODE.fullmatch(name)
        if match is not None and name not in named:
            nodes.append(_reported(name, match["kind"], folding, None))
    return tuple(nodes)


def _reported(name: str, kind: str, folding: Mapping[str, Any], row: Row | None) -> BuiltNode:
    role: Role = next((role for start, role in ROLES if name.startswith(start)), "engine")
    told = {key: folding[key] for key in _FOLDED if key in folding}
    depth = folding.get("depth")
    return BuiltNode(
        name if row is None or role != "DMA" else row.instance,
        kind,
        role,
        depth_words=depth if role == "FIFO" and isinstance(depth, int) else None,
        memory=str(folding.get("ram_style", "")),
        instance=None if row is None else row.instance,
        built=None if row is None else row.resources,
        folding=told,
    )


_FOLDED = ("PE", "SIMD", "parallel_window", "resType", "mem_mode")
