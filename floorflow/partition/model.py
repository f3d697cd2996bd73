"""The assignment of modules to a tree of slots as a CP-SAT model.

The tree is rooted at the slot of the host's input; every other slot has one edge towards the root.

variables    beyond[m, e]   module m lies on the far side of edge e (e's child edges imply it, one of them at most)
             cross[p, e]    the two modules of pair p lie on different sides of e; where the rate of e is limited two
                            variables, one for each direction
             Both are constant where the slots allowed for the modules leave no choice.
             both[p, r]     the ends of pair p lie on the outer sides of r, two boundaries of one FPGA
constraints  limit[s, r]    use of resource r by the modules of slot s and its crossing registers <= limit; modules that
                            lie apart use one of one
             area[s]        cells of the least rectangles of the modules of slot s <= what it may use
             takes[m, s]    a module lies in no slot that does not take it
             wires[e]       sum of wires over e <= its SLLs
             rate[e, d]     sum of bits a frame over link e in direction d <= what it carries in a frame
             streams[e, d]  streams over link e in direction d <= as many as it may carry
             hops[p, r]     both[p, r] = 0 where r are more boundaries apart than a stream may cross
             order[p, f]    the target of p lies in the f-th FPGA or later if the source does, where none goes back
objective    min sum_e (weight[e] x wires + toll[e] x streams over e) + sum_r wires over both of r, given to the solver
             by the caller: a stream over b boundaries of an FPGA passes b (b - 1) / 2 pairs of them, and so costs
             b (b + 1) / 2 a wire
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from floorflow.hardware.slot_graph import BoundaryPair
from floorflow.partition.arrays import HOP_LIMIT, UNLIMITED, Integers, ProblemArrays
from floorflow.partition.problem import PartitionProblem
from floorflow.resources import RESOURCE_NAMES


@dataclass(frozen=True)
class RootedTree:
    """For each edge: the slot at its far end, the slots beyond it, and its child edges; ``roots`` start at the root."""

    top: tuple[int, ...]
    far: tuple[frozenset[int], ...]
    children: tuple[tuple[int, ...], ...]
    roots: tuple[int, ...]


def rooted(problem: PartitionProblem, root: int) -> RootedTree:
    """Root the tree of slots at ``root``."""
    everything = frozenset(range(len(problem.slots)))
    far = tuple(everything - side if root in side else side for side in problem.beyond)
    top = tuple(e.b if e.b in side else e.a for e, side in zip(problem.edges, far, strict=True))
    near = [e.a if e.b in side else e.b for e, side in zip(problem.edges, far, strict=True)]
    children = tuple(tuple(k for k, slot in enumerate(near) if slot == up) for up in top)
    return RootedTree(top, far, children, tuple(k for k, slot in enumerate(near) if slot == root))


@dataclass(frozen=True)
class Model:
    """The model with its variables, and where modules lie and what edges carry as expressions of them.

    ``beyond`` by (module, edge), ``inside`` by (module, slot), ``cross`` by (module, module, edge), ``loads`` in wires,
    ``rates`` in bits a frame and ``streams`` towards and away from the root, ``numbers`` of streams either way by edge;
    ``both`` by (end, end, pair of boundaries).
    """

    arrays: ProblemArrays
    tree: RootedTree
    cp: cp_model.CpModel
    beyond: Mapping[tuple[int, int], Any]
    inside: Mapping[tuple[int, int], Any]
    cross: Mapping[tuple[int, int, int], tuple[Any, ...]]
    loads: tuple[Any, ...]
    rates: tuple[tuple[Any, Any], ...]
    streams: tuple[tuple[Any, Any], ...]
    numbers: tuple[Any, ...]
    both: Mapping[tuple[int, int, int], Any]

    def use(self, slot: int, resource: int) -> Any:
        """Use of a resource in a slot, as an expression."""
        demand = self.arrays.demand[:, resource]
        modules = sum(need * self.inside[m, slot] for m, need in enumerate(demand.tolist()) if need)
        registers = self.arrays.registers[:, slot, resource].tolist()
        return modules + sum(each * load for each, load in zip(registers, self.loads, strict=True) if each)

    def area(self, slot: int) -> Any:
        """Cells that the modules of a slot take, as an expression."""
        return sum(cells * self.inside[m, slot] for m, cells in enumerate(self.arrays.cells[:, slot].tolist()) if cells)

    @property
    def cost(self) -> Any:
        """What all streams cost, as an expression."""
        return self.cost_over(range(len(self.loads)))

    def cost_over(self, edges: Collection[int]) -> Any:
        """Return what streams cost on some edges, with the pairs of boundaries among them, as an expression."""
        alone = sum(int(self.arrays.weight[k]) * self.loads[k] for k in edges)
        alone += sum(int(self.arrays.toll[k]) * self.numbers[k] for k in edges)
        among = [r for r, pair in enumerate(self.arrays.pairs) if {pair.first, pair.second} <= {*edges}]
        ends = zip(self.arrays.source.tolist(), self.arrays.target.tolist(), self.arrays.wires.tolist(), strict=True)
        passed = [(wires, (min(a, b), max(a, b), r)) for a, b, wires in ends for r in among]
        return alone + sum(wires * self.both[key] for wires, key in passed if key in self.both)

    def hint(self, assignment: Integers) -> None:
        """Suggest an assignment (M,) to the solver."""
        for (module, k), variable in self.beyond.items():
            if not isinstance(variable, int):
                self.cp.add_hint(variable, int(assignment[module]) in self.tree.far[k])
        for (a, b, k), directions in self.cross.items():
            ends = int(assignment[a]) in self.tree.far[k], int(assignment[b]) in self.tree.far[k]
            if len(directions) == 1:
                self.cp.add_hint(directions[0], ends[0] != ends[1])
            else:
                self.cp.add_hint(directions[0], ends == (True, False))
                self.cp.add_hint(directions[1], ends == (False, True))
        slots = [*assignment.tolist(), *self.arrays.hosts.tolist()]
        for (a, b, r), variable in self.both.items():
            self.cp.add_hint(variable, self.arrays.pairs[r].is_passed(slots[a], slots[b]))

    def read(self, solver: cp_model.CpSolver) -> Integers:
        """Return the assignment (M,) that the solver found."""
        root = next(s for s in range(len(self.arrays.limit)) if s not in self.tree.top)
        assignment = self.arrays.as_array(dict.fromkeys(self.arrays.names, root))
        for module in range(len(assignment)):
            below = self.tree.roots
            while passed := [k for k in below if _value(solver, self.beyond[module, k])]:
                assignment[module], below = self.tree.top[passed[0]], self.tree.children[passed[0]]
        return assignment


def build_model(
    problem: PartitionProblem,
    arrays: ProblemArrays,
    slots_allowed: Sequence[frozenset[int]] | None = None,
    soften: "Soften | None" = None,
) -> Model:
    """Build variables and constraints; the objective is the caller's.

    ``slots_allowed`` (M,) are connected sets of slots that the modules may lie in; without it, all. ``soften`` makes
    for each limit but ``takes`` what it may be exceeded by.
    """
    tree, cp = rooted(problem, problem.host_in), cp_model.CpModel()
    slots_of = slots_allowed or [frozenset(range(len(problem.slots)))] * len(arrays.names)
    beyond = {
        (m, k): _beyond(cp, slots, far, f"beyond[{arrays.names[m]},{k}]")
        for m, slots in enumerate(slots_of)
        for k, far in enumerate(tree.far)
    }
    cross = _crossings(cp, beyond, arrays)
    flows = [_flows(arrays, tree, beyond, cross, k) for k in range(len(tree.far))]
    inside = _inside(beyond, tree, len(arrays.names))
    both = _both(cp, arrays, tree, beyond, soften)
    loads, rates, streams, numbers = zip(*flows, strict=True) if flows else ((), (), (), ())
    model = Model(arrays, tree, cp, beyond, inside, cross, loads, rates, streams, numbers, both)
    _shape(model, problem)
    _limit(model, problem, soften)
    _keep_order(model, soften)
    return model


def _beyond(cp: cp_model.CpModel, slots: frozenset[int], far: frozenset[int], name: str) -> Any:
    """Return beyond[m, e], a constant if the module may lie on one side only."""
    if not slots & far:
        return 0
    return 1 if slots <= far else cp.new_bool_var(name)


def _inside(beyond: Mapping[tuple[int, int], Any], tree: RootedTree, modules: int) -> dict[tuple[int, int], Any]:
    """Return 1 if a module lies in a slot, as an expression, keyed by (module, slot)."""
    root = next(slot for slot in range(len(tree.top) + 1) if slot not in tree.top)
    inside = {(m, root): 1 - sum(beyond[m, k] for k in tree.roots) for m in range(modules)}
    for up, (slot, below) in enumerate(zip(tree.top, tree.children, strict=True)):
        for m in range(modules):
            inside[m, slot] = beyond[m, up] - sum(beyond[m, k] for k in below)
    return inside


def _value(solver: cp_model.CpSolver, variable: Any) -> int:
    return variable if isinstance(variable, int) else int(solver.value(variable))


def _crossings(
    cp: cp_model.CpModel, beyond: Mapping[tuple[int, int], Any], arrays: ProblemArrays
) -> dict[tuple[int, int, int], tuple[Any, ...]]:
    """Make cross[p, e], keyed by (first module, second module, edge), where neither module's side is constant.

    One variable where the direction does not matter; else one for only the first beyond and one for only the second.
    """
    cross: dict[tuple[int, int, int], tuple[Any, ...]] = {}
    count = len(arrays.names)
    ends = zip(arrays.source.tolist(), arrays.target.tolist(), strict=True)
    for a, b in sorted({(min(pair), max(pair)) for pair in ends if max(pair) < count}):
        for k, most in enumerate(arrays.most_carried.min(axis=0)):
            if isinstance(beyond[a, k], int) or isinstance(beyond[b, k], int):
                continue
            directions = tuple(
                cp.new_bool_var(f"cross[{a},{b},{k},{direction}]") for direction in range(1 + (most < UNLIMITED))
            )
            cp.add(directions[0] >= beyond[a, k] - beyond[b, k])
            cp.add(directions[-1] >= beyond[b, k] - beyond[a, k])
            cross[a, b, k] = directions
    return cross


def _both(
    cp: cp_model.CpModel,
    arrays: ProblemArrays,
    tree: RootedTree,
    beyond: Mapping[tuple[int, int], Any],
    soften: "Soften | None",
) -> dict[tuple[int, int, int], Any]:
    """Make both[p, r], keyed by (first end, second end, pair of boundaries); the host's ends are behind the modules."""
    count, hosts = len(arrays.names), arrays.hosts.tolist()

    def outside(end: int, r: int, i: int) -> Any:
        pair = arrays.pairs[r]
        edge, side = (pair.first, pair.second)[i], pair.outer[i]
        if end >= count:
            return int(hosts[end - count] in side)
        return beyond[end, edge] if side == tree.far[edge] else 1 - beyond[end, edge]

    ends = {(min(pair), max(pair)) for pair in zip(arrays.source.tolist(), arrays.target.tolist(), strict=True)}
    return passed_pairs(cp, arrays.pairs, sorted(ends), outside, soften)


def _flows(
    arrays: ProblemArrays,
    tree: RootedTree,
    beyond: Mapping[tuple[int, int], Any],
    cross: Mapping[tuple[int, int, int], tuple[Any, ...]],
    edge: int,
) -> tuple[Any, tuple[Any, Any], tuple[Any, Any], Any]:
    """Return wires, bits and streams towards the root and away from it, and all streams over an edge."""
    count = len(arrays.names)
    fixed = [int(slot in tree.far[edge]) for slot in arrays.hosts.tolist()]
    wires: Any = 0
    number: Any = 0
    carried: list[list[Any]] = [[0, 0], [0, 0]]
    streams = zip(arrays.source.tolist(), arrays.target.tolist(), arrays.wires, arrays.carried.T.tolist(), strict=True)
    for source, target, width, amounts in streams:
        directions = cross.get((min(source, target), max(source, target), edge))
        if directions is not None:
            home, away = (directions[0], directions[-1]) if source < target else (directions[-1], directions[0])
            passing = directions[0] if len(directions) == 1 else home + away
        else:
            far = [fixed[end - count] if end >= count else beyond[end, edge] for end in (source, target)]
            home, away = _passing(far[0], far[1])
            passing = home + away
        wires += int(width) * passing
        number += amounts[1] * passing
        for both, amount in zip(carried, amounts, strict=True):
            both[0] += amount * home
            both[1] += amount * away
    (home, away), (sent, received) = carried
    return wires, (home, away), (sent, received), number


def _passing(source: Any, target: Any) -> tuple[Any, Any]:
    """Return whether a stream passes towards the root and away from it, of two sides of which one is constant."""
    if isinstance(source, int) and isinstance(target, int):
        return int(source > target), int(target > source)
    if isinstance(source, int):
        return (1 - target, 0) if source else (0, target)
    return (0, 1 - source) if target else (source, 0)


def _shape(model: Model, problem: PartitionProblem) -> None:
    """Add the constraints of the tree and takes."""
    arrays, tree = model.arrays, model.tree
    for m in range(len(arrays.names)):
        for k, below in ((-1, tree.roots), *enumerate(tree.children)):
            if len(below) > 1 or (below and k >= 0):
                up = 1 if k < 0 else model.beyond[m, k]
                _at_most(model, sum(model.beyond[m, c] for c in below) - up, 0, f"tree[{arrays.names[m]},{k}]")
        for s in range(len(arrays.limit)):
            if not arrays.takes[m, s]:
                _at_most(model, model.inside[m, s], 0, f"takes[{arrays.names[m]},{problem.slots[s].name}]")


def _limit(model: Model, problem: PartitionProblem, soften: "Soften | None") -> None:
    """Add the constraints limit, area, wires, rate and streams."""
    arrays = model.arrays
    names = [*RESOURCE_NAMES, *(f"apart {','.join(group)}" for group in problem.apart)]
    limits: list[tuple[Any, int, str]] = []
    for s, slot in enumerate(problem.slots):
        limits += [
            (model.use(s, r), most, f"limit[{slot.name},{resource}]")
            for r, (resource, most) in enumerate(zip(names, arrays.limit[s].tolist(), strict=True))
        ]
        limits.append((model.area(s), int(arrays.most_cells[s]), f"area[{slot.name}]"))
    for k, edge in enumerate(problem.edges):
        limits.append((model.loads[k], int(arrays.most_wires[k]), f"wires[{edge.name}]"))
        of_kinds = zip(("rate", "streams"), (model.rates[k], model.streams[k]), arrays.most_carried[:, k], strict=True)
        for kind, both, most in of_kinds:
            limits += [
                (use, int(most), f"{kind}[{edge.name},{way}]") for way, use in zip(("home", "away"), both, strict=True)
            ]
    for amount, most, name in limits:
        allowance = soften(model.cp, most) if soften is not None and most < UNLIMITED else 0
        _at_most(model, amount - allowance, most, name)


def _keep_order(model: Model, soften: "Soften | None") -> None:
    arrays, count = model.arrays, len(model.arrays.names)

    def late(end: int, fpga: int) -> Any:
        if end >= count:
            return int(arrays.order[arrays.hosts[end - count]] >= fpga)
        return sum(model.inside[end, slot] for slot in np.flatnonzero(arrays.order >= fpga).tolist())

    ends = sorted({*zip(arrays.source.tolist(), arrays.target.tolist(), strict=True)})
    later = sorted({*arrays.order.tolist()})[1:]
    for source, target in ends if later else ():
        allowance = 0 if soften is None else soften(model.cp, 1)
        for fpga in later:
            _at_most(model, late(source, fpga) - late(target, fpga) - allowance, 0, f"order[{source},{target},{fpga}]")


def _at_most(model: Model, amount: Any, most: int, name: str) -> None:
    if most >= UNLIMITED:
        return
    if isinstance(amount, int):
        if amount > most:
            model.cp.add_bool_or([]).with_name(name)  # a constant above its limit: nothing can be legal
        return
    model.cp.add(amount <= most).with_name(name)


Soften = Callable[[cp_model.CpModel, int], Any]
"""From the model and a limit to an amount by which it may be exceeded."""


def passed_pairs(
    cp: cp_model.CpModel,
    pairs: Sequence[BoundaryPair],
    ends: Iterable[tuple[int, int]],
    outside: Callable[[int, int, int], Any],
    soften: Soften | None,
) -> dict[tuple[int, int, int], Any]:
    """Return whether streams with these ends pass both of a pair, by (end, end, pair): a variable, or a constant.

    ``outside(end, pair, i)`` says whether an end lies on a pair's outer side ``i``, as an expression or a constant.
    Pairs that no stream may pass are constrained, or count as hops too many where limits are softened.
    """
    both: dict[tuple[int, int, int], Any] = {}
    for a, b in ends:
        for r, pair in enumerate(pairs):
            sides = [(outside(a, r, i), outside(b, r, 1 - i)) for i in (0, 1)]
            ways = [way for way in sides if not any(isinstance(one, int) and one == 0 for one in way)]
            if not ways:
                continue
            passed: Any = soften(cp, HOP_LIMIT) if soften is not None and not pair.allowed else 0
            if pair.allowed:
                passed = both[a, b, r] = cp.new_bool_var(f"both[{a},{b},{r}]")
            for one, other in ways:
                _at_most_one(cp, one, other, passed)
    return both


def _at_most_one(cp: cp_model.CpModel, one: Any, other: Any, passed: Any) -> None:
    """Add: an end lies on its side, or the other on its own, not both unless both are passed."""
    if all(isinstance(each, int) for each in (one, other, passed)):
        if one + other > 1 + passed:
            cp.add_bool_or([]).with_name("hops")
        return
    cp.add(one + other <= 1 + passed).with_name("hops")
