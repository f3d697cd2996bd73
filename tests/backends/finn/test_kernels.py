"""FINN's rules for kernels and FIFOs against what FINN made of recorded plans, and its steps as one file."""

import ast
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from floorflow.backends.finn.kernel_cuts import moves
from floorflow.backends.finn.made_graph import fifo_config
from floorflow.backends.finn.step.bundle import bundled
from floorflow.backends.finn.step.graph import BuiltNode, joined
from floorflow.backends.finn.step.kernel_files import read_partitions
from floorflow.backends.finn.step.kernels import NotBuildable, check_acyclic, kernel_order, partition_ids
from floorflow.backends.finn.step.match import streams_between
from floorflow.backends.finn.step.settings import Bound, own_kernels
from floorflow.facts import ChannelEntry
from floorflow.facts.values import Amounts
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


TREE = ast.parse(bundled("0"))


def test_every_name_is_defined_once() -> None:
    named = [n.name for n in TREE.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    named += [t.id for n in TREE.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]
    assert [name for name, count in Counter(named).items() if count > 1] == []


def test_nothing_of_floorflow_is_imported() -> None:
    imports = [n.module or "" for n in ast.walk(TREE) if isinstance(n, ast.ImportFrom)]
    assert imports
    assert not [name for name in imports if name.startswith("floorflow")]


NOTHING = Amounts(LUT=0, FF=0, BRAM18=0, URAM=0, DSP=0)


def channel(
    source: str, target: str, depth: int, widths: tuple[int, int] = (8, 8), style: str = "auto"
) -> ChannelEntry:
    source, port = source.split(".")
    return ChannelEntry(
        name=f"{source}.{port}->{target}",
        source=source,
        source_port=int(port),
        target=target.partition(".")[0],
        target_port=int(target.partition(".")[2] or 0),
        width_bits=max(widths),
        words_per_frame=64,
        source_width_bits=widths[0],
        target_width_bits=widths[1],
        converter="StreamingDataWidthConverter_rtl" if widths[0] != widths[1] else None,
        converter_module=None,
        fifo_depth=depth,
        fifo_needed=0,
        fifo_style=style,
        fifo_module="m",
        crossing_registers=0,
        crossing_slots=[],
        link=None,
        resources=NOTHING,
        converter_resources=NOTHING,
        fifo_resources=NOTHING,
        crossing_resources={},
        slices=0,
        slice_slots=[],
        slices_left_out=0,
        slice_resources={},
    )


ENGINES = ["fork", "long", "join"]
CHANNELS = [
    channel("host:in0.0", "fork", 32),
    channel("fork.0", "long", 5, widths=(8, 16)),
    channel("fork.1", "join", 900, style="block"),
    channel("long.0", "join.1", 6, widths=(16, 8)),
    channel("join.0", "host:out0", 32),
]


def test_fifos_stand_by_levels_the_later_output_first() -> None:
    told = fifo_config(ENGINES, CHANNELS, {}, "plus")
    # From the host; both from the fork; behind its converter; before and behind the other; to the host.
    assert list(told["fifo_depths"].values()) == [32, 900, 2, 5, 6, 2, 32]
    assert list(told["fifo_depths"]) == [f"StreamingFIFO_rtl_{number}" for number in range(7)]
    assert told["ram_style"]["StreamingFIFO_rtl_1"] == "block"
    assert set(told["impl_style"].values()) == {"rtl"}


def test_main_reads_fifos_with_the_folding_and_keeps_deep_ones_in_amds() -> None:
    told = fifo_config(ENGINES, CHANNELS, {"long": {"PE": 2}}, "main")
    assert told["long"] == {"PE": 2}
    assert told["StreamingFIFO_rtl_1"] == {"depth": 900, "impl_style": "vivado", "ram_style": "block"}
    assert told["StreamingFIFO_rtl_0"] == {"depth": 32, "impl_style": "rtl", "ram_style": "auto"}


def test_shift_registers_are_finns_own_fifo() -> None:
    told = fifo_config(["a"], [channel("host:in0.0", "a", 60, style="srl")], {}, "dev")
    assert told["StreamingFIFO_rtl_0"] == {"depth": 60, "impl_style": "rtl", "ram_style": "auto"}
    assert fifo_config(["a"], [channel("host:in0.0", "a", 60, style="srl")], {}, "plus")["ram_style"] == {
        "StreamingFIFO_rtl_0": "srl"
    }
