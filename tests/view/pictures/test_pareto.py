"""The picture of fronts: nothing overlaps, every point is there, and what is not known is not drawn as if it were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.view.palette import BAR, CROSSING, OPEN
from floorflow.view.pictures.pareto import AmountAxis, pareto_chart
from tests.view.drawn import misplaced, texts_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BUDGET = {"LUT": 155_546, "FF": 224_831, "BRAM18": 559, "URAM": 86, "DSP": 1555}
SCARCITY = "scarcity"


def point(cycles: int, value: float | None, bound: float | None, status: str) -> dict[str, Any]:
    use = dict.fromkeys(BUDGET, 0) | {"LUT": 90_000, "URAM": 40}
    known = {"value": value, "bound": bound, "resources": None if value is None else use}
    return {"interval_cycles": cycles, "status": status, **known}


def front(objective: str, values: Sequence[float], first: int, ratio: float = 2.5) -> dict[str, Any]:
    points = [point(int(first * ratio**n), value, value, "optimal") for n, value in enumerate(values)]
    return {"objective": objective, "points": points}


def fronts(*named: dict[str, Any], first: int = 6272, network: str = "cnv_2w2a") -> dict[str, Any]:
    facts = {"network": network, "platform": "zcu104", "fpgas": 1, "costs": "calibrated", "clock_mhz": 200.0}
    return {**facts, "budget": BUDGET, "bound_cycles": first, "fronts": list(named)}


def six(first: int = 6272, ratio: float = 2.5) -> dict[str, Any]:
    values = {
        SCARCITY: [1.33, 0.5, 0.31, 0.2],
        "LUT": [143_101, 27_535, 13_290, 11_855],
        "FF": [95_458, 33_534, 22_603, 20_416],
        "BRAM18": [0, 0, 0, 0],
        "URAM": [33, 4, 1, 0],
        "DSP": [360, 15, 15, 15],
    }
    pareto = fronts(*(front(name, amounts, first, ratio) for name, amounts in values.items()), first=first)
    uram = pareto["fronts"][4]["points"]
    uram[1] |= {"bound": 2, "status": "feasible"}
    return pareto


def panel(figure: Figure, objective: str) -> Axes:
    """Return the axes whose title is the objective."""
    return next(axes for axes in figure.axes if any(text.get_text() == objective for text in axes.texts))


@pytest.mark.parametrize(("first", "ratio"), [(6272, 2.5), (50_178, 10.0), (1568, 5.0), (8, 1.3), (10**7, 30.0)])
def test_no_text_overlaps_another_or_leaves_the_sheet(first: int, ratio: float) -> None:
    assert misplaced(pareto_chart(six(first, ratio))) == []


@pytest.mark.parametrize("names", [[SCARCITY, "LUT"], [SCARCITY, "LUT", "URAM", "DSP"]])
def test_few_panels_and_long_names_fit_their_sheet(names: list[str]) -> None:
    some = six()
    some["fronts"] = [each for each in some["fronts"] if each["objective"] in names]
    some |= {"network": "a_network_with_quite_a_long_name_" * 3, "fpgas": 4}
    figure = pareto_chart(some)
    assert misplaced(figure) == []
    assert all(panel(figure, name) for name in names)


def test_the_stairs_pass_every_point_and_the_budget_lies_above() -> None:
    pareto = six()
    axes = panel(pareto_chart(pareto), "LUT")
    points = pareto["fronts"][1]["points"]
    stairs = next(line for line in axes.lines if line.get_color() == BAR and len(line.get_xdata()) == 4)
    assert stairs.get_drawstyle() == "steps-post"
    assert list(stairs.get_xdata()) == [each["interval_cycles"] for each in points]
    assert list(stairs.get_ydata()) == [each["value"] for each in points]
    budget = next(line for line in axes.lines if line.get_color() == CROSSING)
    assert set(budget.get_ydata()) == {BUDGET["LUT"]}
    assert axes.get_ylim()[1] > BUDGET["LUT"]


def bars(axes: Axes) -> list[list[tuple[float, float]]]:
    """Return the ends of the bars between bound and value."""
    with_segments = [lines for lines in axes.collections if hasattr(lines, "get_segments")]
    return [[tuple(end) for end in segment] for lines in with_segments for segment in lines.get_segments()]


def test_a_gap_is_a_bar_from_the_bound_to_the_value_and_proven_points_have_none() -> None:
    figure = pareto_chart(six())
    cycles = int(6272 * 2.5)
    assert bars(panel(figure, "URAM")) == [[(cycles, 2.0), (cycles, 4.0)]]
    assert bars(panel(figure, "DSP")) == []
    hollow = [line for line in panel(figure, "URAM").lines if line.get_markeredgecolor() == OPEN]
    assert [line.get_xdata()[0] for line in hollow] == [cycles]
    assert "the least lies on the bar" in " ".join(texts_of(figure))


def test_points_without_a_folding_are_marked_and_not_joined() -> None:
    pareto = six()
    lut = pareto["fronts"][1]["points"]
    lut[0] |= {"value": None, "bound": None, "resources": None, "status": "infeasible"}
    lut[1] |= {"value": None, "bound": None, "resources": None, "status": "unknown"}
    figure = pareto_chart(pareto)
    axes = panel(figure, "LUT")
    stairs = next(line for line in axes.lines if line.get_drawstyle() == "steps-post" and line.get_color() == BAR)
    assert list(stairs.get_xdata()) == [each["interval_cycles"] for each in lut[2:]]
    crosses = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "x"]
    assert crosses == [lut[1]["interval_cycles"]]
    hatched = next(patch for patch in axes.patches if patch.get_hatch())
    assert hatched.get_x() + hatched.get_width() == lut[0]["interval_cycles"]
    assert misplaced(figure) == []
    for each in lut:
        each |= {"value": None, "bound": None, "resources": None, "status": "unknown"}
    assert "no folding found" in texts_of(pareto_chart(pareto))


def test_one_interval_alone_can_be_drawn() -> None:
    assert misplaced(pareto_chart(fronts(front(SCARCITY, [0.1], 100), front("LUT", [0], 100), first=100))) == []


@given(st.floats(0.01, 1e6), st.floats(2, 1e6), st.booleans())
def test_shares_are_few_and_end_at_the_whole_budget(low: float, span: float, has_zero: bool) -> None:
    budget = max(2, int(low * span))
    shares = AmountAxis(-0.35 if has_zero else min(low, budget), budget * 1.8, has_zero).shares(budget)
    assert len(shares) <= 11
    assert max(shares) == 1.0
    assert (0.0 in shares) == has_zero
