"""The partition problem as the cut model and the annealer take it: groups of modules, and tables over pairs of slots.

G groups of modules that share a slot, the host's input and output two more, each with one slot that takes it; S slots;
R resources: the cells of least rectangles behind the amounts, and then one for each set of modules of which a slot may
hold one; P tables that streams pass or not, see `metric`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, gcd
from typing import Literal

import numpy as np

from floorflow.partition.arrays import UNLIMITED, Flags, Integers
from floorflow.partition.cuts.metric import SlotMetric, common_scale, slot_metric
from floorflow.partition.problem import PartitionProblem
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources

_TOLERANCE = 1e-6
"""Of a bound in steps: what floating point may have added."""


Amount = Literal["wires", "bits", "streams"]
"""What a table is passed by: wires, bits a frame, or streams, however many are one here."""


@dataclass(frozen=True)
class TableLimit:
    """What streams that pass some tables, given by number, carry together at most, in wires unless it says else."""

    tables: tuple[int, ...]
    most: int
    of: Amount = "wires"


@dataclass(frozen=True)
class CutArrays:
    """Arrays of one problem.

    ``groups`` name their modules; ``need`` (G, S, R) and ``limit`` (S, R); ``takes`` (G, S). ``source``, ``target``
    (L,) ends of streams with ``amounts`` (L,) of each kind. ``tables`` (P, S, S) with ``price`` (P,) of a wire and
    ``toll`` (P,) of a stream, in parts of 1 / ``scale``, and ``registers`` (P, S, R) what those of a wire take of a
    slot. ``limits`` of tables; no stream passes one of ``forbidden``. ``cuts`` are the numbers of the tables that are
    cuts, ``axes`` sets of parallel ones.
    """

    groups: tuple[tuple[str, ...], ...]
    need: Integers
    limit: Integers
    takes: Flags
    source: Integers
    target: Integers
    amounts: Mapping[Amount, Integers]
    tables: Flags
    price: Integers
    toll: Integers
    registers: Integers
    limits: tuple[TableLimit, ...]
    forbidden: tuple[int, ...]
    cuts: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]
    scale: int

    @property
    def wires(self) -> Integers:
        """(L,) wires."""
        return self.amounts["wires"]

    @cached_property
    def distance(self) -> Integers:
        """(S, S) what a wire costs between two slots, in parts of 1 / ``scale``."""
        return np.asarray(np.tensordot(self.price, self.tables.astype(np.int64), axes=1))

    @cached_property
    def tolls(self) -> Integers:
        """(S, S) what a stream costs more between two slots, in parts of 1 / ``scale``."""
        return np.asarray(np.tensordot(self.toll, self.tables.astype(np.int64), axes=1))

    @cached_property
    def step(self) -> int:
        """What every cost is a multiple of, in parts of 1 / ``scale``."""
        of_wires = gcd(*self.distance.ravel().tolist()) * gcd(*self.wires.tolist())
        return max(1, gcd(of_wires, gcd(*self.tolls.ravel().tolist()) * gcd(*self.amounts["streams"].tolist())))

    def whole_steps(self, bound: float) -> int:
        """Return the least cost that some assignment may have at or above a bound."""
        return max(0, ceil(bound / self.step - _TOLERANCE)) * self.step

    @cached_property
    def too_far(self) -> Flags:
        """(S, S) whether no stream may join two slots."""
        return np.asarray(self.tables[list(self.forbidden)].any(axis=0))

    def cost(self, assignment: Integers) -> int:
        """Cost of an assignment (G,) of groups to slots, in parts of 1 / ``scale``."""
        source, target = assignment[self.source], assignment[self.target]
        return int(self.distance[source, target] @ self.wires + self.tolls[source, target] @ self.amounts["streams"])

    def loads(self, assignment: Integers) -> dict[Amount, Integers]:
        """(P,) amounts of the streams that pass each table, of each kind."""
        passes = self.tables[:, assignment[self.source], assignment[self.target]].astype(np.int64)
        return {kind: passes @ amounts for kind, amounts in self.amounts.items()}

    def excess(self, assignment: Integers) -> float:
        """Sum of the shares by which limits are exceeded; a module in a slot that does not take it is a whole one."""
        groups = np.arange(len(assignment))
        loads = self.loads(assignment)
        use = np.zeros(self.limit.shape, dtype=np.int64)
        np.add.at(use, assignment, self.need[groups, assignment])
        use += np.tensordot(loads["wires"], self.registers, 1)
        over = float((np.maximum(use - self.limit, 0) / np.maximum(self.limit, 1)).sum())
        for limit in self.limits:
            load = int(loads[limit.of][list(limit.tables)].sum())
            over += max(0, load - limit.most) / max(1, limit.most)
        over += float((~self.takes[groups, assignment]).sum())
        return over + float(self.too_far[assignment[self.source], assignment[self.target]].sum())

    def as_array(self, slot_of: Mapping[str, int]) -> Integers:
        """(G,) slot of each group: that of its first module; of the host's ends the only one."""
        modules = [slot_of[group[0]] for group in self.groups[:-2]]
        return np.array([*modules, *self.takes[-2:].argmax(axis=1)], dtype=np.int64)

    def as_mapping(self, assignment: Integers) -> dict[str, int]:
        """Return module name to slot."""
        return {name: int(slot) for group, slot in zip(self.groups, assignment, strict=True) for name in group}


def cut_arrays(problem: PartitionProblem) -> CutArrays:
    """Return the arrays of a problem; tables that limit nothing and cost nothing are left out."""
    groups = (*problem.groups, (), ())
    need, limit = _needs(problem, groups)
    metric, found = slot_metric(problem.graph), _Tables(len(problem.slots), need.shape[2])
    source, target, amounts = _streams(problem, groups)
    scale = common_scale(price for price, _ in metric.prices)
    for price, table in metric.prices:
        found.add(table, price=int(price * scale))
    limits = _limits(problem, metric, found, {kind: int(all_of.sum()) for kind, all_of in amounts.items()})
    for k, edge in enumerate(problem.edges):
        if edge.crossing.kind == "link" and (problem.link_wire_cost or problem.link_stream_cost):
            found.add(metric.passes(k), problem.link_wire_cost * scale, toll=problem.link_stream_cost * scale)
        if any(amount != ZERO for amount in edge.registers.values()):
            found.add(metric.passes(k), registers=edge.registers)
    slots = range(len(problem.slots))
    most = problem.max_hops
    too_far = np.array([[most is not None and problem.graph.hops(a, b) > most for b in slots] for a in slots])
    forbidden = [found.add(table) for table in (*_forbidden(too_far, metric), *_back(problem))]
    cuts = [found.number(cut.table(len(problem.slots))) for cut in metric.cuts]
    return CutArrays(
        groups=groups,
        need=need,
        limit=limit,
        takes=_takes(problem, groups),
        source=source,
        target=target,
        amounts=amounts,
        tables=np.array(found.tables, dtype=bool).reshape(len(found.tables), len(slots), len(slots)),
        price=np.array(found.prices, dtype=np.int64),
        toll=np.array(found.tolls, dtype=np.int64),
        registers=np.array(found.registers, dtype=np.int64).reshape(len(found.tables), len(slots), need.shape[2]),
        limits=tuple(limits),
        forbidden=tuple(forbidden),
        cuts=tuple(cuts),
        axes=_axes(metric, cuts, problem),
        scale=scale,
    )


class _Tables:
    """Tables that were added, equal ones once, with what they cost and the registers that they stand for."""

    def __init__(self, slots: int, resources: int) -> None:
        self.slots, self.resources = slots, resources
        self.tables: list[Flags] = []
        self.prices: list[int] = []
        self.tolls: list[int] = []
        self.registers: list[Integers] = []
        self._numbers: dict[bytes, int] = {}

    def number(self, table: Flags) -> int:
        key = table.tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self.tables)
            self.tables.append(table)
            self.prices.append(0)
            self.tolls.append(0)
            self.registers.append(np.zeros((self.slots, self.resources), dtype=np.int64))
        return self._numbers[key]

    def add(self, table: Flags, price: int = 0, registers: Mapping[int, Resources] | None = None, toll: int = 0) -> int:
        number = self.number(table)
        self.prices[number] += price
        self.tolls[number] += toll
        for slot, amount in (registers or {}).items():
            self.registers[number][slot, : len(RESOURCE_NAMES)] += amount.as_tuple()
        return number


def _streams(
    problem: PartitionProblem, groups: Sequence[Sequence[str]]
) -> tuple[Integers, Integers, dict[Amount, Integers]]:
    """Return ends and amounts of the streams between groups, those with equal ends added up."""
    index: dict[str | None, int] = {name: g for g, group in enumerate(groups) for name in group}
    sums: dict[tuple[int, int], list[int]] = {}
    for stream in problem.streams:
        source = len(groups) - 2 if stream.source is None else index[stream.source]
        target = len(groups) - 1 if stream.target is None else index[stream.target]
        if source != target:
            amounts = sums.setdefault((source, target), [0, 0, 0])
            for place, amount in enumerate((stream.wires, stream.bits_per_frame, 1)):
                amounts[place] += amount
    rows = np.array([(*ends, *amounts) for ends, amounts in sums.items()], dtype=np.int64).reshape(len(sums), 5)
    return rows[:, 0], rows[:, 1], {"wires": rows[:, 2], "bits": rows[:, 3], "streams": rows[:, 4]}


def _needs(problem: PartitionProblem, groups: Sequence[Sequence[str]]) -> tuple[Integers, Integers]:
    """Return need (G, S, R) and limit (S, R)."""
    slots = range(len(problem.slots))
    need = np.zeros((len(groups), len(slots), len(RESOURCE_NAMES) + 1 + len(problem.apart)), dtype=np.int64)
    for g, group in enumerate(groups):
        for name in group:
            alone = [one.count(name) for one in problem.apart]
            for slot in slots:
                need[g, slot] += (*problem.demand(name, slot).as_tuple(), problem.cells_in(name, slot) or 0, *alone)
    cells = [UNLIMITED if most is None else most for most in problem.most_cells]
    ones = [1] * len(problem.apart)
    limit = np.array(
        [(*slot.limit.as_tuple(), most, *ones) for slot, most in zip(problem.slots, cells, strict=True)], dtype=np.int64
    )
    return need, limit


def _takes(problem: PartitionProblem, groups: Sequence[Sequence[str]]) -> Flags:
    slots = range(len(problem.slots))
    rows = [[all(problem.takes(name, slot) for name in group) for slot in slots] for group in groups[:-2]]
    rows += [[slot == host for slot in slots] for host in (problem.host_in, problem.host_out)]
    return np.array(rows, dtype=bool).reshape(len(groups), len(slots))


def _limits(
    problem: PartitionProblem, metric: SlotMetric, found: _Tables, most_of: Mapping[Amount, int]
) -> list[TableLimit]:
    """Return the limits that some assignment could exceed."""
    limits = []
    for k, edge in enumerate(problem.edges):
        if edge.crossing.wires is not None and edge.crossing.wires < most_of["wires"]:
            limits.append(TableLimit((found.number(metric.passes(k)),), edge.crossing.wires))
        both: dict[Amount, int | None] = {"bits": problem.allowed_bits(edge), "streams": problem.allowed_streams(edge)}
        for kind, most in both.items():
            if most is not None and most < most_of[kind]:
                limits += [TableLimit((found.number(t),), most, kind) for t in (metric.forth[k], metric.back[k])]
    for shared in problem.shared:
        times = np.sum([metric.passes(k) for k in shared.edges], axis=0)
        # A stream that passes several of the edges counts as often.
        levels = [times >= level for level in range(1, int(times.max()) + 1)]
        if shared.wires < most_of["wires"] * len(levels):
            limits.append(TableLimit(tuple(found.number(level) for level in levels), shared.wires))
    return limits


def _forbidden(too_far: Flags, metric: SlotMetric) -> list[Flags]:
    """Return tables that together are the pairs of slots no stream may join: if they can be, those of edges passed."""
    left, tables = too_far.copy(), []
    passes = [metric.passes(k) for k in range(len(metric.forth))]
    for table in (*passes, *(a & b for j, a in enumerate(passes) for b in passes[:j])):
        if (table & left).any() and not (table & ~too_far).any():
            tables.append(table)
            left &= ~table
    return [*tables, left] if left.any() else tables


def _back(problem: PartitionProblem) -> list[Flags]:
    """Return for each FPGA that has earlier ones the pairs of slots from it, or a later one, to an earlier one."""
    order = np.array(problem.order or (0,))
    return [(order >= fpga)[:, None] & (order < fpga)[None] for fpga in sorted({*order.tolist()})[1:]]


def _axes(metric: SlotMetric, cuts: Sequence[int], problem: PartitionProblem) -> tuple[tuple[int, ...], ...]:
    """Return sets of cuts that are bounded jointly: parallel ones, or of a tree those that meet in an FPGA."""
    axes: list[list[int]] = []
    for k, cut in enumerate(metric.cuts):
        near = next((axis for axis in axes if all(_parallel(metric.cuts[j].beyond, cut.beyond) for j in axis)), None)
        if near is None:
            axes.append([k])
        else:
            near.append(k)
    if len(axes) == 1:
        axes = _by_fpga(metric, problem)
    found = (tuple(sorted({cuts[k] for k in axis})) for axis in axes)
    return tuple(axis for axis in dict.fromkeys(found) if 1 < len(axis) < len(metric.cuts))


def _parallel(one: frozenset[int], other: frozenset[int]) -> bool:
    """Whether two cuts do not cross; slot 0 is beyond neither."""
    return one <= other or other <= one or not one & other


def _by_fpga(metric: SlotMetric, problem: PartitionProblem) -> list[list[int]]:
    """Return the cuts of each FPGA's boundaries, and those of links."""
    tables = [cut.table(len(problem.slots)).tobytes() for cut in metric.cuts]
    of_fpga: dict[int, list[int]] = {}
    for k, fpga in enumerate(problem.graph.fpga_of_edge):
        if (key := metric.passes(k).tobytes()) in tables:
            of_fpga.setdefault(fpga, []).append(tables.index(key))
    return list(of_fpga.values())


def contracted(arrays: CutArrays, cuts: Sequence[int]) -> tuple[CutArrays, tuple[int, ...]]:
    """Return the problem in which the slots that no cut of these separates are one, and the tables that are left.

    A relaxation: limits are summed, a group needs the least that it needs in one of them, tables that tell slots of
    one apart are left out.
    """
    slots = range(len(arrays.limit))
    sides = [tuple(bool(arrays.tables[c][0, slot]) for c in cuts) for slot in slots]
    numbers = {side: index for index, side in enumerate(dict.fromkeys(sides))}
    group = np.array([numbers[side] for side in sides])
    first = [sides.index(side) for side in numbers]
    kept = tuple(p for p, t in enumerate(arrays.tables) if (t == t[np.ix_(first, first)][np.ix_(group, group)]).all())
    at = {p: index for index, p in enumerate(kept)}
    members = [np.flatnonzero(group == g) for g in range(len(numbers))]
    taken = np.where(arrays.takes[:, :, None], arrays.need, UNLIMITED)
    need = np.stack([taken[:, m].min(axis=1) for m in members], axis=1)
    smaller = replace(
        arrays,
        need=np.where(need == UNLIMITED, 0, need),
        limit=np.minimum(np.stack([arrays.limit[m].sum(axis=0) for m in members]), UNLIMITED),
        takes=np.stack([arrays.takes[:, m].any(axis=1) for m in members], axis=1),
        tables=arrays.tables[list(kept)][:, first][:, :, first],
        price=arrays.price[list(kept)],
        toll=arrays.toll[list(kept)],
        registers=np.stack([arrays.registers[list(kept)][:, m].sum(axis=1) for m in members], axis=1),
        limits=tuple(
            replace(limit, tables=tuple(at[p] for p in limit.tables if p in at))
            for limit in arrays.limits
            if any(p in at for p in limit.tables)
        ),
        forbidden=tuple(at[p] for p in arrays.forbidden if p in at),
        cuts=tuple(at[p] for p in arrays.cuts if p in at),
        axes=(),
    )
    return smaller, kept
