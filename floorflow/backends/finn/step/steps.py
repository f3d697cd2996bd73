"""Steps of FINN's build that make it build a floorflow plan; for FINN main (0.10) and FINN+.

The functions take and return FINN's model and take its configuration, as all of FINN's steps do. The plan is
``floorflow_plan.json`` beside this file, or the file that FLOORFLOW_STEP_PLAN names. Nodes are found by kinds, shapes
and streams, so that it does not matter what FINN calls them.
"""

import json
import os
import shutil
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from floorflow.backends.finn.step.bind import bind_kernels, write_bound
from floorflow.backends.finn.step.cards import check_links, connections, floorplanned, set_cards
from floorflow.backends.finn.step.cut import cut_out
from floorflow.backends.finn.step.early import (
    BRANCHES,
    flatten_pixels,
    leave_to_host,
    only_behind_bare_units,
    pool_globally,
    reshape_early,
    spell_out_deconv,
)
from floorflow.backends.finn.step.graph import MARK, BuiltNode, read_graph
from floorflow.backends.finn.step.kernel_files import Kernels, read_partitions
from floorflow.backends.finn.step.kernels import NotBuildable
from floorflow.backends.finn.step.match import Mismatch
from floorflow.backends.finn.step.modules import cut_module
from floorflow.backends.finn.step.settings import (
    LEAST_DEPTH,
    Bound,
    bound,
    check_kernels,
    fifo_ports,
    fifo_settings,
    placements,
)
from floorflow.backends.finn.step.slices import insert_slices

PLAN_FILE = "floorflow_plan.json"
VITIS_PORT_BITS = 512
"""Width of a DMA engine's memory port in FINN main's VitisBuild."""


NOT_REPEATED = ("MoveTransposePastEltwise", "RoundAndClipThresholds")
"""The first undoes MoveScalarLinearPastInvariants for ever; after each node of the second all others run anew."""


class FloorflowStop(RuntimeError):  # noqa: N818 - what it says is for the user
    """The build is not that of the plan."""


def step_plan() -> dict[str, Any]:
    """Return the plan; every step asks for it first, so that a plan that cannot be built stops in the first."""
    path = Path(os.environ.get("FLOORFLOW_STEP_PLAN") or Path(__file__).with_name(PLAN_FILE))
    plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if plan.get("stops"):
        raise FloorflowStop(f"floorflow: {'; '.join(plan['stops'])}")
    return plan


def require_buildable() -> None:
    """Stop before anything is done for a plan that cannot be built."""
    step_plan()


def _bound(model: Any, *, also: str = "") -> Bound:
    try:
        return bound(step_plan(), read_graph(model.graph))
    except ValueError as problem:
        raise FloorflowStop(f"floorflow: {problem}{also}") from problem


def _set(node: BuiltNode, attributes: Mapping[str, Any]) -> None:
    """Set attributes through FINN, which checks them."""
    from qonnx.custom_op.registry import getCustomOp

    instance = getCustomOp(node.proto)
    known = instance.get_nodeattr_types()
    for name, value in attributes.items():
        if name not in known:
            raise FloorflowStop(f"floorflow: node '{node.name}' ({node.op_type}) has no attribute {name}")
        instance.set_nodeattr(name, value)


def floorflow_flatten(model: Any, cfg: Any) -> Any:  # noqa: ARG001
    """Move reshapes of the input ahead of its quantiser, so that a word may hold several values; first of all."""
    reshape_early(model.graph)
    return model


def floorflow_scales(model: Any, cfg: Any) -> Any:  # noqa: ARG001
    """Move scales past depthwise convolutions, forks and joins; in front of step_streamline, which leaves them.

    FINN does so for MobileNet and ResNet, in steps that are none of its default. No convolution behind a scale that
    stays becomes hardware.
    """
    from finn.transformation.streamline import Streamline
    from finn.transformation.streamline.absorb import AbsorbMulIntoMultiThreshold
    from finn.transformation.streamline.reorder import MoveMulPastDWConv

    kinds = {engine["kind"].split("_")[0] for engine in step_plan()["engines"]}
    if "GlobalAccPool" in kinds:
        pool_globally(model.graph)
    if "VVAU" in kinds:
        for transformation in (Streamline(), MoveMulPastDWConv(), AbsorbMulIntoMultiThreshold()):
            model = model.transform(transformation)
    if kinds & BRANCHES:
        from finn.transformation.streamline.streamline_plus import StreamlinePlus
        from qonnx.transformation.lower_convs_to_matmul import LowerConvsToMatMul

        model = model.transform(_that_ends(StreamlinePlus()))
        model = model.transform(LowerConvsToMatMul()).transform(_that_ends(StreamlinePlus()))
    return model


def _that_ends(composed: Any) -> Any:
    """Leave out of FINN+'s transformations, which run until none changes anything, those that bring it to no end."""
    kept = [one for one in composed.transformations if type(one).__name__ not in NOT_REPEATED]
    composed.transformations = [_that_ends(one) if hasattr(one, "transformations") else one for one in kept]
    return composed


def floorflow_integers(model: Any, cfg: Any) -> Any:  # noqa: ARG001
    """Make engines of Resize and global pools, move pools' scales on, round thresholds; before step_convert_to_hw.

    FINN+ would make none of Resize, and of global pools last, with a scale ahead of the next layer.
    """
    from finn.transformation.fpgadataflow.convert_to_hw.global_acc_pool import InferGlobalAccPoolLayer
    from finn.transformation.fpgadataflow.convert_to_hw.upsample import InferUpsample
    from finn.transformation.streamline import Streamline
    from finn.transformation.streamline.absorb import (
        AbsorbConsecutiveTransposes,
        AbsorbScalarMulAddIntoTopK,
        AbsorbTransposeIntoMultiThreshold,
    )
    from finn.transformation.streamline.reorder import (
        MakeMaxPoolNHWC,
        MakeScaleResizeNHWC,
        MoveTransposePastJoinConcat,
    )
    from finn.transformation.streamline.round_thresholds import RoundAndClipThresholds

    steps = (
        *(MakeMaxPoolNHWC(), MakeScaleResizeNHWC(), AbsorbConsecutiveTransposes()),
        *(MoveTransposePastJoinConcat(), AbsorbConsecutiveTransposes(), InferUpsample(), InferGlobalAccPoolLayer()),
        *(AbsorbConsecutiveTransposes(), AbsorbTransposeIntoMultiThreshold(), Streamline()),
        *(AbsorbScalarMulAddIntoTopK(), RoundAndClipThresholds()),
    )
    for transformation in steps:
        model = model.transform(transformation)
    flatten_pixels(model.graph, model.get_tensor_shape)
    return model


def floorflow_thresholds(model: Any, cfg: Any) -> Any:  # noqa: ARG001
    """Make engines of the thresholds that stand apart in the plan, where others do not; before step_convert_to_hw.

    FINN has one setting for all, but its RTL units take no thresholds, and HLS units save an engine if they do.
    """
    try:
        from finn.transformation.fpgadataflow.convert_to_hw.thresholding import InferThresholdingLayer
    except ModuleNotFoundError:  # FINN main
        from finn.transformation.fpgadataflow.convert_to_hw_layers import InferThresholdingLayer

    try:
        with only_behind_bare_units(model, step_plan()["engines"]):
            model, _ = InferThresholdingLayer().apply(model)  # once: it infers the types anew, of what is hidden too
    except Mismatch as problem:
        raise FloorflowStop(f"floorflow: {problem}") from problem
    return model


def floorflow_host(model: Any, cfg: Any) -> Any:  # noqa: ARG001
    """Leave scales and biases behind the last engine to the host, as the plan does; behind step_convert_to_hw.

    FINN+ would multiply and add floats for them on the card.
    """
    leave_to_host(model.graph, [engine["kind"] for engine in step_plan()["engines"]])
    return model


def floorflow_deconv(model: Any, cfg: Any) -> Any:
    """Make transposed convolutions plain ones of spread images; in front of step_convert_to_hw, on integers.

    FINN's own transformation is none of its default steps, and reads attributes that exporters may leave out. Scales
    that have to move for it are streamlined once more.
    """
    from finn.builder.build_dataflow_steps import step_streamline
    from finn.transformation.fpgadataflow.infer_pixel_padding_deconv import InferPixelPaddingDeconv
    from finn.transformation.streamline.reorder import MoveScalarMulPastConvTranspose

    spell_out_deconv(model.graph)
    model = model.transform(MoveScalarMulPastConvTranspose()).transform(InferPixelPaddingDeconv())
    return step_streamline(model, cfg)


def floorflow_cut(model: Any, cfg: Any) -> Any:  # noqa: ARG001
    """Leave of the network what this phase of the plan runs; in front of floorflow_specialise."""
    try:
        cut_out(step_plan(), model.graph)
    except Mismatch as problem:
        raise FloorflowStop(f"floorflow: {problem}") from problem
    return model


def floorflow_specialise(model: Any, cfg: Any) -> Any:  # noqa: ARG001
    """Say which layers are to be hls or rtl; in front of step_specialize_layers."""
    one = _bound(model)
    for engine in one.plan["engines"]:
        # Of units FINN+ itself may choose RTL for sums wider than any that floorflow plans as RTL.
        is_unit, kind = engine["kind"].startswith(("MVAU", "VVAU")), engine["kind"].rpartition("_")[2]
        style = engine["attributes"].get("preferred_impl_style", kind if is_unit else None)
        if style:
            _set(one.nodes[engine["id"]], {"preferred_impl_style": style})
    return model


def floorflow_fold(model: Any, cfg: Any) -> Any:  # noqa: ARG001
    """Set folding, memories and FIFO depths; in the place of step_apply_folding_config."""
    one = _bound(model)
    ports = fifo_ports(one)
    for engine in one.plan["engines"]:
        node = one.nodes[engine["id"]]
        if node.op_type != engine["kind"]:
            raise FloorflowStop(
                f"floorflow: node '{node.name}' is {node.op_type}, engine {engine['id']} of the plan is not"
            )
        _set(node, {**engine["folding"], **ports[node]})
        _mark(node, str(engine["id"]))
    _widen_reshapes(one)
    if any(node.is_fifo for node in one.graph.nodes):
        _set_fifos(one)
    return model


def _widen_reshapes(one: Bound) -> None:
    """Make FINN+'s Reshape, which only passes words on, as wide as its stream if its shapes allow that."""
    from qonnx.custom_op.registry import getCustomOp

    for stream, link in one.links:
        width = int(stream["target_width" if link.source is None else "source_width"])
        for node in link.chain:
            if node.is_transparent:
                instance = getCustomOp(node.proto)
                most = width // instance.get_input_datatype().bitwidth()
                rows = [instance.get_nodeattr(name)[-1] for name in ("inp_shape", "out_shape")]
                _set(node, {"PE": max(pe for pe in range(1, most + 1) if all(row % pe == 0 for row in rows))})


def _mark(node: BuiltNode, engine: str) -> None:
    """Let a node remember its engine, as long as this onnx can (from 1.16 on)."""
    if hasattr(node.proto, "metadata_props") and not node.mark:
        node.proto.metadata_props.add(key=MARK, value=engine)


def floorflow_fifos(model: Any, cfg: Any) -> Any:
    """Insert converters and FIFOs and set their depths and memories; in front of the generation of hardware."""
    require_buildable()
    from finn.transformation.fpgadataflow.insert_dwc import InsertDWC
    from finn.transformation.fpgadataflow.insert_fifo import InsertFIFO
    from finn.transformation.fpgadataflow.specialize_layers import SpecializeLayers
    from qonnx.transformation.general import SortGraph

    model = model.transform(InsertDWC())
    model = model.transform(InsertFIFO(create_shallow_fifos=True))
    model = model.transform(SpecializeLayers(cfg._resolve_fpga_part()))  # noqa: SLF001 - FINN's steps do so
    model = _named(model)
    one = _bound(model)
    _set_fifos(one)
    if insert_slices(model, one.links):
        # In the order to which FINN sorts the graph next, as it takes depths by the names that follow from it.
        model = _named(model.transform(SortGraph()))
        one = _bound(model)
        _set_fifos(one)
    _hand_over(one, cfg)
    return model


def _named(model: Any) -> Any:
    from qonnx.transformation.general import GiveReadableTensorNames, GiveUniqueNodeNames

    return model.transform(GiveUniqueNodeNames()).transform(GiveReadableTensorNames())


def _set_fifos(one: Bound) -> None:
    if not one.plan["known_fifos"]:
        return
    try:
        settings = fifo_settings(one)
    except Mismatch as problem:
        raise FloorflowStop(f"floorflow: {problem}") from problem
    for node, attributes in settings.items():
        made = any(node.attributes.get(key) for key in ("ipgen_path", "ip_path"))
        apart = [key for key, value in attributes.items() if node.attributes.get(key, value) != value]
        if made and apart:
            raise FloorflowStop(
                f"floorflow: FIFO '{node.name}' is made already with {apart[0]} {node.attributes[apart[0]]}, "
                f"the plan has {attributes[apart[0]]}; run floorflow_fifos before hardware is generated"
            )
        _set(node, attributes)


def _hand_over(one: Bound, cfg: Any) -> None:
    """Give FINN the files that it applies by name once more, with the names that its nodes have."""
    # FIFOs of which the plan says nothing, around a Reshape, stay as they are; FINN+ wants an entry for each.
    own = {n.name: _as_made(n) for n in one.graph.nodes if n.is_fifo and one.plan["finn"] == "plus"}
    settings = own | {node.name: attributes for node, attributes in fifo_settings(one).items()}
    if one.plan["finn"] == "plus":
        keys = {"fifo_depths": "depth", "impl_style": "impl_style", "ram_style": "ram_style"}
        content = {key: {name: found[own] for name, found in settings.items()} for key, own in keys.items()}
        cfg.fifo_config_file = _written(cfg, "floorflow_fifos.json", content)
    else:
        ports = fifo_ports(one)
        content = {"Defaults": {}} | settings
        for engine in one.plan["engines"]:
            node = one.nodes[engine["id"]]
            content[node.name] = {**engine["folding"], **ports[node]}
        cfg.folding_config_file = str(_written(cfg, "floorflow_folding.json", content))
    cfg.auto_fifo_depths = False


def _as_made(fifo: BuiltNode) -> dict[str, Any]:
    told = fifo.attributes
    return {
        "depth": int(told.get("depth", LEAST_DEPTH)),
        "impl_style": str(told.get("impl_style", "rtl")),
        "ram_style": str(told.get("ram_style", "auto")),
    }


def _written(cfg: Any, name: str, content: Mapping[str, Any]) -> Path:
    path = Path(cfg.output_dir) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return path


def floorflow_place(model: Any, cfg: Any) -> Any:
    """Say where every node lies; in front of step_prepare_synthesis (FINN+), floorflow_cards, step_synthesize_bitfile.

    DMA engines are inserted here, as FINN itself would do next. FINN's Floorplan is run on a copy, and what it makes
    must be the kernels of the plan.
    """
    require_buildable()
    model = _with_dma(model, cfg)
    one = _bound(model)
    _set_fifos(one)
    try:
        places = placements(one)
    except Mismatch as problem:
        raise FloorflowStop(f"floorflow: {problem}") from problem
    for node, attributes in places.items():
        own = {} if node.is_fifo or node.is_converter or node.is_dma else _shallow(node)
        _set(node, {**attributes, **own})
    _check_kernels(model, one.plan)
    _write_floorplan(model, cfg)
    return model


def _shallow(node: BuiltNode) -> dict[str, list[int]]:
    """Return FIFO depths with which FINN inserts no second FIFO where a kernel begins or ends at an engine."""
    inputs = 1 + max(node.positions, default=0)
    return {"inFIFODepths": [LEAST_DEPTH] * inputs, "outFIFODepths": [LEAST_DEPTH] * len(node.outputs)}


def _with_dma(model: Any, cfg: Any) -> Any:
    from finn.transformation.fpgadataflow.insert_iodma import InsertIODMA
    from finn.util.basic import pynq_native_port_width

    if cfg.board in pynq_native_port_width:
        width = pynq_native_port_width[cfg.board]
    else:
        width = getattr(cfg, "vitis_iodma_intf_max_width", VITIS_PORT_BITS)
    return _named(model.transform(InsertIODMA(width)))


def _check_kernels(model: Any, plan: Mapping[str, Any]) -> None:
    """Let FINN's own Floorplan choose kernels in a copy, and compare."""
    graph = read_graph(floorplanned(model).graph)
    ids = {node: int(node.attributes.get("partition_id", 0)) for node in graph.nodes}
    slr = {node: int(node.attributes.get("slr", -1)) for node in graph.nodes}
    try:
        check_kernels(bound(plan, graph), ids, slr)
    except ValueError as problem:
        raise FloorflowStop(f"floorflow: FINN would not make the kernels of the plan: {problem}") from problem


def _write_floorplan(model: Any, cfg: Any) -> None:
    """Write the places by the names that FINN's Floorplan will find, and give FINN the file, which it rewrites."""
    from finn.analysis.fpgadataflow.floorplan_params import floorplan_params

    content = model.analysis(floorplan_params) | {"Defaults": {}}
    cfg.vitis_floorplan_file = str(_written(cfg, "floorflow_floorplan.json", content))


def floorflow_cards(model: Any, cfg: Any) -> Any:
    """Make the kernels of each card and what joins cards; FINN+, in the place of step_prepare_synthesis.

    That step clusters by card alone; what it does behind its clusters is done here, by FINN+'s own transformations.
    """
    plan = step_plan()
    from finn.transformation.fpgadataflow.build_xo import BuildAllXOs
    from finn.transformation.fpgadataflow.create_dataflow_partition import CreateDataflowPartition
    from finn.transformation.fpgadataflow.multifpga.communication_kernels import PrepareCommunicationKernels
    from finn.transformation.fpgadataflow.multifpga.create_network_metadata import CreateNetworkMetadata
    from qonnx.transformation.general import GiveUniqueNodeNames

    asked, part = cfg.partitioning_configuration, cfg._resolve_fpga_part()  # noqa: SLF001 - FINN's steps do so
    folder = Path(cfg.output_dir) / "intermediate_models" / "kernel_partitions"
    model = floorplanned(model).transform(CreateDataflowPartition(str(folder)))
    model = model.transform(GiveUniqueNodeNames())
    set_cards(model)
    model = model.transform(CreateNetworkMetadata(asked.communication_kernel, asked.verbosity))
    try:
        check_links(model, plan)
    except NotBuildable as problem:
        raise FloorflowStop(f"floorflow: {problem}") from problem
    platform = cfg._resolve_vitis_platform()  # noqa: SLF001 - as above
    model = model.transform(PrepareCommunicationKernels(platform, part, asked))
    return model.transform(BuildAllXOs(part, cfg.synth_clk_period_ns))


def floorflow_card_kernels(model: Any, cfg: Any) -> Any:
    """Make the kernels (XOs) of one of several cards with FINN main, and link none: in the place of its bitfile step.

    FINN's kernel of a DMA engine is made at each end; where that is a link, nothing is linked of it.
    """
    require_buildable()
    from finn.transformation.fpgadataflow.vitis_build import VitisBuild

    build = VitisBuild(
        cfg._resolve_fpga_part(),  # noqa: SLF001 - FINN's steps do so
        cfg.synth_clk_period_ns,
        cfg.vitis_platform,
        floorplan_file=cfg.vitis_floorplan_file,
        enable_link=False,
        partition_model_dir=str(Path(cfg.output_dir) / "intermediate_models" / "kernel_partitions"),
    )
    model = model.transform(build)
    folder = Path(cfg.output_dir) / "xo"
    folder.mkdir(parents=True, exist_ok=True)
    for node in model.get_nodes_by_op_type("StreamingDataflowPartition"):
        shutil.copy(_kernel(node).get_metadata_prop("vitis_xo"), folder / f"{node.name}.xo")
    return model


def floorflow_kernels(model: Any, cfg: Any) -> Any:
    """Make the kernels of a network that shares its card with others, under names that no other network's have.

    In the place of step_synthesize_bitfile (FINN main) or step_prepare_synthesis (FINN+), by the transformations that
    make kernels there. They are left in ``kernels/`` with the streams between them, which v++ has still to join.
    """
    plan = step_plan()
    from finn.transformation.fpgadataflow.create_dataflow_partition import CreateDataflowPartition
    from qonnx.transformation.general import GiveUniqueNodeNames

    folder = Path(cfg.output_dir) / "intermediate_models" / "kernel_partitions"
    model = floorplanned(model).transform(CreateDataflowPartition(str(folder)))
    model = model.transform(GiveUniqueNodeNames(plan["kernel_prefix"]))
    _build_kernels(model, cfg, is_plus=plan["finn"] == "plus")
    made = Path(cfg.output_dir) / "kernels"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    for node in model.graph.node:
        shutil.copy(_kernel(node).get_metadata_prop("vitis_xo"), made / f"{node.name}.xo")
    found = connections(model.graph, {node.name: node.name for node in model.graph.node})
    rows = sorted(f"stream_connect={source}:{target}\n" for source, targets in found.items() for target in targets)
    (made / "connections.txt").write_text("".join(rows), encoding="utf-8")
    return model


def _kernel(node: Any) -> Any:
    """Return the model of a kernel."""
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.custom_op.registry import getCustomOp

    return ModelWrapper(getCustomOp(node).get_nodeattr("model"))


def _build_kernels(model: Any, cfg: Any, *, is_plus: bool) -> None:
    """Package each kernel: by FINN+'s BuildAllXOs, or as FINN main's VitisBuild does in front of its link."""
    part, period = cfg._resolve_fpga_part(), cfg.synth_clk_period_ns  # noqa: SLF001 - FINN's steps do so
    if is_plus:
        from finn.transformation.fpgadataflow.build_xo import BuildAllXOs

        model.transform(BuildAllXOs(part, period))
        return
    from finn.transformation.fpgadataflow.create_stitched_ip import CreateStitchedIP
    from finn.transformation.fpgadataflow.hlssynth_ip import HLSSynthIP
    from finn.transformation.fpgadataflow.insert_fifo import InsertFIFO
    from finn.transformation.fpgadataflow.prepare_ip import PrepareIP
    from finn.transformation.fpgadataflow.specialize_layers import SpecializeLayers
    from finn.transformation.fpgadataflow.vitis_build import CreateVitisXO
    from qonnx.custom_op.registry import getCustomOp
    from qonnx.transformation.general import GiveUniqueNodeNames, RemoveUnusedTensors

    for node in model.graph.node:
        kernel = _kernel(node)
        for step in (
            InsertFIFO(),
            SpecializeLayers(part),
            RemoveUnusedTensors(),
            GiveUniqueNodeNames(f"{node.name}_"),
            PrepareIP(part, period),
            HLSSynthIP(),
            CreateStitchedIP(part, period, node.name, vitis=True),
            CreateVitisXO(node.name),
        ):
            kernel = kernel.transform(step)
        kernel.set_metadata_prop("platform", "alveo")
        kernel.save(getCustomOp(node).get_nodeattr("model"))


def floorflow_modules(model: Any, cfg: Any) -> Any:
    """Let FINN stitch and package each implementation by itself, for ooc/<implementation>/run.tcl.

    They lie in ``modules`` of the output folder. The model is left as it is.
    """
    from finn.transformation.fpgadataflow.create_stitched_ip import CreateStitchedIP

    for entry in step_plan()["stitched"]:
        part = deepcopy(model)
        try:
            cut_module(_bound(part), part.graph, entry)
        except Mismatch as problem:
            raise FloorflowStop(f"floorflow: {problem}") from problem
        stitch = CreateStitchedIP(cfg._resolve_fpga_part(), cfg.synth_clk_period_ns, entry["core"])  # noqa: SLF001
        made = Path(part.transform(stitch).get_metadata_prop("vivado_stitch_proj")) / "ip"
        if not made.is_dir():
            raise FloorflowStop(
                f"floorflow: FINN packaged no IP of module {entry['module']}; see Vivado's log beside {made}"
            )
        folder = Path(cfg.output_dir) / "modules" / entry["implementation"]
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder / "ip")
    if step_plan().get("contents_apart"):
        _write_contents(model, Path(cfg.output_dir) / "contents")
    return model


def _write_contents(model: Any, folder: Path) -> None:
    """Write what the memories of each module hold, as FINN's own tables, for whoever fills a module made once.

    ``contents.json`` names the tables of each engine of each module: ``memblock.dat`` has a word of weights a line, as
    memory has them, ``..._threshs_<pe>_<stage>.dat`` the thresholds of a stage.
    """
    from qonnx.custom_op.registry import getCustomOp

    found: dict[str, dict[str, list[str]]] = {}
    one = _bound(model)
    for engine in one.plan["engines"]:
        node = one.nodes[str(engine["id"])]
        if node.family not in ("MVAU", "VVAU", "Thresholding"):
            continue
        own = folder / str(engine["module"]) / str(engine["id"])
        own.mkdir(parents=True, exist_ok=True)
        getCustomOp(node.proto).generate_params(model, str(own))
        tables = sorted(path.name for path in own.iterdir() if path.suffix == ".dat")
        found.setdefault(str(engine["module"]), {})[str(engine["id"])] = tables
    (folder / "contents.json").write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def floorflow_constrain(model: Any, cfg: Any) -> Any:
    """Write pblocks.tcl and pblocks.xdc by the names of the kernels, behind CreateDataflowPartition.

    Before it, as in FINN main, whose build makes kernels and links them in one step, the partition is made in a folder
    of its own: FINN will make the same of the same graph.
    """
    plan = step_plan()
    try:
        result = bind_kernels(plan, _kernels(model, cfg, plan))
    except ValueError as problem:
        raise FloorflowStop(f"floorflow: {problem}") from problem
    folder = Path(cfg.output_dir) / "floorflow"
    write_bound(result, folder)
    (folder / "vivado").mkdir(exist_ok=True)
    (folder / "vivado" / "floorflow.tcl").write_text(plan["library"], encoding="utf-8")
    return model


def floorflow_link(model: Any, cfg: Any) -> Any:
    """Put hook, memory banks and ports into FINN+'s own link configurations, in front of step_synthesize_bitfile.

    FINN+ then finds a configuration of each card that is there, and only adds what links cards.
    """
    from finn.transformation.fpgadataflow.vitis_linking_configuration import (
        BuildBasicVitisLinkConfig,
        VitisLinkConfiguration,
    )

    plan = step_plan()
    made = BuildBasicVitisLinkConfig(
        platform=cfg._resolve_vitis_platform(),  # noqa: SLF001 - FINN's steps do so
        board=cfg.board,
        mem_type=cfg.fpga_memory,
        vitis_opt_strategy=cfg.vitis_opt_strategy,
        optimization_level=cfg.vitis_opt_strategy.value,
        f_mhz=round(1000.0 / cfg.synth_clk_period_ns),
    )
    model = model.transform(made)
    configs = VitisLinkConfiguration.load_from_model(model)
    for device, config in configs.items():
        fpga = plan["fpgas"][max(int(device), 0)]["name"]
        hook = (Path(cfg.output_dir) / "floorflow" / fpga / "pblocks.tcl").resolve()
        if hook.exists():
            config.add_vivado_line(f"prop=run.impl_1.STEPS.OPT_DESIGN.TCL.PRE={hook}")
        for unit in config.cu:
            way = {"idma": "in", "odma": "out"}.get(unit.split("_")[0], "")
            if way and plan["dma"][way]["mem_port"]:
                config.sp[f"{unit}.m_axi_gmem0"] = plan["dma"][way]["mem_port"]
        config.sc = connections(model.graph, dict(config.nk))
        config.generate_config()
        config.generate_run_script()
    return VitisLinkConfiguration.store_to_model(configs, model)


def _kernels(model: Any, cfg: Any, plan: Mapping[str, Any]) -> Kernels:
    """Return FINN's kernels, or where the board has none the graph of its one design."""
    from finn.transformation.fpgadataflow.create_dataflow_partition import CreateDataflowPartition

    if not any("{partition}" in fpga["cell_pattern"] for fpga in plan["fpgas"]):
        graph = read_graph(model.graph)
        return Kernels(graph, {node: node.name for node in graph.nodes}, is_whole=True)
    if model.get_nodes_by_op_type("StreamingDataflowPartition"):
        built = Path(cfg.output_dir) / "intermediate_models" / "kernel_partitions"
        return read_partitions(built, model.graph)
    folder = Path(cfg.output_dir) / "floorflow" / "kernel_partitions"
    for old in folder.glob("partition_*.onnx"):
        old.unlink()
    copy = floorplanned(model).transform(CreateDataflowPartition(str(folder)))
    return read_partitions(folder, copy.graph)
