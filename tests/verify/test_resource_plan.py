"""A network on a platform of resources alone, from a model to files, and mistakes planted in them that check finds."""

import copy
import json
from pathlib import Path

import pytest

import floorflow as ff
from floorflow import api
from floorflow.output import write
from tests.plans import EXAMPLES, TFC
from tests.residual_models import residual_network
from tests.verify.mutants import Files, Mutant, Plan
from tests.verify.mutants_resource_plan import ON_RESOURCES

MPCNN = EXAMPLES / "zoo" / "mpcnn.onnx"
BATCH, LOAD_US = 100_000, 82_550
IN_TIME = {"reconfigure": "full", "batch": BATCH, "plots": False}


@pytest.fixture(scope="module")
def made() -> ff.ResourcePlan:
    return ff.plan_resources(MPCNN, "samo:zedboard", backend="hls4ml", **IN_TIME)


@pytest.fixture(scope="module")
def files(made: ff.ResourcePlan) -> Files:
    return {name: content.decode() for name, content in made.files.items()}


@pytest.mark.parametrize("backend", ["finn", "hls4ml", "fpgaconvnet"])
@pytest.mark.parametrize("asked", [{}, IN_TIME], ids=["alone", "in time"])
def test_what_is_planned_is_legal(backend: str, asked: dict[str, object]) -> None:
    made = ff.plan_resources(MPCNN, "samo:zedboard", backend=backend, **asked)
    assert ff.check(made).violations == ()
    assert made.plan.stats.status == "optimal"
    assert len(made.partitions) == 1 or asked


def test_a_batch_takes_what_equation_4_says(made: ff.ResourcePlan) -> None:
    cycles = [part.interval_cycles for part in made.partitions]
    assert len(cycles) == 2
    assert made.plan.period_us == pytest.approx(BATCH * sum(cycles) / 100 + LOAD_US)
    assert made.plan.reload_us == LOAD_US


def test_a_frame_takes_what_equation_3_says() -> None:
    found = ff.plan_resources(TFC, "samo:zc706", reconfigure="full", objective="latency").plan
    assert (found.batch, len(found.partitions)) == (1, 1)
    assert found.period_us == found.partitions[0].interval_cycles / 100


def test_where_streams_cost_nothing_it_is_the_optimum_that_compare_proves() -> None:
    asked = {"backend": "finn", "costs": "samo", "reconfigure": "full"}
    made = ff.plan_resources(TFC, "samo:zedboard", **asked)
    (exact,) = api.compare_reconfigured(TFC, "samo:zedboard", methods=("exact",), **asked).as_dict()["results"]
    assert made.plan.period_us == pytest.approx(exact["us"])


def test_a_residual_network_is_cut_where_one_stream_alone_is_live() -> None:
    asked = {"backend": "fpgaconvnet", "reconfigure": "full", "batch": 10**9}
    made = ff.plan_resources(residual_network(), "samo:zedboard", **asked)
    assert ff.check(made).violations == ()
    assert len(made.partitions) > 1
    for part in made.partitions:
        assert sum(stream.source.startswith("memory:") for stream in part.streams) <= 1


def test_table_7_of_samo_has_the_optimum_for_one_slr_as_a_share_of_the_whole_device() -> None:
    made = ff.plan_resources(EXAMPLES / "zoo" / "three_layer.onnx", "samo:u250", backend="hls4ml")
    engines = [engine for engine in made.partitions[0].engines.values() if "Strategy" in engine.attributes]
    assert {engine.attributes["ReuseFactor"] for engine in engines} == {2}
    multipliers = [engine.resources.DSP for engine in engines]
    assert round(100 * sum(multipliers) / 12_288, 1) == 17.3
    words_of_72 = sum(-(-16 * count // 72) for count in multipliers)
    assert round(100 * words_of_72 / 2688, 1) == 17.6


def test_less_may_be_used_where_a_cap_says_so(made: ff.ResourcePlan) -> None:
    less = ff.plan_resources(MPCNN, "samo:zedboard", backend="hls4ml", cap={"DSP": 0.5}, **IN_TIME)
    assert less.plan.platform.limits.DSP == 110
    assert all(part.resources.DSP <= 110 for part in less.partitions)
    assert less.plan.period_us > made.plan.period_us


def test_equal_requests_give_equal_files(made: ff.ResourcePlan) -> None:
    again = ff.plan_resources(MPCNN, "samo:zedboard", backend="hls4ml", **IN_TIME)
    assert again.files == made.files


def test_a_network_that_fits_nowhere_is_proven_infeasible_and_told_what_is_short() -> None:
    with pytest.raises(ff.Infeasible, match=r"fits no slot.*BRAM18"):
        ff.plan_resources(EXAMPLES / "cnv_2w2a.onnx", "samo:zedboard", backend="fpgaconvnet")


def test_one_partition_that_does_not_fit_is_told_to_be_cut() -> None:
    with pytest.raises(ff.Infeasible, match="alone") as refused:
        ff.plan_resources(MPCNN, "samo:zedboard", backend="finn", cap={"LUT": 0.05})
    assert refused.value.hint == "--reconfigure full cuts it in time"


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("fpgas", 2, "--fpgas"),
        ("fps", 100.0, "--fps"),
        ("constraint_style", "soft", "--constraint-style"),
        ("fill", {"LUT": 0.5}, "--fill"),
        ("flow", "vitis", "--flow"),
        ("max_hops", 2, "--max-hops"),
        ("objective", "resources", "--objective resources"),
        ("backend_options", {"flow": "vitis"}, "--flow"),
    ],
)
def test_options_that_mean_nothing_where_nothing_is_placed_are_refused(option: str, value: object, told: str) -> None:
    with pytest.raises(ff.InputError, match=told):
        ff.plan_resources(TFC, "samo:zc706", **{option: value})  # type: ignore[arg-type]


def test_a_board_is_sent_to_plan_and_a_platform_of_resources_from_there_to_here() -> None:
    with pytest.raises(ff.InputError, match="can be placed there"):
        ff.plan_resources(TFC, "pynq-z1")
    with pytest.raises(ff.InputError, match="nothing can be placed there") as refused:
        ff.plan(TFC, "samo:zc706")
    assert "plan_resources" in refused.value.hint


@pytest.mark.parametrize("mutant", ON_RESOURCES.mutants, ids=lambda mutant: mutant.title)
def test_a_planted_mistake_is_found(mutant: Mutant, files: Files, tmp_path: Path) -> None:
    spoilt = dict(files)
    plan: Plan = copy.deepcopy(json.loads(spoilt.pop("schedule.json")))
    mutant.spoil(plan, spoilt)
    write(tmp_path / "out", {**spoilt, "schedule.json": json.dumps(plan)}, {})
    assert mutant.expected in {violation.name for violation in ff.check(tmp_path / "out").violations}
