"""Inputs and expected outputs for FINN's own verification, made in FINN's environment from the network itself."""

from pathlib import Path
from typing import Any

import onnx

from floorflow.backends.finn.step.steps import FloorflowStop, step_plan

VECTORS = ("floorflow_input.npy", "floorflow_expected.npy")
"""Their files in the build's output folder. A build that names other files has vectors of the user's."""
RESULTS = "verify_*_{result}.np[yz]"
"""What FINN's verify_step leaves of each input in verification_output: SUCCESS or FAIL."""
SOFTWARE = (
    "verify_qonnx_to_finn_python",
    "verify_finn_onnx_python",
    "verify_initial_python",
    "verify_streamlined_python",
)
HARDWARE = ("verify_folded_hls_cppsim", "verify_node_by_node_rtlsim", "verify_stitched_ip_rtlsim")
"""How these begin, in the order of the steps; the first is FINN main's name of what FINN+ calls as the second."""
NEAR = 1e-3
"""FINN's own tolerance."""
DRAWS = 100
"""So often an input is drawn again whose best scores are equal: which of them TopK takes is told nowhere."""


def floorflow_vectors(model: Any, cfg: Any) -> Any:
    """Make what FINN's verify_steps compare with, from the network as it is given; first of all steps."""
    plan = step_plan()
    given = [Path(cfg.verify_input_npy).name, Path(cfg.verify_expected_output_npy).name]
    if not cfg.verify_steps or given != list(VECTORS):
        return model
    why = why_none(model)
    if why:
        print(f"floorflow: FINN verifies nothing: {why}")  # noqa: T201 - FINN's log is what is printed
        cfg.verify_steps = None
        return model
    import numpy as np

    folder = Path(cfg.output_dir).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if plan["ports_of_finn"]:
        _make_parent(model, folder / "intermediate_models")
    made = vectors(model, int(plan["vectors"]["frames"]), int(plan["vectors"]["seed"]))
    for name, values in zip(VECTORS, made, strict=True):
        np.save(folder / name, values)
    cfg.verify_input_npy, cfg.verify_expected_output_npy = (str(folder / name) for name in VECTORS)
    for result in ("SUCCESS", "FAIL"):  # of an earlier build into the same folder
        for old in (folder / "verification_output").glob(RESULTS.format(result=result)):
            old.unlink()
    return model


def floorflow_cppsim(model: Any, cfg: Any) -> Any:
    """Let FINN main verify the folded layers, behind floorflow_fold: main does so where it applies a folding file."""
    from finn.builder.build_dataflow_steps import step_apply_folding_config

    folding, cfg.folding_config_file = cfg.folding_config_file, None
    try:
        return step_apply_folding_config(model, cfg)
    finally:
        cfg.folding_config_file = folding


def floorflow_verified(model: Any, cfg: Any) -> Any:
    """Stop before synthesis where hardware computes otherwise than the network in Python; behind the last verification.

    FINN only prints that. What its conversion changes, such as quantisers that round halves to even and become
    thresholds, which round them up, is told and stops nothing.
    """
    if not cfg.verify_steps:
        return model
    import numpy as np

    folder = Path(cfg.output_dir) / "verification_output"
    expected = np.load(cfg.verify_expected_output_npy)
    converted, wrong, seen = 0, [], set()
    for frame, values in enumerate(expected):
        found = {path.name.split(f"_{frame}_")[0]: path for path in sorted(folder.glob(f"verify_*_{frame}_*.np[yz]"))}
        in_software = [found[name] for name in SOFTWARE if name in found]
        converted += any(_differs(path, values) for path in in_software)
        reference = np.load(in_software[-1]) if in_software and in_software[-1].suffix == ".npy" else values
        hardware = [found[name] for name in HARDWARE if name in found]
        wrong += [path.name for path in hardware if _differs(path, reference)]
        seen |= set(found)
    if wrong:
        raise FloorflowStop(
            f"floorflow: hardware computes otherwise than the network: {wrong[0]}, {len(wrong)} in all in {folder}; to "
            "build nevertheless take floorflow_verified out of the steps"
        )
    for told, is_so in (
        (f"FINN's conversion changes what the network makes of {converted} of {len(expected)} inputs", converted),
        ("FINN simulated no stitched IP", HARDWARE[-1] not in seen),
    ):
        if is_so:
            print(f"floorflow: {told}")  # noqa: T201 - FINN's log is what is printed
    return model


def _differs(path: Path, values: Any) -> bool:
    """Whether an output is not as expected; where FINN saved all tensors with it, FINN itself says so."""
    import numpy as np

    if path.suffix == ".npz":
        return path.stem.endswith("_FAIL")
    return not np.isclose(np.load(path).reshape(values.shape), values, atol=NEAR).all()


def why_none(model: Any) -> str:
    """Return why there can be no vectors; an empty text if there can."""
    graph: onnx.GraphProto = model.graph
    stored = {tensor.name for tensor in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in stored]
    made = {name for node in graph.node for name in node.output}
    light = [node.output[0] for node in graph.node if node.op_type == "ConstantOfShape"]
    light += [name for node in graph.node for name in node.input if name and name not in made | stored | {*inputs}]
    if light:
        return f"the model has no weights ('{light[0]}' holds none)"
    if len(inputs) != 1:
        return f"it gives one input, the model has {len(inputs)}"
    shape = model.get_tensor_shape(inputs[0])
    if not shape or shape[0] != 1 or not all(shape):
        return f"it gives one frame at a time, input '{inputs[0]}' is of shape {shape}"
    return ""


def vectors(model: Any, frames: int, seed: int) -> tuple[Any, Any]:
    """Return inputs, a row a frame, and what the model makes of each at its first output."""
    import numpy as np
    from qonnx.transformation.infer_shapes import InferShapes

    model = in_python(model).transform(InferShapes())
    rng, rows = np.random.default_rng(seed), []
    for _ in range(frames):
        for _ in range(DRAWS):
            frame = _drawn(model, rng)
            result, is_tied = _executed(model, frame)
            if not is_tied:
                break
        rows.append((frame[0], result[0] if result.shape[:1] == (1,) else result))
    inputs, outputs = zip(*rows, strict=True)
    return np.stack(inputs), np.stack(outputs)


def in_python(model: Any) -> Any:
    """Return a copy in which FINN's hls and rtl layers are the general ones, which FINN executes in Python."""
    from copy import deepcopy

    model = deepcopy(model)
    for node in model.graph.node:
        domain, _, backend = node.domain.rpartition(".")
        if backend in ("hls", "rtl"):
            node.domain, node.op_type = domain, node.op_type.removesuffix(f"_{backend}")
            kept = [attribute for attribute in node.attribute if attribute.name != "exec_mode"]
            del node.attribute[:]
            node.attribute.extend(kept)
    return model


def _drawn(model: Any, rng: Any) -> Any:
    """Return a frame of the input's type: over its whole range, of floats the normal distribution."""
    stored = {tensor.name for tensor in model.graph.initializer}
    value = next(value for value in model.graph.input if value.name not in stored)
    shape, datatype = model.get_tensor_shape(value.name), model.get_tensor_datatype(value.name)
    if datatype.name == "BIPOLAR":
        drawn = 2 * rng.integers(0, 2, shape) - 1
    elif datatype.is_integer():
        drawn = rng.integers(int(datatype.min()), int(datatype.max()), shape, endpoint=True)
    else:
        drawn = rng.standard_normal(shape)
    return drawn.astype(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))


def _executed(model: Any, frame: Any) -> tuple[Any, bool]:
    """Return what the model makes of a frame, and whether a TopK had to choose among equal scores."""
    import numpy as np
    from finn.core.onnx_exec import execute_onnx

    stored = {tensor.name for tensor in model.graph.initializer}
    name = next(value.name for value in model.graph.input if value.name not in stored)
    found = execute_onnx(model, {name: frame}, return_full_exec_context=True)
    tops = [(found[n.input[0]], found[n.output[0]]) for n in model.graph.node if n.op_type in ("LabelSelect", "TopK")]
    best = [np.sort(scores, axis=-1)[..., ::-1][..., : top.shape[-1] + 1] for scores, top in tops]
    return found[model.graph.output[0].name], any((np.diff(scores, axis=-1) == 0).any() for scores in best)


def _make_parent(model: Any, folder: Path) -> None:
    """Save what step_create_dataflow_partition saves, which FINN executes around a dataflow graph; none ran here."""
    from finn.transformation.fpgadataflow.create_dataflow_partition import CreateDataflowPartition

    parent = model.transform(CreateDataflowPartition(str(folder / "supported_op_partitions")))
    parent.save(str(folder / "dataflow_parent.onnx"))
