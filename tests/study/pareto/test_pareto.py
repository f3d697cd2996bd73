"""Fronts of folding: each point equals brute force, nothing gets worse with time, and what is unknown is said."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from floorflow import flow
from floorflow.api import studies as api
from floorflow.cli.studies import pareto as command
from floorflow.cli.studies import pareto_table
from floorflow.dataflow.model import Option
from floorflow.dataflow.options import Coupling, OptionGroup
from floorflow.errors import InfeasibleError, InputError, LimitError
from floorflow.folding import FoldingInfeasible, FoldingProblem, FoldingSolution, FoldingUnknown, fold_at_interval
from floorflow.folding.problem import FoldingAnswer
from floorflow.papers.samo.folding.brute import solve as brute
from floorflow.request import DEFAULT_CAP, Request
from floorflow.resources import RESOURCE_NAMES, Resources, scarcity
from floorflow.study.pareto.files import folding_files
from floorflow.study.pareto.fronts import OBJECTIVES, SCARCITY, WORTH, Front, Fronts, fronts, spread
from floorflow.study.pareto.pareto import Pareto, pareto
from tests.plans import CNV, TFC

SILICON = Resources(lut=1000, ff=2000, bram18=50, uram=8, dsp=20)
APP = typer.Typer()
APP.command()(command)


@st.composite
def problems(draw: st.DrawFn) -> FoldingProblem:
    """Two to four groups of up to four rows, a priced stream from each to the next, and a budget short of some."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = random.integers(1, 5, draw(st.integers(2, 4)))
    tops = np.array([300, 500, 20, 3, 8])
    groups = []
    for index, size in enumerate(sizes):
        rows = [
            (Option({"PE": 1}, int(cycles), Resources(*(int(a) for a in random.integers(0, tops + 1))), (8,), (8,)),)
            for cycles in random.integers(1, 10, size)
        ]
        groups.append(OptionGroup((f"e{index}",), tuple(rows)))
    couplings = []
    for index in range(len(sizes) - 1):
        classes = [random.integers(0, 2, size) for size in sizes[index : index + 2]]
        couplings.append(Coupling(index, index + 1, *classes, random.integers(0, tops // 3 + 1, (2, 2, 5))))
    short = draw(st.sets(st.integers(0, 4), max_size=2))
    budget = Resources(*(int(top * (1.2 if index in short else 5)) for index, top in enumerate(tops)))
    return FoldingProblem(tuple(groups), budget, SILICON, tuple(couplings))


def expected(problem: FoldingProblem, objective: str, cycles: int) -> float | None:
    """Return the least by trying every combination of rows."""
    wanted = None if objective == SCARCITY else objective
    answer = brute(replace(problem, minimised=wanted), cycles)
    return answer.stats.objective if isinstance(answer, FoldingSolution) else None


def cost(objective: str, use: Resources) -> float:
    return scarcity(use, SILICON) if objective == SCARCITY else use.as_dict()[objective]


def all_fronts(problem: FoldingProblem, points: int = 5) -> tuple[Front, ...]:
    return fronts(problem, OBJECTIVES, problem.intervals()[0], points)


@given(problems(), st.integers(2, 6))
def test_every_point_of_every_front_equals_brute_force(problem: FoldingProblem, points: int) -> None:
    for front in all_fronts(problem, points):
        for point in front.points:
            least = expected(problem, front.objective, point.interval_cycles)
            assert point.value == (None if least is None else pytest.approx(least))
            if least is None:
                assert point.status == "infeasible"
                continue
            assert (point.status, point.gap, point.bound) == ("optimal", 0.0, pytest.approx(least))
            assert point.folding.interval_cycles <= point.interval_cycles
            assert point.folding.resources.fits(problem.budget)
            assert cost(front.objective, point.folding.resources) == pytest.approx(point.value)


@given(problems(), st.sampled_from(RESOURCE_NAMES))
def test_beside_the_least_of_a_resource_the_rest_is_least_scarce(problem: FoldingProblem, resource: str) -> None:
    (front,) = fronts(problem, [resource], problem.intervals()[0], 4)
    for point in front.points:
        if point.folding is not None:
            limits = problem.budget.as_dict() | {resource: int(point.value)}
            least = expected(problem.with_budget(Resources.from_dict(limits)), SCARCITY, point.interval_cycles)
            assert scarcity(point.folding.resources, SILICON) == pytest.approx(least)


class Tired:
    """A solver that gives up on, or proves nothing about, what it is asked at some of its calls."""

    def __init__(self, moods: list[int]) -> None:
        self.moods, self.calls = moods, 0

    def __call__(self, problem: FoldingProblem, interval_cycles: int) -> FoldingAnswer:
        mood = self.moods[self.calls % len(self.moods)]
        self.calls += 1
        answer = fold_at_interval(problem, interval_cycles, prove=mood != 1)
        if mood == 2 or (mood == 1 and isinstance(answer, FoldingInfeasible)):
            return FoldingUnknown()
        if mood == 1:
            wanted = problem.cost_weights()
            use = int(np.array(answer.resources.as_tuple()) @ wanted[0]) / wanted[1]
            return replace(answer, stats=replace(answer.stats, objective=use, bound=0.0, status="feasible"))
        return answer


@given(problems(), st.lists(st.integers(0, 2), min_size=3, max_size=7))
def test_whatever_the_solver_misses_no_point_is_worse_than_a_shorter_one_and_all_bounds_hold(
    problem: FoldingProblem, moods: list[int]
) -> None:
    fronts_found = fronts(problem, OBJECTIVES, problem.intervals()[0], 6, solve=Tired(moods))
    for front in fronts_found:
        values = [float("inf") if point.value is None else point.value for point in front.points]
        none = {"infeasible": float("inf")}
        bounds = [none.get(p.status, float("-inf")) if p.bound is None else p.bound for p in front.points]
        assert values == sorted(values, reverse=True)
        assert bounds == sorted(bounds, reverse=True)
        for point in front.points:
            least = expected(problem, front.objective, point.interval_cycles)
            assert least is not None or point.value is None
            assert (point.status == "infeasible") <= (least is None)
            assert (point.reason is None) == (point.status in {"optimal", "feasible"})
            if point.value is not None:
                assert point.value >= least - 1e-9
                assert (point.status == "optimal") == (point.value == point.bound)
            if point.bound is not None and least is not None:
                assert point.bound <= least + 1e-9


def test_a_solver_that_only_gives_up_leaves_points_unknown() -> None:
    option = Option({"PE": 1}, 4, Resources(lut=10), (8,), (8,))
    problem = FoldingProblem((OptionGroup(("e",), ((option,),)),), Resources(lut=100), SILICON)
    (front,) = fronts(problem, ["LUT"], 4, 3, solve=Tired([2]))
    assert [(p.status, p.value, p.reason) for p in front.points] == [("unknown", None, str(FoldingUnknown()))]


def ladder(rungs: int) -> FoldingProblem:
    """One engine: ever fewer LUTs until half way, then all the same."""
    rows = tuple(
        (Option({"PE": n}, 2**n, Resources(lut=1000 >> min(n, rungs // 2), ff=7), (8,), (8,)),) for n in range(rungs)
    )
    return FoldingProblem((OptionGroup(("e",), rows),), Resources(lut=10**6, ff=10**6), SILICON)


def test_fronts_end_where_no_resource_falls_any_more() -> None:
    lut, ff = fronts(ladder(16), ["LUT", "FF"], 1, 100)
    assert [point.interval_cycles for point in lut.points] == [2**n for n in range(9)]
    assert lut.points[-1].value <= lut.points[-2].value * (1 - WORTH)
    assert [point.value for point in ff.points] == [7] * 9


def test_between_two_equal_ends_nothing_is_solved() -> None:
    solver, problem = Tired([0]), ladder(16)
    search = Fronts(problem, solver)
    search.trace("FF", problem.intervals())
    assert solver.calls == 2
    assert [search.point("FF", cycles).status for cycles in problem.intervals()] == ["optimal"] * 16
    search.trace("LUT", problem.intervals())
    assert solver.calls < 2 + 16
    assert [search.point("LUT", 2**n).value for n in range(16)] == [1000 >> min(n, 8) for n in range(16)]


@given(st.sets(st.integers(1, 10**7), min_size=1, max_size=60).map(sorted), st.integers(1, 30))
def test_intervals_are_distinct_ascending_and_hold_both_ends(intervals: list[int], points: int) -> None:
    chosen = spread(intervals, points)
    assert len(chosen) == min(points, len(intervals))
    assert list(chosen) == sorted(set(chosen) & set(intervals))
    assert chosen[0] == intervals[0]
    assert points == 1 or chosen[-1] == intervals[-1]


def test_intervals_are_spread_over_the_ratio() -> None:
    assert spread(range(1, 1001), 4) == (1, 10, 100, 1000)


@pytest.fixture(scope="module")
def tfc_fronts() -> Pareto:
    return pareto(Request(TFC, "pynq-z1", costs="estimated"), points=4)


def test_all_fronts_have_the_same_intervals_from_the_shortest_possible_on(tfc_fronts: Pareto) -> None:
    assert [front.objective for front in tfc_fronts.fronts] == [SCARCITY, "LUT", "FF", "BRAM18", "DSP"]
    assert {front.points[0].interval_cycles for front in tfc_fronts.fronts} == {tfc_fronts.bound_cycles}
    for front in tfc_fronts.fronts:
        assert [p.interval_cycles for p in front.points] == [p.interval_cycles for p in tfc_fronts.fronts[0].points]
        assert len(front.points) == 4


def test_no_front_is_above_what_another_fronts_folding_uses(tfc_fronts: Pareto) -> None:
    for front in tfc_fronts.fronts[1:]:
        for other in tfc_fronts.fronts:
            for point, rival in zip(front.points, other.points, strict=True):
                assert point.value <= rival.folding.resources.as_dict()[front.objective]


def test_the_scarcity_of_a_rate_is_that_of_a_plan_for_it(tfc_fronts: Pareto) -> None:
    point = tfc_fronts.fronts[0].points[2]
    fps = tfc_fronts.clock_mhz * 1e6 / point.interval_cycles
    plan = flow.plan(Request(TFC, "pynq-z1", costs="estimated", fps=fps, effort="fast", plots=False)).plan
    part = plan.phases[0].networks[0]
    assert part.folding.whole_budget_bound == pytest.approx(point.value)
    assert part.interval_cycles <= point.interval_cycles


def test_named_resources_only_and_scarcity_always() -> None:
    some = pareto(Request(TFC, "pynq-z1", costs="estimated"), ["DSP", "LUT"], points=2)
    assert [front.objective for front in some.fronts] == [SCARCITY, "LUT", "DSP"]


def test_what_cannot_be_asked_for_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="'BRAM' is unknown"):
        pareto(Request(TFC, "pynq-z1"), ["BRAM"])
    with pytest.raises(InputError, match="pynq-z1 has no URAM"):
        pareto(Request(TFC, "pynq-z1"), ["URAM"])
    with pytest.raises(InputError, match="--fpgas auto"):
        pareto(Request(TFC, "pynq-z1", fpgas="auto"))


def test_a_network_that_never_fits_is_proven_infeasible_with_the_resource() -> None:
    with pytest.raises(InfeasibleError, match="does not fit pynq-z1 at any interval: LUT: at least"):
        pareto(Request(CNV, "pynq-z1", cap={**DEFAULT_CAP, "LUT": 0.1}))


def test_a_solver_without_any_answer_reaches_its_limit() -> None:
    with pytest.raises(LimitError, match="none is proven impossible"):
        pareto(Request(TFC, "pynq-z1"), ["LUT"], points=2, solve=Tired([2]))


def test_the_table_has_a_row_an_interval_and_says_what_is_not_proven(tfc_fronts: Pareto) -> None:
    table = pareto_table(tfc_fronts.as_dict())
    assert table.row_count == 4
    assert [column.header for column in table.columns] == [
        "interval", "frames/s", "scarcity", "LUT", "FF", "BRAM18", "DSP",
    ]  # fmt: skip
    unproven = replace(tfc_fronts.fronts[1].points[0], status="feasible", bound=10.0)
    missing = replace(tfc_fronts.fronts[1].points[1], status="unknown", folding=None, bound=None)
    front = replace(tfc_fronts.fronts[1], points=(unproven, missing, *tfc_fronts.fronts[1].points[2:]))
    cells = list(pareto_table(replace(tfc_fronts, fronts=(tfc_fronts.fronts[0], front)).as_dict()).columns[3].cells)
    assert cells[0].endswith("(>= 10)")
    assert cells[1] == "?"


def test_files_hold_every_point_as_json_and_csv(tfc_fronts: Pareto) -> None:
    files = api.Pareto(tfc_fronts, (), 0.0).files(foldings=True)
    content = json.loads(files["pareto.json"])
    assert content["schema"] == "floorflow-pareto/1"
    rows = list(csv.DictReader(io.StringIO(files["pareto.csv"].decode())))
    points = [(front["objective"], point) for front in content["fronts"] for point in front["points"]]
    assert len(rows) == len(points) == 20
    for row, (objective, point) in zip(rows, points, strict=True):
        assert row["objective"] == objective
        assert float(row["value"]) == point["value"]
        assert int(row["interval_cycles"]) == point["interval_cycles"]
        assert int(row["LUT"]) == point["resources"]["LUT"]
        assert objective == SCARCITY or isinstance(point["value"], int)
        assert f"foldings/{objective}_{point['interval_cycles']}/folding_config.json" in files
    assert files["pareto.png"].startswith(b"\x89PNG")
    assert api.Pareto(tfc_fronts, (), 0.0).files()["pareto.svg"] == files["pareto.svg"]
    assert set(api.Pareto(tfc_fronts, (), 0.0).files()) == {"pareto.json", "pareto.csv", "pareto.png", "pareto.svg"}


@pytest.mark.parametrize("objective", [SCARCITY, "LUT", "BRAM18"])
def test_a_points_folding_can_be_planned_and_uses_what_was_told(
    tfc_fronts: Pareto, objective: str, tmp_path: Path
) -> None:
    point = next(front for front in tfc_fronts.fronts if front.objective == objective).points[1]
    for name, text in folding_files(tfc_fronts, point.folding).items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "folding_config.json"
    request = Request(TFC, "pynq-z1", costs="estimated", keep_folding=True, folding=path, effort="fast", plots=False)
    part = flow.plan(request).plan.phases[0].networks[0]
    assert part.interval_cycles == point.folding.interval_cycles
    assert part.folding.resources.model_dump() == point.folding.resources.as_dict()


def test_the_command_prints_json_and_writes_a_folder_once(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = [str(TFC), "-p", "pynq-z1", "--points", "3", "--resources", "LUT, DSP", "--costs", "finn"]
    done = CliRunner().invoke(APP, [*arguments, "--json", "-o", str(out), "--foldings"])
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    assert printed == json.loads((out / "pareto.json").read_text())
    assert (printed["costs"], len(printed["fronts"])) == ("finn", 3)
    names = {path.name for path in out.iterdir()}
    assert names == {"pareto.json", "pareto.csv", "pareto.png", "pareto.svg", "run.json", "foldings"}
    assert CliRunner().invoke(APP, [*arguments, "-o", str(out)]).exit_code == 2
    assert CliRunner().invoke(APP, [*arguments, "-o", str(out), "--force"]).exit_code == 0
    assert not (out / "foldings").exists()


def test_the_command_prints_a_table_and_nothing_else_in_a_pipe() -> None:
    done = CliRunner().invoke(APP, [str(TFC), "-p", "pynq-z1", "--points", "2", "--resources", "LUT"])
    assert done.exit_code == 0
    assert "no folding is faster than" in " ".join(done.stdout.split())
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["-p", "pynq-z1", "--resources", "LUTS"], 2),
        (["-p", "pynq-z1", "--foldings"], 2),
        (["-p", "pynq-z1", "--points", "1"], 2),
        (["-p", "no-board"], 2),
        (["-p", "pynq-z1", "--cap", "LUT=0.02"], 3),
    ],
)
def test_the_command_ends_in_the_code_of_what_went_wrong(arguments: list[str], code: int) -> None:
    done = CliRunner().invoke(APP, [str(TFC), *arguments])
    assert (done.exit_code, done.stdout) == (code, "")
