"""Runs inside FINN+'s environment: a build by a plan's build.yaml, with what needs Vivado left out.

Node names, kernels and their order are FINN+'s own: its steps, InsertDWC, InsertFIFO, InsertIODMA, SpecializeLayers,
Floorplan and CreateDataflowPartition run; PrepareIP, HLSSynthIP and CreateStitchedIP do
nothing, CreateVitisXO leaves an empty file.
"""

import importlib
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from qonnx.custom_op.registry import getCustomOp
from qonnx.transformation.base import Transformation

VIVADO = ("PrepareIP", "HLSSynthIP", "CreateStitchedIP", "CreateVitisXO", "MakeZYNQProject")
STITCHING = "step_create_stitched_ip"
LEFT_OUT = (STITCHING, "step_generate_estimate_reports")
WORK = os.environ["FINN_BUILD_DIR"]
NEEDS_WEIGHTS = "step_minimize_bit_width"
"""Saved graphs hold no weights; without them types would shrink to nothing."""


class Nothing(Transformation):
    """A transformation that needs Vivado, left out."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """Take whatever the real one takes."""
        super().__init__()

    def apply(self, model: Any) -> Any:
        """Change nothing."""
        return model, False


class EmptyStitch(Nothing):
    """What leaves an empty folder in the place of a stitched IP."""

    def apply(self, model: Any) -> Any:
        """Name the folder, as FINN+'s step copies it."""
        folder = Path(WORK) / "stitched"
        folder.mkdir(exist_ok=True)
        model.set_metadata_prop("vivado_stitch_proj", str(folder))
        return model, False


class ModuleStitch(Nothing):
    """What leaves a folder that tells what FINN+ was to stitch: nodes, and the padded widths of its ends by itself."""

    def __init__(self, _part: str, _period: float, name: str) -> None:
        """Take what the real one takes."""
        super().__init__()
        self.name = name

    def apply(self, model: Any) -> Any:
        """Tell each node, and the ends in the order in which FINN+ numbers ports."""
        enters = [(model.find_consumer(one.name), one.name, "input", "in") for one in model.graph.input]
        leaves = [(model.find_producer(one.name), one.name, "output", "out") for one in model.graph.output]
        ends = [
            getattr(getCustomOp(node), f"get_{way}stream_width_padded")(list(getattr(node, side)).index(tensor))
            for node, tensor, side, way in (*enters, *leaves)
        ]
        nodes = [
            {
                "kind": node.op_type,
                "engine": node.doc_string,
                "depth": getCustomOp(node).get_nodeattr("depth") if node.op_type == "StreamingFIFO_rtl" else 0,
            }
            for node in model.graph.node
        ]
        told = {"name": self.name, "inputs": ends[: len(enters)], "outputs": ends[len(enters) :], "nodes": nodes}
        folder = Path(WORK) / "modules" / self.name
        (folder / "ip").mkdir(parents=True, exist_ok=True)
        (folder / "ip" / "made.json").write_text(json.dumps(told))
        model.set_metadata_prop("vivado_stitch_proj", str(folder))
        return model, False


class EmptyXo(Nothing):
    """What leaves an empty file in the place of a packaged kernel."""

    def __init__(self, ip_name: str) -> None:
        """Take the kernel's name, as the real one."""
        super().__init__()
        self.ip_name = ip_name

    def apply(self, model: Any) -> Any:
        """Name the file, as the real one does."""
        path = Path(WORK) / f"{self.ip_name}.xo"
        path.write_text("")
        model.set_metadata_prop("vitis_xo", str(path))
        return model, False


def load_steps() -> Any:
    """Import FINN+'s steps without its simulator and without Vivado."""
    from finn import xsi

    for name in xsi._LAZY_NAMES:
        setattr(xsi, name, None)
    steps = importlib.import_module("finn.builder.build_dataflow_steps")
    xos = importlib.import_module("finn.transformation.fpgadataflow.build_xo")
    zynq = importlib.import_module("finn.transformation.fpgadataflow.make_zynq_proj")
    for module in (steps, xos, zynq):
        for name in VIVADO:
            if hasattr(module, name):
                setattr(module, name, Nothing)
    stitching = importlib.import_module("finn.transformation.fpgadataflow.create_stitched_ip")
    stitching.CreateStitchedIP = ModuleStitch
    xos.check_vitis_envvars, xos.CreateVitisXO = (lambda: None), EmptyXo
    aurora = importlib.import_module("finn.transformation.fpgadataflow.multifpga.aurora.prepare_aurora")
    aurora.PrepareAuroraFlow.__init__, aurora.PrepareAuroraFlow.package_single = without_aurora, one_aurora
    steps.step_hw_codegen = steps.step_hw_ipgen = lambda model, cfg, parent_node=None: model
    return steps


def zynq_build(config: Any, output: Path) -> Any:
    """Return the first part of FINN+'s step_synthesize_bitfile, which makes kernels and stops in front of Vivado."""
    from finn.transformation.fpgadataflow.make_zynq_proj import ZynqBuild

    folder = output / "intermediate_models" / "kernel_partitions"
    return ZynqBuild(config.board, config.synth_clk_period_ns, partition_model_dir=str(folder))


def give_xos(model: Any, output: Path) -> None:
    """Let every kernel have a file where Vivado would have packaged it, of which Vitis' kernelinfo tells nothing."""
    from finn.transformation.fpgadataflow.vitis_linking_configuration import VitisLinkConfiguration
    from qonnx.core.modelwrapper import ModelWrapper

    VitisLinkConfiguration._get_kerneldefs = lambda self: {}

    for node in model.get_nodes_by_op_type("StreamingDataflowPartition"):
        path = getCustomOp(node).get_nodeattr("model")
        xo = output / f"{node.name}.xo"
        xo.write_text("")
        kernel = ModelWrapper(path)
        kernel.set_metadata_prop("vitis_xo", str(xo))
        kernel.save(path)


def without_aurora(_self: Any, platform: str, part: str, asked: Any) -> None:
    """Begin PrepareAuroraFlow without its sources and Vivado; it still asks for a file of each link's kernel."""
    _self.ports, _self.verbosity, _self.aurora_storage = asked.ports_per_device, asked.verbosity, Path(WORK)


def one_aurora(self: Any, _args: str, device: int, index: int) -> Path:
    """Let the kernel of a link have a file, if the configuration has its port."""
    assert index < self.ports, f"card {device} has no port {index}"
    path = Path(WORK) / f"aurora_{device}_{index}.xo"
    path.write_text("")
    return path


def linked(model: Any, config: Any) -> dict[str, str]:
    """Let FINN+'s VitisBuild finish the link configuration of each card as far as v++, and return the texts."""
    from finn.transformation.fpgadataflow.multifpga.aurora.link_config_transform import AddAuroraToLinkConfig
    from finn.transformation.fpgadataflow.vitis_linking_configuration import VitisLinkConfiguration

    dummies = [Path(WORK) / f"{way}_dummy_kernel.xo" for way in ("rx", "tx")]
    for path in dummies:
        path.write_text("")
    AddAuroraToLinkConfig.package_dummy_kernels = lambda _self: tuple(dummies)
    model = model.transform(AddAuroraToLinkConfig(config.board, config.fpga_part))
    return {
        str(card): one.config_path.read_text() for card, one in VitisLinkConfiguration.load_from_model(model).items()
    }


def leave_for_host(model: Any, config: Any, steps: Any) -> None:
    """Let FINN+ name bitstreams that are empty here, and write its driver, as it does behind v++."""
    from finn.transformation.fpgadataflow.make_driver import MakePYNQDriver
    from finn.util.fpgadataflow import get_device_id

    made = {}
    for card in {get_device_id(node) or 0 for node in model.graph.node}:
        made[card] = str(Path(WORK) / f"{card}.xclbin")
        Path(made[card]).write_text("")
    model.set_metadata_prop("bitfile", json.dumps(made))
    steps.copy_and_rename_bitfiles(model, config, config.get_bitfile_directory())
    model = model.transform(MakePYNQDriver(config._resolve_driver_platform(), "FINNDMAOverlay"))
    shutil.copytree(model.get_metadata_prop("pynq_driver_dir"), config.get_driver_directory(), dirs_exist_ok=True)


def connect(kernels: list[list[Any]], steps: Path) -> dict[str, Any]:
    """Tell how FINN+ connects kernels, [name, inputs, outputs] each, on one card, and how floorflow's step does."""
    load_steps()
    from finn.builder.build_dataflow_config import FpgaMemoryType, VitisOptStrategy
    from finn.transformation.fpgadataflow.vitis_linking_configuration import (
        BuildBasicVitisLinkConfig,
        VitisLinkConfiguration,
    )
    from onnx import TensorProto, helper
    from qonnx.core.modelwrapper import ModelWrapper

    def graph(nodes: list[Any], inputs: list[str], outputs: list[str]) -> Any:
        ends = [
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in side] for side in (inputs, outputs)
        ]
        return ModelWrapper(helper.make_model(helper.make_graph(nodes, "graph", *ends)))

    nodes = []
    for name, inputs, outputs in kernels:
        path = Path(WORK) / f"{name}.onnx"
        graph([helper.make_node("Inside", inputs, outputs, "inside")], inputs, outputs).save(str(path))
        domain = "finn.custom_op.fpgadataflow"
        nodes.append(
            helper.make_node("StreamingDataflowPartition", inputs, outputs, name, domain=domain, model=str(path))
        )
    made = {tensor for _, _, outputs in kernels for tensor in outputs}
    read = {tensor for _, inputs, _ in kernels for tensor in inputs}
    model = graph(nodes, sorted(read - made), sorted(made - read))
    give_xos(model, Path(WORK))
    memory, strategy = FpgaMemoryType.DEFAULT, VitisOptStrategy.DEFAULT
    model = model.transform(BuildBasicVitisLinkConfig("platform", "U250", memory, strategy, "0", 200))
    (config,) = VitisLinkConfiguration.load_from_model(model).values()
    sys.path.insert(0, str(steps))
    sys.modules.pop("floorflow_step", None)
    own = importlib.import_module("floorflow_step").connections(model.graph, dict(config.nk))
    sys.path.remove(str(steps))
    return {"counted": config.sc, "own": own}


def type_ends(model: Any) -> None:
    """Give the tensors at the ends of a saved graph, which have none, the types of the engines there."""
    ends = [(model.find_consumer(one.name), one.name, "get_input_datatype") for one in model.graph.input]
    ends += [(model.find_producer(one.name), one.name, "get_output_datatype") for one in model.graph.output]
    for node, tensor, ask in ends:
        model.set_tensor_datatype(tensor, getattr(getCustomOp(node), ask)())


def verify_in_python(steps: Any, ran: list[str]) -> list[tuple[str, str]]:
    """Let FINN+'s own verify_step execute in Python what it would simulate; return where it is called, as it is."""
    from finn.util.verification import despecialize_model

    own, called = steps.verify_step, []
    steps.PrepareCppSim = steps.CompileCppSim = Nothing
    steps.CreateStitchedIP = EmptyStitch

    def verify_step(model: Any, cfg: Any, step_name: str, need_parent: bool) -> None:
        called.append((ran[-1], step_name))
        own(despecialize_model(model), cfg, step_name, need_parent=need_parent)

    steps.verify_step = verify_step
    return called


def scores(model: Any, config: Any, path: Path) -> list[list[float]]:
    """Return what reaches LabelSelect of each verification input, FINN+ executing a dataflow graph in Python."""
    import numpy as np
    from finn.util.execution import execute_parent
    from finn.util.verification import despecialize_model

    despecialize_model(model).save(str(path))
    parent = path.with_name("dataflow_parent.onnx")
    (last,) = (node for node in model.graph.node if node.op_type.startswith("LabelSelect"))
    found = []
    for frame in np.load(config.verify_input_npy):
        told = execute_parent(parent, path, frame[np.newaxis], return_full_ctx=True)
        (name,) = (name for name in told if name.endswith(f"Partition_0_{last.input[0]}"))
        found.append(told[name].flatten().tolist())
    return found


def swap_wire(model: Any) -> None:
    """Let a matrix unit read another engine's stream of the same shape and type, from behind its FIFO."""

    def told(name: str) -> tuple[Any, ...]:
        return tuple(model.get_tensor_shape(name)), model.get_tensor_datatype(name)

    def engine(name: str) -> str:
        made = model.find_producer(name)
        return engine(made.input[0]) if made.op_type.startswith(("StreamingFIFO", "StreamingData")) else made.name

    fifos = [node.output[0] for node in model.graph.node if node.op_type.startswith("StreamingFIFO")][1:]
    for node in reversed([node for node in model.graph.node if node.op_type.startswith("MVAU")]):
        own = node.input[0]
        ahead = fifos[: fifos.index(own)] if own in fifos else []
        other = next((name for name in ahead if told(name) == told(own) and engine(name) != engine(own)), None)
        if other is not None:
            node.input[0] = other
            return
    raise AssertionError("no two streams are alike")


def change_weights(model: Any) -> None:
    """Turn the weights of the last matrix unit over, row by row."""
    node = [node for node in model.graph.node if node.op_type.startswith("MVAU")][-1]
    weights = model.get_initializer(node.input[1])
    model.set_initializer(node.input[1], weights[:, ::-1].copy())


MISTAKES = {"wire": swap_wire, "weight": change_weights}


def make_ready(model: Any, *, is_light: bool) -> None:
    """Let nodes keep their names, whatever they are called later, and type the ends of a saved graph."""
    for node in model.graph.node:
        node.doc_string = node.name
    if is_light:
        type_ends(model)


def linked_for_host(model: Any, config: Any, steps: Any) -> dict[str, Any]:
    """Return what FINN+ links on each card, and leave what the host needs."""
    cards = linked(model, config)
    leave_for_host(model, config, steps)
    return cards


def kernels_in(model: Any) -> list[dict[str, Any]]:
    """Return what FINN+ made kernels."""
    kernels = []
    for node in model.get_nodes_by_op_type("StreamingDataflowPartition"):
        instance = getCustomOp(node)
        kernel = {name: instance.get_nodeattr(name) for name in ("model", "slr", "mem_port", "device_id")}
        kernels.append({"name": node.name, "inputs": list(node.input), "outputs": list(node.output), **kernel})
    return kernels


def left_out_of(*, is_light: bool, verify: bool) -> set[str]:
    """Return the steps that are not run."""
    return {*LEFT_OUT, *([NEEDS_WEIGHTS] if is_light else [])} - ({STITCHING} if verify else set())


def build(
    model: Any, folder: Path, output: Path, stop: str, *, is_light: bool, verify: bool = False, mistake: str = ""
) -> dict[str, Any]:
    """Run the steps of ``folder/build.yaml`` up to ``stop``; return their names and the kernels that FINN+ made.

    With ``verify`` FINN+ verifies in Python where the file says; a ``mistake`` is made where hardware is generated.
    """
    steps = load_steps()
    ran: list[str] = []
    executed: dict[str, list[list[float]]] = {}

    def look_on(model: Any, config: Any, step: str) -> None:
        if step == "step_generate_hardware" and mistake:
            MISTAKES[mistake](model)
        if verify and step in ("step_create_dataflow_partition", "floorflow_fifos"):
            executed[step] = scores(model, config, output / "intermediate_models" / "executed.onnx")

    own_verify = steps.verify_step
    verified = verify_in_python(steps, ran) if verify else []
    make_ready(model, is_light=is_light)
    from finn.builder.build_dataflow import resolve_build_steps
    from finn.builder.build_dataflow_config import DataflowBuildConfig

    sys.path.insert(0, str(folder))
    sys.modules.pop("floorflow_step", None)
    try:
        config = DataflowBuildConfig.construct_from(folder / "build.yaml")
        config.output_dir = str(output)
        config.verify_steps = config.verify_steps if verify else None
        left_out = left_out_of(is_light=is_light, verify=verify)
        for step in resolve_build_steps(config):
            if step.__name__ in left_out:
                continue
            if step.__name__ == "floorflow_link":
                give_xos(model, output)
            own = getattr(steps, step.__name__, step)
            ran.append(step.__name__)
            model = own(model, config)
            (output / "intermediate_models").mkdir(parents=True, exist_ok=True)
            look_on(model, config, step.__name__)
            model.save(str(output / "intermediate_models" / f"{step.__name__}.onnx"))
            if step.__name__ == stop:
                break
        if config.shell_flow_type == "vivado_zynq" and stop == "floorflow_constrain":
            model = model.transform(zynq_build(config, output))
    finally:
        sys.path.remove(str(folder))
        steps.verify_step = own_verify
    links = sorted(Path(model.get_metadata_prop("vitis_link_configs") or "/nowhere").glob("*/config.yaml"))
    joins = links and config.partitioning_configuration is not None
    return {
        "steps": ran,
        "verified": verified,
        "scores": executed,
        "kernels": kernels_in(model),
        "links": [path.read_text() for path in links],
        "cards": linked_for_host(model, config, steps) if joins else {},
    }
