"""FINN verifies a build by vectors of the model: where in its steps, and what is said where there can be none."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx
import pytest
from onnx import helper

from floorflow.backends.finn.step.vectors import floorflow_vectors
from tests.plans import TFC

FINN_MAIN_VERIFIES = {
    "step_qonnx_to_finn": "finn_onnx_python",
    "step_tidy_up": "initial_python",
    "step_streamline": "streamlined_python",
    "step_apply_folding_config": "folded_hls_cppsim",
    "step_create_stitched_ip": "stitched_ip_rtlsim",
}
"""build_dataflow_steps.py of FINN main 39f0c9a and v0.10: the five calls of verify_step, in the order of its steps."""


def test_build_py_verifies_where_finn_main_does_in_its_order(cnv_on_pynq: Path) -> None:
    text = (cnv_on_pynq / "finn" / "build.py").read_text()
    listed = re.findall(r'^    (?:floorflow_step\.(\w+)|"(\w+)"),$', text, re.MULTILINE)
    steps = [own or finns for own, finns in listed]
    assert steps[0] == "floorflow_vectors"
    # floorflow_cppsim calls step_apply_folding_config, without a file to apply.
    called = ["step_apply_folding_config" if name == "floorflow_cppsim" else name for name in steps]
    asked = re.findall(r'VerificationStepType\("(\w+)"\)', text)
    assert asked == [FINN_MAIN_VERIFIES[name] for name in called if name in FINN_MAIN_VERIFIES]
    assert asked == list(FINN_MAIN_VERIFIES.values())
    assert called.index("floorflow_fold") + 1 == called.index("step_apply_folding_config")
    assert called.index("step_create_stitched_ip") + 1 == called.index("floorflow_verified")
    for name in ("floorflow_input.npy", "floorflow_expected.npy"):
        assert f'f"{{output_dir}}/{name}"' in text


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda graph: None, "the model has no weights"),
        (lambda graph: graph.input.append(helper.make_tensor_value_info("y", 1, [1, 4])), "the model has 2"),
        (lambda graph: graph.input[0].type.tensor_type.shape.dim[0].Clear(), "one frame at a time"),
    ],
    ids=["light", "two inputs", "any batch"],
)
def test_a_model_without_vectors_says_why_and_is_built_unverified(
    spoil: Any, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, cnv_on_pynq: Path
) -> None:
    graph = onnx.load(TFC).graph
    if "weights" not in told:  # any will do
        for node in [node for node in graph.node if node.op_type == "ConstantOfShape"]:
            graph.initializer.append(helper.make_tensor(node.output[0], 1, [1], [1.0]))
            graph.node.remove(node)
    spoil(graph)
    shape = [dim.dim_value for dim in graph.input[0].type.tensor_type.shape.dim]
    model = SimpleNamespace(graph=graph, get_tensor_shape=lambda _: shape)
    names = {"verify_input_npy": "floorflow_input.npy", "verify_expected_output_npy": "floorflow_expected.npy"}
    config = SimpleNamespace(verify_steps=["initial_python"], output_dir="/nowhere", **names)
    monkeypatch.setenv("FLOORFLOW_STEP_PLAN", str(cnv_on_pynq / "finn" / "floorflow_plan.json"))
    assert floorflow_vectors(model, config) is model
    assert config.verify_steps is None
    assert told in capsys.readouterr().out
    own = SimpleNamespace(verify_steps=["initial_python"], **{**names, "verify_input_npy": "own.npy"})
    floorflow_vectors(model, own)
    assert own.verify_steps
