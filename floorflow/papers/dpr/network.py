"""A network on a board as a chunk problem: its engines' options, what the board offers, what crosses each cut.

Residual networks: a block between two places where one stream is live stays together; ``spill`` cuts it anywhere, and
all streams that cross the cut go to memory, counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from floorflow.backends.backend import Source
from floorflow.dataflow.model import Dataflow, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InfeasibleError, InputError, required
from floorflow.papers.dpr.interval import undominated_in_order
from floorflow.papers.dpr.problem import RESOURCES, UNITS, ChunkProblem, Layer, Load
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES
from floorflow.search.candidate.preparing import Priced, context_of, priced, read, settled
from floorflow.search.many.phases import phase_request
from floorflow.segments import parts_of
from floorflow.segments.in_time import blocks_of

MOST_FOLDING = 64
"""The largest number of a folding that the paper takes."""


@dataclass(frozen=True, eq=False)
class ChunkedNetwork:
    """A network's problem, and what its board and its layers are called."""

    name: str
    platform: str
    costs: str
    problem: ChunkProblem
    engines: tuple[tuple[str, ...], ...]
    """Of each layer."""
    memory_gbps: float | None
    """What the board's memory carries, if its file says so."""


def chunked_network(
    request: Request, source: Source | None, *, powers: bool, spill: bool, memory_gbs: float | None
) -> ChunkedNetwork:
    """Return a network on one board as a chunk problem.

    Raises
    ------
    InputError
        If the board does not say what loading a part of it takes.
    InfeasibleError
        If an engine has no option that the board has room for.

    """
    whole = priced(source or read(settled(request)), phase_request(settled(request)), 1)
    context = required(context_of(whole))
    board = whole.platform.fpgas[0].board
    found = board.reconfiguration
    if found is None or found.us_per_area is None or found.offset_us is None:
        hint = "state kind: partial, us_per_area and offset_us in a file of the board of your own (platforms/README.md)"
        raise InputError(f"chunks: the file of {board.name} does not say what loading a part of it takes", hint)
    dataflow, groups = whole.dataflow, context.problem.groups
    blocks = parts_of(dataflow, groups) if spill else blocks_of(dataflow, groups)
    budget = context.problem.budget.as_dict()
    device = tuple(budget["BRAM18"] // 2 if name == "BRAM" else budget[name] for name in RESOURCES)
    layers, engines = _layers(whole, groups, blocks, powers=powers)
    problem = ChunkProblem(
        layers,
        device,
        Load(found.us_per_area, found.offset_us),
        request.frames,
        whole.platform.clock_mhz,
        memory_gbs=memory_gbs,
        input_bits=_crossing(dataflow, blocks)[0],
    )
    return ChunkedNetwork(dataflow.name, whole.platform.name, context.costs.name, problem, engines, board.memory_gbps)


def _layers(
    whole: Priced, groups: Sequence[OptionGroup], blocks: Sequence[Sequence[str]], *, powers: bool
) -> tuple[tuple[Layer, ...], tuple[tuple[str, ...], ...]]:
    """Return a layer for each group of tied engines, in order; a block's layers but the last may not end a chunk."""
    place = {name: number for number, block in enumerate(blocks) for name in block}
    order = {name: number for number, name in enumerate(name for block in blocks for name in block)}
    ordered = sorted(groups, key=lambda group: order[group.engines[0]])
    crossing, parallel = _crossing(whole.dataflow, blocks), whole.backend.parallel_attributes
    layers = []
    for number, group in enumerate(ordered):
        block = place[group.engines[0]]
        last = number + 1 == len(ordered) or place[ordered[number + 1].engines[0]] != block
        layers.append(replace(_layer(group, parallel, powers=powers), bits_behind=crossing[block + 1], cut_behind=last))
    return tuple(layers), tuple(group.engines for group in ordered)


def _crossing(dataflow: Dataflow, blocks: Sequence[Sequence[str]]) -> list[int]:
    """Return the bits a frame on all streams that lead from before each border to behind it, the outer ones too."""
    place = {name: number for number, block in enumerate(blocks) for name in block}
    bits = [0] * (len(blocks) + 1)
    for stream in dataflow.streams:
        source = -1 if stream.from_outside else place[stream.source]
        target = len(blocks) if stream.to_outside else place[stream.target]
        for border in range(source + 1, target + 1):
            bits[border] += stream.elements * stream.element_bits
    return bits


def _layer(group: OptionGroup, parallel: Sequence[str], *, powers: bool) -> Layer:
    """Return a group's undominated options; BRAM18 are half blocks."""
    amounts = group.use.astype(np.int64)
    columns = []
    for name, unit in zip(RESOURCES, UNITS, strict=True):
        halves = name == "BRAM"
        column = amounts[:, RESOURCE_NAMES.index("BRAM18" if halves else name)]
        columns.append(column * unit // 2 if halves else column * unit)
    use, total = np.stack(columns, axis=1), group.engine_cycles.sum(axis=1)
    rows = np.arange(len(group.cycles))
    if powers:
        rows = np.array([row for row in rows.tolist() if _are_powers(group.rows[row], parallel)], dtype=np.int64)
        if not rows.size:
            raise InfeasibleError(f"--foldings powers: {group.name} has no folding in powers of two up to 64")
    kept = rows[undominated_in_order(np.column_stack([group.cycles, total, use])[rows])]
    foldings, cycles = _foldings(group, kept, parallel), group.cycles[kept].astype(np.int64)
    return Layer(group.name, foldings, cycles, total[kept], use[kept])


def _are_powers(options: Iterable[Option], parallel: Sequence[str]) -> bool:
    values = [value for option in options for name, value in option.folding.items() if name in parallel]
    return all(isinstance(v, int) and v & (v - 1) == 0 and v <= MOST_FOLDING for v in values)


def _foldings(group: OptionGroup, rows: np.ndarray, parallel: Sequence[str]) -> np.ndarray:
    """Return what tells how parallel each engine is, by the back end, 0 where it has none."""
    table = []
    for row in rows.tolist():
        named = [option.folding for option in group.rows[row]]
        values = [folding.get(name) for folding in named for name in parallel]
        table.append([value if isinstance(value, int) else 0 for value in values])
    return np.array(table, dtype=np.int64)
