"""Ports of placed modules: sides that face the neighbour, places in its order and without overlap."""

import itertools
from functools import cache

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from floorflow.assets import asset_folder, shipped
from floorflow.hardware import Device, Rect
from floorflow.hardware.device_file import read_device
from floorflow.placement import Pin
from floorflow.placement.ports import ModulePorts, PortStream, fabric_edges, length_of, place_ports, spread, whole_edges
from floorflow.verify.hardware.geometry import Device as JudgesDevice

A, B, C = Rect(0, 0, 20, 59), Rect(21, 0, 40, 59), Rect(0, 60, 40, 89)


@cache
def device_named(die: str) -> Device:
    return read_device((asset_folder("platforms") / "devices" / f"{die}.yaml").read_text(), die)


@cache
def judges_device(die: str) -> JudgesDevice:
    text = (asset_folder("platforms") / "devices" / f"{die}.yaml").read_text()
    return JudgesDevice(yaml.load(text, Loader=yaml.CSafeLoader))


def stream(name: str, source: str | Pin, target: str | Pin, width_bits: int = 64) -> PortStream:
    return PortStream(name, source, target, width_bits)


def places(ports: ModulePorts) -> dict[str, tuple[str, int, int]]:
    return {port.stream: (port.side, port.first, port.last) for port in ports.ports}


def cost(starts: tuple[int, ...], middles2: list[int], lengths: list[int], weights: list[int]) -> int:
    rows = zip(starts, middles2, lengths, weights, strict=True)
    return sum(weight * abs(2 * start + length - 1 - wish) for start, wish, length, weight in rows)


INTERVALS = st.lists(st.tuples(st.integers(-6, 26), st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=4)


@given(INTERVALS, st.integers(0, 4))
def test_intervals_are_as_near_to_their_wishes_as_any_in_that_order(
    rows: list[tuple[int, int, int]], room: int
) -> None:
    middles2, lengths, weights = ([row[i] for row in rows] for i in range(3))
    last = sum(lengths) + room - 1
    found = spread(middles2, lengths, weights, 0, last)
    legal = [
        starts
        for starts in itertools.product(range(last + 1), repeat=len(rows))
        if all(a + length <= b for a, length, b in zip(starts, lengths, starts[1:], strict=False))
        and starts[-1] + lengths[-1] - 1 <= last
    ]
    assert found in legal
    assert cost(found, middles2, lengths, weights) == min(cost(s, middles2, lengths, weights) for s in legal)


def test_intervals_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        spread([0, 0], [3, 3], [1, 1], 0, 4)


def test_streams_between_neighbours_face_each_other_row_by_row() -> None:
    streams = [stream("narrow", "a", "b"), stream("wide", "a", "b", 128)]
    found = place_ports({"a": A, "b": B}, streams)
    assert places(found["a"]) == {"narrow": ("right", 21, 25), "wide": ("right", 26, 34)}
    assert places(found["b"]) == {"narrow": ("left", 21, 25), "wide": ("left", 26, 34)}
    assert length_of({"a": A, "b": B}, streams, found) == 66 + 130  # data, valid and ready


def test_a_stream_upwards_leaves_by_the_top_over_the_neighbours_columns() -> None:
    found = place_ports({"a": A, "c": C}, [stream("up", "a", "c")])
    assert places(found["a"])["up"][0] == "top"
    assert places(found["c"]) == {"up": ("bottom", *places(found["a"])["up"][1:])}


def test_a_pin_is_faced_as_a_neighbour_is() -> None:
    found = place_ports({"a": A}, [stream("out", "a", Pin(200, 100))])
    assert places(found["a"]) == {"out": ("right", 48, 52)}


def test_streams_that_one_side_does_not_hold_go_round_the_corner_and_never_to_the_far_side() -> None:
    streams = [stream(str(number), "a", "b", 300) for number in range(4)]
    found = place_ports({"a": Rect(0, 0, 99, 59), "b": Rect(100, 0, 199, 59)}, streams)
    sides = [port.side for port in found["a"].ports]
    assert sides.count("right") == 3
    assert "left" not in sides


def test_a_box_too_small_for_its_wires_takes_more_pins_a_row() -> None:
    small = Rect(0, 0, 3, 4)
    found = place_ports({"a": small, "b": Rect(10, 0, 30, 59)}, [stream("s", "a", "b", 512)])
    assert found["a"].pins_per_row == 128
    assert places(found["a"]) == {"s": ("right", 0, 4)}


def test_a_box_with_fewer_places_than_ports_has_none() -> None:
    streams = [stream(str(number), "a", "b") for number in range(9)]
    found = place_ports({"a": Rect(0, 0, 0, 0), "b": B}, streams)
    assert found["a"].ports == ()
    assert len(found["b"].ports) == 9


@st.composite
def rows_of_boxes(draw: st.DrawFn) -> tuple[dict[str, Rect], list[PortStream]]:
    """Boxes in a grid of cells, each anywhere in its own, with streams between any two or to a pin."""
    count = draw(st.integers(2, 6))
    boxes = {}
    for number in range(count):
        left, bottom = 30 * (number % 3) + draw(st.integers(0, 9)), 30 * (number // 3) + draw(st.integers(0, 9))
        boxes[f"m{number}"] = Rect(left, bottom, left + draw(st.integers(2, 20)), bottom + draw(st.integers(4, 20)))
    ends = st.sampled_from(sorted(boxes))
    pairs = draw(st.lists(st.tuples(ends, ends | st.just(Pin(181, 77)), st.integers(1, 300)), max_size=12))
    return boxes, [stream(f"s{n}", a, b, width) for n, (a, b, width) in enumerate(pairs)]


@given(rows_of_boxes())
def test_each_end_has_one_port_in_its_box_and_none_overlap(case: tuple[dict[str, Rect], list[PortStream]]) -> None:
    boxes, streams = case
    found = place_ports(boxes, streams)
    assert found == place_ports(boxes, streams)
    for name, box in boxes.items():
        own = [
            (s.name, direction)
            for s in streams
            if s.source != s.target
            for end, direction in ((s.target, "in"), (s.source, "out"))
            if end == name
        ]
        assert sorted((port.stream, port.direction) for port in found[name].ports) == sorted(own)
        taken: set[tuple[str, int]] = set()
        for port in found[name].ports:
            low, high = (box.bottom, box.top) if port.side in ("left", "right") else (box.left, box.right)
            assert low <= port.first <= port.last <= high
            cells = {(port.side, place) for place in range(port.first, port.last + 1)}
            assert not cells & taken
            taken |= cells


@pytest.mark.parametrize("die", shipped("devices"))
def test_fabric_is_what_the_judge_takes_for_it(die: str) -> None:
    device, judged = device_named(die), judges_device(die)
    rows = range(0, device.row_count, device.rows_per_clock_region)
    seen = [[judged.has_fabric(column, row) for column in range(device.column_count)] for row in rows]
    assert device.fabric.tolist() == seen


@pytest.mark.parametrize("die", ["xc7z020", "xc7z045", "xczu7ev", "xczu5ev", "xczu3eg", "xczu9eg", "xcu250"])
@given(st.data())
def test_no_pblock_ends_in_the_processor_and_no_port_lies_there(die: str, data: st.DataObject) -> None:
    device, judged = device_named(die), judges_device(die)
    left = data.draw(st.sampled_from(device.left_edges.tolist()))
    right = data.draw(st.sampled_from([edge for edge in device.right_edges.tolist() if edge >= left]))
    low, high = sorted(data.draw(st.integers(0, device.row_count // device.row_step - 1)) for _ in range(2))
    whole = Rect(left, low * device.row_step, right, (high + 1) * device.row_step - 1)
    rect = device.cut_to_fabric(whole)
    assert whole.contains(rect)
    assert device.sites(rect) == device.sites(whole)
    assert device.cut_to_fabric(rect) == rect
    if not device.sites(rect):
        return
    assert rect.left in device.left_edges
    assert rect.right in device.right_edges
    ends = [Pin(2 * data.draw(st.integers(0, device.column_count)), 2 * data.draw(st.integers(0, device.row_count)))]
    streams = [stream(f"s{n}", end, "a", data.draw(st.integers(1, 600))) for n, end in enumerate(3 * ends)]
    found = place_ports({"a": rect}, streams, {"a": fabric_edges(device, rect, [rect])})
    assert len(found["a"].ports) == 3 or min(last - first for first, last in whole_edges(rect).values()) < 3
    for port in found["a"].ports:
        for place in range(port.first, port.last + 1):
            edge = getattr(rect, port.side)
            assert judged.has_fabric(*((edge, place) if port.side in ("left", "right") else (place, edge)))


def test_ports_of_a_pblock_of_several_rectangles_lie_on_these() -> None:
    parts = [Rect(0, 0, 20, 29), Rect(12, 30, 20, 59)]
    edges = fabric_edges(device_named("xc7z045"), Rect(0, 0, 20, 59), parts)
    assert edges == {"left": (0, 29), "right": (0, 59), "bottom": (0, 20), "top": (12, 20)}
