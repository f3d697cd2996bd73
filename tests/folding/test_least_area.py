"""The folding of least area, against every choice of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.dataflow.model import Option
from floorflow.dataflow.options import OptionGroup
from floorflow.folding import (
    AreaPart,
    FoldingInfeasible,
    FoldingProblem,
    FoldingSolution,
    area_of,
    cells_per_unit,
    least_area,
)
from floorflow.folding.least_area import GAP, OTHERS
from floorflow.resources import Resources
from tests.folding.pairwise import LOOSE, Array, all_choices, random_problems, use_of

NEAR = 1 + GAP + 5 * OTHERS
"""What the answer may exceed the least area by: the solver's gap, and what other resources count."""


@st.composite
def parted(draw: st.DrawFn) -> tuple[FoldingProblem, tuple[AreaPart, ...]]:
    """Problems whose groups lie in up to three parts, in two slots."""
    problem = draw(random_problems(5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    slots = [tuple(random.choice((1.0, 3.0, 10.0), 5).tolist()) for _ in range(2)]
    of = random.integers(0, 3, len(problem.groups))
    names = [group.engines[0] for group in problem.groups]
    parts = [tuple(name for name, part in zip(names, of, strict=True) if part == number) for number in range(3)]
    made = (AreaPart(part, slots[number % 2], f"slot{number % 2}") for number, part in enumerate(parts) if part)
    return problem, tuple(made)


def parts_use(problem: FoldingProblem, parts: Sequence[AreaPart], rows: Sequence[int]) -> Array:
    """Return what each part uses with one choice of rows, (n_parts, 5)."""
    use = np.zeros((len(parts), 5), dtype=np.int64)
    owner = {engine: number for number, part in enumerate(parts) for engine in part.engines}
    for group, row in zip(problem.groups, rows, strict=True):
        for engine, option in zip(group.engines, group.rows[row], strict=True):
            use[owner[engine]] += option.resources.as_tuple()
    for c in problem.couplings:
        source = problem.groups[c.source].engines[-1]
        use[owner[source]] += c.use[c.source_class[rows[c.source]], c.target_class[rows[c.target]]]
    return use


def cells_of(parts: Sequence[AreaPart], use: Array) -> float:
    return float((use * np.array([part.cells_per_unit for part in parts])).max(axis=1).sum())


def least_by_trying(problem: FoldingProblem, parts: Sequence[AreaPart], budgets: dict[str, Resources]) -> float | None:
    """Return the least area over every choice of rows within all budgets."""
    least = None
    for rows in all_choices(problem):
        use = parts_use(problem, parts, rows)
        inside = {slot: [part.slot == slot for part in parts] for slot in budgets}
        fits = (use_of(problem, rows) <= problem.budget.as_tuple()).all() and all(
            (use[inside[slot]].sum(axis=0) <= budget.as_tuple()).all() for slot, budget in budgets.items()
        )
        if fits:
            least = min(cells_of(parts, use), np.inf if least is None else least)
    return least


@given(parted(), st.integers(10, 60), st.integers(5, 40))
@settings(max_examples=80, deadline=None)
def test_no_choice_takes_less_area(
    case: tuple[FoldingProblem, tuple[AreaPart, ...]], most: int, in_one_slot: int
) -> None:
    problem, parts = case
    problem = replace(problem, budget=Resources(*[most] * 5))
    budgets = {"slot1": Resources(*[in_one_slot] * 5)}
    answer, least = least_area(problem, 1, parts, budgets), least_by_trying(problem, parts, budgets)
    if least is None:
        assert answer == FoldingInfeasible(None)
        return
    assert isinstance(answer, FoldingSolution)
    rows = [group.rows.index(tuple(answer.options[e] for e in group.engines)) for group in problem.groups]
    use = parts_use(problem, parts, rows)
    assert sum(area_of(problem, answer, parts)) == pytest.approx(cells_of(parts, use))
    assert cells_of(parts, use) <= least * NEAR + 1e-6
    assert answer.resources.as_tuple() == tuple(use.sum(axis=0))
    assert answer.resources.fits(problem.budget)


def one_engine(name: str, *rows: tuple[int, Resources]) -> OptionGroup:
    return OptionGroup((name,), tuple((Option({}, cycles, use, (8,), (8,)),) for cycles, use in rows))


def test_options_slower_than_the_interval_are_not_taken() -> None:
    group = one_engine("a", (10, Resources(lut=100)), (20, Resources(lut=50)))
    problem, parts = FoldingProblem((group,), LOOSE, LOOSE), [AreaPart(("a",), (1.0,) * 5)]
    assert area_of(problem, solved(problem, 10, parts), parts) == (100.0,)
    assert area_of(problem, solved(problem, 20, parts), parts) == (50.0,)
    assert least_area(problem, 5, parts) == FoldingInfeasible(None)


def test_engines_of_one_module_take_what_its_rectangle_has_left() -> None:
    """In one module a and b take different resources, apart each takes what is least for it."""
    choices = ((1, Resources(lut=100)), (1, Resources(dsp=11)))
    problem = FoldingProblem((one_engine("a", *choices), one_engine("b", *choices)), LOOSE, LOOSE)
    cells = (1.0, 1.0, 1.0, 1.0, 10.0)
    together = [AreaPart(("a", "b"), cells)]
    assert area_of(problem, solved(problem, 1, together), together) == (110.0,)
    apart = [AreaPart(("a",), cells), AreaPart(("b",), cells)]
    assert area_of(problem, solved(problem, 1, apart), apart) == (100.0, 100.0)


def test_a_resource_that_a_slot_lacks_is_not_used_there() -> None:
    cells = cells_per_unit(Resources(lut=800, ff=1600, dsp=20), 100, {"LUT": 0.5})
    assert cells == (0.25, 0.0625, np.inf, np.inf, 5.0)
    group = one_engine("a", (1, Resources(bram18=1)), (1, Resources(lut=1000)))
    problem, parts = FoldingProblem((group,), LOOSE, LOOSE), [AreaPart(("a",), cells)]
    assert area_of(problem, solved(problem, 1, parts), parts) == (250.0,)


def test_tied_engines_in_two_modules_are_charged_to_their_own() -> None:
    options = [(Resources(lut=60), Resources(lut=60)), (Resources(lut=110), Resources(dsp=1))]
    rows = tuple(tuple(Option({}, 1, use, (8,), (8,)) for use in row) for row in options)
    problem = FoldingProblem((OptionGroup(("a", "b"), rows),), LOOSE, LOOSE)
    parts = [AreaPart(("a",), (1.0,) * 5), AreaPart(("b",), (1.0,) * 5)]
    assert area_of(problem, solved(problem, 1, parts), parts) == (110.0, 1.0)


def solved(problem: FoldingProblem, interval_cycles: int, parts: Sequence[AreaPart]) -> FoldingSolution:
    answer = least_area(problem, interval_cycles, parts)
    assert isinstance(answer, FoldingSolution)
    return answer
