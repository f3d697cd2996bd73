"""Networks at one memory from models to files, and mistakes planted in their plan that check finds."""

import json
from pathlib import Path

import pytest

import floorflow as ff
from tests.bandwidth.replay import replay
from tests.plans import EXAMPLES
from tests.verify.mutants import Files, Mutant
from tests.verify.mutants_phases import AT_MEMORY
from tests.verify.tiny import found_after

MODELS = [EXAMPLES / "several" / f"{name}.onnx" for name in ("lenet5", "cifar10")]
ASKED = {"backend": "fcnnx", "fps": {"lenet5": 4000, "cifar10": 1200}, "memory_gbs": 0.5, "effort": "fast"}
ASKED["plots"] = False


@pytest.fixture(scope="module")
def made() -> ff.Plan:
    return ff.plan(MODELS, "zc706", **ASKED)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def files(made: ff.Plan) -> Files:
    return {name: content.decode() for name, content in made.files.items()}


def test_what_is_planned_is_legal(made: ff.Plan) -> None:
    assert ff.check(made).violations == ()
    shared = made.plan.memory_schedule
    assert shared is not None
    assert [network.network for network in shared.networks] == ["lenet5", "cifar10"]
    assert len(made.plan.phases[0].floorplan["fpga0"].pblocks) == 2


def test_a_simulation_of_the_emitted_table_reaches_the_planned_rates(made: ff.Plan, files: Files) -> None:
    shared = made.plan.memory_schedule
    assert shared is not None
    needs = {n.network: [(s.name, s.latency_us, s.traffic_bytes) for s in n.subgraphs] for n in shared.networks}
    found = replay(json.loads(files["fcnnx/mcnn_hs.json"]), needs)
    assert found.faults == []
    assert found.frames_per_s == pytest.approx({n.network: n.fps for n in shared.networks}, rel=0.02)


def test_the_summary_has_the_rates_of_the_schedule(made: ff.Plan) -> None:
    shared = made.plan.memory_schedule
    assert shared is not None
    assert [row.fps for row in made.plan.summary.networks] == [network.fps for network in shared.networks]


@pytest.mark.slow
def test_equal_requests_give_equal_files(made: ff.Plan) -> None:
    assert ff.plan(MODELS, "zc706", **ASKED).files == made.files  # type: ignore[arg-type]


@pytest.mark.parametrize("mutant", AT_MEMORY.mutants, ids=lambda mutant: mutant.title)
def test_a_planted_mistake_is_found(mutant: Mutant, files: Files, tmp_path: Path) -> None:
    assert mutant.expected in found_after(mutant.spoil, json.loads(files["plan.json"]), files, tmp_path)
