"""Random networks on random platforms: whatever is planned is legal, and most of it really crosses something."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import floorflow as ff
from floorflow.errors import InfeasibleError, LimitError
from floorflow.facts import read_plan
from floorflow.verify import check
from tests.conftest import make_plan
from tests.random_cases import random_request, small_case

BATCH = 20
"""Cases of one test, so that each can say how many of them were worth something."""
BATCHES = 100
LONG = (2, 5, 12, 14, 17, 34, 50, 54, 58)
"""Cases that take longer than most: run on request."""
LEAST = {"planned": 14, "crossed an SLR": 3, "crossed a link": 4}


@pytest.mark.parametrize(
    ("first", "cases"),
    [(8, BATCH // 10), *(pytest.param(BATCH * n, BATCH, marks=pytest.mark.slow) for n in range(BATCHES))],
)
def test_random_networks_plan_legally_and_enough_of_them_cross(
    first: int, cases: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    count: Counter[str] = Counter()
    for seed in sorted({*range(first, first + cases)} - {*LONG}):
        count += kinds_of_plan(seed, tmp_path / str(seed))
    record_property(f"random plans {first}", f"of {cases} {', '.join(f'{count[what]} {what}' for what in LEAST)}")
    assert all(count[what] >= -(-least * cases // BATCH) for what, least in LEAST.items()), count


@pytest.mark.slow
@pytest.mark.parametrize("seed", LONG)
def test_a_long_case_plans_legally(seed: int, tmp_path: Path) -> None:
    assert kinds_of_plan(seed, tmp_path / str(seed))["planned"]


def kinds_of_plan(seed: int, folder: Path) -> Counter[str]:
    """Plan a random case, judge it, and count what it is good for."""
    folder.mkdir()
    try:
        out = make_plan(folder / "out", random_request(seed, folder))
    except (InfeasibleError, LimitError):
        return Counter()
    assert check(out) == [], f"seed {seed}"
    crossed = {crossing.kind for crossing in read_plan(out / "plan.json").phases[0].partition.crossings}
    return Counter({"planned": 1, "crossed an SLR": "sll" in crossed, "crossed a link": "link" in crossed})


def test_a_window_that_reads_nothing_but_padding_waits_for_no_data(tmp_path: Path) -> None:
    """Case 129: two links of 1,000 cycles, and a first frame after 1,028."""
    assert kinds_of_plan(129, tmp_path / "129")["crossed a link"]


@pytest.mark.parametrize(("first", "cases"), [(3, 5), pytest.param(0, 200, marks=pytest.mark.slow)])
def test_small_networks_of_every_shape_are_planned_legally_or_refused_with_a_reason(
    first: int, cases: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    count: Counter[str] = Counter()
    for seed in range(first, first + cases):
        folder = tmp_path / str(seed)
        folder.mkdir()
        case = small_case(seed, folder)
        try:
            models = [str(model) for model in case.models]
            ff.plan(models, case.board, effort="fast", plots=False, **case.options).save(folder / "out", extras=False)
        except (ff.InputError, ff.Infeasible):
            count["refused"] += 1
            continue
        assert ff.check(folder / "out").violations == (), case
        count["planned"] += 1
    record_property("small networks", dict(count))
    assert count["planned"] >= (0.7 if cases > BATCH else 0.6) * cases  # of a few more may be refused by chance
