"""A network as a scheduling problem: its engines' options, the board's limits and memory, and where it may be cut.

Streams cost nothing here, as in SAMO: no converters, no FIFOs. So the optimum is a bound for `floorflow plan`, no plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Source
from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError, required
from floorflow.folding import fitting
from floorflow.hardware.resource_platforms import resource_platform
from floorflow.papers.samo.case_file import compare_on_case
from floorflow.papers.samo.problem import COLUMN_OF, RESOURCES, Node, ScheduleProblem
from floorflow.request import RESOURCES_ALONE, Request
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.candidate.preparing import Priced, context_of, priced, read, settled
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.many.phases import loading_of, phase_request
from floorflow.segments.in_time import blocks_of


@dataclass(frozen=True)
class _Device:
    """What the network is cut and folded for."""

    name: str
    limits: Resources
    memory_gbps: float
    load_us: float
    clock_mhz: float


def compare_in_time(
    request: Request, methods: Sequence[str], progress: Progress = SILENT, source: Source | None = None
) -> dict[str, Any]:
    """Cut and fold a network by several methods, for the shortest time of a batch; plain data, as of a case.

    Raises
    ------
    InputError
        If the board does not say how it is loaded anew.
    InfeasibleError
        If an engine fits no slot.

    """
    with progress.stage("reading"):
        problem, name = network_problem(request, source)
    with progress.stage("folding"):
        return compare_on_case(problem, f"{name}, {request.frames:,} frames a batch", methods, request.seed)


def network_problem(request: Request, source: Source | None = None) -> tuple[ScheduleProblem, str]:
    """Return a network on a board, or on a platform of resources alone, as a problem, and what it is called."""
    if request.platform.startswith(RESOURCES_ALONE):
        device = resource_platform(request.platform)
        whole = priced(source or read(request), phase_request(request.changed(platform=device.board)), 1)
        clock_mhz = request.clock_mhz or device.clock_mhz
        on = _Device(device.name, device.limits(request), device.memory_gbps, device.load_us, clock_mhz)
        groups = tuple(required(fitting(group, ((device.name, on.limits),))) for group in whole.groups)
    else:
        whole = priced(source or read(settled(request)), phase_request(settled(request)), 1)
        context = required(context_of(whole))
        load_us, memory = loading_of(request, whole.platform)
        budget, groups = context.problem.budget, context.problem.groups
        on = _Device(whole.platform.name, budget, memory.gbps, load_us, whole.platform.clock_mhz)
    return _problem(whole, groups, on, request), f"{whole.dataflow.name} on {on.name}"


def _problem(whole: Priced, groups: Sequence[OptionGroup], on: _Device, request: Request) -> ScheduleProblem:
    """Return the problem of these engines; groups of tied engines are one node each.

    Foldings are told by the widths of ports where no converter joins any two that differ (eq. 10), and by how many
    times as fast as the slowest they are. Options in UltraRAM are left out: the problem
    has none.
    """
    dataflow = whole.dataflow
    blocks = blocks_of(dataflow, groups)
    matched = _must_match(whole, groups)
    place = {name: number for number, block in enumerate(blocks) for name in block}
    order = {name: number for number, name in enumerate(name for block in blocks for name in block)}
    ordered = sorted(groups, key=lambda group: order[group.engines[0]])
    of_block = [place[group.engines[0]] for group in ordered]
    entering, leaving = _moved(dataflow, blocks)
    ends = [*(a != b for a, b in pairwise(of_block)), True]
    starts = [True, *ends[:-1]]
    node_of = {name: node for node, group in enumerate(ordered) for name in group.engines}
    nodes = tuple(
        _node(group, entering[block] if first else 0, leaving[block] if last else 0, cut_behind=last, matched=matched)
        for group, block, first, last in zip(ordered, of_block, starts, ends, strict=True)
    )
    pairs = {(node_of[a], node_of[b]) for a, b in dataflow.engine_pairs}
    limits, frames = on.limits.as_dict(), request.frames
    return ScheduleProblem(
        nodes,
        tuple(sorted((a, b) for a, b in pairs if a < b)),
        tuple(float(limits[COLUMN_OF[name]]) for name in RESOURCES),
        on.memory_gbps,
        1,
        on.clock_mhz,
        on.load_us,
        "latency" if request.objective == "latency" else "throughput",
        frames,
        frames,
        frames,
    )


def _moved(dataflow: Dataflow, blocks: Sequence[Sequence[str]]) -> tuple[list[int], list[int]]:
    """Return the bits a frame that enter each block from before it, and that leave it for what is behind it."""
    place = {name: number for number, block in enumerate(blocks) for name in block}
    entering, leaving = [0] * len(blocks), [0] * len(blocks)
    for stream in dataflow.streams:
        source = None if stream.from_outside else place[stream.source]
        target = None if stream.to_outside else place[stream.target]
        if source != target:
            bits = stream.elements * stream.element_bits
            if target is not None:
                entering[target] += bits
            if source is not None:
                leaving[source] += bits
    return entering, leaving


def _must_match(whole: Priced, groups: Sequence[OptionGroup]) -> bool:
    """Whether streams need equal foldings at their ends: no two widths that differ can be joined.

    A node has one folding at its inputs and one at its outputs; where ports of an engine differ nothing is matched.
    """
    tables = [group.options_of(name) for group in groups for name in group.engines]
    sides = [side for t in tables for side in (t.widths_bits[: t.inputs], t.widths_bits[t.inputs :])]
    widths = np.unique(np.concatenate([t.widths_bits.ravel() for t in tables])).tolist()
    uniform = all((side == side[:1]).all() for side in sides)
    return uniform and not any(whole.costs.convertible(a, b) for a, b in combinations(widths, 2))


def _ends(group: OptionGroup) -> NDArray[np.int64]:
    """Return the widths of the first engine's first input and of the last one's first output, (n_rows, 2)."""
    first, last = group.options_of(group.engines[0]), group.options_of(group.engines[-1])
    return np.column_stack([first.input_widths_bits[0], last.widths_bits[last.inputs]])


def _node(group: OptionGroup, size_in: int, size_out: int, *, cut_behind: bool, matched: bool) -> Node:
    columns = [RESOURCE_NAMES.index(COLUMN_OF[name]) for name in RESOURCES]
    rows = np.flatnonzero(group.use[:, RESOURCE_NAMES.index("URAM")] == 0)
    if not rows.size:
        raise InputError(f"compare --reconfigure: {group.name} lies in UltraRAM at every folding", "plan it instead")
    ends = _ends(group) if matched else np.ones((len(group.cycles), 2), dtype=np.int64)
    # Of equal cycles, resources and ends one is enough; a larger number of the same does more at once.
    facts = np.column_stack([group.cycles[rows], group.use[rows][:, columns], ends[rows]])
    kept = np.unique(facts, axis=0, return_index=True)[1]
    rows = rows[np.sort(kept)]
    speed = np.maximum(1, group.cycles.max() // np.maximum(1, group.cycles[rows]))
    foldings = np.column_stack([ends[rows], speed])
    return Node(
        group.name,
        foldings.astype(np.int64),
        group.cycles[rows].astype(np.float64),
        group.use[rows][:, columns],
        size_in,
        size_out,
        equal_folding=matched,
        divisible_folding=False,
        cut_behind=cut_behind,
    )
