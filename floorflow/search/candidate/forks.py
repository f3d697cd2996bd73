"""Where branches begin: a stage ends in front of the engine that forks a stream, or behind it.

Stages end behind it, so that a fork lies with what feeds it. Where all that it feeds lies in a later FPGA every branch
would take a link of its own; with one of them it takes one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from floorflow.channels import Channel
from floorflow.dataflow.modules import Module, module_of
from floorflow.search.candidate.assignment import crowded_rings
from floorflow.search.candidate.candidate import Candidate, realised
from floorflow.search.candidate.context import PlanningContext
from floorflow.stats import SolveStats


def link_streams(candidate: Candidate) -> int:
    """Return how many streams pass links, each counted once a link."""
    problem, slot_of = candidate.problem, candidate.partition.slot_of
    links = {k for k, edge in enumerate(problem.edges) if edge.crossing.kind == "link"}
    return sum(len(links & {*problem.route(stream, slot_of)}) for stream in problem.streams)


def with_forks_moved(context: PlanningContext, candidate: Candidate) -> Candidate:
    """Move forks to where their branches go, as long as fewer streams pass links then and no limit is exceeded."""
    if len(context.platform.fpgas) == 1:
        return candidate
    for fork, home in _forks(context, candidate):
        moved = _moved(context, candidate, fork, home)
        if moved is not None and link_streams(moved) < link_streams(candidate):
            candidate = moved
    return candidate


def _forks(context: PlanningContext, candidate: Candidate) -> Iterator[tuple[str, str]]:
    """Yield each engine that feeds others in later FPGAs alone, and the module of the first of these."""
    order = {fpga.name: number for number, fpga in enumerate(context.platform.fpgas)}
    owner, fpga_of = module_of(candidate.modules), context.platform.fpga_of
    number = {engine: order[fpga_of[candidate.slot_of[module]].name] for engine, module in owner.items()}
    fed: dict[str, list[str]] = {}
    entered: dict[str, list[Channel]] = {}
    for channel in candidate.channels:
        fed.setdefault(channel.stream.source, []).append(channel.stream.target)
        entered.setdefault(channel.stream.target, []).append(channel)
    for engine in candidate.folded.dataflow.engines:
        targets = fed.get(engine.name, [])
        inside = all(target in number for target in targets) and len(entered.get(engine.name, ())) == 1
        if len(targets) > 1 and inside and number[engine.name] < min(number[target] for target in targets):
            yield engine.name, owner[min(targets, key=lambda target: (number[target], target))]


def _moved(context: PlanningContext, candidate: Candidate, engine: str, home: str) -> Candidate | None:
    """Return the candidate with an engine in another module; None if a limit is exceeded or modules make a ring."""
    order = {each.name: place for place, each in enumerate(candidate.folded.dataflow.engines)}
    modules = [_with(module, engine, home, order) for module in candidate.modules]
    if not all(module.engines for module in modules):
        return None
    modules.sort(key=lambda module: order[module.engines[0]])
    if crowded_rings(modules, candidate.slot_of, candidate.channels):
        return None
    moved = realised(context, candidate.folding, modules, candidate.channels, candidate.partition)
    if not moved.problem.is_legal(candidate.partition.slot_of):
        return None
    cost = float(moved.problem.cost(candidate.partition.slot_of))
    stats = SolveStats(f"{candidate.partition.stats.method}, forks moved", "heuristic", cost)
    return replace(moved, partition=replace(candidate.partition, stats=stats))


def _with(module: Module, engine: str, home: str, order: Mapping[str, int]) -> Module:
    """Return a module without an engine, or with it if it is that engine's new home."""
    engines = {*module.engines} - {engine} | ({engine} if module.name == home else set())
    return replace(module, engines=tuple(sorted(engines, key=order.__getitem__)))
