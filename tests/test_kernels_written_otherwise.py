"""One build in many writings: kernels named or not, joined by their tensors or by the graph of kernels."""

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import floorflow as ff
from tests.conftest import made_once

BUILD = Path(__file__).parent / "backends" / "finn" / "builds" / "custom_3"
"""Kernels of a FINN+ build for PYNQ-Z2 (tests/backends/finn/copy_builds.py)."""
PREFIX = re.compile(r"StreamingDataflowPartition_(\d+)_")
Rewrite = Callable[[Path], None]


@pytest.fixture(scope="session")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(out: Path) -> Path:
        model = ff.read(BUILD / "graph_with_fifos.onnx", finn="plus")
        full = dict.fromkeys(("LUT", "FF", "BRAM18", "DSP"), 1.0)
        plan = ff.plan(model, "pynq-z2", keep_folding=True, finn="plus", cap=full, effort="fast", plots=False)
        plan.save(out / "plan")
        return out / "plan"

    return made_once(tmp_path_factory, "custom_3", make)


def kernels(build: Path) -> list[Path]:
    return sorted((build / "kernel_partitions").glob("partition_*.onnx"))


def each(build: Path, change: Callable[[onnx.GraphProto], None]) -> None:
    for path in kernels(build):
        model = onnx.load(path)
        change(model.graph)
        onnx.save(model, path)


def named_as_in_the_whole_graph(build: Path) -> None:
    """As CreateDataflowPartition leaves them."""

    def rename(graph: onnx.GraphProto) -> None:
        for node in graph.node:
            node.name = PREFIX.sub("", node.name) + "3"

    each(build, rename)


def without_names(build: Path) -> None:
    def rename(graph: onnx.GraphProto) -> None:
        for node in graph.node:
            node.name = ""

    each(build, rename)


def in_files_numbered_otherwise(build: Path) -> None:
    for path, number in zip(kernels(build), (7, 11, 3), strict=True):
        path.rename(path.with_name(f"partition_{number}.onnx"))


def with_nodes_in_any_order(build: Path) -> None:
    def shuffle(graph: onnx.GraphProto) -> None:
        nodes = list(graph.node)
        random.Random(3).shuffle(nodes)
        del graph.node[:]
        graph.node.extend(nodes)

    each(build, shuffle)


def of_finn_mains_domain(build: Path) -> None:
    def move(graph: onnx.GraphProto) -> None:
        for node in graph.node:
            node.domain = "finn.custom_op.fpgadataflow"

    each(build, move)


def with_ends_called_alike(build: Path) -> None:
    """As FINN+ calls them when it has packaged kernels."""

    def rename(graph: onnx.GraphProto) -> None:
        constants = {tensor.name for tensor in graph.initializer}
        called = {v.name: "global_in" for v in graph.input if v.name not in constants}
        called |= {v.name: "global_out" for v in graph.output}
        for node in graph.node:
            node.input[:] = [called.get(name, name) for name in node.input]
            node.output[:] = [called.get(name, name) for name in node.output]
        for value in (*graph.input, *graph.output):
            value.name = called.get(value.name, value.name)

    each(build, rename)


def graph_of_kernels(build: Path, folder: str, kind: str = "StreamingDataflowPartition") -> None:
    """Write the graph of kernels, which lie in ``folder`` by its words, in an order that is none of its streams."""
    nodes = []
    for path in kernels(build):
        graph = onnx.load(path).graph
        constants = {tensor.name for tensor in graph.initializer}
        into = [value.name for value in graph.input if value.name not in constants]
        out = [value.name for value in graph.output]
        nodes.append(helper.make_node(kind, into, out, f"GenericPartition_{len(nodes)}", model=folder + path.name))
    ends = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, [1])] for n in ("global_in", "global_out")]
    onnx.save(helper.make_model(helper.make_graph(nodes, "kernels", *ends)), build / "step_synthesize_bitfile.onnx")


def joined_by_paths_of_another_machine(build: Path) -> None:
    graph_of_kernels(build, "C:\\build\\kernel_partitions\\")
    with_ends_called_alike(build)


def joined_by_a_graph_of_generic_partitions(build: Path) -> None:
    graph_of_kernels(build, "kernel_partitions/", "GenericPartition")
    with_ends_called_alike(build)
    without_names(build)


REWRITTEN: list[Rewrite] = [
    *(named_as_in_the_whole_graph, without_names, in_files_numbered_otherwise, with_nodes_in_any_order),
    *(of_finn_mains_domain, with_ends_called_alike, joined_by_paths_of_another_machine),
    joined_by_a_graph_of_generic_partitions,
]


def copied(folder: Path, rewrite: Rewrite) -> Path:
    shutil.copytree(BUILD / "kernel_partitions", folder / "kernel_partitions")
    rewrite(folder)
    return folder


@pytest.fixture(scope="session")
def cells(planned: Path) -> dict[str, str]:
    return dict(ff.bind(planned, BUILD).cells)


@pytest.mark.parametrize("rewrite", REWRITTEN, ids=lambda rewrite: rewrite.__name__)
def test_cells_are_the_same_however_kernels_are_written(
    rewrite: Rewrite, planned: Path, cells: dict[str, str], tmp_path: Path
) -> None:
    build = copied(tmp_path / "build", rewrite)
    bound = ff.bind(planned, build)
    assert bound.cells == cells
    bound.save(tmp_path / "new")
    # FINN+ was left to choose depths, so FIFOs alone may differ from the plan.
    assert {v.name for v in ff.check(tmp_path / "new", build=build).violations} == {"build-fifo-differs"}


def test_alike_ends_of_kernels_without_numbers_are_refused(planned: Path, tmp_path: Path) -> None:
    def both(build: Path) -> None:
        with_ends_called_alike(build)
        without_names(build)

    with pytest.raises(ff.InputError, match="several kernels call what they send 'global_out'"):
        ff.bind(planned, copied(tmp_path, both))


def test_check_says_that_it_cannot_tell_how_kernels_are_joined(planned: Path, tmp_path: Path) -> None:
    ff.bind(planned, BUILD).save(tmp_path / "new")
    build = copied(tmp_path / "build", with_ends_called_alike)
    in_files = kernels(build)
    onnx.save(onnx.load(in_files[0]), in_files[0].with_name("partition_9.onnx"))
    (found,) = [v for v in ff.check(tmp_path / "new", build=build).violations if v.name == "build-unreadable"]
    assert "global_out" in found.message


def test_a_name_that_is_not_given_yet_is_judged_too(planned: Path, tmp_path: Path) -> None:
    """The names in the constraints of one build are not those of another with an engine's FIFO more in front."""
    ff.bind(planned, BUILD).save(tmp_path / "new")

    def deeper(build: Path) -> None:
        def ask(graph: onnx.GraphProto) -> None:
            first = graph.node[0]
            if first.op_type.startswith("StreamingFIFO"):
                second = graph.node[1]
                second.input[0] = first.input[0]
                graph.node.remove(first)
                kept = [a for a in second.attribute if a.name != "inFIFODepths"]
                del second.attribute[:]
                second.attribute.extend([*kept, helper.make_attribute("inFIFODepths", [64])])
                kind = second.op_type
                assert kind.startswith("Thresholding")

        without_names(build)
        each(build, ask)

    found = ff.check(tmp_path / "new", build=copied(tmp_path / "build", deeper)).violations
    assert {v.name for v in found} >= {"build-cell-missing"}
