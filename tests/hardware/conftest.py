"""The dies as their YAML gives them, counted site by site, without floorflow's own loader."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from floorflow.assets import asset_folder
from floorflow.hardware.device import Device
from floorflow.hardware.device_file import read_device
from floorflow.hardware.geometry import Rect

DEVICES = asset_folder("platforms") / "devices"
PARTS = sorted(path.stem for path in DEVICES.glob("*.yaml"))


@dataclass(frozen=True)
class RawSites:
    """All sites of one type, one an entry: X, Y, physical column, lowest and highest CLB row of the site's tile."""

    x: Any
    y: Any
    column: Any
    bottom: Any
    top: Any

    def within(self, rect: Rect) -> Any:
        """Return which sites lie wholly inside, as (sites,) bool."""
        columns = (self.column >= rect.left) & (self.column <= rect.right)
        return columns & (self.bottom >= rect.bottom) & (self.top <= rect.top)

    def inside(self, rect: Rect) -> set[tuple[int, int]]:
        chosen = self.within(rect)
        return set(zip(self.x[chosen].tolist(), self.y[chosen].tolist(), strict=True))

    def mask(self, rect: Rect) -> Any:
        """Return which sites lie wholly inside, as (Y numbers, X numbers) bool."""
        chosen = self.within(rect)
        mask = np.zeros((self.y.max() + 1, self.x.max() + 1), dtype=bool)
        mask[self.y[chosen], self.x[chosen]] = True
        return mask


@dataclass(frozen=True)
class RawDie:
    """A device file as plain data, and its sites by type."""

    data: dict[str, Any]
    sites: dict[str, RawSites]

    def resources(self, rect: Rect) -> dict[str, int]:
        """Add up tiles, found by walking over columns, clock regions and tiles, that lie inside."""
        height, total = self.data["rows_per_clock_region"], dict.fromkeys(("LUT", "FF", "BRAM18", "URAM", "DSP"), 0)
        for y, layout in enumerate(self.data["clock_region_layouts"]):
            for char in self.data["layouts"][layout][rect.left : rect.right + 1]:
                tile = self.data["legend"][char]
                for first in range(tile.get("first_row", 0), height, tile.get("tile_rows", height)):
                    bottom = y * height + first
                    if rect.bottom <= bottom and bottom + tile.get("tile_rows", height) - 1 <= rect.top:
                        for name, amount in tile.get("resources", {}).items():
                            if name in total:
                                total[name] += amount
        return total


def _sites_of(data: dict[str, Any], name: str) -> RawSites:
    height, rows = data["rows_per_clock_region"], []
    columns = data["site_columns"][name]
    across = columns.count(columns[0])
    for y, layout in enumerate(data["clock_region_layouts"]):
        for x, column in enumerate(columns):
            tile = data["legend"][data["layouts"][layout][column]]
            up = tile.get("sites", {}).get(name, 0) // across
            for below, bottom in enumerate(range(height - tile["tile_rows"], -1, -tile["tile_rows"]) if up else ()):
                if bottom >= tile["first_row"]:
                    number = data["site_rows"][name][y][1] - below * up
                    first = y * height + bottom
                    rows += [(x, number - k, column, first, first + tile["tile_rows"] - 1) for k in range(up)]
    return RawSites(*np.array(rows).T)


@cache
def raw_die(part: str) -> RawDie:
    data = yaml.load(Path(DEVICES / f"{part}.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return RawDie(data, {name: _sites_of(data, name) for name in data["site_columns"]})


@cache
def device_of(part: str) -> Device:
    return read_device((DEVICES / f"{part}.yaml").read_text(encoding="utf-8"), f"{part}.yaml")


@pytest.fixture(params=PARTS)
def part(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def device(part: str) -> Device:
    return device_of(part)


@pytest.fixture
def raw(part: str) -> RawDie:
    return raw_die(part)


@pytest.fixture(scope="session")
def load_device() -> Any:
    return device_of


@pytest.fixture(scope="session")
def load_raw() -> Any:
    return raw_die


def shipped(name: str) -> str:
    return (asset_folder("platforms") / "boards" / f"{name}.yaml").read_text(encoding="utf-8")


@pytest.fixture
def write_board(tmp_path: Path) -> Callable[..., Path]:
    """Write a user's board: a shipped one under a name of its own, with one text replaced."""

    def write(old: str, new: str, base: str = "alveo-u250") -> Path:
        text = shipped(base)
        assert old in text
        path = tmp_path / "mine.yaml"
        path.write_text(text.replace(f"name: {base}", "name: mine", 1).replace(old, new, 1), encoding="utf-8")
        return path

    return write
