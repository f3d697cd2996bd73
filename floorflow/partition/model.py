"""The assignment of modules to a tree of slots as a CP-SAT model.

The tree is rooted at the slot of the host's input; every other slot has one edge towards the root.

variables    beyond[m, e]   module m lies on the far side of edge e (e's child edges imply it, one of them at most)
             cross[p, e]    the two modules of pair p lie on different sides of e; where the rate of e is limited two
                            variables, one for each direction
             Both are constant where the slots allowed for the modules leave no choice.
constraints  limit[s, r]    use of resource r by the modules of slot s and its crossing registers <= limit
             room[m, s]     a module lies in no slot that does not take it
             wires[e]       sum of wires over e <= its SLLs
             rate[e, d]     sum of bits a frame over link e in direction d <= what it carries in a frame
objective    min sum_e weight[e] x wires over e, given to the solver by the caller
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ortools.sat.python import cp_model

from floorflow.partition.arrays import FF, UNLIMITED, Integers, Tables
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
    """Hang the tree of slots up at ``root``."""
    everything = frozenset(range(len(problem.slots)))
    far = tuple(everything - side if root in side else side for side in problem.beyond)
    top = tuple(e.b if e.b in side else e.a for e, side in zip(problem.edges, far, strict=True))
    near = [e.a if e.b in side else e.b for e, side in zip(problem.edges, far, strict=True)]
    children = tuple(tuple(k for k, slot in enumerate(near) if slot == up) for up in top)
    return RootedTree(top, far, children, tuple(k for k, slot in enumerate(near) if slot == root))


@dataclass(frozen=True)
class Model:
    """The model with its variables, and where modules lie and what edges carry as expressions of them.

    ``beyond`` by (module, edge), ``inside`` by (module, slot), ``cross`` by (module, module, edge), ``loads`` in wires
    and ``rates`` in bits a frame towards and away from the root by edge.
    """

    tables: Tables
    tree: RootedTree
    cp: cp_model.CpModel
    beyond: Mapping[tuple[int, int], Any]
    inside: Mapping[tuple[int, int], Any]
    cross: Mapping[tuple[int, int, int], tuple[Any, ...]]
    loads: tuple[Any, ...]
    rates: tuple[tuple[Any, Any], ...]

    def use(self, slot: int, resource: int) -> Any:
        """Use of a resource in a slot, as an expression."""
        demand = self.tables.demand[:, resource]
        modules = sum(need * self.inside[m, slot] for m, need in enumerate(demand.tolist()) if need)
        if resource != FF:
            return modules
        stages = self.tables.stages[:, slot]
        return modules + sum(int(stages[k]) * load for k, load in enumerate(self.loads) if stages[k])

    @property
    def cost(self) -> Any:
        """Wires times weight over all edges, as an expression."""
        return sum(int(weight) * load for weight, load in zip(self.tables.weight, self.loads, strict=True))

    def hint(self, place: Integers) -> None:
        """Suggest an assignment (M,) to the solver."""
        for (module, k), variable in self.beyond.items():
            if not isinstance(variable, int):
                self.cp.add_hint(variable, int(place[module]) in self.tree.far[k])
        for (a, b, k), routes in self.cross.items():
            ends = int(place[a]) in self.tree.far[k], int(place[b]) in self.tree.far[k]
            if len(routes) == 1:
                self.cp.add_hint(routes[0], ends[0] != ends[1])
            else:
                self.cp.add_hint(routes[0], ends == (True, False))
                self.cp.add_hint(routes[1], ends == (False, True))

    def read(self, solver: cp_model.CpSolver) -> Integers:
        """Return the assignment (M,) that the solver found."""
        root = next(s for s in range(len(self.tables.limit)) if s not in self.tree.top)
        place = self.tables.as_array(dict.fromkeys(self.tables.names, root))
        for module in range(len(place)):
            below = self.tree.roots
            while passed := [k for k in below if _value(solver, self.beyond[module, k])]:
                place[module], below = self.tree.top[passed[0]], self.tree.children[passed[0]]
        return place


def build(problem: PartitionProblem, tables: Tables, allowed: Sequence[frozenset[int]] | None = None) -> Model:
    """Build variables and constraints; the objective is the caller's.

    ``allowed`` (M,) are connected sets of slots that the modules may lie in; without it, all.
    """
    tree, cp = rooted(problem, problem.host_in), cp_model.CpModel()
    choice = allowed or [frozenset(range(len(problem.slots)))] * len(tables.names)
    beyond = {
        (m, k): _beyond(cp, slots, far, f"beyond[{tables.names[m]},{k}]")
        for m, slots in enumerate(choice)
        for k, far in enumerate(tree.far)
    }
    cross = _crossings(cp, beyond, tables)
    flows = [_flows(tables, tree, beyond, cross, k) for k in range(len(tree.far))]
    inside = _inside(beyond, tree, len(tables.names))
    model = Model(tables, tree, cp, beyond, inside, cross, tuple(f[0] for f in flows), tuple(f[1:] for f in flows))
    _limit(model, problem)
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
    cp: cp_model.CpModel, beyond: Mapping[tuple[int, int], Any], tables: Tables
) -> dict[tuple[int, int, int], tuple[Any, ...]]:
    """Make cross[p, e], keyed by (first module, second module, edge), where neither module's side is constant.

    One variable where the direction does not matter; else one for only the first beyond and one for only the second.
    """
    cross: dict[tuple[int, int, int], tuple[Any, ...]] = {}
    count = len(tables.names)
    ends = zip(tables.source.tolist(), tables.target.tolist(), strict=True)
    for a, b in sorted({(min(pair), max(pair)) for pair in ends if max(pair) < count}):
        for k, most in enumerate(tables.most_bits):
            if isinstance(beyond[a, k], int) or isinstance(beyond[b, k], int):
                continue
            directions = tuple(
                cp.new_bool_var(f"cross[{a},{b},{k},{number}]") for number in range(1 + (most < UNLIMITED))
            )
            cp.add(directions[0] >= beyond[a, k] - beyond[b, k])
            cp.add(directions[-1] >= beyond[b, k] - beyond[a, k])
            cross[a, b, k] = directions
    return cross


def _flows(
    tables: Tables,
    tree: RootedTree,
    beyond: Mapping[tuple[int, int], Any],
    cross: Mapping[tuple[int, int, int], tuple[Any, ...]],
    edge: int,
) -> tuple[Any, Any, Any]:
    """Return wires, bits towards the root and bits away from it over an edge, as expressions."""
    count = len(tables.names)
    fixed = [int(slot in tree.far[edge]) for slot in tables.hosts.tolist()]
    wires: Any = 0
    bits: list[Any] = [0, 0]
    streams = zip(tables.source.tolist(), tables.target.tolist(), tables.wires, tables.bits, strict=True)
    for source, target, width, amount in streams:
        directions = cross.get((min(source, target), max(source, target), edge))
        if directions is not None:
            home, away = (directions[0], directions[-1]) if source < target else (directions[-1], directions[0])
            wires += int(width) * (directions[0] if len(directions) == 1 else home + away)
        else:
            far = [fixed[end - count] if end >= count else beyond[end, edge] for end in (source, target)]
            home, away = _passing(far[0], far[1])
            wires += int(width) * (home + away)
        bits[0] += int(amount) * home
        bits[1] += int(amount) * away
    return wires, bits[0], bits[1]


def _passing(source: Any, target: Any) -> tuple[Any, Any]:
    """Return whether a stream passes towards the root and away from it, of two sides of which one is constant."""
    if isinstance(source, int) and isinstance(target, int):
        return int(source > target), int(target > source)
    if isinstance(source, int):
        return (1 - target, 0) if source else (0, target)
    return (0, 1 - source) if target else (source, 0)


def _limit(model: Model, problem: PartitionProblem) -> None:
    """Add the constraints of the tree, room, limit, wires and rate."""
    tables, tree = model.tables, model.tree
    for m in range(len(tables.names)):
        for k, below in ((-1, tree.roots), *enumerate(tree.children)):
            if len(below) > 1 or (below and k >= 0):
                up = 1 if k < 0 else model.beyond[m, k]
                _at_most(model, sum(model.beyond[m, c] for c in below) - up, 0, f"tree[{tables.names[m]},{k}]")
        for s in range(len(tables.limit)):
            if not tables.takes[m, s]:
                _at_most(model, model.inside[m, s], 0, f"room[{tables.names[m]},{problem.slots[s].name}]")
    for s, slot in enumerate(problem.slots):
        for r, most in enumerate(tables.limit[s]):
            _at_most(model, model.use(s, r), int(most), f"limit[{slot.name},{RESOURCE_NAMES[r]}]")
    for k, edge in enumerate(problem.edges):
        _at_most(model, model.loads[k], int(tables.most_wires[k]), f"wires[{edge.name}]")
        for direction, rate in zip(("home", "away"), model.rates[k], strict=True):
            _at_most(model, rate, int(tables.most_bits[k]), f"rate[{edge.name},{direction}]")


def _at_most(model: Model, amount: Any, most: int, name: str) -> None:
    if most >= UNLIMITED:
        return
    if isinstance(amount, int):
        if amount > most:
            model.cp.add_bool_or([]).with_name(name)  # a constant above its limit: nothing can be legal
        return
    model.cp.add(amount <= most).with_name(name)
