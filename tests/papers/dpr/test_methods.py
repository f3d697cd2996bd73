"""The methods for chunks against each other, and their timelines against a simulator that shares no code with them."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.errors import InputError
from floorflow.papers.dpr.case_file import read_chunk_case
from floorflow.papers.dpr.case_rows import problem_of_row
from floorflow.papers.dpr.methods import brute, exact, milp
from floorflow.papers.dpr.over_areas import _carried, best_sizes
from floorflow.papers.dpr.problem import Chunk, ChunkAnswer, ChunkProblem, Regions, steps_of, use_of
from floorflow.stats import SolveStats
from tests.papers.dpr.simulator import Log, SimulatedChunk, simulate
from tests.papers.dpr.small_problems import small_problems

CASE = Path(__file__).resolve().parents[3] / "examples" / "seyoum_case.json"
AREAS = st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)])


def simulated(problem: ChunkProblem, answer: ChunkAnswer) -> Log:
    """Replay an answer: only foldings, cuts, sizes and bits are taken from it."""
    chunks = []
    for number, chunk in enumerate(answer.chunks or ()):
        layers = problem.layers[chunk.first : chunk.behind]
        cycles = tuple(int(layer.total_cycles[row]) for layer, row in zip(layers, chunk.rows, strict=True))
        before = problem.layers[chunk.first - 1].bits_behind if chunk.first else problem.input_bits
        region = number % len(answer.regions.sizes)
        load_us = problem.load.us_per_area * float(answer.regions.sizes[region]) + problem.load.offset_us
        chunks.append(SimulatedChunk(cycles, before + layers[-1].bits_behind, region, load_us))
    return simulate(chunks, problem.batch, problem.clock_mhz, problem.memory_gbs)


def require_replays(problem: ChunkProblem, answer: ChunkAnswer) -> None:
    """Compare each end with the simulator's; and no chunk starts before its load ends.

    The scheduler rounds an image's traffic up to whole cycles: as much as one an image, which is much of few cycles.
    """
    log, steps = simulated(problem, answer), steps_of(problem, answer)
    rounding_us = 0.0 if problem.memory_gbs is None else problem.us(problem.batch)
    for number, step in enumerate(steps):
        assert step.run_end_us == pytest.approx(log.run_end[number], abs=1e-6 + rounding_us * (number + 1))
        assert log.run_start[number] >= log.load_end.get(number, 0.0)
        assert step.run_start_us >= step.load_end_us
    assert answer.stats.objective == pytest.approx(steps[-1].run_end_us)


@given(small_problems(), AREAS, st.integers(1, 3))
def test_exact_is_what_all_designs_are_enumerated_for(problem: ChunkProblem, area: Fraction, count: int) -> None:
    regions = Regions.equal(area, count)
    ours, all_of_them = exact.solve(problem, regions), brute.solve(problem, regions)
    assert ours.stats.status == all_of_them.stats.status
    if ours.chunks is None or all_of_them.chunks is None:
        return
    assert ours.stats.objective == pytest.approx(all_of_them.stats.objective)
    assert ours.stats.gap == 0
    assert len(ours.chunks) == len(all_of_them.chunks)
    sizes = regions.sizes if len(ours.chunks) > 1 else (regions.whole,)
    for number, chunk in enumerate(ours.chunks):
        assert (use_of(problem, chunk) <= problem.limits(sizes[number % len(sizes)])).all()
        assert problem.layers[chunk.behind - 1].cut_behind or chunk.behind == len(problem.layers)
    require_replays(problem, ours)


@given(small_problems(), AREAS)
def test_of_equal_times_the_fewest_chunks_and_the_least_area_are_taken(problem: ChunkProblem, area: Fraction) -> None:
    ours, all_of_them = (method.solve(problem, Regions.equal(area)) for method in (exact, brute))
    if ours.chunks is not None and all_of_them.chunks is not None:
        taken = [sum(problem.area(use_of(problem, c)) for c in one.chunks or ()) for one in (ours, all_of_them)]
        assert taken[0] == pytest.approx(taken[1])


@given(small_problems(), AREAS, st.booleans())
def test_the_published_formulation_has_the_same_optimum(problem: ChunkProblem, area: Fraction, static: bool) -> None:
    problem = replace(problem, memory_gbs=None)
    ours, published = (m.solve(problem, Regions.equal(area), static=static) for m in (exact, milp))
    assert ours.stats.status == published.stats.status
    if ours.chunks is not None:
        assert published.stats.objective == pytest.approx(ours.stats.objective)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("memory_gbs", [None, 0.45, 0.05])
def test_timelines_of_the_papers_network_are_replayed_within_a_thousandth(count: int, memory_gbs: float | None) -> None:
    case = read_chunk_case(CASE)
    problem = problem_of_row(case, next(row for row in case.rows if row.model == "M1"))
    bits = [57_600, 25_088, 18_432, 3_200, 2_304, 256, 512, 512, 1_024]
    layers = tuple(replace(layer, bits_behind=b) for layer, b in zip(problem.layers, bits, strict=True))
    problem = replace(problem, layers=layers, memory_gbs=memory_gbs, input_bits=24_576)
    answer = exact.solve(problem, Regions.equal(Fraction(3, 5), count))
    assert answer.chunks is not None
    assert len(answer.chunks) > count
    log = simulated(problem, answer)
    assert answer.stats.objective == pytest.approx(max(log.run_end.values()), rel=1e-3)
    assert all(log.run_start[number] >= log.load_end[number] for number in log.run_end)


@given(small_problems(most_layers=5))
def test_time_never_rises_with_the_area_where_sizes_are_free(problem: ChunkProblem) -> None:
    step, before = Fraction(1, 8), float("inf")
    for eighths in range(1, 9):
        answer = best_sizes(problem, Fraction(eighths, 8), 2, step)
        now = float("inf") if answer.stats.objective is None else answer.stats.objective
        assert now <= before + 1e-9
        assert sum(answer.regions.sizes) <= Fraction(eighths, 8)
        before = now
        if answer.chunks:
            require_replays(problem, answer)


def test_the_formulation_of_the_paper_has_one_region() -> None:
    with pytest.raises(InputError, match="one region"):
        milp.solve(ChunkProblem((), (0,) * 5, None, 1, 100.0), Regions.equal(Fraction(1), 2))  # type: ignore[arg-type]


def test_an_uncut_design_of_a_smaller_area_is_taken_where_it_is_faster() -> None:
    def answer(us: float | None, bound: float) -> ChunkAnswer:
        chunks = None if us is None else (Chunk(0, 1, (0,), 1),)
        return ChunkAnswer(chunks, Regions.equal(Fraction(1)), SolveStats("exact", "feasible", us, bound))

    areas = [Fraction(number, 4) for number in range(1, 5)]
    static = [answer(None, float("inf")), answer(60.0, 60.0), answer(65.0, 59.0), answer(50.0, 50.0)]
    dynamic = [answer(90.0, 90.0), answer(55.0, 55.0), answer(70.0, 58.0), answer(50.0, 50.0)]
    told = dict(_carried(dict(zip(areas, zip(static, dynamic, strict=True), strict=True))))
    found = [[each.stats.objective for each in told[area]] for area in areas]
    assert found == [[None, 90.0], [60.0, 55.0], [60.0, 60.0], [50.0, 50.0]]
    assert [each.stats.bound for each in told[areas[2]]] == [59.0, 58.0]
