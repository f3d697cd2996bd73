"""Ways of streams in pictures: port to port, through Laguna columns, with register slices; the longest stands out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from floorflow.view.box import Box
from floorflow.view.palette import CROSSING, LONGEST
from floorflow.view.pictures.floorplan import floorplan
from floorflow.view.pictures.overview import overview
from floorflow.view.scene import read_scene
from floorflow.view.streams import Stops, stream_line
from tests.view.drawn import misplaced, shapes_of, texts_of
from tests.view.fake_plan import fake_plan

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

HOMES = ("fpga0.SLR0", "fpga0.SLR2", "fpga0.SLR2")


def with_ports(platform: Platform) -> dict[str, Any]:
    """Return a plan of three modules whose streams have ports: up at the top, on to the right, out at the left."""
    plan = fake_plan(platform, 3, names=("a", "b", "c"), homes=HOMES)
    phase = plan["phases"][0]
    entry = phase["floorplan"]["fpga0"]
    home = {engine: module["name"] for module in phase["modules"] for engine in module["engines"]}
    for pblock in entry["pblocks"].values():
        pblock["ports"] = []
    for channel in phase["channels"]:
        ends = [home.get(channel[end]) for end in ("source", "target")]
        for module, direction in zip(ends, ("out", "in"), strict=True):
            if module is not None and ends[0] != ends[1]:
                side, ports = ("right" if direction == "out" else "left"), entry["pblocks"][module]["ports"]
                first = entry["pblocks"][module]["rectangles"][0]["bottom"] + 4 * len(ports)
                place = {"side": side, "first": first, "last": first + 2}
                ports.append({"channel": channel["name"], "direction": direction, **place})
    (up,) = (
        channel for channel in phase["channels"] if [home.get(channel[e]) for e in ("source", "target")] == ["a", "b"]
    )
    up["slices"] = 2
    entry["longest"] = [
        {"channel": name, "tiles": tiles, "unsliced_tiles": 1.5 * way, "way_tiles": way} | {"slices": slices, **reach}
        for reach in ({"reach_tiles": 240.0},)
        for name, tiles, way, slices in (("another", 2000.0, 90.0, 3), (up["name"], 1234.5, 411.5, 2))
    ]
    entry["sll_columns"] = [
        {"channel": up["name"], "boundary": f"fpga0.SLR{slr}-fpga0.SLR{slr + 1}", "columns": columns}
        for slr, columns in (
            (1, [{"column": 41, "wires": 30}]),
            (0, [{"column": 74, "wires": 8}, {"column": 97, "wires": 9}]),
        )
    ]
    return plan


def test_a_stream_is_read_with_its_ports_and_the_columns_in_which_it_crosses(u250: Platform) -> None:
    scene = read_scene(with_ports(u250), "fpga0")
    (stream,) = (s for s in scene.streams if (s.source, s.target) == ("a", "b"))
    assert [port.side for port in stream.ports if port is not None] == ["right", "left"]
    assert list(stream.slls) == [("SLR0", 97.5), ("SLR1", 41.5)]
    assert stream.slices == 2


def test_the_longest_stream_between_registers_stands_out_with_that_length(u250: Platform) -> None:
    plan = with_ports(u250)
    plan["phases"][0]["slices_built"] = True
    scene = read_scene(plan, "fpga0")
    (longest,) = (stream for stream in scene.streams if stream.longest)
    assert (longest.source, longest.target) == ("a", "b")
    told = " ".join(texts_of(floorplan(plan, u250, "fpga0")))
    assert "yellow: longest stream, 412 between registers (reach 240, 2 slices)" in told


def test_no_stream_is_yellow_where_the_plan_names_none(u250: Platform) -> None:
    plan = with_ports(u250)
    plan["phases"][0]["floorplan"]["fpga0"]["longest"] = []
    assert not any(stream.longest for stream in read_scene(plan, "fpga0").streams)
    assert "yellow" not in " ".join(texts_of(floorplan(plan, u250, "fpga0")))


def test_marks_and_their_meaning_stand_in_the_picture_and_no_text_on_another(u250: Platform) -> None:
    plan = with_ports(u250)
    figure = floorplan(plan, u250, "fpga0")
    assert misplaced(figure) == []
    told = " ".join(texts_of(figure))
    assert all(
        word in told for word in ("port of a stream", "SLR crossing, no registers", "register slice", "longest stream")
    )
    assert len(shapes_of(figure, "circle", edge=CROSSING)) == 2
    assert len(shapes_of(figure, "square")) == 2
    assert len(shapes_of(figure, "line", edge=LONGEST)) == 1
    assert shapes_of(overview(plan, u250), "line", edge=LONGEST) == []


def test_a_plan_without_ports_has_no_marks(u250: Platform) -> None:
    figure = floorplan(fake_plan(u250, 3, names=("a", "b", "c"), homes=HOMES), u250, "fpga0")
    assert "port of a stream" not in " ".join(texts_of(figure))
    assert shapes_of(figure, "circle") == shapes_of(figure, "square") == []


def test_a_line_passes_its_stops(u250: Platform) -> None:
    scene = read_scene(with_ports(u250), "fpga0")
    (stream,) = (s for s in scene.streams if (s.source, s.target) == ("a", "b"))
    ends = {"a": Box(0, 0, 20, 10), "b": Box(200, 200, 220, 210)}
    stops = Stops((40.0, 5.0), ((60.0, 100.0),), (180.0, 190.0))
    path = stream_line(stream, ends, "fpga", 1.0, stops).path
    for x, y in stops.points:
        assert min(abs(path - [x, y]).sum(axis=1)) == pytest.approx(0.0, abs=1e-6)
