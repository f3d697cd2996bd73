"""The routing map's picture shows every bin, the peak and the scale, and its texts stay clear of each other."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from floorflow.hardware import Platform
from floorflow.view import routing_chart
from floorflow.view.sheet.palette import CROSSING
from tests.view.drawn import misplaced
from tests.view.fake_plan import fake_plan


def test_bins_peak_and_capacity_are_drawn_and_told(u250: Platform) -> None:
    plan = fake_plan(u250, 6)
    figure = routing_chart(plan, u250, "fpga0")
    entry = plan["phases"][0]["floorplan"]["fpga0"]["congestion"]
    filled = [row for text in entry["demand"] for row in text.split() if int(row)]
    bins = [patch for patch in figure.axes[0].artists + figure.axes[0].patches if isinstance(patch, Rectangle)]
    assert len(bins) >= len(filled)
    (peak, _) = (patch for patch in bins if to_hex(patch.get_edgecolor()) == CROSSING)
    (right, top) = (max(end(patch) for patch in bins if patch.get_zorder() == 1) for end in (right_of, top_of))
    assert (right_of(peak), top_of(peak)) == pytest.approx((right, top))
    told = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert f"peak {entry['peak']:,.0f} bit-tiles" in told
    assert "capacity 18,000" in told


def right_of(patch: Rectangle) -> float:
    return float(patch.get_x() + patch.get_width())


def top_of(patch: Rectangle) -> float:
    return float(patch.get_y() + patch.get_height())


@pytest.mark.parametrize("modules", [1, 12])
def test_texts_do_not_overlap(u250: Platform, modules: int) -> None:
    assert misplaced(routing_chart(fake_plan(u250, modules), u250, "fpga0")) == []
