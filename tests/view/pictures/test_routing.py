"""The routing map's picture shows every bin, the peak and the scale, and its texts stay clear of each other."""

import numpy as np
import pytest

from floorflow.hardware import Platform, load_platform
from floorflow.hardware.routing import routing_capacity
from floorflow.placement.congestion import RoutingMap
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


def test_bins_of_a_processor_are_hatched_and_have_no_peak() -> None:
    platform = load_platform("zcu104")
    sheet = routing_chart(fake_plan(platform, 8), platform, "fpga0")
    none = int((routing_capacity(platform.fpgas[0].device) == 0).sum())
    hatched = [shape for shape in sheet.shapes if "url(#hatch" in shape.svg and shape.z == 5.6]
    assert len({shape.box for shape in hatched}) == none > 0
    filled = [shape for shape in sheet.shapes if shape.kind == "area" and shape.z == 1]
    assert not any(one.box.holds(other.box) for one in hatched for other in filled)
    assert "no interconnect: wires go around" in texts_of(sheet)


def test_the_peak_is_of_a_bin_with_wires() -> None:
    found = RoutingMap(np.array([[9.0, 2.0]]), np.array([[0.0, 5.0]]))
    assert (found.peak, found.over) == (2.0, 0)
