"""FINN dataflow graphs, made here: every way in which FINN saves one reads as the same engines and streams."""

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from floorflow.backends.finn.folding.cost_table import CostTable, given_folding_groups
from floorflow.backends.finn.read.dataflow import Source, read_source
from floorflow.backends.finn.read.graph import _nonsense
from floorflow.backends.finn.read.ports import output_type
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError
from floorflow.technology import technology_of

PART = technology_of("xczu7ev-ffvc1156-2-e")
PYNQ = technology_of("xc7z020clg400-1")
DOMAIN = "finn.custom_op.fpgadataflow"
MATRIX = {
    "MW": 12,
    "MH": 6,
    "inputDataType": "UINT4",
    "weightDataType": "INT4",
    "outputDataType": "INT11",
    "accDataType": "INT11",
    "noActivation": 1,
    "numInputVectors": [1, 3, 3],
}
WINDOW = {
    "IFMChannels": 3,
    "IFMDim": [4, 4],
    "OFMDim": [3, 3],
    "ConvKernelDim": [2, 2],
    "Stride": [1, 1],
    "Dilation": [1, 1],
    "inputDataType": "UINT4",
    "outputDataType": "UINT4",
    "depthwise": 0,
}


class GraphBuilder:
    """A FINN graph that grows node by node; ``tensor`` is its end, ``shape`` that tensor's shape."""

    def __init__(self, shape: tuple[int, ...] = (1, 4, 4, 3)) -> None:
        self.tensor, self.shape = "global_in", shape
        self.inputs = [helper.make_tensor_value_info("global_in", TensorProto.FLOAT, shape)]
        self.nodes: list[onnx.NodeProto] = []
        self.values: list[onnx.ValueInfoProto] = []
        self.initialisers: list[onnx.TensorProto] = []

    def add(
        self,
        op_type: str,
        attributes: dict,
        shape: tuple[int, ...] | None = None,
        *,
        domain: str = "",
        name: str = "",
        parameters: tuple[int, ...] = (),
    ) -> None:
        name = name or f"{op_type}_{len(self.nodes)}"
        suffix = op_type[-4:].replace("_", ".") if op_type.endswith(("_hls", "_rtl")) else ""
        inputs = [self.tensor]
        if parameters:
            self.initialisers.append(helper.make_tensor(f"{name}_param0", TensorProto.FLOAT, parameters, [1.0] * 72))
            inputs.append(f"{name}_param0")
        output = f"{name}_out0"
        node = helper.make_node(op_type, inputs, [output], name, **attributes)
        node.domain = domain or f"{DOMAIN}{suffix}"
        self.nodes.append(node)
        self.tensor, self.shape = output, shape or self.shape
        self.values.append(helper.make_tensor_value_info(output, TensorProto.FLOAT, self.shape))

    def model(self, outputs: tuple[str, ...] = ()) -> onnx.ModelProto:
        ends = [value for value in self.values if value.name in (outputs or (self.tensor,))]
        graph = helper.make_graph(self.nodes, "dataflow", self.inputs, ends, self.initialisers, value_info=self.values)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


def fifo(depth: int, elements: int, dtype: str = "UINT4") -> dict:
    return {"depth": depth, "folded_shape": [1, 4, 4, 1, elements], "dataType": dtype}


def layer(*, folding: bool = True, fifos: bool = False) -> GraphBuilder:
    """Build a window and its matrix unit, as after step_apply_folding_config or step_set_fifo_depths."""
    builder = GraphBuilder()
    if fifos:
        builder.add("StreamingFIFO_rtl", fifo(5, 3))
        builder.add("StreamingDataWidthConverter_rtl", {"inWidth": 12, "outWidth": 4, "dataType": "UINT4"})
        builder.add("StreamingFIFO_rtl", fifo(16, 1))
    window = {**WINDOW, "SIMD": 1, "parallel_window": 0, "backend": "fpgadataflow"}
    builder.add("ConvolutionInputGenerator_rtl", window, (1, 3, 3, 12), name="window")
    if fifos:
        builder.add("StreamingFIFO_rtl", fifo(32, 1))
        builder.add("StreamingFIFO_rtl", fifo(2, 1))
        builder.add("StreamingDataWidthConverter_rtl", {"inWidth": 4, "outWidth": 16, "dataType": "UINT4"})
    sizes = {"PE": 2, "SIMD": 4} if folding else {}
    bookkeeping = {"code_gen_dir_ipgen": "/home/somebody/build", "cycles_estimate": 81, "backend": "fpgadataflow"}
    builder.add("MVAU_rtl", {**MATRIX, **sizes, **bookkeeping}, (1, 3, 3, 6), name="matrix", parameters=(12, 6))
    return builder


def source_of(model: onnx.ModelProto, folder: Path, name: str = "graph.onnx") -> Source:
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return read_source(path)


def dataflow_of(builder: GraphBuilder, folder: Path) -> Dataflow:
    return source_of(builder.model(), folder).lower(PART)


def ends(dataflow: Dataflow) -> list[tuple[str, str, int, int, int]]:
    return [(s.source, s.target, s.elements, s.last_dimension, s.element_bits) for s in dataflow.streams]


def test_engines_keep_names_and_hardware_and_nothing_of_the_build(tmp_path: Path) -> None:
    window, matrix = dataflow_of(layer(), tmp_path).engines
    assert (window.name, window.kind) == ("window", "ConvolutionInputGenerator_rtl")
    assert (matrix.name, matrix.kind, matrix.operation) == ("matrix", "MVAU_rtl", "matrix")
    assert matrix.attributes == {k: tuple(v) if isinstance(v, list) else v for k, v in MATRIX.items()}
    assert matrix.folding == {"PE": 2, "SIMD": 4}
    assert (matrix.weight_bits, matrix.input_bits, matrix.output_bits) == (4, 4, 11)


def test_fifos_and_converters_are_folded_back_into_streams(tmp_path: Path) -> None:
    plain, with_fifos = dataflow_of(layer(), tmp_path), dataflow_of(layer(fifos=True), tmp_path)
    assert plain.engines == with_fifos.engines
    assert ends(plain) == [
        ("host:in0", "window", 48, 3, 4),
        ("window", "matrix", 108, 12, 4),
        ("matrix", "host:out0", 54, 6, 11),
    ]
    assert ends(with_fifos) == ends(plain)
    # 5 words of 12 bits before a converter and 16 of 4 behind it; FIFOs that FINN has split count together.
    assert [s.fifo_bits for s in with_fifos.streams] == [5 * 12 + 16 * 4, (32 + 2) * 4, 0]
    assert with_fifos.streams[0].kept_fifo_depth(12) == 11
    assert with_fifos.streams[2].kept_fifo_depth(22) == 0


def test_depths_that_a_node_asks_for_are_read(tmp_path: Path) -> None:
    builder = layer()
    window, matrix = builder.nodes
    window.attribute.append(helper.make_attribute("outFIFODepths", [7]))
    matrix.attribute.append(helper.make_attribute("inFIFODepths", [9]))
    assert dataflow_of(builder, tmp_path).streams[1].kept_fifo_depth(16) == 9


def test_the_network_of_a_graph_counts_layers_weights_and_macs(tmp_path: Path) -> None:
    network = source_of(layer(fifos=True).model(), tmp_path).network
    (matrix,) = network.layers
    assert (matrix.name, matrix.type, matrix.macs) == ("matrix", "MVAU", 12 * 6 * 9)
    assert network.weights(matrix).elements == 72
    assert network.tensor(matrix.inputs[0]).datatype.name == "UINT4"


def generic_layer(style: str = "") -> GraphBuilder:
    builder = GraphBuilder()
    chosen = {"preferred_impl_style": style} if style else {}
    builder.add("ConvolutionInputGenerator", {**WINDOW, "SIMD": 3}, (1, 3, 3, 12), name="window")
    builder.add("MVAU", {**MATRIX, **chosen}, (1, 3, 3, 6), name="matrix", parameters=(12, 6))
    return builder


def test_generic_layers_are_specialised_as_finn_would(tmp_path: Path) -> None:
    dataflow = dataflow_of(generic_layer(), tmp_path)
    assert [e.kind for e in dataflow.engines] == ["ConvolutionInputGenerator_rtl", "MVAU_rtl"]
    assert any("'matrix' (MVAU)" in note for note in dataflow.notes)
    assert dataflow_of(generic_layer("hls"), tmp_path).engines[1].kind == "MVAU_hls"


def test_on_seven_series_an_rtl_unit_needs_weights_without_their_most_negative_value(tmp_path: Path) -> None:
    builder = generic_layer()
    assert source_of(builder.model(), tmp_path).lower(PYNQ).engines[1].kind == "MVAU_rtl"
    builder.initialisers = [helper.make_tensor("matrix_param0", TensorProto.FLOAT, (12, 6), [-8.0] * 72)]
    assert source_of(builder.model(), tmp_path).lower(PYNQ).engines[1].kind == "MVAU_hls"
    assert source_of(builder.model(), tmp_path).lower(PART).engines[1].kind == "MVAU_rtl"


@pytest.mark.parametrize("name", ["StreamingFCLayer_Batch", "MatrixVectorActivation"])
def test_old_names_and_values_read_as_present_ones(tmp_path: Path, name: str) -> None:
    builder = GraphBuilder()
    builder.add("ConvolutionInputGenerator", {**WINDOW, "SIMD": 3}, (1, 3, 3, 12))
    old = {**MATRIX, "mem_mode": "const", "PE": 2, "inFIFODepth": 4}
    builder.add(name, old, (1, 3, 3, 6), domain="finn", name="matrix", parameters=(12, 6))
    builder.nodes[-1].attribute.append(helper.make_attribute("backend", "fpgadataflow"))
    steps = {"NumChannels": 6, "inputDataType": "INT11", "outputDataType": "UINT2", "numInputVectors": [1, 3, 3]}
    builder.add("Thresholding_Batch", steps)
    dataflow = dataflow_of(builder, tmp_path)
    assert [e.kind for e in dataflow.engines] == ["ConvolutionInputGenerator_hls", "MVAU_hls", "Thresholding_hls"]
    assert dataflow.engines[1].attributes["mem_mode"] == "internal_embedded"
    assert dataflow.streams[1].kept_fifo_depth(8) == 4
    assert any("before FINN 0.10" in note for note in dataflow.notes)


def partitioned(folder: Path, model: str, children: int = 1) -> onnx.ModelProto:
    """Return a parent with children on disk and the host's Transpose before them."""
    parent = GraphBuilder((1, 3, 4, 4))
    parent.add("Transpose", {"perm": [0, 2, 3, 1]}, (1, 4, 4, 3), domain="ai.onnx")
    child = layer().model()
    (folder / "child.onnx").write_bytes(child.SerializeToString())
    for index in range(children):
        parent.add("StreamingDataflowPartition", {"model": model}, (1, 3, 3, 6), name=f"partition_{index}")
    parent.add("Mul", {}, domain="ai.onnx")
    parent.nodes[-1].input.append("scale")
    parent.initialisers.append(helper.make_tensor("scale", TensorProto.FLOAT, [], [2.0]))
    return parent.model()


@pytest.mark.parametrize("model", ["child.onnx", "/home/somebody/build/dataflow_partition0/child.onnx"])
def test_children_of_partitions_are_read_beside_the_parent(tmp_path: Path, model: str) -> None:
    dataflow = source_of(partitioned(tmp_path, model), tmp_path).lower(PART)
    alone = dataflow_of(layer(), tmp_path)
    assert dataflow.engines == alone.engines
    assert ends(dataflow) == ends(alone)
    assert any("computed on the host: 'Transpose_0'" in note for note in dataflow.notes)


def test_engines_of_two_partitions_have_names_of_their_own(tmp_path: Path) -> None:
    graph = source_of(partitioned(tmp_path, "child.onnx", children=2), tmp_path).graph
    names = [engine.name for engine in graph.engines] if graph else []
    assert len(set(names)) == 4
    assert names[:2] == ["window", "matrix"]


def test_a_missing_child_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'partition_0' .*'elsewhere/absent.onnx' does not exist"):
        source_of(partitioned(tmp_path, "elsewhere/absent.onnx"), tmp_path)


def test_a_partition_that_contains_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains itself"):
        source_of(partitioned(tmp_path, "graph.onnx"), tmp_path)


def test_a_node_that_finn_did_not_convert_is_shown_and_refused_when_lowered(tmp_path: Path) -> None:
    builder = layer()
    builder.add("Softmax", {}, domain="ai.onnx")
    builder.add("LabelSelect_hls", {"Labels": 6, "inputDataType": "INT11", "outputDataType": "UINT8"}, (1, 1))
    source = source_of(builder.model(), tmp_path)
    assert len(source.network.layers) == 1
    with pytest.raises(InputError, match=r"'Softmax_2' \(Softmax\) stands between engines"):
        source.lower(PART)


def test_a_stream_with_two_readers_is_refused(tmp_path: Path) -> None:
    builder = layer()
    builder.tensor = "window_out0"
    builder.add("LabelSelect_hls", {"Labels": 12, "inputDataType": "UINT4", "outputDataType": "UINT8"}, (1, 1))
    with pytest.raises(InputError, match="'window_out0', but a stream has one reader"):
        source_of(builder.model(("matrix_out0", builder.tensor)), tmp_path)


def test_a_shape_that_is_not_stored_is_named(tmp_path: Path) -> None:
    model = layer().model()
    del model.graph.value_info[:]
    with pytest.raises(InputError, match="shape of tensor 'window_out0' between 'window' and 'matrix'"):
        source_of(model, tmp_path)


def test_a_cycle_is_refused(tmp_path: Path) -> None:
    model = layer().model()
    model.graph.node[0].input[0] = "matrix_out0"
    with pytest.raises(InputError, match="waits for its own output"):
        source_of(model, tmp_path)


def test_nodes_in_any_order_read_alike(tmp_path: Path) -> None:
    builder = layer(fifos=True)
    ordered = dataflow_of(builder, tmp_path)
    builder.nodes.reverse()
    assert dataflow_of(builder, tmp_path) == ordered


def test_the_folding_of_a_graph_can_be_kept(tmp_path: Path) -> None:
    window, matrix = given_folding_groups(dataflow_of(layer(), tmp_path), CostTable(PART))
    assert matrix.engines == ("matrix",)
    ((option,),) = matrix.rows
    assert (option.folding["PE"], option.folding["SIMD"], option.cycles) == (2, 4, 3 * 3 * 9)
    assert window.rows[0][0].folding["SIMD"] == 1


@pytest.mark.parametrize(("key", "value"), [("PE", 4), ("SIMD", 5), ("SIMD", 24)])
def test_a_kept_folding_that_finn_cannot_build_is_refused(tmp_path: Path, key: str, value: int) -> None:
    builder = layer()
    attribute = next(a for a in builder.nodes[1].attribute if a.name == key)
    attribute.i = value
    with pytest.raises(InputError, match=rf"engine matrix.*{key}.* {value}"):
        given_folding_groups(dataflow_of(builder, tmp_path), CostTable(PART))


def test_nothing_to_keep_says_so(tmp_path: Path) -> None:
    dataflow = dataflow_of(layer(folding=False), tmp_path)
    bare = Dataflow(dataflow.name, dataflow.engines[1:], dataflow.streams[1:])
    with pytest.raises(InputError, match="no folding to keep"):
        given_folding_groups(bare, CostTable(PART))


def test_a_reshape_is_an_engine_of_finn_plus(tmp_path: Path) -> None:
    builder = GraphBuilder((1, 1, 4, 4))
    shapes = {"inp_shape": [1, 1, 4, 4], "out_shape": [1, 16], "dtype": "UINT8", "PE": 2}
    builder.add("Reshape", shapes, (1, 16), name="flatten")
    builder.add("LabelSelect", {"Labels": 16, "K": 1, "inputDataType": "UINT8", "PE": 4}, (1, 1), name="best")
    dataflow = source_of(builder.model(), tmp_path).lower(PART, finn="plus")
    assert [engine.kind for engine in dataflow.engines] == ["Reshape_rtl", "LabelSelect_hls"]
    (reshape, _) = given_folding_groups(dataflow, CostTable(PART, "finn", finn="plus"))
    option = reshape.rows[0][0]
    assert (option.cycles, option.input_widths_bits, option.output_widths_bits) == (8, (16,), (16,))
    assert not any("FINN+ has no" in note for note in dataflow.notes)


def test_engines_that_this_finn_lacks_are_named(tmp_path: Path) -> None:
    builder = layer()
    builder.add(
        "AddStreams_hls", {"NumChannels": 6, "inputDataType": "INT11", "numInputVectors": [1, 3, 3]}, name="sum"
    )
    builder.inputs.append(helper.make_tensor_value_info("other", TensorProto.FLOAT, (1, 3, 3, 6)))
    builder.nodes[-1].input.append("other")
    notes = source_of(builder.model(), tmp_path).lower(PART, finn="plus").notes
    assert any("FINN+ has no AddStreams_hls: plan with --finn main" in note for note in notes)


def rewired_fifo(builder: GraphBuilder) -> None:
    """Let the FIFO before the matrix unit read what enters the network, and the window nothing."""
    next(node for node in builder.nodes if node.name == "StreamingFIFO_rtl_4").input[0] = "global_in"


def of_other_type(builder: GraphBuilder) -> None:
    attribute(builder, "StreamingFIFO_rtl_5", "dataType").s = b"INT7"


def fewer_outputs(builder: GraphBuilder) -> None:
    attribute(builder, "matrix", "MW").i = 8


def other_weights(builder: GraphBuilder) -> None:
    attribute(builder, "matrix", "inputDataType").s = b"INT4"


def unread(builder: GraphBuilder) -> None:
    """Let the matrix unit read the host, so that nothing reads the window."""
    builder.inputs.append(helper.make_tensor_value_info("other", TensorProto.FLOAT, (1, 3, 3, 12)))
    builder.nodes[-1].input[0] = "other"


def more_inputs(builder: GraphBuilder) -> None:
    builder.inputs.append(helper.make_tensor_value_info("other", TensorProto.FLOAT, (1, 4, 4, 3)))
    builder.nodes[3].input.append("other")


def attribute(builder: GraphBuilder, node: str, name: str) -> onnx.AttributeProto:
    (holder,) = (one for one in builder.nodes if one.name == node)
    return next(one for one in holder.attribute if one.name == name)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (rewired_fifo, r"node 'StreamingFIFO_rtl_4' .* passes on 108 elements, but .* tensor 'global_in', is 48 elem"),
        (of_other_type, r"node 'StreamingFIFO_rtl_5' .* passes on INT7, but .* tensor 'window_out0', is UINT4"),
        (fewer_outputs, r"node 'matrix' .*: 72 elements a frame at input 0, tensor 'window_out0' there has 108"),
        (other_weights, r"node 'window' sends UINT4, node 'matrix' takes INT4"),
        (unread, r"node 'window' .*: nothing reads its output 0"),
        (more_inputs, r"node 'window' .*: 2 streams at its inputs, its kind has 1"),
    ],
)
def test_nodes_that_do_not_fit_together_are_named(
    tmp_path: Path, change: Callable[[GraphBuilder], None], told: str
) -> None:
    builder = layer(fifos=True)
    change(builder)
    with pytest.raises(InputError, match=told):
        dataflow_of(builder, tmp_path)


@pytest.mark.parametrize("name", ["a/../../b", "a b", "a[0]", "$a", 'a"', "a\nb", "{", "0a", "a" * 101, "\u00e9"])
def test_a_name_that_no_cell_can_have_is_refused(tmp_path: Path, name: str) -> None:
    builder = layer()
    builder.nodes[0].name = name
    with pytest.raises(InputError, match=r"\(ConvolutionInputGenerator_rtl\) has a name that no cell can have"):
        dataflow_of(builder, tmp_path)


def test_nodes_without_a_name_and_of_one_name_are_told_apart(tmp_path: Path) -> None:
    builder = layer()
    builder.add("Thresholding_rtl", {"NumChannels": 6, "inputDataType": "INT11", "outputDataType": "UINT2"})
    builder.nodes[-1].attribute.append(helper.make_attribute("numInputVectors", [1, 3, 3]))
    for node, name in zip(builder.nodes, ("MVAU_rtl_1", "MVAU_rtl_1", ""), strict=True):
        node.name = name
    names = [engine.name for engine in dataflow_of(builder, tmp_path).engines]
    assert names == ["MVAU_rtl_1", "MVAU_rtl_1_1", "Thresholding_rtl_2"]


@pytest.mark.parametrize(
    ("attributes", "sent"),
    [
        ({"eltwiseOp": "AbsDiff", "inputDataType0": "UINT4", "inputDataType1": "UINT4"}, "UINT4"),
        ({"eltwiseOp": "AbsDiff", "inputDataType0": "INT4", "inputDataType1": "INT4"}, "UINT4"),
        ({"eltwiseOp": "Add", "inputDataType0": "UINT4", "inputDataType1": "UINT4"}, "UINT5"),
        ({"eltwiseOp": "Sub", "inputDataType0": "UINT4", "inputDataType1": "UINT4"}, "INT5"),
    ],
)
def test_what_two_streams_make_has_finns_type(attributes: dict, sent: str) -> None:
    """streamingeltwise.py, get_output_datatype."""
    assert output_type("StreamingEltwise_hls", attributes).name == sent


@pytest.mark.parametrize(("taken", "sent"), [("INT4", "INT5"), ("UINT4", "UINT5"), ("TERNARY", "INT2")])
def test_a_sum_of_two_streams_has_finns_type(taken: str, sent: str) -> None:
    """addstreams.py, get_output_datatype."""
    assert output_type("AddStreams_hls", {"inputDataType": taken}).name == sent


def test_channels_of_streams_side_by_side_are_no_sides_of_an_image() -> None:
    assert _nonsense({"ChannelsPerStream": (192, 208, 48, 64)}) == ""
    assert "no image is as large" in _nonsense({"IFMDim": (192, 208, 48, 64)})
