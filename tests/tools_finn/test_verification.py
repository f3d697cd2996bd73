"""FINN+ itself verifies builds of plans, by the emitted vectors and its own verify_step.

What it would simulate by C++ and RTL it executes in Python here, on the very graphs: the folded one, and the one with
floorflow's FIFOs, converters and crossings of which the stitched IP would be made.
"""

import json
import re
from pathlib import Path
from typing import Any

import onnx
import pytest

import floorflow as ff
from examples.make_models import ModelBuilder
from floorflow.verify.finn.verification import CONFIG, STEPS, vector_faults
from tests.plans import EXAMPLES
from tests.tools import need_finn_plus
from tests.tools_finn.oracle import FinnPlus

pytestmark = pytest.mark.tools
FRAMES = 20
PYTHON = ["finn_onnx_python", "initial_python", "streamlined_python"]
ORDER = [
    *zip(["step_qonnx_to_finn", "step_tidy_up", "step_streamline"], PYTHON, strict=True),
    ("step_minimize_bit_width", "folded_hls_cppsim"),
    ("step_create_stitched_ip", "stitched_ip_rtlsim"),
]


def residual_vectors() -> onnx.ModelProto:
    """Return a network of matrix products with a shortcut, which FINN's default steps convert."""
    builder = ModelBuilder("residual", (1, 1, 4, 8))
    builder.flatten()
    builder.quantise(4, signed=False, narrow=False)
    builder.fully_connected(16, 4)
    builder.activation(4)
    start = builder.tensor
    for _ in range(2):
        builder.fully_connected(16, 4)
        builder.activation(4)
    builder.add(start)
    builder.activation(4)
    builder.fully_connected(10, 4)
    return builder.model()


@pytest.fixture(scope="module", params=[pytest.param("tfc", marks=pytest.mark.slow), "residual"])
def planned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Plan a network over two SLRs for FINN+ with 20 vectors; return its file and the folder of steps."""
    folder = tmp_path_factory.mktemp("planned")
    model = EXAMPLES / "tfc_1w1a.onnx"
    if request.param == "residual":
        model = folder / "model.onnx"
        onnx.save(residual_vectors(), model)
    return model, plan_for_finn(model, folder, label_select=True)


def plan_for_finn(model: Path, folder: Path, **options: Any) -> Path:
    wishes = folder / "wishes.yaml"
    wishes.write_text("fix: {Thresholding_rtl_0: fpga0.SLR0, LabelSelect_hls_0: fpga0.SLR1}\n")
    options |= {"finn": "plus", "constraint_style": "hard", "effort": "fast", "plots": False}
    ff.plan(model, "alveo-u250", constraints=wishes, fps=1e6, **options).save(folder / "out")
    told = folder / "out" / "finn" / "floorflow_plan.json"
    steps = json.loads(told.read_text())
    assert any(stream["slices"] for stream in steps["streams"])  # FIFOs on both sides of an SLR boundary
    told.write_text(json.dumps(steps | {"vectors": {"frames": FRAMES, "seed": 1}}))
    return told.parent


def verified(model: Path, steps: Path, build: Path, finn_plus: FinnPlus, **asked: Any) -> Any:
    return finn_plus.build(model, steps, build, "floorflow_verified", verify=True, **asked)


def results(build: Path) -> dict[str, list[str]]:
    """Return FINN's result of each input, by the step that verified."""
    found: dict[str, list[str]] = {}
    for path in sorted((build / "verification_output").iterdir()):
        told = re.fullmatch(r"verify_(\w+)_\d+_(SUCCESS|FAIL)\.npy", path.name)
        assert told
        found.setdefault(told[1], []).append(told[2])
    return found


def test_finn_plus_verifies_where_the_file_says_and_the_graph_of_the_plan_computes_what_finns_own_did(
    planned: tuple[Path, Path], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    told = verified(*planned, tmp_path / "build", finn_plus, network=True)
    assert [tuple(each) for each in told["verified"]] == ORDER
    before, after = told["scores"]["step_create_dataflow_partition"], told["scores"]["floorflow_fifos"]
    assert before == after
    assert len(before) == FRAMES
    assert len({tuple(row) for row in before}) > FRAMES / 2
    found = results(tmp_path / "build")
    assert {step: len(each) for step, each in found.items()} == dict.fromkeys((n for _, n in ORDER), FRAMES)
    assert found["stitched_ip_rtlsim"] == found["folded_hls_cppsim"] == found["streamlined_python"]
    assert found["finn_onnx_python"] == ["SUCCESS"] * FRAMES
    # The vectors that the build leaves are frames of the plan's.
    plan = json.loads((planned[1].parent / "plan.json").read_text())
    rows: dict[str, Any] = {engine["name"]: {"entry": engine} for engine in plan["networks"][0]["engines"]}
    assert list(vector_faults(tmp_path / "build", plan["phases"][0]["channels"], rows)) == []


def test_the_judge_knows_finn_pluss_own_steps_in_their_order() -> None:
    (file,) = need_finn_plus().parent.parent.glob("lib/*/site-packages/finn/builder/build_dataflow_config.py")
    listed = re.search(r"^default_build_dataflow_steps = \[([^]]*)\]", file.read_text(), re.M)
    assert listed
    assert re.findall(r'"(\w+)"', listed[1]) == STEPS[CONFIG]


@pytest.mark.slow
@pytest.mark.parametrize("planned", ["residual"], indirect=True)
def test_finns_own_dataflow_graph_is_verified_too_though_no_step_makes_a_parent_of_it(
    planned: tuple[Path, Path], tmp_path: Path, finn_plus: FinnPlus
) -> None:
    finn_plus.build(*planned, tmp_path / "network", "step_specialize_layers", network=True)
    graph = tmp_path / "network" / "intermediate_models" / "step_specialize_layers.onnx"
    told = verified(graph, plan_for_finn(graph, tmp_path), tmp_path / "build", finn_plus)
    assert [tuple(each) for each in told["verified"]] == ORDER[3:]
    assert results(tmp_path / "build")["stitched_ip_rtlsim"] == ["SUCCESS"] * FRAMES


@pytest.mark.parametrize("mistake", ["wire", pytest.param("weight", marks=pytest.mark.slow)])
@pytest.mark.parametrize("planned", ["residual"], indirect=True)
def test_a_mistake_behind_the_folded_graph_stops_the_build_before_synthesis(
    planned: tuple[Path, Path], mistake: str, tmp_path: Path, finn_plus: FinnPlus
) -> None:
    with pytest.raises(AssertionError, match=r"FloorflowStop: floorflow: hardware computes otherwise .*stitched_ip"):
        verified(*planned, tmp_path / "build", finn_plus, network=True, mistake=mistake)
    found = results(tmp_path / "build")
    assert found["folded_hls_cppsim"] == found["streamlined_python"] != found["stitched_ip_rtlsim"]
