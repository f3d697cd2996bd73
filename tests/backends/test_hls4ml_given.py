"""Configurations of hls4ml's that are kept: a file, a project, one beside the model; and those that cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from floorflow.backends.hls4ml.backend import BACKEND
from floorflow.backends.hls4ml.costs import Hls4mlCosts
from floorflow.backends.hls4ml.given import PROJECT_FILE, with_config
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.dataflow.model import Dataflow
from floorflow.errors import InputError
from floorflow.technology import technology_of
from tests.backends.layered_plans import assert_legal, foldings, jet, read
from tests.command_line import floorflow

QUICK = ("--effort", "fast", "--granularity", "slot", "--no-plots")
SEVEN = {"weight": "ap_fixed<7,1>", "bias": "ap_fixed<7,1>"}
CONFIG: dict[str, Any] = {
    "Model": {"Precision": "ap_fixed<16,6>", "ReuseFactor": 64, "Strategy": "Resource"},
    "LayerName": {
        "MatMul_0": {"Precision": SEVEN, "ReuseFactor": 64},
        "matmul_1": {"Precision": SEVEN, "Strategy": "Latency"},
        "fc2": {"Precision": SEVEN},
        "Relu_0": {"Precision": {"result": "ap_fixed<7,1,AP_RND,AP_SAT>"}, "ReuseFactor": 1},
        "Softmax": {"exp_table_t": "ap_fixed<18,8>", "ReuseFactor": 1},
    },
    "LayerType": {"Dense": {"ReuseFactor": 16}},
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return jet(tmp_path_factory.mktemp("given") / "jet.onnx")


def lowered(path: Path) -> Dataflow:
    options = Hls4mlOptions()
    return BACKEND.lower(BACKEND.read(path, options), technology_of("xc7z020clg400-1"), options)


def given(model: Path, folder: Path, config: Any, name: str = "hls_config.json") -> Dataflow:
    path = folder / name
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return with_config(lowered(model), path)


def test_a_layer_has_the_values_of_its_name_then_of_its_class_then_of_the_model(model: Path, tmp_path: Path) -> None:
    found = {e.name: e for e in given(model, tmp_path, CONFIG).engines}
    assert [found[f"fc{n}"].folding["ReuseFactor"] for n in range(4)] == [64, 16, 16, 16]
    strategies = [found[f"fc{n}"].folding["Strategy"] for n in range(4)]
    assert strategies == ["Resource", "Latency", "Resource", "Resource"]
    assert [found[f"fc{n}"].weight_bits for n in range(4)] == [7, 7, 7, 16]
    assert [found[f"fc{n}"].input_bits for n in range(4)] == [16, 7, 16, 16]
    assert found["act0"].output_bits == 7
    assert [found[f"fc{n}"].attributes["weight_fraction"] for n in range(4)] == [6, 6, 6, 10]


def test_a_reuse_factor_that_hls4ml_does_not_take_becomes_the_one_it_takes_and_is_told(
    model: Path, tmp_path: Path
) -> None:
    found = given(model, tmp_path, {"Model": {"ReuseFactor": 64, "Strategy": "Resource"}})
    assert found.engine("fc3").folding["ReuseFactor"] == 32
    assert any("no reuse factor of 64 for fc3, but 32" in note for note in found.notes)


def test_a_plan_keeps_it_and_hands_it_back_with_its_types(model: Path, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text(json.dumps(CONFIG))
    out = tmp_path / "out"
    words = ("--backend", "hls4ml", "-p", "pynq-z2", "-o", out, *QUICK)
    ended = floorflow("plan", model, *words, "--folding", tmp_path / "own.json")
    assert ended.returncode == 0, ended.stderr
    assert_legal(out)
    chosen = {name: entry["attributes"] for name, entry in foldings(read(out)).items()}
    assert chosen["fc1"] == {"ReuseFactor": 16, "Strategy": "Latency"}
    layers = json.loads((out / "hls4ml" / "hls_config.json").read_text())["LayerName"]
    assert layers["MatMul_0"]["Precision"] == {"default": "ap_fixed<16,6>", **SEVEN}
    assert layers["Relu_0"]["Precision"]["result"] == "ap_fixed<7,1,AP_RND,AP_SAT>"
    again = with_config(lowered(model), out / "hls4ml" / "hls_config.json")
    assert {e.name: e.folding for e in again.engines} == chosen
    assert "0.5 to 2 times" in (out / "report.txt").read_text()


def project(folder: Path, model: Path) -> Path:
    """Write a project as hls4ml does, with its tag for a model, and the model beside its configuration."""
    text = yaml.safe_dump({"Backend": "Pynq", "ClockPeriod": 5, "IOType": "io_parallel", "HLSConfig": CONFIG})
    (folder / PROJECT_FILE).write_text(f"{text}KerasModel: !keras_model 'hls4ml_prj/keras_model.h5'\n")
    path = folder / "jet.onnx"
    path.write_bytes(model.read_bytes())
    return path


def test_a_project_is_priced_by_its_folder_and_kept_where_the_model_lies_in_it(model: Path, tmp_path: Path) -> None:
    inside = project(tmp_path, model)
    by_folder, by_file = with_config(lowered(model), tmp_path), lowered(inside)
    assert [e.folding for e in by_folder.engines] == [e.folding for e in by_file.engines]
    assert by_file.engine("fc0").weight_bits == 7
    assert any("planned with streams" in note for note in by_file.notes)
    out = tmp_path / "out"
    words = ("--backend", "hls4ml", "-p", "pynq-z2", "-o", out, *QUICK, "--keep-folding")
    ended = floorflow("plan", inside, *words)
    assert ended.returncode == 0, ended.stderr
    assert_legal(out)
    assert foldings(read(out))["fc0"]["attributes"] == {"ReuseFactor": 64, "Strategy": "Resource"}


def test_the_folder_of_a_project_that_was_made_of_a_model_in_memory_is_taken_as_folding(
    model: Path, tmp_path: Path
) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    project(inside, model).unlink()
    text = (inside / PROJECT_FILE).read_text().split("KerasModel")[0]
    (inside / PROJECT_FILE).write_text(
        f"{text}OnnxModel: !!python/object:qonnx.core.modelwrapper.ModelWrapper\n"
        "  _model_proto: !!python/object/apply:onnx.onnx_ml_pb2.ModelProto\n"
        "    state:\n      serialized: !!binary |\n        CAg6\n"
    )
    out = tmp_path / "out"
    words = ("--backend", "hls4ml", "-p", "pynq-z2", "-o", out, *QUICK)
    ended = floorflow("plan", model, *words, "--folding", inside)
    assert ended.returncode == 0, ended.stderr
    assert foldings(read(out))["fc0"]["attributes"] == {"ReuseFactor": 64, "Strategy": "Resource"}
    assert_legal(out)
    other = floorflow("plan", model, *words, "--folding", tmp_path, "--force")
    assert other.returncode == 2
    assert "hls4ml_config.yml: there is no such file" in " ".join(other.stderr.split())


def test_a_python_object_is_no_value(model: Path, tmp_path: Path) -> None:
    config = "HLSConfig: {Model: {ReuseFactor: !!python/object/apply:numpy.int64 [4]}}\n"
    (tmp_path / PROJECT_FILE).write_text(config)
    with pytest.raises(InputError, match=r"ReuseFactor of fc0 is 'python/object/apply:numpy\.int64', expected a whole"):
        with_config(lowered(model), tmp_path)


def test_the_project_of_another_model_is_not_used_and_says_why(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "jet.onnx"
    path.write_bytes(model.read_bytes())
    (tmp_path / PROJECT_FILE).write_text(yaml.safe_dump({"HLSConfig": {"LayerName": {"fc9": {"ReuseFactor": 2}}}}))
    dataflow = lowered(path)
    assert not any(engine.folding for engine in dataflow.engines)
    assert any("is not used" in note for note in dataflow.notes)
    with pytest.raises(InputError, match=r"lies in no hls4ml project; the .* beside the model is not"):
        BACKEND.given_groups(dataflow, Hls4mlCosts(Hls4mlOptions()))


def test_aliases_in_yaml_that_never_end_are_refused_at_once(model: Path, tmp_path: Path) -> None:
    nested = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    config = f"a0: &a0 [x]\n{nested}HLSConfig: {{Model: {{ReuseFactor: *a11}}}}\n"
    with pytest.raises(InputError, match="ReuseFactor of fc0 is 'a list', expected a whole number"):
        given(model, tmp_path, config, PROJECT_FILE)


def test_without_a_project_there_is_no_folding_to_keep(model: Path, tmp_path: Path) -> None:
    ended = floorflow("plan", model, "--backend", "hls4ml", "-p", "pynq-z2", "-o", tmp_path / "out", "--keep-folding")
    assert (ended.returncode, "lies in no hls4ml project" in ended.stderr) == (2, True), ended.stderr


LAYER = "MatMul_0"
FAULTS: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "is no JSON"),
    "a list": ([1], "is no table of sections"),
    "another file": ({"nodes": []}, "none of the sections Model, LayerType and LayerName"),
    "a section that is none": ({"Model": 3}, "Model is no table"),
    "a layer that is none": ({"LayerName": {LAYER: 3}}, "LayerName.MatMul_0 is no table"),
    "no reuse factor": ({"LayerName": {LAYER: {}}}, "ReuseFactor of fc0 is None, expected a whole number"),
    "a reuse factor of nothing": ({"Model": {"ReuseFactor": 0}}, "ReuseFactor of fc0 is 0, expected"),
    "a reuse factor in words": ({"Model": {"ReuseFactor": "two"}}, "is 'two', expected a whole number from 1"),
    "true as a reuse factor": ({"Model": {"ReuseFactor": True}}, "is True, expected a whole number from 1"),
    "a strategy that is not planned": (
        {"Model": {"ReuseFactor": 1, "Strategy": "distributed_arithmetic"}},
        "Strategy of fc0 is 'distributed_arithmetic', expected Latency or Resource",
    ),
    "several pixels at a time": (
        {"Model": {"ReuseFactor": 1, "ParallelizationFactor": 4}},
        "ParallelizationFactor of fc0 is 4, expected 1",
    ),
    "compressed weights": ({"Model": {"ReuseFactor": 1, "Compression": True}}, "Compression of fc0 is True"),
    "a type that is none": ({"Model": {"ReuseFactor": 1, "Precision": "float"}}, "is 'float', expected a type such as"),
    "a type too wide": (
        {"Model": {"ReuseFactor": 1}, "LayerName": {LAYER: {"Precision": {"result": "fixed<80,40>"}}}},
        "Precision of fc0's result is 'fixed<80,40>'",
    ),
    "names of another model": (
        {"Model": {"ReuseFactor": 1}, "LayerName": {"dense_9": {"ReuseFactor": 4}}},
        "LayerName names none of the layers with weights, which are MatMul_0",
    ),
}


@pytest.mark.parametrize("title", FAULTS)
def test_what_cannot_be_kept_is_named(title: str, model: Path, tmp_path: Path) -> None:
    config, message = FAULTS[title]
    with pytest.raises(InputError) as told:
        given(model, tmp_path, config)
    assert message in str(told.value)
    assert "hls_config.json" in str(told.value)


def test_a_file_that_is_no_yaml_is_refused(model: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no YAML"):
        given(model, tmp_path, "a: [", PROJECT_FILE)


def test_the_command_line_ends_with_2(model: Path, tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text("[]")
    words = ("--backend", "hls4ml", "-p", "pynq-z2", "-o", tmp_path / "out", "--folding", tmp_path / "own.json")
    ended = floorflow("plan", model, *words)
    assert (ended.returncode, "is no table of sections" in ended.stderr) == (2, True), ended.stderr


def test_a_misspelt_key_is_passed_over_as_by_hls4ml_and_said(model: Path, tmp_path: Path) -> None:
    config = {
        "Model": {"Precision": "ap_fixed<16,6>", "ReuseFactor": 1, "TraceOutput": False, "ReuseFator": 4},
        "LayerName": {"MatMul_0": {"Precision": {"weights": "ap_fixed<7,1>"}}},
    }
    notes = [note for note in given(model, tmp_path, config).notes if "passed over" in note]
    assert [("ReuseFator of Model" in note, "ReuseFactor" in note) for note in notes] == [(True, True), (False, False)]
    assert "weights of matmul_0" in notes[1]
