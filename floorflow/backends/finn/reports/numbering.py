"""How sure FINN's numbers of nodes are: it counts each op type in graph order, and parallel branches have no one order.

On a real build (a 4-bit residual network), ``ConvolutionInputGenerator_rtl_13`` and ``_14`` of a residual block's two
branches changed places between the graph that was folded and the kernel that Vivado saw.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from floorflow.backends.finn.read.graph import Graph, GraphEngine
from floorflow.facts import EngineEntry, FoldedEntry, PhaseEntry, Plan


def interchangeable(plan: Plan, phase: int, partition_ids: Mapping[str, int] | None = None) -> dict[str, list[str]]:
    """Return, for engines whose number is not sure, the other engines that may have it; those that differ only.

    Two engines of a kind keep their order in every graph order if one leads to the other. ``partition_ids``: only
    engines of one partition are counted together; None: all.
    """
    folded = plan.phases[phase].engines
    engines = [engine for engine in plan.only_network.engines if engine.name in folded]
    behind = _behind(plan.phases[phase], [engine.name for engine in engines])
    kinds: dict[tuple[str, int], list[EngineEntry]] = defaultdict(list)
    for engine in engines:
        kinds[engine.kind, partition_ids[engine.name] if partition_ids else 0].append(engine)
    rivals_of: dict[str, list[str]] = {}
    for group in kinds.values():
        for engine in group:
            others = [o for o in group if o.name not in behind[engine.name] and engine.name not in behind[o.name]]
            rivals = [o.name for o in others if not _alike(engine, o, folded)]
            if rivals:
                rivals_of[engine.name] = rivals
    return rivals_of


def interchangeable_nodes(graph: Graph) -> dict[str, tuple[str, ...]]:
    """Return the same for a graph as it was read: engines of a kind on parallel branches that are other hardware."""
    targets: dict[str, list[str]] = defaultdict(list)
    for one in graph.streams:
        targets[one.stream.source].append(one.stream.target)
    behind = _reached([engine.name for engine in graph.engines], targets)
    kinds: dict[str, list[GraphEngine]] = defaultdict(list)
    for engine in graph.engines:
        kinds[engine.kind].append(engine)
    rivals_of = {}
    for group in kinds.values():
        for engine in group:
            hardware = (engine.attributes, engine.folding)
            others = [o for o in group if o.name not in behind[engine.name] and engine.name not in behind[o.name]]
            rivals = tuple(other.name for other in others if (other.attributes, other.folding) != hardware)
            if rivals:
                rivals_of[engine.name] = rivals
    return rivals_of


def _behind(phase: PhaseEntry, names: list[str]) -> dict[str, set[str]]:
    """Return for every engine all that its output reaches, itself included."""
    targets: dict[str, list[str]] = defaultdict(list)
    for channel in phase.channels:
        targets[channel.source].append(channel.target)
    return _reached(names, targets)


def _reached(names: list[str], targets: Mapping[str, list[str]]) -> dict[str, set[str]]:
    """Return the same from the names that each leads to; ``names`` stand in the order of the data flow."""
    reached: dict[str, set[str]] = {}
    for name in reversed(names):
        reached[name] = {name}.union(*(reached.get(target, set()) for target in targets.get(name, ())))
    return reached


def _alike(one: EngineEntry, other: EngineEntry, folded: Mapping[str, FoldedEntry]) -> bool:
    """Whether two engines are the same hardware, so that it does not matter whose row is whose."""
    same = one.attributes == other.attributes and one.weight_bits == other.weight_bits
    widths = (one.input_bits, one.output_bits) == (other.input_bits, other.output_bits)
    return same and widths and folded[one.name].attributes == folded[other.name].attributes
