"""FINN's rules for kernels against what FINN main itself made of recorded plans."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from floorflow.backends.finn.kernel_cuts import moves
from floorflow.backends.finn.step.graph import BuiltNode, joined
from floorflow.backends.finn.step.kernel_files import read_partitions
from floorflow.backends.finn.step.kernels import NotBuildable, check_acyclic, kernel_order, partition_ids
from floorflow.backends.finn.step.match import streams_between
from floorflow.backends.finn.step.settings import Bound, own_kernels
from tests.backends.finn.finn_rules import floorplan
from tests.backends.finn.recorded_kernels import NAMES, Case, case

WITH_KERNELS = [name for name in NAMES if not name.startswith("resnet")]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded")


def kernels_of(nodes: Sequence[BuiltNode], ids: dict[BuiltNode, int]) -> list[list[str]]:
    order = kernel_order(nodes, ids)
    return [[n.name for n in nodes if ids[n] == number] for number in sorted(order, key=order.__getitem__)]


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_a_floorplan_of_every_node_gives_the_kernels_that_finn_made(name: str, folder: Path) -> None:
    told = case(name, folder)
    slr = {node: told.slr[node.name] for node in told.nodes}
    found = kernels_of(told.nodes, partition_ids(told.nodes, slr, plus=False))
    assert found == [kernel["nodes"] for kernel in told.content["kernels"]]
    assert {node.name for node in told.nodes} == {*told.slr}


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_entries_for_engines_alone_leave_kernels_without_an_slr_as_finn_did(name: str, folder: Path) -> None:
    told = case(name, folder)
    engines = {node.name for node in told.nodes if not node.passes}
    slr, ids = floorplan(told.nodes, {n: told.slr[n] for n in engines}, plus=False)
    by_node = {node: ids[node.name] for node in told.nodes}
    recorded = told.content["kernels_engines_only"]
    assert kernels_of(told.nodes, by_node) == [kernel["nodes"] for kernel in recorded]
    assert Counter(slr[kernel["nodes"][0]] for kernel in recorded) == Counter(kernel["slr"] for kernel in recorded)
    assert by_node == partition_ids(told.nodes, {node: slr[node.name] for node in told.nodes}, plus=False)


@pytest.mark.parametrize("plus", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_both_rules_told_twice_agree_on_any_floorplan(name: str, *, plus: bool, folder: Path) -> None:
    told, rng = case(name, folder), random.Random(7)
    for slrs in (1, 2, 4):
        entries = {node.name: rng.randrange(slrs) for node in told.nodes}
        slr = {node: entries[node.name] for node in told.nodes}
        expected = floorplan(told.nodes, entries, plus=plus)[1]
        assert partition_ids(told.nodes, slr, plus=plus) == {node: expected[node.name] for node in told.nodes}


def written(told: Case, ids: dict[BuiltNode, int], folder: Path) -> Path:
    """Write each kernel as CreateDataflowPartition does, tensors called as in the whole graph."""
    maker = {tensor: node for node in told.nodes for tensor in node.outputs}
    folder.mkdir()
    for number in set(ids.values()):
        members = [node for node in told.nodes if ids[node] == number]
        into = {t for n in members for t in n.inputs if t not in maker or ids[maker[t]] != number}
        read = {t for n in told.nodes if ids[n] != number for t in n.inputs}
        out = {t for n in members for t in n.outputs if t in read or all(t not in o.inputs for o in told.nodes)}
        ends = [
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in sorted(names)]
            for names in (into, out)
        ]
        nodes = [helper.make_node(n.op_type, n.inputs, n.outputs, n.name) for n in members]
        onnx.save(helper.make_model(helper.make_graph(nodes, "kernel", *ends)), folder / f"partition_{number}.onnx")
    return folder


@pytest.mark.parametrize("name", WITH_KERNELS)
def test_kernels_that_are_not_named_yet_are_numbered_as_finn_did(name: str, folder: Path, tmp_path: Path) -> None:
    told = case(name, folder)
    slr = {node: told.slr[node.name] for node in told.nodes}
    read = read_partitions(written(told, partition_ids(told.nodes, slr, plus=False), tmp_path / "kernels"))
    found = {node.name: f"StreamingDataflowPartition_{node.kernel}" for node in read.graph.nodes}
    assert found == {name: kernel["kernel"] for kernel in told.content["kernels"] for name in kernel["nodes"]}
    # Inside a kernel each op type is counted from 0, in the kernel's order.
    for kernel in told.content["kernels"]:
        counts: Counter[str] = Counter()
        inside = {node.name: read.names[node] for node in read.graph.nodes}
        for name in kernel["nodes"]:
            kind = name.rpartition("_")[0]
            assert inside[name] == f"{kind}_{counts[kind]}"
            counts[kind] += 1


@pytest.mark.parametrize("plus", [False, True])
def test_resnet18_can_be_built_once_fifos_before_sums_are_moved(*, plus: bool, folder: Path) -> None:
    """FINN ended in "cycle-free graph violated" on this plan."""
    told = case("resnet18_u250", folder)
    modules = {f"SLR{number}": {"slr": number, "device": 0} for number in range(4)}
    home = {e["id"]: f"SLR{told.slr[e['id']]}" for e in told.data["engines"]}
    data = {
        **told.data,
        "finn": "plus" if plus else "main",
        "modules": modules,
        "dma": {"in": modules["SLR0"], "out": modules["SLR0"]},
        "engines": [{**e, "module": home[e["id"]]} for e in told.data["engines"]],
        "streams": [
            {
                **s,
                "fifo_module": home[s["source"] or s["target"]],
                "converter_module": s["converter"]
                and home[s["source"] if s["source_width"] < s["target_width"] else s["target"]],
            }
            for s in told.data["streams"]
        ],
    }
    graph = joined(told.nodes)
    bound = Bound(data, graph, told.engines, tuple(streams_between(data["streams"], told.engines, graph)))
    with pytest.raises(NotBuildable, match="would wait for itself"):
        check_acyclic(graph.nodes, own_kernels(bound))
    moved = Bound({**data, "moved": moves(bound)}, graph, told.engines, bound.streams)
    check_acyclic(graph.nodes, own_kernels(moved))
    assert 1 <= len(moved.plan["moved"]) <= 8
