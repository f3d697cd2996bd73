"""Runs inside FINN+'s own environment: converts networks, applies foldings, tells FINN+'s cycles and resources.

    python finn_plus.py < JOBS > ANSWERS

A job is a JSON line ``{"do": "estimate", "graph": PATH, "folding": PATH, "part": PART}``, ``{"do": "convert", "model":
PATH, "graph": PATH, "part": PART, "styles": PATH}``, ``{"do": "specialise", "layers": [[OP_TYPE, ATTRIBUTES], ...],
"ports": [[INPUTS, OUTPUTS], ...], "styles": PATH, "folding": PATH, "part": PART}``, ``{"do": "turn", "model": PATH,
"graph": PATH, "input_too": IS_TURNED}``, ``{"do": "fifos", "graph": PATH,
"folding": PATH, "fifos": PATH, "part": PART}``, ``{"do": "dma", "graph": PATH, "port": BITS}``, ``{"do": "lower",
"fifos": [[SEEN, NEEDED, BITS], ...]}``, ``{"do": "hdl", "fifos": [[NAME, BITS, DEPTH, STYLE], ...], "folder": PATH,
"part": PART}``, ``{"do": "pack", "type": TYPE, "words": [[VALUE, ...], ...]}``,
``{"do": "connect", "kernels": [[NAME, INPUTS, OUTPUTS], ...], "steps": PATH}``
or ``{"do": "build", "graph": PATH, "network": IS_ONE, "steps": PATH, "output": PATH, "stop": STEP, "verify": IS_ASKED,
"mistake": NAME}``; its answer is a JSON line with ``nodes``, or with ``error``. FINN+ runs without Vivado up to its
estimates. Its log goes to standard error.
"""

import importlib
import importlib.abc
import importlib.machinery
import json
import os
import sys
import tempfile
import traceback
import types
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

WORK = tempfile.mkdtemp(prefix="finn_plus_")
os.environ["FINN_BUILD_DIR"] = WORK
SMALL = 64
"""Elements of the largest tensors that stay in a graph."""
UNUSED = ("netron", "sklearn", "torch")
"""What FINN+ imports and needs for other things than estimates; hundreds of megabytes."""


class StandIn(types.ModuleType):
    """A module that is not installed: whatever is asked of it is an empty class."""

    __path__: list[str] = []  # noqa: RUF012 - what makes a module a package

    def __getattr__(self, name: str) -> type:
        """Return an empty class, but no special attribute."""
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules that are stood in for."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module that is stood in for."""
        return importlib.machinery.ModuleSpec(name, self) if name.partition(".")[0] in UNUSED else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> StandIn:
        """Return the module."""
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: there is no code."""


sys.meta_path.insert(0, StandIns())

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from finn.util.settings import initialize_dummy_settings  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

initialize_dummy_settings()

from finn.analysis.fpgadataflow.exp_cycles_per_layer import exp_cycles_per_layer  # noqa: E402
from finn.analysis.fpgadataflow.res_estimation import res_estimation  # noqa: E402
from finn.transformation.fpgadataflow.insert_dwc import InsertDWC  # noqa: E402
from finn.transformation.fpgadataflow.insert_fifo import InsertFIFO  # noqa: E402
from finn.transformation.fpgadataflow.insert_iodma import InsertIODMA  # noqa: E402
from finn.transformation.fpgadataflow.set_fifo_depths import ApplyFIFODepthsFromFile  # noqa: E402
from finn.transformation.fpgadataflow.specialize_layers import SpecializeLayers  # noqa: E402
from finn.transformation.general import ApplyConfig  # noqa: E402
from finn.util.basic import pynq_native_port_width  # noqa: E402
from qonnx.core.datatype import DataType  # noqa: E402
from qonnx.core.modelwrapper import ModelWrapper  # noqa: E402
from qonnx.custom_op.registry import getCustomOp  # noqa: E402
from qonnx.transformation.general import GiveUniqueNodeNames  # noqa: E402


def with_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Turn every ConstantOfShape node into an initialiser, which FINN+ wants.

    Weights are drawn over the whole range of their quantiser, for FINN+ narrows types to what it finds.
    """
    graph = model.graph
    known = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    made = {}
    for node in [node for node in graph.node if node.op_type == "ConstantOfShape"]:
        value = next((numpy_helper.to_array(a.t).item() for a in node.attribute), 0.0)
        made[node.output[0]] = np.full(known[node.input[0]], value, np.float32)
        graph.node.remove(node)
    known |= made
    rng = np.random.default_rng(0)
    for node in graph.node:
        if node.op_type in ("BipolarQuant", "Quant") and node.input[0] in made:
            bits = known[node.input[3]].item() if node.op_type == "Quant" else 1
            reach = 2 ** (bits - 1) * known[node.input[1]]
            shape = made[node.input[0]].shape
            made[node.input[0]] = (rng.uniform(-1, 1, shape) * reach).astype(np.float32)
    graph.initializer.extend(numpy_helper.from_array(tensor, name) for name, tensor in made.items())
    used = {name for node in graph.node for name in node.input}
    for tensor in [tensor for tensor in graph.initializer if tensor.name not in used]:
        graph.initializer.remove(tensor)
    return model


def estimate(job: dict[str, Any]) -> dict[str, Any]:
    """Apply a folding_config.json to a graph and return FINN+'s numbers for each node."""
    model = ModelWrapper(with_weights(onnx.load(job["graph"])))
    model = model.transform(ApplyConfig(job["folding"]))
    cycles = model.analysis(exp_cycles_per_layer)
    resources = model.analysis(lambda m: res_estimation(m, job["part"]))
    return {
        "nodes": {
            name: {"cycles": int(cycles[name])} | {key: float(amount) for key, amount in found.items()}
            for name, found in resources.items()
        }
    }


def fifos(job: dict[str, Any]) -> dict[str, Any]:
    """Fold a graph, insert converters and FIFOs and apply a fifo_config.json, as FINN+'s step_set_fifo_depths does."""
    model = ModelWrapper(with_weights(onnx.load(job["graph"])))
    model = model.transform(ApplyConfig(job["folding"]))
    model = model.transform(InsertDWC())
    model = model.transform(InsertFIFO(create_shallow_fifos=True))
    model = model.transform(SpecializeLayers(job["part"]))
    model = model.transform(GiveUniqueNodeNames())
    model = model.transform(ApplyFIFODepthsFromFile(Path(job["fifos"])))
    inserted = model.get_nodes_by_op_type("StreamingFIFO_rtl")
    unused = set(json.loads(Path(job["fifos"]).read_text())["fifo_depths"]) - {node.name for node in inserted}
    if unused:
        raise ValueError(f"no FIFO takes the entries {sorted(unused)}")
    return {"nodes": {node.name: told_fifo(model, node, job["part"]) for node in inserted}}


def told_fifo(model: ModelWrapper, node: onnx.NodeProto, part: str) -> dict[str, Any]:
    """Tell what FINN+ makes of a FIFO."""
    fifo = getCustomOp(node)
    around = model.find_producer(node.input[0]), model.find_consumer(node.output[0])
    cost = fifo.node_res_estimation(part)
    return {
        "ends": [None if other is None else other.name for other in around],
        "depth": int(fifo.get_nodeattr("depth")),
        "ram_style": plain(fifo.get_nodeattr("ram_style")),
        "made_in": fifo.get_ram_style(),
        "width": int(fifo.get_instream_width()),
        "resources": {key: float(cost.get(key, 0)) for key in ("LUT", "BRAM_18K", "URAM")},
    }


def specialise(job: dict[str, Any]) -> dict[str, Any]:
    """Make generic layers engines as FINN+'s step_specialize_layers does, fold them, tell op types, cycles, widths."""
    made = []
    for index, ((op_type, attributes), (ins, outs)) in enumerate(zip(job["layers"], job["ports"], strict=True)):
        inputs = [f"data_{index}", *(f"data_{index}_{port}" for port in range(1, ins))]
        inputs += [f"weights_{index}"] if "weightDataType" in attributes else []
        outputs = [f"data_{index + 1}", *(f"out_{index}_{port}" for port in range(1, outs))]
        names = {"backend": "fpgadataflow", **attributes}
        domain = "finn.custom_op.fpgadataflow"
        made.append(helper.make_node(op_type, inputs, outputs, domain=domain, **names))
    model = ModelWrapper(helper.make_model(helper.make_graph(made, "layers", [], [])))
    if job["styles"] is not None:
        model = model.transform(GiveUniqueNodeNames())
        model = applied(model, job["styles"])
    model = model.transform(SpecializeLayers(job["part"]))
    model = model.transform(GiveUniqueNodeNames())
    model = applied(model, job["folding"])
    cycles = model.analysis(exp_cycles_per_layer)
    nodes = {}
    for node, (ins, outs) in zip(model.graph.node, job["ports"], strict=True):
        engine = getCustomOp(node)
        values = {name: plain(engine.get_nodeattr(name)) for name in engine.get_nodeattr_types()}
        widths = [[int(engine.get_instream_width(port)) for port in range(ins)]]
        widths += [[int(engine.get_outstream_width(port)) for port in range(outs)]]
        told = {"op_type": node.op_type, "cycles": int(cycles[node.name]), "attributes": values, "widths": widths}
        nodes[node.name] = told
    return {"nodes": nodes}


def applied(model: ModelWrapper, path: str) -> ModelWrapper:
    """Apply a configuration file of which every entry is of a node."""
    config = ApplyConfig(path)
    model = model.transform(config)
    unused = set(json.loads(Path(path).read_text(encoding="utf-8"))) - set(config.used_configurations)
    if unused:
        raise ValueError(f"no node takes the entries {sorted(unused)}")
    return model


def plain(value: Any) -> Any:
    """Turn an attribute's value into what JSON holds."""
    if isinstance(value, np.ndarray | list | tuple):
        return [int(item) if not isinstance(item, str) else item for item in value]
    return value.decode() if isinstance(value, bytes) else value


def of_image(graph: onnx.GraphProto, *, label: bool = True) -> None:
    """Let a network read pixels of 0 to 255 and, unless that is not asked, tell the label, as FINN's examples do."""
    data, scores = graph.input[0], graph.output[0]
    graph.initializer.append(numpy_helper.from_array(np.float32(255), "full"))
    graph.initializer.append(numpy_helper.from_array(np.array([1], np.int64), "one"))
    # Pixels are of -1 to 1 where the first quantiser reads them: without that scale its thresholds leave them.
    stored = {tensor.name for tensor in graph.initializer}
    first = next((node for node in graph.node if node.op_type == "Quant" and node.input[0] not in stored), None)
    if first is not None:
        graph.initializer.append(numpy_helper.from_array(np.float32(1 / 128), "pixel_scale"))
        first.input[1] = "pixel_scale"
    for node in graph.node:
        node.input[:] = ["scaled" if name == data.name else name for name in node.input]
    graph.node.insert(0, helper.make_node("Div", [data.name, "full"], ["scaled"]))
    if not label:
        return
    graph.node.append(helper.make_node("TopK", [scores.name, "one"], ["best", "label"], axis=-1))
    shape = [dim.dim_value for dim in scores.type.tensor_type.shape.dim[:-1]]
    graph.value_info.append(scores)
    graph.output[0].CopyFrom(helper.make_tensor_value_info("label", onnx.TensorProto.INT64, [*shape, 1]))


def spell_out(graph: onnx.GraphProto) -> None:
    """Write ONNX's defaults of windows into their nodes, where FINN+ looks for them."""
    defaults = {"dilations": [1, 1], "group": 1, "pads": [0, 0, 0, 0], "strides": [1, 1]}
    for node in graph.node:
        given = {attribute.name for attribute in node.attribute}
        absent = {"Conv": defaults.keys(), "MaxPool": defaults.keys() - {"group"}}.get(node.op_type, set()) - given
        node.attribute.extend(helper.make_attribute(name, defaults[name]) for name in sorted(absent))


def lighten(graph: onnx.GraphProto) -> None:
    """Replace weights and thresholds by ConstantOfShape: types stand in the attributes, estimates read no values."""
    for tensor in [tensor for tensor in graph.initializer if np.prod(tensor.dims) > SMALL]:
        shape = numpy_helper.from_array(np.array(tensor.dims, np.int64), f"{tensor.name}_shape")
        graph.initializer.remove(tensor)
        graph.initializer.append(shape)
        graph.node.insert(0, helper.make_node("ConstantOfShape", [shape.name], [tensor.name], tensor.name))


def convert(job: dict[str, Any]) -> dict[str, Any]:
    """Take a QONNX network through FINN+'s default steps to its estimates, and save the dataflow graph."""
    from finn import xsi

    for name in xsi._LAZY_NAMES:
        setattr(xsi, name, None)
    from finn.builder import build_dataflow_steps as steps
    from finn.builder.build_dataflow_config import DataflowBuildConfig, DataflowOutputType

    config = DataflowBuildConfig(
        output_dir=WORK,
        synth_clk_period_ns=5.0,
        board=job["board"],
        target_fps=job["fps"],
        generate_outputs=[DataflowOutputType.ESTIMATE_REPORTS],
        standalone_thresholds=job["styles"] is not None,
        specialize_layers_config_file=job["styles"],
    )
    model = ModelWrapper(with_weights(onnx.load(job["model"])))
    spell_out(model.graph)
    if job["image"]:
        of_image(model.graph)
        model.set_tensor_datatype(model.graph.input[0].name, DataType["UINT8"])
    for step in job["steps"]:
        module, _, function = step.rpartition(".")
        home = importlib.import_module(f"finn.builder.custom_step_library.{module}") if module else steps
        model = getattr(home, function)(model, config)
    names = [node.name for node in model.graph.node]
    lighten(model.graph)
    model.save(job["graph"])
    return {"nodes": names}


def turn(job: dict[str, Any]) -> dict[str, Any]:
    """Bring a QONNX network into qonnx's channels-last form, its input too if asked."""
    from qonnx.transformation.channels_last import ConvertToChannelsLastAndClean
    from qonnx.util.cleanup import cleanup_model

    model = onnx.load(job["model"])
    spell_out(model.graph)
    turned = cleanup_model(ModelWrapper(model)).transform(
        ConvertToChannelsLastAndClean(make_input_channels_last=job["input_too"])
    )
    turned.save(job["graph"])
    return {"nodes": [f"{node.domain} {node.op_type}" for node in turned.graph.node]}


def build(job: dict[str, Any]) -> dict[str, Any]:
    """Build a graph by the files of a plan, as far as that goes without Vivado."""
    from finn_plus_build import build as built

    model = ModelWrapper(with_weights(onnx.load(job["graph"])))
    if job["network"]:
        spell_out(model.graph)
        of_image(model.graph, label=job.get("label", True))
        model.set_tensor_datatype(model.graph.input[0].name, DataType["UINT8"])
    is_light = not job["network"] and not job.get("verify", False)
    asked = {"is_light": is_light, "verify": job.get("verify", False), "mistake": job.get("mistake", "")}
    return built(model, Path(job["steps"]), Path(job["output"]), job["stop"], **asked)


def connect(job: dict[str, Any]) -> dict[str, Any]:
    """Connect kernels of a card as FINN+ does and as floorflow's step does."""
    from finn_plus_build import connect as connected

    return connected(job["kernels"], Path(job["steps"]))


def dma(job: dict[str, Any]) -> dict[str, Any]:
    """Return direction and widths of the DMA engines that FINN+ puts around a graph, and attributes by op type."""
    model = ModelWrapper(job["graph"]).transform(InsertIODMA(job["port"]))
    operators = [(node, getCustomOp(node)) for node in model.graph.node]
    told = ("direction", "streamWidth", "intfWidth")
    nodes = [[op.get_nodeattr(name) for name in told] for n, op in operators if n.op_type.startswith("IODMA")]
    attributes = {node.op_type: sorted(op.get_nodeattr_types()) for node, op in operators}
    return {"nodes": nodes, "attributes": attributes, "ports": dict(pynq_native_port_width)}


def hdl(job: dict[str, Any]) -> dict[str, Any]:
    """Let FINN+ write a module for each FIFO of [NAME, BITS, DEPTH, RAM_STYLE], and tell where the module inside is."""
    from finn.util.basic import fifo_rtl_files

    for name, bits, depth, style in job["fifos"]:
        attributes = {"folded_shape": [1, 1], "normal_shape": [1, 1], "dataType": f"UINT{bits}", "inFIFODepths": [2]}
        attributes |= {
            "depth": depth,
            "ram_style": style,
            "backend": "fpgadataflow",
            "code_gen_dir_ipgen": job["folder"],
        }
        domain = "finn.custom_op.fpgadataflow.rtl"
        node = helper.make_node("StreamingFIFO_rtl", ["in"], ["out"], name, domain=domain, **attributes)
        getCustomOp(node).generate_hdl(None, job["part"], 4.0)
    return {"sources": fifo_rtl_files()}


def lower(job: dict[str, Any]) -> dict[str, Any]:
    """Let FINN+'s own search lower FIFOs, each of which keeps the rate from so many words on.

    A row is the most words that its first simulation saw, the words needed, and the bits of a word.
    """
    import finn.xsi

    for name in finn.xsi._LAZY_NAMES:
        setattr(finn.xsi, name, None)
    from finn.transformation.fpgadataflow import simulation_connected as own

    found = []
    for seen, needed, bits in job["fifos"]:
        search = own.RunLayerParallelSimulation.__new__(own.RunLayerParallelSimulation)
        search.max_qsrl_depth = 256
        search._test_depth = lambda depth, *_, least=needed: (depth >= least, False)
        depth = own._safe_bram_starting_depth(seen, 256)
        if search._needs_minimization(depth, bits):
            depth, _ = search._minimize_fifo_depth(0, 0, [[depth]], [[bits]], [], None, 0, [])
        if depth > search.max_qsrl_depth:
            depth = own.calculate_bram_depth_range(own.calculate_bram_blocks(depth, bits), bits)[1]
        found.append(depth)
    return {"depths": found}


def pack(job: dict[str, Any]) -> dict[str, Any]:
    """Pack words of values as FINN's driver does for the DMA engine, and unpack them again."""
    from finn.util.data_packing import finnpy_to_packed_bytearray, packed_bytearray_to_finnpy
    from qonnx.core.datatype import DataType

    values, orders = np.asarray(job["words"], np.float32), {"reverse_endian": True, "reverse_inner": True}
    packed = np.ascontiguousarray(finnpy_to_packed_bytearray(values, DataType[job["type"]], **orders))
    back = packed_bytearray_to_finnpy(packed, DataType[job["type"]], values.shape, **orders)
    return {"bytes": packed.flatten().tolist(), "values": back.flatten().tolist()}


def answer(line: str) -> dict[str, Any]:
    """Do one job."""
    job = json.loads(line)
    try:
        with redirect_stdout(sys.stderr):
            jobs = {"build": build, "convert": convert, "estimate": estimate, "fifos": fifos, "specialise": specialise}
            jobs |= {"turn": turn, "dma": dma, "lower": lower, "connect": connect, "pack": pack, "hdl": hdl}
            return jobs[job["do"]](job)
    except Exception as error:  # noqa: BLE001 - whatever FINN+ raises is the answer
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    for asked in sys.stdin:
        sys.stdout.write(json.dumps(answer(asked)) + "\n")
        sys.stdout.flush()
