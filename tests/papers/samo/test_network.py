"""Partitions in time of a network by several methods, on a board and on platforms of resources alone."""

from pathlib import Path

import pytest

from floorflow import api, flow
from floorflow.hardware.resource_platforms import resource_platform
from floorflow.papers.samo.methods.exact import solve
from floorflow.papers.samo.network import network_problem
from floorflow.papers.samo.problem import evaluate
from tests.papers.samo.samo_cases import CASES
from tests.plans import EXAMPLES, TFC
from tests.reconfigured import BATCH, LOAD_MS, quick_board, quick_request


@pytest.mark.slow
def test_no_method_is_better_than_exact_nor_is_a_plan(tmp_path: Path) -> None:
    board, asked = quick_board(tmp_path), {"batch": BATCH, "cap": {"LUT": 0.1}}
    found = api.compare_reconfigured(TFC, board, methods=("exact", "rule", "annealing"), **asked).as_dict()["results"]
    exact, *others = found
    assert exact["status"] == "optimal"
    assert all(other["us"] >= exact["us"] for other in others)
    schedule = flow.plan(quick_request(tmp_path, effort="fast")).plan.schedule
    assert schedule is not None
    assert schedule.period_us >= exact["us"]


def test_the_optimum_keeps_the_rules_and_costs_what_equation_4_says(tmp_path: Path) -> None:
    problem, name = network_problem(quick_request(tmp_path))
    answer = solve(problem)
    assert answer.design is not None
    found = evaluate(problem, answer.design)
    assert not found.broken
    loads_us = len(answer.design.cuts) * LOAD_MS * 1e3
    assert found.us == pytest.approx(found.run_us + loads_us)
    assert found.us == pytest.approx(answer.stats.objective)
    assert name.endswith("on quick")


def test_a_segment_moves_what_enters_and_leaves_it(tmp_path: Path) -> None:
    problem, _ = network_problem(quick_request(tmp_path))
    # TFC reads 784 pixels of 8 bits, and its last layer writes ten sums.
    assert problem.nodes[0].size_in == 784 * 8
    inner = [(a.size_out, b.size_in) for a, b in zip(problem.nodes, problem.nodes[1:], strict=False) if a.cut_behind]
    assert inner
    assert all(leaving == entering > 0 for leaving, entering in inner)


@pytest.mark.parametrize(
    ("name", "lut", "dsp", "bram18", "gbps", "us"),
    [
        ("samo:zedboard", 53200, 220, 280, 34.112, 82550),
        ("samo:zc706", 218600, 900, 1090, 68.224, 82550),
        ("samo:zcu106", 230400, 1728, 624, 135.83, 82550),
        ("samo:u250", 345000, 2877, 1000, 616, 82550),
        ("samo:u250-4slr", 1380000, 11508, 4000, 616, 180000),
    ],
)
def test_platforms_have_the_published_numbers(
    name: str, lut: int, dsp: int, bram18: int, gbps: float, us: float
) -> None:
    found = resource_platform(name)
    assert (found.resources.lut, found.resources.dsp, found.resources.bram18) == (lut, dsp, bram18)
    assert (found.memory_gbps, found.load_us) == (gbps, us)


def test_resources_alone_are_enough_to_cut_and_fold_and_too_little_to_place() -> None:
    (found,) = api.compare_reconfigured(TFC, "samo:zedboard", methods=("exact",)).as_dict()["results"]
    assert found["status"] == "optimal"
    with pytest.raises(api.InputError, match="nothing can be placed there"):
        api.plan(TFC, "samo:zedboard")


def test_where_no_converter_joins_foldings_they_are_equal_and_the_optimum_is_that_of_samos_table() -> None:
    asked = {"backend": "fpgaconvnet", "methods": ("exact",)}
    model = EXAMPLES / "zoo" / "mpcnn.onnx"
    (found,) = api.compare_reconfigured(model, "samo:zc706", **asked).as_dict()["results"]
    assert found["us"] == pytest.approx(CASES["fcn_mpcnn_b256__zc706"]["optimum"]["us"])
    (free,) = api.compare_reconfigured(model, "samo:zc706", **asked, backend_options={"matching": "none"}).as_dict()[
        "results"
    ]
    assert free["us"] < found["us"]


def test_a_platform_that_is_not_among_them_is_refused_by_name() -> None:
    with pytest.raises(api.InputError, match="samo:nexys: unknown"):
        api.compare_reconfigured(TFC, "samo:nexys")
