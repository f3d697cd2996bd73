"""A valid file with a few changes is read, or refused with one of floorflow's errors; nothing else may happen."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import floorflow as ff
from examples.make_models import ModelBuilder
from floorflow import api
from floorflow.assets import asset_folder
from tests import fuzzing

QUICK, MANY = range(12), range(12, 400)
KINDS = ("finn", "qonnx", "qcdq", "channels last")
ENGINE = {"op_type": "MVAU_hls", "attrs": {**fuzzing.MATRIX, "PE": 2, "SIMD": 3, "mem_mode": "internal_decoupled"}}


def code_of(step: Callable[[], object]) -> int:
    """Return the exit code that a step would end in; what is no error of floorflow's is raised."""
    try:
        step()
    except ff.FloorflowError as error:
        return error.exit_code
    return 0


def changed_model(kind: str, seed: int, folder: Path) -> Path:
    path = folder / "model.onnx"
    proto = fuzzing.mutated(fuzzing.model(kind, seed), random.Random(f"{kind} {seed}"))
    path.write_bytes(proto.SerializeToString())
    return path


def inspected(kind: str, seed: int, folder: Path, backend: str = "finn") -> int:
    path = changed_model(kind, seed, folder)
    return code_of(lambda: api.inspect(path, backend=backend).as_dict())


@pytest.mark.parametrize("kind", KINDS)
def test_changed_models_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    assert {inspected(kind, seed, tmp_path) for seed in QUICK} <= {0, 2}


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["finn", "fpgaconvnet", "hls4ml", "fcnnx"])
@pytest.mark.parametrize("kind", [*KINDS, "recorded cnv_2w2a", "recorded metafi_3_fifos"])
def test_many_changed_models_are_read_or_refused(kind: str, backend: str, tmp_path: Path) -> None:
    assert {inspected(kind, seed, tmp_path, backend) for seed in MANY} <= {0, 2}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["finn", "qonnx"])
def test_changed_models_are_planned_or_refused(kind: str, tmp_path: Path) -> None:
    for seed in range(60):
        path = changed_model(kind, seed, tmp_path)
        code = code_of(lambda path=path: ff.plan(path, platform="zcu104", effort="fast"))
        assert code in {0, 2, 3, 4, 5}, f"{kind} {seed}"


def changed_board(name: str, seed: int, folder: Path) -> int:
    """Read a board's file of which a few values were changed."""
    text = (asset_folder("platforms") / "boards" / f"{name}.yaml").read_text(encoding="utf-8")
    content = fuzzing.mutated_values({**yaml.safe_load(text), "name": "mine"}, random.Random(f"{name} {seed}"))
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    return code_of(lambda: ff.platform(str(path)).name)


def test_changed_boards_are_read_or_refused(tmp_path: Path) -> None:
    assert {changed_board("zcu104", seed, tmp_path) for seed in QUICK} <= {0, 2}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alveo-u250", "alveo-u280", "aws-f2", "zcu104"])
def test_many_changed_boards_are_read_or_refused(name: str, tmp_path: Path) -> None:
    assert {changed_board(name, seed, tmp_path) for seed in MANY} <= {0, 2}


@pytest.mark.parametrize("costs", ["finn", "calibrated", "estimated", "samo"])
def test_changed_engines_are_priced_or_refused(costs: str) -> None:
    lines = [json.dumps(fuzzing.mutated_values(ENGINE, random.Random(seed))) for seed in range(60)]
    assert {code_of(lambda line=line: list(ff.cost([line], costs=costs))) for line in lines} <= {0, 2}


@pytest.mark.parametrize("backend", ["fcnnx", "fpgaconvnet"])
def test_layers_of_sequences_are_none_of_these_tools(backend: str, tmp_path: Path) -> None:
    builder = ModelBuilder("sequence", (1, 3, 32))
    builder.quantise(4)
    weights = builder.quantised(builder.parameter((4, 3, 3), 0.5), 4)
    builder.tensor = builder.node("Conv", [builder.tensor, weights], kernel_shape=[3], pads=[1, 1], strides=[1])
    builder.shape = (1, 4, 32)
    builder.quantise(4)
    path = tmp_path / "sequence.onnx"
    path.write_bytes(builder.model().SerializeToString())
    assert "'Conv_0' (conv)" in api.inspect(path, backend=backend).refusal


def test_an_engine_that_lost_the_node_before_it_is_named(tmp_path: Path) -> None:
    proto = fuzzing.finn_graph()
    del proto.graph.node[0]
    path = tmp_path / "lost.onnx"
    path.write_bytes(proto.SerializeToString())
    with pytest.raises(ff.InputError, match="'MVAU_hls_2' \\(MVAU_hls\\): none of its inputs is data that flows"):
        api.inspect(path)
