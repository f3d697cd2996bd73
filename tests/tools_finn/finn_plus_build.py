"""Runs inside FINN+'s environment: a build by a plan's build.yaml, with what needs Vivado left out.

Node names, kernels and their order are FINN+'s own: its steps, InsertDWC, InsertFIFO, InsertIODMA, SpecializeLayers,
Floorplan and CreateDataflowPartition run; PrepareIP, HLSSynthIP, CreateStitchedIP and CreateVitisXO do nothing.
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
LEFT_OUT = ("step_create_stitched_ip", "step_generate_estimate_reports")
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
    xos.check_vitis_envvars = lambda: None
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


def build(model: Any, folder: Path, output: Path, stop: str, *, is_light: bool) -> dict[str, Any]:
    """Run the steps of ``folder/build.yaml`` up to ``stop``; return their names and the kernels that FINN+ made."""
    steps = load_steps()
    for node in model.graph.node:
        node.doc_string = node.name  # stays with the node, whatever it is called later
    if is_light:
        type_ends(model)
    from finn.builder.build_dataflow import resolve_build_steps
    from finn.builder.build_dataflow_config import DataflowBuildConfig

    sys.path.insert(0, str(folder))
    sys.modules.pop("floorflow_step", None)
    try:
        config = DataflowBuildConfig.construct_from(folder / "build.yaml")
        config.output_dir = str(output)
        ran = []
        for step in resolve_build_steps(config):
            if step.__name__ in LEFT_OUT or (is_light and step.__name__ == NEEDS_WEIGHTS):
                continue
            if step.__name__ == "floorflow_link":
                give_xos(model, output)
            own = getattr(steps, step.__name__, step)
            model = own(model, config)
            (output / "intermediate_models").mkdir(parents=True, exist_ok=True)
            ran.append(step.__name__)
            model.save(str(output / "intermediate_models" / f"{step.__name__}.onnx"))
            if step.__name__ == stop:
                break
        if config.shell_flow_type == "vivado_zynq" and stop == "floorflow_constrain":
            model = model.transform(zynq_build(config, output))
    finally:
        sys.path.remove(str(folder))
    links = sorted(Path(model.get_metadata_prop("vitis_link_configs") or "/nowhere").glob("*/config.yaml"))
    kernels = []
    for node in model.get_nodes_by_op_type("StreamingDataflowPartition"):
        instance = getCustomOp(node)
        kernel = {name: instance.get_nodeattr(name) for name in ("model", "slr", "mem_port", "device_id")}
        kernels.append({"name": node.name, "inputs": list(node.input), "outputs": list(node.output), **kernel})
    cards = {}
    if links and config.partitioning_configuration is not None:
        cards = linked(model, config)
        leave_for_host(model, config, steps)
    return {"steps": ran, "kernels": kernels, "links": [path.read_text() for path in links], "cards": cards}
