"""Small random problems and chains on stacks of slots, and the best assignment by trying all."""

from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Literal

import numpy as np
from hypothesis import strategies as st

from floorflow.hardware import Crossing
from floorflow.partition import Edge, ModuleStream, PartitionProblem, SlotCapacity
from floorflow.resources import Resources

AMOUNT = st.builds(Resources, *(st.integers(0, top) for top in (40, 8, 6, 2, 3)))
LIMIT = st.builds(Resources, *(st.integers(*ends) for ends in ((60, 220), (10, 180), (8, 40), (3, 12), (4, 18))))

ROOM = st.builds(Resources, *(st.integers(*ends) for ends in ((20, 60), (4, 12), (3, 9), (1, 3), (1, 5))))


CELLS = st.one_of(st.integers(0, 8), st.integers(0, 8), st.integers(0, 8), st.none())


@st.composite
def problems(
    draw: st.DrawFn,
    most_modules: int = 10,
    *,
    least_slots: int = 1,
    path: bool = False,
    hops: int | Literal["any"] | None = "any",
) -> PartitionProblem:
    """Draw a random DAG on a tree of up to 4 slots with tight limits of every kind."""
    count, slots = (
        draw(st.integers(1, most_modules)),
        draw(st.sampled_from([s for s in (1, 2, 2, 3, 3, 4, 4) if s >= least_slots])),
    )
    names = [f"m{i}" for i in range(count)]
    registers = draw(st.integers(0, 3))
    max_hops = draw(st.sampled_from([None, 1, 2])) if hops == "any" else hops
    area = draw(st.booleans())
    order = draw(st.one_of(st.just(()), st.tuples(*(st.integers(0, 2) for _ in range(slots)))))
    seldom = draw(st.sampled_from([False, False, True]))
    return PartitionProblem(
        demands={name: draw(AMOUNT) for name in names},
        streams=tuple(draw(streams(names))),
        slots=tuple(SlotCapacity(f"s{i}", draw(LIMIT), tuple(draw(st.lists(ROOM, max_size=3)))) for i in range(slots)),
        edges=tuple(draw(edge(k, path, registers)) for k in range(1, slots)),
        host_in=0 if path else draw(st.integers(0, slots - 1)),
        host_out=draw(st.sampled_from([0, slots - 1])) if path else draw(st.integers(0, slots - 1)),
        frames_per_s=1e9,
        cells={name: tuple(draw(CELLS) for _ in range(slots)) for name in names} if area else {},
        free_cells=tuple(draw(st.integers(5, 30)) for _ in range(slots)) if area else (),
        area_share=draw(st.sampled_from([1.0, 0.92, 0.8])) if area else 1.0,
        max_hops=max_hops,
        order=order,
        link_stream_cost=draw(st.sampled_from([0, 0, 7, 1000])),
        link_wire_cost=draw(st.sampled_from([0, 3])),
        link_streams=draw(st.sampled_from([None, None, 1, 2])),
        apart=tuple(draw(st.lists(some_of(names), max_size=2))) if seldom else (),
    )


def some_of(names: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    """Draw two or three of the modules, or those that there are."""
    return st.lists(st.sampled_from(names), min_size=min(2, len(names)), max_size=3, unique=True).map(tuple)


@st.composite
def wished(draw: st.DrawFn, most_modules: int = 7) -> PartitionProblem:
    """Draw a problem in which modules are fixed, forbidden, together and apart."""
    problem = draw(problems(most_modules))
    names, slots = list(problem.demands), range(len(problem.slots))
    barred = draw(st.dictionaries(st.sampled_from(names), st.frozensets(st.sampled_from(slots)), max_size=3))
    groups = st.lists(some_of(names), max_size=2)
    return replace(problem, barred=barred, together=tuple(draw(groups)), apart=tuple(draw(groups)))


@st.composite
def streams(draw: st.DrawFn, names: list[str]) -> list[ModuleStream]:
    def stream(name: str, source: str | None, target: str | None) -> ModuleStream:
        return ModuleStream(name, source, target, draw(st.integers(1, 20)), draw(st.integers(1, 9)))

    found = [stream("in", None, names[0]), stream("out", names[-1], None)]
    for i in range(draw(st.integers(0, 12)) if len(names) > 1 else 0):
        a = draw(st.integers(0, len(names) - 2))
        found.append(stream(f"c{i}", names[a], names[draw(st.integers(a + 1, len(names) - 1))]))
    return found


@st.composite
def edge(draw: st.DrawFn, upper: int, path: bool, registers: int) -> Edge:
    other = upper - 1 if path else draw(st.integers(0, upper - 1))
    ends = (other, upper) if draw(st.booleans()) else (upper, other)
    if not draw(st.integers(0, 3)):
        return Edge(*ends, Crossing("half", wires=draw(st.integers(0, 100))), f"half{upper}")
    if draw(st.booleans()):
        wires, fifos = draw(st.integers(0, 100)), draw(st.booleans())
        return Edge(*ends, Crossing("sll", wires=wires, registers=registers, fifos=fifos), f"sll{upper}")
    return Edge(*ends, Crossing("link", gbps=float(draw(st.integers(0, 25))), cost=10), f"link{upper}")


def chain(count: int, lut: int, limits: list[int], wires: int = 10, sll: int = 100) -> PartitionProblem:
    """A chain of equal modules on one FPGA whose host sends to the lowest slot."""
    names = [f"m{i}" for i in range(count)]
    boundary = Crossing("sll", wires=sll, registers=2)
    return PartitionProblem(
        demands={n: Resources(lut=lut) for n in names},
        streams=(
            ModuleStream("in", None, "m0", 4, 100),
            *(ModuleStream(f"{a}-{b}", a, b, wires, 100) for a, b in pairwise(names)),
        ),
        slots=tuple(SlotCapacity(f"SLR{i}", Resources(lut=limit, ff=1000)) for i, limit in enumerate(limits)),
        edges=tuple(Edge(i, i + 1, boundary, f"SLR{i}-SLR{i + 1}") for i in range(len(limits) - 1)),
        host_in=0,
        host_out=0,
    )


def best_of_all(problem: PartitionProblem, places: np.ndarray) -> int | None:
    """Return the least cost of the legal ones of assignments (A, M), each rule worked out again from the problem."""
    names = list(problem.demands)
    demand = np.array([problem.demands[n].as_tuple() for n in names])
    legal = np.ones(len(places), dtype=bool)
    use = np.stack([(places == s) @ demand for s in range(len(problem.slots))], axis=1)  # (A, S, 5)
    cost = np.zeros(len(places), dtype=int)
    fpga_of, hops = fpgas(problem), np.zeros((len(problem.streams), len(problem.slots), len(places)), dtype=int)
    for e in problem.edges:
        side = connected(problem, e)
        wires, there, back = (np.zeros(len(places), dtype=int) for _ in range(3))
        for number, s in enumerate(problem.streams):
            source, target = ends(problem, s, places)
            from_b, to_b = np.isin(source, side), np.isin(target, side)
            wires += s.wires * (from_b != to_b)
            there += s.bits_per_frame * (~from_b & to_b)
            back += s.bits_per_frame * (from_b & ~to_b)
            if e.crossing.kind == "sll":
                hops[number, fpga_of[e.a]] += from_b != to_b
            else:
                is_link = e.crossing.kind == "link"
                of_a_wire = e.crossing.cost + problem.link_wire_cost * is_link
                cost += (problem.link_stream_cost * is_link + of_a_wire * s.wires) * (from_b != to_b)
        if e.crossing.kind == "sll":
            lower = (e.crossing.registers + 1) // 2
            of_a_wire = np.array([1, 2, 0, 0, 0] if e.crossing.fifos else [0, 1, 0, 0, 0])
            use[:, e.a] += np.outer(lower * wires, of_a_wire)
            use[:, e.b] += np.outer((e.crossing.registers - lower) * wires, of_a_wire)
        legal &= wires <= (e.crossing.wires if e.crossing.wires is not None else 10**9)
        if e.crossing.gbps is not None and problem.frames_per_s:
            legal &= np.maximum(there, back) * problem.frames_per_s <= e.crossing.gbps * 1e9
    for stream, by_fpga in zip(problem.streams, hops, strict=True):
        cost += stream.wires * (by_fpga * (by_fpga + 1) // 2).sum(axis=0)
        legal &= (by_fpga <= (len(problem.slots) if problem.max_hops is None else problem.max_hops)).all(axis=0)
    legal &= in_order(problem, places) & few_over_links(problem, places)
    legal &= (use <= np.array([slot.limit.as_tuple() for slot in problem.slots])).all(axis=(1, 2))
    for m, name in enumerate(names):
        legal &= np.isin(places[:, m], [s for s, slot in enumerate(problem.slots) if slot.takes(problem.demands[name])])
    if problem.cells:
        cells = np.array([[np.inf if c is None else c for c in problem.cells[n]] for n in names])
        for s, free in enumerate(problem.free_cells):
            legal &= np.where(places == s, cells[:, s], 0).sum(axis=1) <= problem.area_share * free + 1e-6
    legal &= as_wished(problem, places)
    return int(cost[legal].min()) if legal.any() else None


def as_wished(problem: PartitionProblem, places: np.ndarray) -> np.ndarray:
    """Return for each assignment (A, M) whether modules lie where they may, together and apart."""
    names, legal = list(problem.demands), np.ones(len(places), dtype=bool)
    for name, slots in problem.barred.items():
        legal &= ~np.isin(places[:, names.index(name)], list(slots))
    for group in problem.together:
        for one, other in pairwise(group):
            legal &= places[:, names.index(one)] == places[:, names.index(other)]
    for group in problem.apart:
        for one, other in combinations(group, 2):
            legal &= places[:, names.index(one)] != places[:, names.index(other)]
    return legal


def in_order(problem: PartitionProblem, places: np.ndarray) -> np.ndarray:
    """Return for each assignment (A, M) whether no stream goes back to an earlier FPGA."""
    legal, order = np.ones(len(places), dtype=bool), np.array(problem.order or [0] * len(problem.slots))
    for stream in problem.streams:
        source, target = ends(problem, stream, places)
        legal &= order[source] <= order[target]
    return legal


def few_over_links(problem: PartitionProblem, places: np.ndarray) -> np.ndarray:
    """Return for each assignment (A, M) whether no link carries more streams in one direction than it may."""
    legal = np.ones(len(places), dtype=bool)
    if problem.link_streams is None:
        return legal
    graph, slots = problem.graph, range(len(problem.slots))
    for k, way in product([k for k, e in enumerate(problem.edges) if e.crossing.kind == "link"], (True, False)):
        passed = np.array([[(k, way) in graph.route(a, b) for b in slots] for a in slots])
        legal &= sum(passed[ends(problem, s, places)].astype(int) for s in problem.streams) <= problem.link_streams
    return legal


def ends(problem: PartitionProblem, stream: ModuleStream, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the slots (A,) of a stream's two ends."""
    names = list(problem.demands)
    source = places[:, names.index(stream.source)] if stream.source else np.full(len(places), problem.host_in)
    target = places[:, names.index(stream.target)] if stream.target else np.full(len(places), problem.host_out)
    return source, target


def fpgas(problem: PartitionProblem) -> list[int]:
    """Number the FPGA of each slot: what boundaries join is one."""
    found = list(range(len(problem.slots)))
    for _ in problem.slots:
        for e in problem.edges:
            if e.crossing.kind != "link":
                found[e.a] = found[e.b] = min(found[e.a], found[e.b])
    return found


def connected(problem: PartitionProblem, cut: Edge) -> list[int]:
    """Slots reached from the edge's b side without the edge."""
    found = [cut.b]
    for slot in found:
        for e in problem.edges:
            if e is not cut and slot in (e.a, e.b):
                found += [end for end in (e.a, e.b) if end not in found]
    return found


def everything(problem: PartitionProblem) -> np.ndarray:
    """Return every assignment (slots ** modules, modules)."""
    count, slots = len(problem.demands), len(problem.slots)
    return np.arange(slots**count)[:, None] // slots ** np.arange(count)[None] % slots
