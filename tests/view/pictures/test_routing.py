"""The routing map's picture shows every bin, the peak and the scale, and its texts stay clear of each other."""

from __future__ import annotations

import pytest

from floorflow.hardware import Platform
from floorflow.view.palette import CROSSING
from floorflow.view.pictures.routing import routing_chart
from tests.view.drawn import misplaced, shapes_of, texts_of
from tests.view.fake_plan import fake_plan


def test_bins_peak_and_capacity_are_drawn_and_told(u250: Platform) -> None:
    plan = fake_plan(u250, 6)
    sheet = routing_chart(plan, u250, "fpga0")
    entry = plan["phases"][0]["floorplan"]["fpga0"]["congestion"]
    filled = [row for text in entry["demand"] for row in text.split() if int(row)]
    bins = [shape for shape in sheet.shapes if shape.kind == "area" and shape.z == 1]
    assert sum(shape.svg.count("z", shape.svg.index("M")) for shape in bins) == len(filled)
    assert 20 < len(bins) <= 48, "one shape a colour"
    peak = next(shape for shape in shapes_of(sheet, "rect", edge=CROSSING) if shape.z == 8)
    right, top = (max(getattr(shape.box, side) for shape in bins) for side in ("right", "top"))
    assert (peak.box.right, peak.box.top) == pytest.approx((right, top))
    told = " ".join(texts_of(sheet))
    assert f"peak {entry['peak']:,.0f} bit-tiles" in told
    assert "capacity 18,000" in told


@pytest.mark.parametrize("modules", [1, 12])
def test_texts_do_not_overlap(u250: Platform, modules: int) -> None:
    assert misplaced(routing_chart(fake_plan(u250, modules), u250, "fpga0")) == []
