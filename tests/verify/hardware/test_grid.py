"""Tables of a die agree with counting tile by tile, and rectangles come back from the sites that they hold."""

import random
from functools import cache

import pytest
import yaml

from floorflow.verify.hardware.geometry import Device, Rectangle, Sites, runs
from floorflow.verify.hardware.interconnect import boxes
from tests.plans import ROOT

PARTS = sorted(path.stem for path in (ROOT / "platforms" / "devices").glob("*.yaml"))
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def die(part: str) -> Device:
    text = (ROOT / "platforms" / "devices" / f"{part}.yaml").read_text()
    return Device(yaml.load(text, Loader=_Loader))  # noqa: S506 - a safe loader, in C where there is one


def areas(device: Device, count: int, most: tuple[int, int] | None = None) -> list[Rectangle]:
    """Return random rectangles, of at most so many columns and rows if told."""
    source, made = random.Random(22), []
    columns, rows = most or (device.columns, device.rows)
    for _ in range(count):
        left, right = sorted(source.choices(range(device.columns), k=2))
        bottom, top = sorted(source.choices(range(device.rows), k=2))
        made.append(Rectangle(left, bottom, min(right, left + columns - 1), min(top, bottom + rows - 1)))
    return made


def counted(device: Device, area: Rectangle) -> tuple[Sites, dict[str, int]]:
    """Count sites and resources tile by tile: a tile counts only if it lies wholly inside."""
    sites: Sites = {}
    total = dict.fromkeys(("LUT", "FF", "BRAM18", "URAM", "DSP"), 0)
    for region in device.regions_in(area):
        for column in range(area.left, area.right + 1):
            entry = device.legend_at(column, region)
            height = entry.get("tile_rows")
            lowest, top = region * device.region_rows + entry.get("first_row", 0), (region + 1) * device.region_rows
            bottoms = list(range(lowest, top - (height or 1) + 1, height or 1)) if height else []
            for number, bottom in enumerate(bottoms):
                if bottom < area.bottom or bottom + height - 1 > area.top:
                    continue
                for name in total.keys() & entry.get("resources", {}).keys():
                    total[name] += entry["resources"][name]
                for kind, per_tile in entry.get("sites", {}).items():
                    columns = device.raw["site_columns"].get(kind, [])
                    spread = device.raw["site_rows"][kind][region] if column in columns else None
                    if spread is not None:
                        up = per_tile // columns.count(column)
                        mask = ((1 << up) - 1) << (spread[1] + 1 - (len(bottoms) - number) * up)
                        for x in (x for x, other in enumerate(columns) if other == column):
                            sites[kind, x] = sites.get((kind, x), 0) | mask
    return sites, total


@pytest.mark.parametrize("part", PARTS)
def test_sites_of_rectangles_are_those_counted_tile_by_tile(part: str) -> None:
    device = die(part)
    for area in areas(device, 6, (60, 2 * device.region_rows)):
        assert (device.sites(area), device.resources(area)) == counted(device, area)


@pytest.mark.parametrize("part", ["xcu250", "xcku5p", "xc7z020"])
def test_boxes_hold_the_sites_that_they_were_made_of(part: str) -> None:
    device = die(part)
    for area in areas(device, 3):
        sites = device.sites(area)
        found = boxes(device, sites)
        again = [key for box in found for key in device.sites(box)]
        assert set(again) >= {key for key in sites if key[0] == "SLICE"}
        assert all(area.left <= box.left and box.right <= area.right for box in found)


def test_runs_of_bits() -> None:
    assert list(runs(0b1011100)) == [(2, 4), (6, 6)]
    assert list(runs(0)) == []
