"""Which instances in reports are which engines of a plan; strict: a name is compared as a whole, never by its start.

FINN's cells are called ``StreamingDataflowPartition_1_MVAU_hls_0``, inside a cell of their partition, or plain
``MVAU_hls_0`` in a stitched design. FINN counts each op type in graph order, and parallel branches have no one order:
on a real build (a 4-bit residual network), ``ConvolutionInputGenerator_rtl_13`` and ``_14`` of a residual block's two
branches changed places between the graph that was folded and the kernel that Vivado saw.
"""

# ruff: noqa: D102 - the interface says what its methods return

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from floorflow.backends.finn.read.graph import Graph
from floorflow.backends.finn.step_data import foreseen, networks_in
from floorflow.backends.instances import Instances, RejectedMatch, plain_name
from floorflow.backends.reports import Report
from floorflow.errors import some
from floorflow.schema import Plan


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
