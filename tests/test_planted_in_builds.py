"""Mistakes planted in a build folder are found: by bind if they come before it, by check --build if after it."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import floorflow as ff
from tests import built_kernels
from tests.built_kernels import Kernels
from tests.command_line import floorflow
from tests.test_binding import engines_in, set_attribute

Spoil = Callable[[Kernels], None]
PREFIX = re.compile(r"StreamingDataflowPartition_(\d+)_")


def fifos(kernels: Kernels) -> list[onnx.NodeProto]:
    return engines_in(kernels, "StreamingFIFO")


def attribute(node: onnx.NodeProto, name: str) -> int:
    return next(int(a.i) for a in node.attribute if a.name == name)


def deepest(kernels: Kernels) -> onnx.NodeProto:
    return max(fifos(kernels), key=lambda node: attribute(node, "depth"))


def swap_names(one: onnx.NodeProto, other: onnx.NodeProto) -> None:
    one.name, other.name = other.name, one.name


def engine_of_another_size(kernels: Kernels) -> None:
    set_attribute(engines_in(kernels, "MVAU")[2], "MW", 7)


def engine_of_another_kind(kernels: Kernels) -> None:
    engines_in(kernels, "MVAU")[2].op_type = "VVAU_hls"


def rtl_for_hls(kernels: Kernels) -> None:
    engines_in(kernels, "MVAU_hls")[0].op_type = "MVAU_rtl"


def engine_folded_otherwise(kernels: Kernels) -> None:
    node = engines_in(kernels, "MVAU")[1]
    set_attribute(node, "SIMD", attribute(node, "SIMD") + 1)


def weights_in_another_memory(kernels: Kernels) -> None:
    node = next(n for n in engines_in(kernels, "MVAU") if any(a.name == "ram_style" for a in n.attribute))
    set_attribute(node, "ram_style", "nowhere")


def window_of_another_stride(kernels: Kernels) -> None:
    set_attribute(engines_in(kernels, "ConvolutionInputGenerator")[0], "Stride", [9, 9])


def wrong_engine_under_the_name(kernels: Kernels) -> None:
    pairs = ((a, b) for a in engines_in(kernels, "MVAU_hls") for b in engines_in(kernels, "Conv") if same_kernel(a, b))
    swap_names(*next(pairs))


def same_kernel(one: onnx.NodeProto, other: onnx.NodeProto) -> bool:
    first, second = (PREFIX.match(node.name) for node in (one, other))
    return bool(first and second and first[1] == second[1])


def renamed_node(kernels: Kernels) -> None:
    engines_in(kernels, "MVAU")[0].name += "0"


def renamed_fifo(kernels: Kernels) -> None:
    fifos(kernels)[1].name += "0"


def kernel_of_another_number(kernels: Kernels) -> None:
    """Every node of a kernel under the number of none."""
    for node in max(kernels.values(), key=lambda model: len(model.graph.node)).graph.node:
        node.name = PREFIX.sub("StreamingDataflowPartition_99_", node.name)


def two_kernels_change_numbers(kernels: Kernels) -> None:
    one, other = list(kernels.values())[1:3]
    numbers = [PREFIX.match(model.graph.node[0].name) for model in (one, other)]
    for model, number in zip((one, other), reversed(numbers), strict=True):
        assert number
        for node in model.graph.node:
            node.name = PREFIX.sub(number[0], node.name)


def kernel_of_two_names(kernels: Kernels) -> None:
    node = engines_in(kernels, "MVAU")[0]
    node.name = re.sub(r"_\d+_", "_77_", node.name, count=1)


def engine_in_another_slr(kernels: Kernels) -> None:
    node = engines_in(kernels, "MVAU")[0]
    set_attribute(node, "slr", attribute(node, "slr") + 1)


def kernel_in_another_slr(kernels: Kernels) -> None:
    model = max(kernels.values(), key=lambda model: len(model.graph.node))
    for node in model.graph.node:
        set_attribute(node, "slr", attribute(node, "slr") + 1)


def fifo_without_an_entry(kernels: Kernels) -> None:
    set_attribute(fifos(kernels)[0], "slr", -1)


def dma_without_an_entry(kernels: Kernels) -> None:
    set_attribute(engines_in(kernels, "IODMA")[0], "slr", -1)


def shallower_fifo(kernels: Kernels) -> None:
    set_attribute(deepest(kernels), "depth", 2)


def fifo_in_another_memory(kernels: Kernels) -> None:
    for node in fifos(kernels):
        set_attribute(node, "ram_style", "elsewhere")


def bypass(kernels: Kernels, start: str) -> None:
    """Take a node out of its stream."""
    for model in kernels.values():
        for node in model.graph.node:
            readers = [other for other in model.graph.node if node.output[0] in other.input]
            if node.op_type.startswith(start) and readers:
                for other in readers:
                    other.input[:] = [node.input[0] if name == node.output[0] else name for name in other.input]
                model.graph.node.remove(node)
                return
    raise AssertionError(start)


def missing_fifo(kernels: Kernels) -> None:
    bypass(kernels, "StreamingFIFO")


def missing_converter(kernels: Kernels) -> None:
    bypass(kernels, "StreamingDataWidthConverter")


def missing_engine(kernels: Kernels) -> None:
    bypass(kernels, "MVAU")


def inputs_changed_over(kernels: Kernels) -> None:
    one, other = engines_in(kernels, "MVAU")[:2]
    one.input[0], other.input[0] = other.input[0], one.input[0]


def missing_kernel(kernels: Kernels) -> None:
    del kernels[sorted(kernels)[len(kernels) // 2]]


def one_engine_more(kernels: Kernels) -> None:
    model = max(kernels.values(), key=lambda model: len(model.graph.node))
    node = next(node for node in model.graph.node if node.op_type.startswith("StreamingFIFO"))
    prefix = PREFIX.match(node.name)
    assert prefix
    extra = helper.make_node("MVAU_hls", [node.input[0]], ["extra"], prefix[0] + "MVAU_hls_88", slr=0)
    model.graph.node.append(extra)


def streams_changed_over(kernels: Kernels) -> None:
    one, other = engines_in(kernels, "MVAU")[1:3]
    one.output[0], other.output[0] = other.output[0], one.output[0]


def engine_fed_by_itself(kernels: Kernels) -> None:
    node = engines_in(kernels, "MVAU")[3]
    node.input[0] = node.output[0]


MISTAKES: list[Spoil] = [
    *(engine_of_another_size, engine_of_another_kind, rtl_for_hls, engine_folded_otherwise, weights_in_another_memory),
    *(window_of_another_stride, wrong_engine_under_the_name, renamed_node, renamed_fifo, kernel_of_another_number),
    *(
        two_kernels_change_numbers,
        kernel_of_two_names,
        engine_in_another_slr,
        kernel_in_another_slr,
        fifo_without_an_entry,
    ),
    *(dma_without_an_entry, shallower_fifo, fifo_in_another_memory, missing_fifo, missing_converter, missing_engine),
    *(inputs_changed_over, missing_kernel, one_engine_more, streams_changed_over, engine_fed_by_itself),
]
FOLLOWED = {renamed_node, renamed_fifo, kernel_of_another_number, two_kernels_change_numbers}
"""Other names alone are no mistake before bind, which reads them."""
TOLD = {shallower_fifo, fifo_in_another_memory, wrong_engine_under_the_name, dma_without_an_entry}
"""What bind lets pass; check --build with the new binding still has a say."""


SAID: dict[Spoil, str] = {
    engine_of_another_size: "no node of its kind and shape .* MW is 7",
    engine_of_another_kind: "no node of its kind and shape",
    engine_folded_otherwise: "another folding than planned: .* SIMD is",
    engine_in_another_slr: "is built in SLR .*, the plan has it in SLR",
    fifo_without_an_entry: "is built in SLR -1, the plan has it in SLR",
    kernel_of_two_names: "named by several",
    missing_fifo: "is built in SLR 0, the plan has it in SLR 1",  # at a boundary: which are left nobody can say
}
"""What bind says of some."""


@pytest.fixture(scope="module")
def bound(cnv_on_u250: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bound")
    built_kernels.bound(cnv_on_u250, folder)
    return folder


def spoilt_build(bound: Path, folder: Path, spoil: Spoil) -> Path:
    place = bound / "build" / "intermediate_models" / "kernel_partitions"
    kernels = {int(p.stem.rpartition("_")[2]): onnx.load(p) for p in sorted(place.glob("*.onnx"))}
    return built_kernels.write(kernels, folder / "spoilt", spoil)


def test_a_bound_plan_is_legal_beside_its_build(bound: Path) -> None:
    verdict = ff.check(bound / "bound", build=bound / "build")
    assert not verdict.violations


@pytest.mark.parametrize("spoil", MISTAKES, ids=lambda spoil: spoil.__name__)
def test_a_mistake_behind_bind_is_found_by_check(spoil: Spoil, bound: Path, tmp_path: Path) -> None:
    found = ff.check(bound / "bound", build=spoilt_build(bound, tmp_path, spoil)).violations
    assert any(violation.name.startswith("build-") for violation in found)


@pytest.mark.parametrize("spoil", [s for s in MISTAKES if s not in FOLLOWED | TOLD], ids=lambda s: s.__name__)
def test_a_mistake_before_bind_is_refused_by_bind(spoil: Spoil, bound: Path, cnv_on_u250: Path, tmp_path: Path) -> None:
    with pytest.raises(ff.InputError, match=SAID.get(spoil)):
        ff.bind(cnv_on_u250, spoilt_build(bound, tmp_path, spoil))


def test_bind_exits_2_and_says_why(bound: Path, cnv_on_u250: Path, tmp_path: Path) -> None:
    build = spoilt_build(bound, tmp_path, engine_of_another_size)
    ran = floorflow("bind", cnv_on_u250, "--build", build, "-o", tmp_path / "new")
    assert (ran.returncode, (tmp_path / "new").exists()) == (2, False)
    assert "MW is 7" in ran.stderr


@pytest.mark.parametrize("spoil", sorted(FOLLOWED, key=lambda s: s.__name__), ids=lambda s: s.__name__)
def test_other_names_alone_are_followed(spoil: Spoil, bound: Path, cnv_on_u250: Path, tmp_path: Path) -> None:
    build = spoilt_build(bound, tmp_path, spoil)
    ff.bind(cnv_on_u250, build).save(tmp_path / "again")
    assert ff.check(tmp_path / "again", build=build).legal


def swapped(kernels: Kernels) -> None:
    """The two ways of a fork to a sum change over where one is longer than the other."""
    join = next(node for node in engines_in(kernels, "StreamingConcat") if len(node.input) > 1)
    join.input[0], join.input[1] = join.input[1], join.input[0]


def test_swapped_branches_are_refused(branches_on_two_u250: Path, tmp_path: Path) -> None:
    built_kernels.bound(branches_on_two_u250, tmp_path)
    build = spoilt_build(tmp_path, tmp_path, swapped)
    found = {v.name for v in ff.check(tmp_path / "bound", build=build).violations}
    assert "build-stream-differs" in found
    with pytest.raises(ff.InputError):
        ff.bind(branches_on_two_u250, build)


@pytest.mark.parametrize(("pixels", "found"), [(32, set()), (31, {"build-vectors-differ"})])
def test_vectors_of_a_build_are_frames_of_the_plan(pixels: int, found: set[str], bound: Path, tmp_path: Path) -> None:
    shutil.copytree(bound / "build", tmp_path / "build")
    np.save(tmp_path / "build" / "floorflow_input.npy", np.zeros((4, 3, pixels, pixels)))
    np.save(tmp_path / "build" / "floorflow_expected.npy", np.zeros((4, 10)))
    violations = ff.check(bound / "bound", build=tmp_path / "build").violations
    assert {violation.name for violation in violations} == found


def test_an_unbound_plan_has_no_names_to_judge(cnv_on_u250: Path, bound: Path) -> None:
    found = ff.check(cnv_on_u250, build=bound / "build").violations
    assert [violation.name for violation in found] == ["names-unbound"]


def test_the_command_exits_1_and_names_the_node(bound: Path, tmp_path: Path) -> None:
    build = spoilt_build(bound, tmp_path, renamed_node)
    ran = floorflow("check", bound / "bound", "--build", build)
    assert ran.returncode == 1
    assert "build-cell-missing" in ran.stdout


def test_no_build_exits_2(bound: Path, tmp_path: Path) -> None:
    shutil.copytree(bound / "bound", tmp_path / "out")
    with pytest.raises(ff.InputError, match="no such folder"):
        ff.check(tmp_path / "out", build=tmp_path / "nothing")
