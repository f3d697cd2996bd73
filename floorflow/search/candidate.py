"""A candidate: a folded, connected, clustered and partitioned network, as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from floorflow.channels import Channel, PartialPlacement, connect
from floorflow.channels.cost_allocation import module_resources
from floorflow.dataflow.model import FoldedDataflow
from floorflow.dataflow.modules import Joined, Module, module_of
from floorflow.folding import FoldingSolution
from floorflow.partition import (
    PartitionProblem,
    PartitionSolution,
)
from floorflow.rates import RouteDelay
from floorflow.resources import Resources
from floorflow.search.context import PlanningContext
from floorflow.search.fifo_sizing import full_rate
from floorflow.search.slot_problem import channel_routes, partition_problem


@dataclass(frozen=True)
class Candidate:
    """A folded, connected, clustered and partitioned network. ``slot_of`` maps modules to slot names.

    ``joined`` tells of the modules that share a pblock only because rectangles did not fit.
    """

    folding: FoldingSolution
    folded: FoldedDataflow
    modules: tuple[Module, ...]
    channels: tuple[Channel, ...]
    demands: Mapping[str, Resources]
    slot_of: Mapping[str, str]
    partition: PartitionSolution
    problem: PartitionProblem
    joined: tuple[Joined, ...] = ()

    @property
    def interval_cycles(self) -> int:
        """Initiation interval."""
        return self.folding.interval_cycles


def folded_by(context: PlanningContext, folding: FoldingSolution) -> FoldedDataflow:
    """Return the engines as a folding has them: their kinds, and the names of these."""
    return context.backend.finished(FoldedDataflow(context.dataflow, folding.options))


def least_words(context: PlanningContext, folded: FoldedDataflow) -> Mapping[str, int]:
    """Return the FIFO depths, by channel, that the full rate needs; with --keep-folding no less than the model's.

    Where the tool sizes FIFOs when it builds, the full rate is left to it.
    """
    depths = _full_rate_depths(context, folded) if context.costs.sizes_fifos else {}
    if not context.request.keep_folding:
        return depths
    kept = {c.name: c.stream.kept_fifo_depth(c.width_bits) for c in connect(folded, context.costs)}
    return {name: max(words, depths.get(name, 0)) for name, words in kept.items()}


def _full_rate_depths(context: PlanningContext, folded: FoldedDataflow) -> Mapping[str, int]:
    key = repr([(option.kind, option.folding, option.cycles) for option in folded.options.values()])
    if key not in context.needs:
        context.needs[key] = full_rate(folded, known=context.backend)
    return context.needs[key].depths


def route_delays(context: PlanningContext, candidate: Candidate) -> dict[str, RouteDelay]:
    """Return the cycles that registers and links add to channels, there and back."""
    routes = channel_routes(context, candidate.modules, candidate.channels, candidate.slot_of)
    return {name: RouteDelay(route.cycles, route.cycles) for name, route in routes.items()}


def realised(
    context: PlanningContext,
    folding: FoldingSolution,
    modules: Sequence[Module],
    streams: Sequence[Channel],
    answer: PartitionSolution,
) -> Candidate:
    """Give every channel the FIFO that its route needs, and charge the modules for it.

    ``streams`` are the same channels with FIFOs of any depth.
    """
    folded = folded_by(context, folding)
    names = list(context.limits)
    slot_of = {module: names[slot] for module, slot in answer.slot_of.items()}
    routes = channel_routes(context, modules, streams, slot_of)
    placed_so_far = PartialPlacement(module_of(modules), routes, least_words(context, folded))
    channels = connect(folded, context.costs, placed_so_far)
    demands = module_resources(modules, folded, channels)
    problem = partition_problem(context, modules, demands, channels, interval_cycles=folding.interval_cycles)
    return Candidate(folding, folded, tuple(modules), channels, demands, slot_of, answer, problem)


def slot_demands(candidate: Candidate) -> dict[str, Resources]:
    """Return the demand of every slot, crossing registers included."""
    demands = candidate.problem.slot_demands(candidate.partition.slot_of)
    return {place.name: demand for place, demand in zip(candidate.problem.slots, demands, strict=True)}
