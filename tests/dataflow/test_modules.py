"""Engines are clustered into stages; small clusters join a neighbour and never close a cycle."""

from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.roles import described
from floorflow.dataflow.model import Dataflow, Engine
from floorflow.dataflow.modules import (
    SMALL_BRAM18,
    SMALL_LUT,
    Module,
    Naming,
    Wire,
    cluster,
    merge,
    module_of,
    taken_out,
)
from floorflow.resources import Resources, total

BIG = Resources(lut=2000)
SMALL = Resources(lut=100)


def dataflow(*kinds: str) -> Dataflow:
    counts: dict[str, int] = {}
    engines = []
    for kind in kinds:
        name = f"{kind}_{counts.setdefault(kind, 0)}"
        engines.append(described(Engine(name, kind, "", {}, 0, 8, 8)))
        counts[kind] += 1
    return Dataflow("net", tuple(engines), ())


def equal(graph: Dataflow) -> Naming:
    return Naming(graph, {engine.name: 0.0 for engine in graph.engines})


def chain(graph: Dataflow, width_bits: int = 8) -> list[Wire]:
    names = [e.name for e in graph.engines]
    return [Wire(a, b, width_bits) for a, b in pairwise(names)]


def stages(graph: Dataflow, use: dict[str, Resources] | None = None) -> list[tuple[str, ...]]:
    sizes = {e.name: BIG for e in graph.engines} | (use or {})
    return [m.engines for m in cluster(equal(graph), chain(graph), sizes, "stage")]


def test_a_stage_is_padding_window_matrix_unit_and_thresholds() -> None:
    graph = dataflow(
        "FMPadding_rtl", "ConvolutionInputGenerator_rtl", "MVAU_rtl", "Thresholding_rtl", "StreamingMaxPool_hls"
    )
    assert stages(graph) == [tuple(e.name for e in graph.engines[:4]), ("StreamingMaxPool_hls_0",)]


def test_input_thresholds_join_the_first_stage_and_label_select_the_last() -> None:
    graph = dataflow("Thresholding_rtl", "MVAU_hls", "MVAU_hls", "LabelSelect_hls")
    assert stages(graph) == [("Thresholding_rtl_0", "MVAU_hls_0"), ("MVAU_hls_1", "LabelSelect_hls_0")]


def test_small_cluster_joins_the_neighbour_on_its_widest_stream() -> None:
    graph = dataflow("MVAU_hls", "MVAU_hls", "MVAU_hls")
    names = [e.name for e in graph.engines]
    wires = [Wire(names[0], names[1], 8), Wire(names[1], names[2], 16)]
    modules = cluster(equal(graph), wires, {names[0]: BIG, names[1]: SMALL, names[2]: BIG}, "stage")
    assert [m.engines for m in modules] == [(names[0],), (names[1], names[2])]


def test_block_ram_keeps_a_cluster_of_little_logic_apart() -> None:
    graph = dataflow("MVAU_hls", "MVAU_hls")
    assert len(stages(graph, {"MVAU_hls_1": Resources(lut=10, bram18=SMALL_BRAM18)})) == 2
    assert len(stages(graph, {"MVAU_hls_1": Resources(lut=10, bram18=SMALL_BRAM18 - 1)})) == 1


def test_layer_granularity_is_one_module_an_engine() -> None:
    graph = dataflow("FMPadding_rtl", "MVAU_hls")
    modules = cluster(equal(graph), chain(graph), {e.name: SMALL for e in graph.engines}, "layer")
    assert [m.engines for m in modules] == [("FMPadding_rtl_0",), ("MVAU_hls_0",)]


def test_merging_makes_one_new_module_in_dataflow_order() -> None:
    graph = dataflow("MVAU_hls", "MVAU_hls", "MVAU_hls")
    modules = [Module(e.name, (e.name,)) for e in graph.engines]
    naming = Naming(graph, {"MVAU_hls_0": 0.9, "MVAU_hls_1": 0.1, "MVAU_hls_2": 0.2})
    merged = merge(modules, ["MVAU_hls_2", "MVAU_hls_1"], naming)
    assert merged == (Module("MVAU_hls_0", ("MVAU_hls_0",)), Module("MVAU_hls_2", ("MVAU_hls_1", "MVAU_hls_2")))


def test_a_module_is_named_for_its_largest_engine_and_of_equal_ones_for_the_first_core() -> None:
    graph = dataflow("FMPadding_rtl", "MVAU_hls", "MVAU_hls", "Thresholding_rtl")
    names = [engine.name for engine in graph.engines]
    pad, one, other, steps = names
    shares = {pad: 0.1, one: 0.1, other: 0.1, steps: 0.05}
    assert Naming(graph, shares).of(names) == one
    assert Naming(graph, shares | {steps: 0.2}).of(names) == steps
    assert Naming(graph, shares | {steps: 0.2}).of(names[:3]) == one
    assert Naming(graph, shares).of([other]) == other


def test_a_module_of_an_earlier_plan_keeps_its_name() -> None:
    graph = dataflow("MVAU_hls", "MVAU_hls", "MVAU_hls")
    a, b, c = (engine.name for engine in graph.engines)
    naming = Naming(graph, {a: 0.1, b: 0.3, c: 0.2}, {frozenset([a, b]): "as_before"})
    parts = [Module(name, (name,)) for name in (a, b, c)]
    assert merge(parts, [b, a], naming)[0] == Module("as_before", (a, b))
    assert merge(parts, [b, c], naming)[1] == Module(b, (b, c))


def test_what_is_left_of_a_module_is_named_for_what_it_still_holds() -> None:
    graph = dataflow("MVAU_hls", "Thresholding_rtl", "DuplicateStreams_hls", "MVAU_hls")
    one, steps, fork, other = (engine.name for engine in graph.engines)
    modules = [Module(fork, (one, steps, fork)), Module("last", (other,))]
    naming = Naming(graph, {one: 0.1, steps: 0.2, fork: 0.3, other: 0.1})
    assert taken_out(modules, [(fork,)], naming) == (
        Module(steps, (one, steps)),
        Module(fork, (fork,)),
        Module("last", (other,)),
    )
    assert taken_out(modules, [(other,)], naming)[1] == Module(other, (other,))


@given(st.data())
def test_clusters_partition_the_engines_and_stay_acyclic(data: st.DataObject) -> None:
    kinds = data.draw(
        st.lists(st.sampled_from(["MVAU_hls", "Thresholding_rtl", "FMPadding_rtl"]), min_size=2, max_size=9)
    )
    graph = dataflow(*kinds)
    names = [e.name for e in graph.engines]
    pairs = st.tuples(st.integers(0, len(names) - 1), st.integers(0, len(names) - 1))
    extra = [Wire(names[a], names[b], 8) for a, b in data.draw(st.lists(pairs, max_size=5)) if a < b]
    cores = {e.name for e in graph.engines if e.kind.startswith("MVAU")}
    wires = chain(graph) + [w for w in extra if {w.source, w.target} <= cores]
    use = {n: data.draw(st.sampled_from([SMALL, BIG])) for n in names}
    modules = cluster(equal(graph), wires, use, "stage")
    home = module_of(modules)
    assert sorted(home) == sorted(names)
    contracted = nx.DiGraph((home[w.source], home[w.target]) for w in wires if home[w.source] != home[w.target])
    assert nx.is_directed_acyclic_graph(contracted)
    if len(modules) > 1 and not extra:
        assert all(total(use[e] for e in m.engines).lut >= SMALL_LUT for m in modules)


def test_a_block_is_what_lies_between_single_streams() -> None:
    graph = dataflow("MVAU_hls", "MVAU_hls", "MVAU_hls", "MVAU_hls", "MVAU_hls")
    a, b, c, d, e = (engine.name for engine in graph.engines)
    wires = [Wire(*pair, 8) for pair in ((a, b), (b, c), (b, d), (c, d), (d, e))]
    modules = cluster(equal(graph), wires, {x.name: BIG for x in graph.engines}, "block")
    assert [m.engines for m in modules] == [(a,), (b, c, d), (e,)]


def test_a_block_ends_where_branches_join_and_the_next_begins_where_they_fork() -> None:
    """A join, its thresholds and the fork behind them are one stage, through which one stream leads."""
    kinds = ["MVAU_hls", "DuplicateStreams_hls", "MVAU_hls", "AddStreams_hls", "Thresholding_rtl"]
    graph = dataflow(*kinds, *kinds[1:], "MVAU_hls")
    first, fork, one, join, steps, again, other, end, last, head = (engine.name for engine in graph.engines)
    pairs = [(first, fork), (fork, one), (fork, join), (one, join), (join, steps), (steps, again), (again, other)]
    pairs += [(again, end), (other, end), (end, last), (last, head)]
    wires = [Wire(*pair, 8) for pair in pairs]
    modules = cluster(equal(graph), wires, {x.name: BIG for x in graph.engines}, "block")
    assert [set(m.engines) for m in modules] == [{first, fork, one, join, steps}, {again, other, end, last}, {head}]
    stages_ = [set(m.engines) for m in cluster(equal(graph), wires, {x.name: BIG for x in graph.engines}, "stage")]
    assert {join, steps, again} in stages_


def test_joins_stay_apart_however_small_and_blocks_begin_where_branches_part_if_that_is_asked() -> None:
    kinds = ["MVAU_hls", "Thresholding_rtl", "DuplicateStreams_hls", "MVAU_hls", "AddStreams_hls", "Thresholding_rtl"]
    graph = dataflow(*kinds, "MVAU_hls")
    first, steps, fork, one, join, last, head = (engine.name for engine in graph.engines)
    pairs = [(first, steps), (steps, fork), (fork, one), (fork, join), (one, join), (join, last), (last, head)]
    wires, use = [Wire(*pair, 8) for pair in pairs], {e.name: BIG for e in graph.engines} | {join: SMALL, last: SMALL}

    def engines(granularity: str, *, joins_apart: bool) -> list[set[str]]:
        found = cluster(equal(graph), wires, use, granularity, joins_apart=joins_apart)
        return [set(module.engines) for module in found]

    assert {join, last} in engines("stage", joins_apart=True)
    assert {join, last} not in engines("stage", joins_apart=False)
    assert engines("block", joins_apart=True)[1] == {fork, one, join, last}
    assert engines("block", joins_apart=False)[0] > {first, fork}


def test_small_clusters_do_not_grow_beyond_the_largest_room() -> None:
    graph = dataflow("MVAU_hls", "MVAU_hls", "MVAU_hls")
    sizes = {e.name: SMALL for e in graph.engines}
    modules = cluster(equal(graph), chain(graph), sizes, "stage", [Resources(lut=250)])
    assert [len(m.engines) for m in modules] == [2, 1]


@pytest.mark.parametrize("granularity", ["stage", "block"])
def test_a_join_at_the_end_belongs_to_its_longest_branch(granularity: str) -> None:
    """FINN's own residual graph ends so; with the shortcut it would lie around the other branch."""
    graph = dataflow("MVAU_hls", "DuplicateStreams_hls", "MVAU_hls", "Thresholding_rtl", "AddStreams_hls")
    first, fork, other, steps, join = (engine.name for engine in graph.engines)
    pairs = [(first, fork), (fork, join), (fork, other), (other, steps), (steps, join)]
    modules = cluster(
        equal(graph), [Wire(*pair, 8) for pair in pairs], {e.name: BIG for e in graph.engines}, granularity
    )
    assert [m.engines for m in modules] == {
        "stage": [(first, fork), (other, steps, join)],
        "block": [(first, fork, other, steps, join)],
    }[granularity]


def test_a_path_through_another_slot_takes_a_cluster_apart() -> None:
    graph = dataflow("MVAU_hls", "Thresholding_rtl", "Thresholding_rtl")
    names = [engine.name for engine in graph.engines]
    slots = dict(zip(names, ("SLR0", "SLR1", "SLR0"), strict=True))
    modules = cluster(equal(graph), chain(graph), dict.fromkeys(names, BIG), "stage", slot_of=slots)
    assert [m.engines for m in modules] == [(name,) for name in names]


def test_blocks_of_several_networks_stay_apart() -> None:
    graph = dataflow("MVAU_hls", "MVAU_hls")
    modules = cluster(equal(graph), [], {engine.name: BIG for engine in graph.engines}, "block")
    assert [m.engines for m in modules] == [(engine.name,) for engine in graph.engines]


KINDS = (
    "MVAU_hls",
    "FMPadding_rtl",
    "Thresholding_rtl",
    "AddStreams_hls",
    "StreamingConcat_hls",
    "DuplicateStreams_hls",
)


@given(st.data())
def test_modules_of_any_graph_depend_on_one_another_without_a_circle(data: st.DataObject) -> None:
    """Joins at the end and behind forks, branches in branches, several inputs and heads, unconnected parts."""
    graph = dataflow(*data.draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=12)))
    names = [engine.name for engine in graph.engines]
    pairs = [
        (names[source], name)
        for target, name in enumerate(names[1:], 1)
        for source in data.draw(st.lists(st.integers(0, target - 1), max_size=3))
    ]
    use = {name: data.draw(st.sampled_from([SMALL, BIG])) for name in names}
    slots = {name: data.draw(st.sampled_from(["SLR0", "SLR1"])) for name in names} if data.draw(st.booleans()) else None
    granularity = data.draw(st.sampled_from(["stage", "block", "layer", "slot"]))
    modules = cluster(equal(graph), [Wire(*pair, 8) for pair in pairs], use, granularity, slot_of=slots)
    assert sorted(name for module in modules for name in module.engines) == sorted(names)
    assert len({module.name for module in modules}) == len(modules)
    home = module_of(modules)
    assert nx.is_directed_acyclic_graph(nx.DiGraph((home[a], home[b]) for a, b in pairs if home[a] != home[b]))
    for module in modules:
        assert slots is None or granularity == "layer" or len({slots[name] for name in module.engines}) == 1
