"""CP-SAT over every legal rectangle, told by its sides: the shortest layout of a few modules, with proof.

Variables: by module the sides, columns and height; by pair of modules the differences of their middles, their absolute
values where wires run, and on which side the one lies of the other.
Constraints: each module's rules (`legal_sides`); of two modules one lies left, right, below or above the other, so that
their middles are half of both widths (or heights) apart; the differences of three middles close.
Objective: bits times distance. What depends on sizes and differences alone is learned once for wherever modules lie.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from floorflow.placement.layout import Layout, NetArrays
from floorflow.placement.rectangles.candidate_rectangles import BOTTOM, LEFT, RIGHT, TOP, BoolArray, IntArray
from floorflow.placement.rectangles.legal_sides import LegalSides

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    Literal = cp_model.BoolVarT
EXTENT = 1 << 14
"""More columns and rows than any device has."""
CLOSED = 12
"""Modules up to which the differences of any three are told to close: the threes grow too many."""


@dataclass(frozen=True)
class CompleteAnswer:
    """The best layout found (None if none was) and its proof.

    ``twice_bound`` bounds twice the wirelength; ``infeasible`` says that no layout is as asked for.
    """

    layout: Layout | None
    twice_bound: float
    infeasible: bool


def solve_completely(
    rules: Sequence[LegalSides],
    nets: NetArrays,
    may_overlap: BoolArray,
    *,
    twice_known: int | None,
    work_limit: float,
    seed: int,
    order: Layout | None = None,
    most: Mapping[int, int] = MappingProxyType({}),
) -> CompleteAnswer:
    """Find the layout of least wirelength, shorter than one that is known, or prove that there is none.

    ``may_overlap`` (n, n) says which modules' regions meet. ``infeasible`` says that nothing legal is shorter than
    ``twice_known`` (None: that nothing is legal). With an ``order`` only layouts count in which each module lies on a
    side of each other on which it lies there. ``most``: twice the columns and rows that may lie between some pairs of
    ``nets.ends``. ``work_limit`` is in CP-SAT's deterministic seconds.
    """
    from ortools.sat.python import cp_model

    from floorflow.solver import run_cpsat

    complete = CompleteModel.of(rules, nets, may_overlap, order=order)
    model, length = complete.model, complete.length
    model.minimize(length)
    for wire, longest in most.items():
        model.add(sum(complete.wires[wire]) <= longest)
    if twice_known is not None:
        model.add(length < twice_known)
    status, solver = run_cpsat(model, seed, work_limit)
    twice_bound = float(np.ceil(max(solver.best_objective_bound, 0.0) - 1e-6))  # of whole numbers, found in floats
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return CompleteAnswer(None, twice_bound, status == cp_model.INFEASIBLE)
    return CompleteAnswer(complete.layout(solver), twice_bound, infeasible=False)


@dataclass(frozen=True, eq=False)
class CompleteModel:
    """All legal layouts: ``wires`` are twice the distances of ``nets.ends``, ``length`` is twice the wirelength."""

    model: cp_model.CpModel
    modules: Sequence[_Module]
    wires: Sequence[PerAxis]
    length: cp_model.LinearExprT

    @classmethod
    def of(
        cls,
        rules: Sequence[LegalSides],
        nets: NetArrays,
        may_overlap: BoolArray,
        *,
        order: Layout | None = None,
        homes: IntArray | None = None,
    ) -> CompleteModel:
        """Build the model.

        A module is legal, too, in its row of ``homes`` (n, 4), -1 where it has none, whatever its rules say.
        """
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        modules = [_Module.of(model, index, each) for index, each in enumerate(rules)]
        if homes is not None:
            modules = [module.with_home(home) for module, home in zip(modules, homes, strict=True)]
        for module in modules:
            _add_rules(module)
        differences = _add_differences(model, modules)
        distances = _add_distances(model, differences, nets)
        for a, b in itertools.combinations(range(len(modules)), 2):
            if may_overlap[a, b]:
                sides = _add_sides(model, (modules[a], modules[b]), differences[a, b], distances.get((a, b)))
                kept = range(4) if order is None else _sides_of(order.boxes[a], order.boxes[b])
                model.add_bool_or([sides[side] for side in kept])
        wires = _wires(model, modules, distances, nets)
        terms = (bits * distance for bits, both in zip(nets.end_bits.tolist(), wires, strict=True) for distance in both)
        return cls(model, modules, wires, sum(terms, start=cp_model.LinearExpr.sum([])))

    @property
    def stays(self) -> list[Literal]:
        """The literals, of those that have a home, that a module is there."""
        return [module.stays for module in self.modules if module.stays is not None]

    def layout(self, solver: cp_model.CpSolver) -> Layout:
        """Return the layout that was found."""
        boxes = np.array([[solver.value(side) for side in module.box] for module in self.modules], dtype=np.int64)
        return Layout(boxes.reshape(-1, 4), np.ones(len(self.modules), dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class _Module:
    """Variables of one module: left and right columns; bottom and top, exclusive, in row steps; columns and height.

    ``stays``: the literal that it is at home, if it has a home; ``exempt``: where its rules do not hold.
    """

    model: cp_model.CpModel
    rules: LegalSides
    ranges: Mapping[str, tuple[int, int]]
    literals: dict[tuple[str, int], cp_model.IntVar]
    stays: Literal | None
    exempt: bool
    left: cp_model.IntVar
    bottom: cp_model.IntVar
    right: cp_model.IntVar
    top: cp_model.IntVar
    columns: cp_model.IntVar
    height: cp_model.IntVar

    @classmethod
    def of(cls, model: cp_model.CpModel, index: int, rules: LegalSides) -> _Module:
        """Add the variables of one module."""
        from ortools.sat.python.cp_model import Domain

        lefts, rights, bottom, top = rules.lefts.tolist(), rules.rights.tolist(), rules.bottom, rules.top
        ranges = {
            "left": (lefts[0], lefts[-1]),
            "bottom": (bottom, top - 1),
            "right": (rights[0], rights[-1]),
            "top": (bottom + 1, top),
            "columns": (1, rights[-1] - lefts[0] + 1),
            "height": (1, top - bottom),
        }
        edges = {"left": Domain.from_values(lefts), "right": Domain.from_values(rights)}
        sides = {
            side: model.new_int_var_from_domain(edges.get(side, Domain(*some)), f"{side}[{index}]")
            for side, some in ranges.items()
        }
        module = cls(model, rules, ranges, {}, stays=None, exempt=False, **sides)
        model.add(module.left + module.columns == module.right + 1)
        model.add(module.bottom + module.height == module.top)
        return module

    def with_home(self, home: IntArray) -> _Module:
        """Return the module with a literal that it has its home, (4,), which the rules need not allow; -1: none."""
        if home[LEFT] < 0:
            return self
        step, (left, bottom, right, top) = self.rules.row_step, home.tolist()
        stays = self.model.new_bool_var(f"home[{self.left.name}]")
        for side, value in zip(
            (self.left, self.bottom, self.right, self.top),
            (left, bottom // step, right, (top + 1) // step),
            strict=True,
        ):
            self.model.add(side == value).only_enforce_if(stays)
        return replace(self, stays=stays, exempt=not self.rules.allow(home[None])[0])

    def at_least(self, side: str, value: int) -> Literal | bool:
        """Return the literal that a side or size is at least so much."""
        least, most = self.ranges[side]
        if value <= least or value > most:
            return value <= least
        if (side, value) not in self.literals:
            variable: cp_model.IntVar = getattr(self, side)
            literal = self.model.new_bool_var(f"{variable.name}>={value}")
            self.model.add(variable >= value).only_enforce_if(literal)
            self.model.add(variable < value).only_enforce_if(~literal)
            self.literals[side, value] = literal
        return self.literals[side, value]

    def less(self, side: str, value: int) -> Literal | bool:
        literal = self.at_least(side, value)
        return not literal if isinstance(literal, bool) else literal.negated()

    def require(self, *some: Literal | bool) -> None:
        if not any(literal is True for literal in some):
            home = [self.stays] if self.exempt and self.stays is not None else []
            self.model.add_bool_or([*(literal for literal in some if not isinstance(literal, bool)), *home])

    @property
    def twice_middle(self) -> tuple[cp_model.LinearExpr, cp_model.LinearExpr]:
        """Twice the middle, in columns and rows."""
        step = self.rules.row_step
        return self.left + self.right, step * self.bottom + step * self.top - 1

    @property
    def box(self) -> tuple[cp_model.LinearExpr, ...]:
        """Left, bottom, right, top in columns and rows."""
        step = self.rules.row_step
        return self.left, step * self.bottom, self.right, step * self.top - 1

    @property
    def size(self) -> tuple[cp_model.LinearExpr, cp_model.LinearExpr]:
        """Columns and rows."""
        return self.columns, self.rules.row_step * self.height


def _add_rules(module: _Module) -> None:
    """Add what makes a module's rectangle legal, and that it is as wide as any of its height must be."""
    rules, at_least, less, require = module.rules, module.at_least, module.less, module.require
    for left, bottom, right, top in rules.too_little.tolist():
        require(less("left", left), less("bottom", bottom), at_least("right", right), at_least("top", top))
    for left, right, height in rules.too_low.tolist():
        require(less("left", left), at_least("right", right), at_least("height", height))
    for left, bottom, right, top in rules.keep_outs.tolist():
        require(at_least("left", right + 1), at_least("bottom", top), less("right", left), less("top", bottom + 1))
    for height in range(1, rules.top - rules.bottom + 1):
        require(less("height", height), at_least("columns", int(rules.least_columns[height])))
        require(at_least("height", height + 1), less("columns", int(rules.most_columns[height]) + 1))
        require(at_least("height", height + 1), at_least("columns", int(rules.narrowest[height])))


Pair = tuple[int, int]
PerAxis = tuple["cp_model.IntVar", "cp_model.IntVar"]


def _add_differences(model: cp_model.CpModel, modules: Sequence[_Module]) -> dict[Pair, PerAxis]:
    """Add twice the middle of the second of each pair less that of the first, in columns and in rows."""
    differences: dict[Pair, PerAxis] = {}
    for a, b in itertools.combinations(range(len(modules)), 2):
        x, y = (model.new_int_var(-2 * EXTENT, 2 * EXTENT, f"difference_{axis}[{a},{b}]") for axis in "xy")
        for difference, first, second in zip((x, y), modules[a].twice_middle, modules[b].twice_middle, strict=True):
            model.add(difference == second - first)
        differences[a, b] = x, y
    threes = itertools.combinations(range(len(modules) if len(modules) <= CLOSED else 0), 3)
    for a, b, c in threes:
        for axis in (0, 1):
            model.add(differences[a, c][axis] == differences[a, b][axis] + differences[b, c][axis])
    return differences


def _add_distances(
    model: cp_model.CpModel, differences: Mapping[Pair, PerAxis], nets: NetArrays
) -> dict[Pair, PerAxis]:
    """Add twice the distances of modules with wires between them, in columns and in rows."""
    distances: dict[Pair, PerAxis] = {}
    for a, b in nets.pairs.T.tolist():
        x, y = differences[a, b]
        distances[a, b] = _absolute(model, x, f"x,{a},{b}"), _absolute(model, y, f"y,{a},{b}")
    return distances


def _absolute(model: cp_model.CpModel, difference: cp_model.LinearExpr, name: str) -> cp_model.IntVar:
    distance = model.new_int_var(0, 2 * EXTENT, f"distance[{name}]")
    model.add(distance >= difference)
    model.add(distance >= -difference)
    return distance


def _sides_of(a: IntArray, b: IntArray) -> list[int]:
    """Return on which sides, of left, right, below and above, one box lies of another."""
    apart = (a[RIGHT] < b[LEFT], b[RIGHT] < a[LEFT], a[TOP] < b[BOTTOM], b[TOP] < a[BOTTOM])
    return [side for side, holds in enumerate(apart) if holds]


def _add_sides(
    model: cp_model.CpModel, pair: tuple[_Module, _Module], differences: PerAxis, distances: PerAxis | None
) -> list[cp_model.IntVar]:
    """Add literals that one of two modules lies left of, right of, below or above the other, and what follows."""
    a, b = pair
    sides = [model.new_bool_var(f"{side}[{a.left.name},{b.left.name}]") for side in ("left", "right", "below", "above")]
    left, right, below, above = sides
    model.add(a.right < b.left).only_enforce_if(left)
    model.add(b.right < a.left).only_enforce_if(right)
    model.add(a.top <= b.bottom).only_enforce_if(below)
    model.add(b.top <= a.bottom).only_enforce_if(above)
    for axis, (forth, back) in enumerate(((left, right), (below, above))):
        sizes = a.size[axis] + b.size[axis]
        model.add(differences[axis] >= sizes).only_enforce_if(forth)
        model.add(-differences[axis] >= sizes).only_enforce_if(back)
        if distances is not None:
            model.add(distances[axis] >= sizes).only_enforce_if(forth)
            model.add(distances[axis] >= sizes).only_enforce_if(back)
    return sides


def _wires(
    model: cp_model.CpModel, modules: Sequence[_Module], distances: Mapping[Pair, PerAxis], nets: NetArrays
) -> list[PerAxis]:
    """Return twice the distance, in columns and in rows, of each pair of ``nets.ends``: modules, then pins."""
    wires = list(distances.values())
    for module, pin in nets.ends.T[len(wires) :].tolist():
        (x, y), (at_x, at_y) = modules[module].twice_middle, nets.pins[pin - len(modules)].tolist()
        name = f"{module},{pin}"
        wires.append((_absolute(model, x - at_x, f"x,{name}"), _absolute(model, y - at_y, f"y,{name}")))
    return wires
