"""Tables of a die agree with counting tile by tile, and rectangles come back from the sites that they hold."""

from __future__ import annotations

import random
from functools import cache

import pytest
import yaml

from floorflow.verify.hardware.geometry import Device, Rectangle
from floorflow.verify.hardware.grid import Grid, runs
from tests.conftest import ROOT

PARTS = sorted(path.stem for path in (ROOT / "platforms" / "devices").glob("*.yaml"))
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def grid(part: str) -> Grid:
    text = (ROOT / "platforms" / "devices" / f"{part}.yaml").read_text()
    return Grid(Device(yaml.load(text, Loader=_Loader)))  # noqa: S506 - a safe loader, in C where there is one


def areas(device: Device, count: int) -> list[Rectangle]:
    source = random.Random(22)
    made = []
    for _ in range(count):
        left, right = sorted(source.choices(range(device.columns), k=2))
        bottom, top = sorted(source.choices(range(device.rows), k=2))
        made.append(Rectangle(left, bottom, right, top))
    return made


@pytest.mark.parametrize("part", PARTS)
def test_sites_of_rectangles_are_those_counted_tile_by_tile(part: str) -> None:
    device = grid(part).device
    for area in areas(device, 3):
        assert grid(part).sites(area) == device.sites(area)
        assert device.resources_of(device.sites(area)) == device.resources(area)


@pytest.mark.parametrize("part", ["xcu250", "xcku5p", "xc7z020"])
def test_boxes_hold_the_sites_that_they_were_made_of(part: str) -> None:
    device = grid(part).device
    for area in areas(device, 3):
        sites = device.sites(area)
        boxes = grid(part).boxes(sites)
        again = [key for box in boxes for key in grid(part).sites(box)]
        assert set(again) >= {key for key in sites if key[0] == "SLICE"}
        assert all(area.left <= box.left and box.right <= area.right for box in boxes)


def test_runs_of_bits() -> None:
    assert list(runs(0b1011100)) == [(2, 4), (6, 6)]
    assert list(runs(0)) == []
