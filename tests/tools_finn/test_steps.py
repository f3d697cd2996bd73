"""FINN+ itself builds plans by the emitted steps, as far as that goes without Vivado: kernels, cells, FIFOs."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper

import floorflow as ff
from examples.make_models import ModelBuilder
from floorflow.facts import Plan
from floorflow.record.run import PlanWithFiles
from tests.plans import EXAMPLES, FREE
from tests.residual_models import residual_network
from tests.tools_finn.oracle import FinnPlus
from tests.tools_finn.test_estimates import fire_modules, plan, saved

pytestmark = pytest.mark.tools
_CELL = re.compile(r"StreamingDataflowPartition_(\d+)/inst/(\S+)")


@dataclass
class Built:
    """A build of a phase: the plan, the kernels' nodes by cell (kernel number and name), and what was emitted."""

    plan: Plan
    kernels: list[dict[str, Any]]
    nodes: dict[tuple[int, str], onnx.NodeProto]
    folder: Path
    phase: int = 0
    links: Sequence[str] = ()
    cards: Mapping[str, str] = field(default_factory=dict)

    @property
    def cells(self) -> dict[str, str]:
        told: dict[str, str] = json.loads((self.folder / "bound.json").read_text())["cells"]
        return told

    @property
    def slices(self) -> dict[str, str]:
        """The stream of each register slice, by its cell."""
        told: dict[str, str] = json.loads((self.folder / "bound.json").read_text())["slices"]
        return told

    @property
    def slices_planned(self) -> dict[str, tuple[str, ...]]:
        """The slot of each slice that is planned, at SLR boundaries and between them, by stream."""
        phase = self.plan.phases[self.phase]
        planned = {channel.name: self.plan.built_slices(phase, channel) for channel in phase.channels}
        return {name: slots for name, slots in planned.items() if slots}

    def node(self, cell: str) -> onnx.NodeProto:
        match = _CELL.search(cell)
        assert match, cell
        return self.nodes[int(match[1]), match[2]]

    def members(self) -> Iterator[str]:
        for path in sorted(self.folder.glob("*/pblocks.tcl")):
            for cells in re.findall(r"-cells \{([^}]*)\}", path.read_text()):
                yield from cells.split()


def built(
    graph: Path, platform: str, folder: Path, finn_plus: FinnPlus, stop: str = "floorflow_constrain", **options: Any
) -> Built:
    outcome = plan(graph, platform, costs="calibrated", **options)
    write(outcome, folder / "plan")
    return built_phase(outcome.plan, 0, graph, folder / "plan" / "finn", finn_plus, stop)


def write(outcome: PlanWithFiles, folder: Path) -> None:
    for name, content in outcome.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def built_phase(
    plan: Plan, phase: int, graph: Path, steps: Path, finn_plus: FinnPlus, stop: str = "floorflow_constrain"
) -> Built:
    build = steps.parent / "build"
    answer = finn_plus.build(graph, steps, build, stop)
    nodes = {}
    for kernel in answer["kernels"]:
        number = int(kernel["name"].rpartition("_")[2])
        for node in onnx.load(kernel["model"], load_external_data=False).graph.node:
            nodes[number, node.name] = node
    return Built(plan, answer["kernels"], nodes, build / "floorflow", phase, answer["links"], answer["cards"])


def attribute(node: onnx.NodeProto, name: str) -> Any:
    found = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    value = found.get(name)
    return value.decode() if isinstance(value, bytes) else value


def assert_is_the_plan(one: Built) -> None:
    # Every engine's cell exists and is that engine, which FINN's nodes remember by their doc_string.
    assert {name: one.node(cell).doc_string for name, cell in one.cells.items()} == {
        n: n for n in one.plan.phases[one.phase].networks[0].folding.engines
    }
    slot_of, slr = one.plan.phases[one.phase].slot_of, {s.name: int(s.slr[3:]) for s in one.plan.platform.slots}
    for name, cell in one.cells.items():
        assert attribute(one.node(cell), "slr") == slr[slot_of[name]]
    # Every node but the DMA engines and register slices is in one pblock, FIFOs and converters too.
    members = [one.node(cell).name for cell in one.members()]
    slices = {one.node(cell).name for cell in one.slices}
    inside = [n.name for n in one.nodes.values() if n.op_type != "IODMA_hls" and n.name not in slices]
    assert sorted(members) == sorted(inside)
    assert all(kernel["slr"] >= 0 for kernel in one.kernels)
    assert_fifos_are_planned(one)


def assert_fifos_are_planned(one: Built) -> None:
    wanted = sorted(
        (max(channel.fifo_depth, 2), channel.fifo_style or "auto") for channel in one.plan.phases[one.phase].channels
    )
    wanted += [(2, "auto")] * sum(channel.converter is not None for channel in one.plan.phases[one.phase].channels)
    wanted += [(2, "auto")] * sum(len(slots) for slots in one.slices_planned.values())
    fifos = [node for node in one.nodes.values() if node.op_type == "StreamingFIFO_rtl"]
    assert sorted((attribute(n, "depth"), attribute(n, "ram_style")) for n in fifos) == sorted(wanted)


@pytest.mark.parametrize(
    ("name", "platform", "options"),
    [
        pytest.param("cnv_2w2a", "alveo-u250", {}, marks=pytest.mark.slow),
        pytest.param("cnv_2w2a", "pynq-z1", {"fps": 300.0}, marks=pytest.mark.slow),
        pytest.param("rn18", "alveo-u250", {"fps": 400.0}, marks=pytest.mark.slow),
        pytest.param("mobilenet_v1_w4a4", "alveo-u250", {"fps": 500.0}, marks=pytest.mark.slow),
    ],
)
def test_finn_plus_builds_the_kernels_cells_and_fifos_of_a_plan(  # those with slices and of phases say it too
    name: str, platform: str, options: dict[str, Any], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    assert_is_the_plan(built(saved(name, tmp_path), platform, tmp_path, finn_plus, **options))


@pytest.mark.parametrize(
    ("name", "clock_mhz", "options"),
    [
        pytest.param("cnv_2w2a", 650.0, {}, id="several SLRs", marks=pytest.mark.slow),
        pytest.param("part", 650.0, {"constraint_style": "hard"}, id="two fire modules"),
        pytest.param("rn18", 500.0, {"fps": 400.0}, id="branches", marks=pytest.mark.slow),
    ],
)
def test_register_slices_are_fifos_of_two_words_behind_those_of_their_streams(
    name: str, clock_mhz: float, options: dict[str, Any], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    graph = fire_modules(tmp_path) if name == "part" else saved(name, tmp_path)
    one = built(graph, "alveo-u250", tmp_path, finn_plus, clock_mhz=clock_mhz, **options)
    sliced = {channel.name: channel for channel in one.plan.phases[0].channels if channel.name in one.slices_planned}
    assert one.plan.phases[0].slices_built
    assert any(channel.slices for channel in sliced.values())
    assert {c.ends[0].outside for c in sliced.values()} | {c.ends[1].outside for c in sliced.values()} >= {None}
    assert_is_the_plan(one)
    slr = {slot.name: int(slot.slr[3:]) for slot in one.plan.platform.slots}
    for name_of in sliced:
        nodes = [one.node(cell) for cell, stream in one.slices.items() if stream == name_of]
        assert {attribute(node, "depth") for node in nodes} == {2}
        lies = sorted(attribute(node, "slr") for node in nodes)
        planned = sorted(slr[slot] for slot in one.slices_planned[name_of])
        assert lies == planned
    if name == "part":
        # One branch stays in its SLR: its FIFO begins a kernel, its slices lie where they are planned.
        sizes = Counter(kernel for kernel, _ in one.nodes)
        assert any(
            sizes[kernel] == 1 and node.op_type == "StreamingFIFO_rtl" for (kernel, _), node in one.nodes.items()
        )
    ff.bind(tmp_path / "plan", one.folder.parent).save(tmp_path / "bound")
    assert not ff.check(tmp_path / "bound", build=one.folder.parent).violations


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("cnv_2w2a", {"cap": {"LUT": 0.2}}),
        pytest.param("rn18", {"cap": {"LUT": 0.2}}, marks=pytest.mark.slow),
        pytest.param("mobilenet_v1_w4a4", {"cap": {"LUT": 0.3}}, marks=pytest.mark.slow),
    ],
)
def test_finn_plus_builds_a_fifo_on_each_side_of_every_slr_boundary(
    name: str, options: dict[str, Any], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    one = built(saved(name, tmp_path), "alveo-u250", tmp_path, finn_plus, **options)
    assert one.plan.crossings_built(one.plan.phases[0])
    assert len({*one.plan.phases[0].slot_of.values()}) >= 2
    assert_is_the_plan(one)
    slr = {slot.name: int(slot.slr[3:]) for slot in one.plan.platform.slots}
    for stream, slots in one.slices_planned.items():
        nodes = [one.node(cell) for cell, other in one.slices.items() if other == stream]
        assert sorted(attribute(node, "slr") for node in nodes) == sorted(slr[slot] for slot in slots)
        assert {(node.op_type, attribute(node, "depth")) for node in nodes} == {("StreamingFIFO_rtl", 2)}
    assert any(channel.crossing_slots for channel in one.plan.phases[0].channels)
    build = one.folder.parent
    ff.bind(tmp_path / "plan", build).save(tmp_path / "bound")
    assert not ff.check(tmp_path / "bound", build=build).violations
    for fault in FAULTS if name == "cnv_2w2a" else ():
        assert "build-crossing-open" in found_in_a_spoilt_build(one, fault, tmp_path / "bound"), fault


def left_out(graph: onnx.GraphProto, fifo: onnx.NodeProto) -> None:
    """Join what lies before a FIFO and behind it."""
    before = next(node for node in graph.node if fifo.input[0] in node.output)
    before.output[list(before.output).index(fifo.input[0])] = fifo.output[0]
    graph.node.remove(fifo)


def changed(name: str, value: int) -> Callable[[onnx.GraphProto, onnx.NodeProto], None]:
    def change(_graph: onnx.GraphProto, fifo: onnx.NodeProto) -> None:
        next(one for one in fifo.attribute if one.name == name).i = value

    return change


FAULTS: dict[str, Callable[[onnx.GraphProto, onnx.NodeProto], None]] = {
    "depth 0": changed("depth", 0),
    "wrong SLR": changed("slr", 3),
    "a side missing": left_out,
}
"""What a build may lack at an SLR boundary, planted into FINN+'s own kernels."""


def found_in_a_spoilt_build(one: Built, fault: str, bound: Path) -> set[str]:
    """Return what check says of the build with a fault at the first FIFO at an SLR boundary that ends a kernel."""
    slices = {one.node(cell).name for cell in one.slices}
    for kernel in one.kernels:
        path = Path(kernel["model"])
        sound, model = path.read_bytes(), onnx.load(path, load_external_data=False)
        made = {tensor for node in model.graph.node for tensor in node.output}
        fifo = next((node for node in model.graph.node if node.name in slices and node.input[0] in made), None)
        if fifo is not None:
            FAULTS[fault](model.graph, fifo)
            path.write_bytes(model.SerializeToString())
            found = {violation.name for violation in ff.check(bound, build=one.folder.parent).violations}
            path.write_bytes(sound)
            return found
    raise AssertionError("no kernel ends in a FIFO at an SLR boundary")


@pytest.mark.parametrize(("last", "share"), [(16, 0.1), pytest.param(None, 0.4, id="cnv_2w2a", marks=pytest.mark.slow)])
def test_finn_plus_cuts_what_each_phase_runs_out_of_the_network(
    last: int | None, share: float, tmp_path: Path, finn_plus: FinnPlus
) -> None:
    """The first engines of SqueezeNet, or the whole CNV."""
    graph = saved("cnv_2w2a", tmp_path) if last is None else fire_modules(tmp_path, 0, last)
    cap = dict.fromkeys(("LUT", "FF", "BRAM18", "DSP"), share)
    asked: dict[str, Any] = {"reconfigure": "full", "constraint_style": "hard", "cap": cap}
    asked |= {} if last is None else {"batch": 10_000}
    outcome = plan(graph, "pynq-z1", costs="calibrated", **asked)
    write(outcome, tmp_path / "plan")
    assert len(outcome.plan.phases) > 1
    phases = [*enumerate(outcome.plan.phases)]
    for number, phase in {0: phases[0], -1: phases[-1]}.values():
        steps = tmp_path / "plan" / "phases" / phase.name / "finn"
        assert_is_the_plan(built_phase(outcome.plan, number, graph, steps, finn_plus))


def test_engines_that_the_host_writes_begin_kernels_and_are_linked_with_the_hook_and_the_planned_memory(
    tmp_path: Path, finn_plus: FinnPlus
) -> None:
    """In FINN+ a node with an AXI-lite port begins a kernel itself."""
    graph = saved("cnv_2w2a", tmp_path)
    options: dict[str, Any] = {"runtime_weights": "always", "stop": "floorflow_link", **FREE}
    one = built(graph, "alveo-u250", tmp_path, finn_plus, **options)
    written = [node for node in one.nodes.values() if attribute(node, "runtime_writeable_weights") == 1]
    assert written
    assert_is_the_plan(one)
    hook = one.folder / "fpga0" / "pblocks.tcl"
    assert hook.exists()
    (link,) = one.links
    assert f"prop=run.impl_1.STEPS.OPT_DESIGN.TCL.PRE={hook}" in link
    assert "idma_0.m_axi_gmem0: DDR[0]" in link
    assert "odma_0.m_axi_gmem0: DDR[0]" in link


@pytest.mark.parametrize(
    ("last", "options"),
    [
        pytest.param(26, {"constraint_style": "hard"}, id="two fire modules", marks=pytest.mark.slow),
        pytest.param(91, {"fps": 600.0}, id="SqueezeNet", marks=pytest.mark.slow),
    ],
)
def test_concatenated_branches_are_built_as_planned(
    last: int, options: dict[str, Any], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    """SqueezeNet of the recorded kernels, from its first fire module on or whole, with FINN+'s StreamingConcat."""
    one = built(fire_modules(tmp_path, 6 if last == 26 else 0, last), "alveo-u250", tmp_path, finn_plus, **options)
    joins = [node for node in one.nodes.values() if node.op_type == "StreamingConcat_hls"]
    assert len(joins) == (2 if last == 26 else 8)
    assert_is_the_plan(one)


@pytest.mark.parametrize(
    ("name", "platform", "options"),
    [
        ("tfc_1w1a", "alveo-u250", {"constraint_style": "hard"}),
        pytest.param("tfc_1w1a", "pynq-z1", {"constraint_style": "hard"}, marks=pytest.mark.slow),
        pytest.param("mobilenet_v1_w4a4", "alveo-u250", {"constraint_style": "hard"}, marks=pytest.mark.slow),
        pytest.param(
            *("cnv_2w2a", "alveo-u250", {"fps": 3000.0, "clock_mhz": 1000.0}),
            id="register slices",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_network_goes_through_finn_plus_own_steps_and_the_plans_to_its_kernels(
    name: str, platform: str, options: dict[str, Any], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    """From the exported network on; what comes out is judged by check alone, which knows no name beforehand."""
    model = EXAMPLES / f"{name}.onnx"
    made = ff.plan(model, platform, finn="plus", label_select=True, effort="fast", plots=False, **options)
    made.save(tmp_path / "out")
    assert any(channel["slices"] for channel in made.channels) or "clock_mhz" not in options
    finn_plus.build(model, tmp_path / "out" / "finn", tmp_path / "build", network=True)
    ff.bind(tmp_path / "out", tmp_path / "build").save(tmp_path / "bound")
    assert not ff.check(tmp_path / "bound", build=tmp_path / "build").violations


def test_finn_plus_quantises_behind_the_flatten_as_planned(tmp_path: Path, finn_plus: FinnPlus) -> None:
    """Its own steps alone would leave the thresholds at one channel of 64 pixels, ahead of the flatten."""
    builder = ModelBuilder("spectrum", (1, 1, 4, 16))
    builder.scale("Mul", 2.0)
    builder.scale("Sub", 1.0)
    builder.quantise(4, narrow=False)
    builder.flatten()
    builder.fully_connected(16, 2)
    builder.activation(2)
    builder.fully_connected(4, 2)
    assert_built_as_planned(builder.model(), tmp_path, finn_plus)


def test_finn_plus_makes_the_planned_engines_of_a_transposed_convolution(tmp_path: Path, finn_plus: FinnPlus) -> None:
    builder = ModelBuilder("decoder", (1, 3, 6, 6))
    builder.quantise(4, signed=False, narrow=False)
    weights = builder.quantised(builder.parameter((3, 4, 4, 4), 0.5), 4)
    builder.tensor = builder.node("ConvTranspose", [builder.tensor, weights], strides=[2, 2], pads=[1, 1, 1, 1])
    builder.shape = (1, 4, 12, 12)
    builder.activation(2)
    builder.flatten()
    builder.fully_connected(3, 2)
    assert_built_as_planned(builder.model(), tmp_path, finn_plus)
    steps = json.loads((tmp_path / "out" / "finn" / "floorflow_plan.json").read_text())
    kinds = [engine["kind"] for engine in steps["engines"]]
    assert kinds[1:5] == ["FMPadding_Pixel_hls", "FMPadding_rtl", "ConvolutionInputGenerator_rtl", "MVAU_rtl"]


def test_depthwise_layers_keep_their_thresholds_where_others_stand_apart_and_the_last_scale_is_the_hosts(
    tmp_path: Path, finn_plus: FinnPlus
) -> None:
    """MobileNet in small: RTL units have no thresholds, and FINN+ would make an engine of the scale behind the last."""
    builder = ModelBuilder("depthwise", (1, 3, 8, 8))
    for channels, kernel, group in ((8, 3, 1), (8, 3, 8), (16, 1, 1)):
        builder.conv(channels, (kernel,) * 2, 4, pads=(kernel // 2,) * 4, group=group)
        builder.activation(4)
    builder.average_pool((8, 8), (1, 1), truncated_bits=4)
    builder.flatten()
    builder.fully_connected(10, 4)
    builder.scale("Mul", 0.25)
    assert_built_as_planned(builder.model(), tmp_path, finn_plus, label_select=False)
    kinds = [engine["kind"] for engine in ff.load(tmp_path / "out").engines]
    assert kinds[2:4] == ["MVAU_rtl", "Thresholding_rtl"]
    assert kinds[6:8] == ["VVAU_hls", "MVAU_rtl"]


@pytest.mark.slow  # test_structures.py has a join in each run
def test_scales_move_past_the_sums_of_branches(tmp_path: Path, finn_plus: FinnPlus) -> None:
    """FINN+'s default steps stop at this network: they leave a scale of activations ahead of a convolution."""
    model = residual_network(4)
    scale = next(tensor for tensor in model.graph.initializer if tensor.name == "value_1")
    scale.float_data[0] = 0.3  # of every quantiser
    assert_built_as_planned(model, tmp_path, finn_plus)


def assert_built_as_planned(
    model: onnx.ModelProto, tmp_path: Path, finn_plus: FinnPlus, *, label_select: bool = True
) -> None:
    """FINN+ builds a network by its plan's own files, and check finds every engine in the build."""
    onnx.save(model, tmp_path / "model.onnx")
    options = {"finn": "plus", "label_select": label_select, "effort": "fast", "plots": False}
    made = ff.plan(tmp_path / "model.onnx", "pynq-z1", **options)
    made.save(tmp_path / "out")
    asked = {"network": True, "label": label_select}
    finn_plus.build(tmp_path / "model.onnx", tmp_path / "out" / "finn", tmp_path / "build", **asked)
    ff.bind(tmp_path / "out", tmp_path / "build").save(tmp_path / "bound")
    assert not ff.check(tmp_path / "bound", build=tmp_path / "build").violations
