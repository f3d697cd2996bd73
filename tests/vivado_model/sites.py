"""Which sites a device has, from the raw YAML of its die: a small account of its own, apart from the product's."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
"""(n_x, n_y) bool, indexed by the site's X and Y."""


class RangeError(ValueError):
    """A range that Vivado would refuse, with its reason."""


@dataclass(frozen=True)
class SiteKind:
    """Where one site type occurs: letters of ``layouts`` (see ``legend`` in a device file) and sites a clock region.

    ``low`` maps letters whose columns lack their lowest sites to how many are lacking. ``compress`` drops clock-region
    rows without the type from the Y count (LAGUNA); ``shrink`` drops the lacking sites of a row from it (HBM's DSPs).
    """

    letters: str
    per_region: int
    per_column: int = 1
    low: tuple[tuple[str, int], ...] = ()
    compress: bool = False
    shrink: bool = False


ULTRASCALE_PLUS = {
    "SLICE": SiteKind("LlMm", 60),
    "DSP48E2": SiteKind("DH", 24, low=(("H", 6),), shrink=True),
    "RAMB36": SiteKind("B", 12),
    "RAMB18": SiteKind("B", 24),
    "URAM288": SiteKind("U", 16),
    "LAGUNA": SiteKind("G", 120, per_column=2, compress=True),
}
SERIES_7 = {
    "SLICE": SiteKind("nNmMqQ", 50, per_column=2, low=(("q", 25), ("Q", 25))),
    "DSP48": SiteKind("dD", 20),
    "RAMB36": SiteKind("bBc", 10, low=(("c", 5),)),
    "RAMB18": SiteKind("bBc", 20, low=(("c", 10),)),
}

_PAIR = re.compile(r"([A-Z][A-Z0-9]*)_X(\d+)Y(\d+):([A-Z][A-Z0-9]*)_X(\d+)Y(\d+)")
_SLR = re.compile(r"SLR(\d+)(?::SLR(\d+))?")


class Sites:
    """Every site of one device, and ranges over them."""

    def __init__(self, device: dict[str, Any]) -> None:
        self.part = str(device["part"])
        self._rows = [str(device["layouts"][name]) for name in device["clock_region_layouts"]]
        self._device = device
        kinds = SERIES_7 if device["architecture"] == "7series" else ULTRASCALE_PLUS
        built = {site: self._build(kind) for site, kind in kinds.items()}
        self.exists: dict[str, Mask] = {site: mask for site, (mask, _, _) in built.items() if mask.size}
        self._columns = {site: columns for site, (_, columns, _) in built.items()}
        self._starts = {site: starts for site, (_, _, starts) in built.items()}

    @property
    def is_series_7(self) -> bool:
        """Whether the die is of the 7 series."""
        return str(self._device["architecture"]) == "7series"

    @property
    def letters(self) -> list[str]:
        """The letter of each column, in each row of clock regions."""
        return list(self._rows)

    def in_row(self, site: str, mask: Mask, row: int) -> Mask:
        """Return the part of a mask that is in a row of clock regions."""
        starts = self._starts[site]
        return mask[:, starts[row] : starts[row + 1]]

    def column(self, site: str, x: int) -> int:
        """Return the device column of a site's X."""
        return self._columns[site][x]

    @property
    def slrs(self) -> tuple[str, ...]:
        """Names of the dies."""
        return tuple(str(slr["name"]) for slr in self._device["slrs"])

    def _build(self, kind: SiteKind) -> tuple[Mask, list[int], list[int]]:
        """Return existing sites, the device column of each X, and where each clock-region row starts in Y."""
        width = len(self._rows[0])
        columns = [p for p in range(width) if any(row[p] in kind.letters for row in self._rows)]
        low = dict(kind.low)
        parts: list[Mask] = []
        starts = [0]
        for row in self._rows:
            used = [letter for letter in row if letter in kind.letters]
            lacking = max((low.get(letter, 0) for letter in used), default=0) if kind.shrink else 0
            height = 0 if kind.compress and not used else kind.per_region - lacking
            part = np.zeros((len(columns), height), dtype=np.bool_)
            for x, p in enumerate(columns):
                if row[p] in kind.letters:
                    part[x, max(0, low.get(row[p], 0) - lacking) :] = True
            parts.append(part)
            starts.append(starts[-1] + height)
        mask = np.concatenate(parts, axis=1).repeat(kind.per_column, axis=0)
        return mask, [p for p in columns for _ in range(kind.per_column)], starts

    def masks(self, text: str) -> dict[str, Mask]:
        """Return the sites of one range such as ``SLICE_X0Y0:SLICE_X9Y59``, ``CLOCKREGION_...`` or ``SLR0:SLR1``.

        Raises
        ------
        RangeError
            If Vivado would refuse the range.
        """
        if (slr := _SLR.fullmatch(text)) is not None:
            return self._slrs(text, int(slr[1]), int(slr[2] or slr[1]))
        pair = _PAIR.fullmatch(text)
        if pair is None:
            raise RangeError(f"malformed range '{text}': expected TYPE_XaYb:TYPE_XcYd")
        if pair[1] != pair[4]:
            raise RangeError(f"range '{text}' joins the types {pair[1]} and {pair[4]}")
        x0, y0, x1, y1 = (int(pair[i]) for i in (2, 3, 5, 6))
        if x0 > x1 or y0 > y1:
            raise RangeError(f"range '{text}' has reversed corners: expected lower left, then upper right")
        if pair[1] == "CLOCKREGION":
            return self._clock_regions(text, x0, y0, x1, y1)
        return {pair[1]: self._rectangle(text, pair[1], x0, y0, x1, y1)}

    def _rectangle(self, text: str, site: str, x0: int, y0: int, x1: int, y1: int) -> Mask:
        if site not in self.exists:
            raise RangeError(f"range '{text}': {self.part} has no sites of type {site}")
        exists = self.exists[site]
        if x1 >= exists.shape[0] or y1 >= exists.shape[1]:
            end = f"{site}_X{exists.shape[0] - 1}Y{exists.shape[1] - 1}"
            raise RangeError(f"[Place 30-8520] range '{text}' extends outside of the device, which ends at {end}")
        for x, y in ((x0, y0), (x1, y1)):
            if not exists[x, y]:
                raise RangeError(f"range '{text}': corner site {site}_X{x}Y{y} does not exist on {self.part}")
        mask = np.zeros_like(exists)
        mask[x0 : x1 + 1, y0 : y1 + 1] = exists[x0 : x1 + 1, y0 : y1 + 1]
        return mask

    def _clock_regions(self, text: str, x0: int, y0: int, x1: int, y1: int) -> dict[str, Mask]:
        columns = self._device["clock_regions"]["columns"]
        if x1 >= len(columns) or y1 >= len(self._rows):
            end = f"CLOCKREGION_X{len(columns) - 1}Y{len(self._rows) - 1}"
            raise RangeError(f"[Place 30-8520] range '{text}' extends outside of the device, which ends at {end}")
        left, right = columns[x0][0], columns[x1][1]
        result = {}
        for site, exists in self.exists.items():
            starts = self._starts[site]
            mask = np.zeros_like(exists)
            xs = [x for x, p in enumerate(self._columns[site]) if left <= p <= right]
            mask[xs, starts[y0] : starts[y1 + 1]] = exists[xs, starts[y0] : starts[y1 + 1]]
            result[site] = mask
        return result

    def _slrs(self, text: str, first: int, last: int) -> dict[str, Mask]:
        slrs = self._device["slrs"]
        if first > last:
            raise RangeError(f"range '{text}' has reversed corners")
        if last >= len(slrs):
            raise RangeError(
                f"[Place 30-8520] range '{text}' extends outside of the device, which has {len(slrs)} SLRs"
            )
        bottom, top = slrs[first]["clock_region_rows"][0], slrs[last]["clock_region_rows"][1]
        right = len(self._device["clock_regions"]["columns"]) - 1
        return self._clock_regions(text, 0, bottom, right, top)


def load_sites(device_yaml: Path) -> Sites:
    """Read a device file; equal ones, as each plan has them, once."""
    return _sites(device_yaml.read_text(encoding="utf-8"))


@cache
def _sites(text: str) -> Sites:
    return Sites(yaml.load(text, Loader=yaml.CSafeLoader))
