"""Vivado's site ranges, and what holds for any pblock on a die, whoever made it, of plans and of XDC files alike.

Names of faults are those of `check`; how grave a fault is and where it is told is the caller's to say.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from floorflow.verify.hardware.geometry import (
    FREE_SITE_TYPES,
    Device,
    Rectangle,
    Sites,
    add_to,
    describe,
    difference,
    shared,
)


@dataclass(frozen=True, slots=True)
class SiteRange:
    """A Vivado range ``KIND_XaYb:KIND_XcYd``."""

    kind: str
    left: int
    bottom: int
    right: int
    top: int

    @property
    def rows(self) -> int:
        """Bit mask over Y."""
        return ((1 << (self.top - self.bottom + 1)) - 1) << self.bottom


_NUMBER = "(0|[1-9][0-9]{0,4})"
_SITE = f"([A-Z0-9]+)_X{_NUMBER}Y{_NUMBER}"
_RANGE = re.compile(f"{_SITE}:{_SITE}")
"""Vivado's own spelling: ASCII digits without leading zeros."""


def parse_range(text: str) -> SiteRange | None:
    """Read a range; None unless it is lower-left:upper-right of one site type."""
    match = _RANGE.fullmatch(text)
    if match is None or match.group(1) != match.group(4):
        return None
    left, bottom, right, top = (int(match.group(i)) for i in (2, 3, 5, 6))
    return SiteRange(match.group(1), left, bottom, right, top) if left <= right and bottom <= top else None


def sites_of_range(device: Device, span: SiteRange) -> Sites:
    """Return the sites of the die that a range covers; holes inside it are harmless."""
    columns = ((span.kind, x) for x in range(span.left, span.right + 1))
    masks = {column: device.all_sites.get(column, 0) & span.rows for column in columns}
    return {column: mask for column, mask in masks.items() if mask}


def sites_of(device: Device, spans: Iterable[SiteRange]) -> Sites:
    """Return what some ranges add up to; ranges of clock regions hold every type."""
    found: Sites = {}
    for span in spans:
        if span.kind == "CLOCKREGION":
            add_to(found, device.sites(clock_region_rectangle(device, span)))
        else:
            add_to(found, sites_of_range(device, span))
    return found


def clock_region_rectangle(device: Device, span: SiteRange) -> Rectangle:
    """Return the rectangle of ``CLOCKREGION_XaYb:CLOCKREGION_XcYd``."""
    columns = device.raw["clock_regions"]["columns"]
    rows = device.region_rows
    return Rectangle(columns[span.left][0], span.bottom * rows, columns[span.right][1], (span.top + 1) * rows - 1)


def rectangle_of_range(device: Device, span: SiteRange) -> Rectangle:
    """Return the rectangle from the first to the last column and row of a range."""
    if span.kind == "CLOCKREGION":
        return clock_region_rectangle(device, span)
    columns = device.raw["site_columns"][span.kind]
    if span.kind == "SLICE":  # the Y of a SLICE is its CLB row
        return Rectangle(columns[span.left], span.bottom, columns[span.right], span.top)
    rows = 0
    for mask in sites_of_range(device, span).values():
        rows |= device.row_mask(span.kind, mask)
    bottom, top = (rows & -rows).bit_length() - 1, rows.bit_length() - 1
    return Rectangle(columns[span.left], bottom, columns[span.right], top)


def exists(device: Device, kind: str, x: int, y: int) -> bool:
    """Whether the die has the site."""
    return bool(device.all_sites.get((kind, x), 0) >> y & 1)


def within_device(device: Device, span: SiteRange) -> bool:
    """Whether the corners of a range lie within the numbering of the die (holes allowed)."""
    masks = [mask for (kind, _), mask in device.all_sites.items() if kind == span.kind]
    columns = len(device.raw["site_columns"].get(span.kind, []))
    return bool(masks) and span.right < columns and span.top < max(mask.bit_length() for mask in masks)


@dataclass(frozen=True, slots=True)
class RangeAnswer:
    """What a range names, and the name and message of its fault, if it has one."""

    span: SiteRange | None
    sites: Sites
    fault: tuple[str, str] | None = None


def judge_range(device: Device, text: str) -> RangeAnswer:
    """Judge one range of one site type and return the sites that it names; a range with a missing corner names some."""
    span = parse_range(text)
    if span is None:
        return RangeAnswer(None, {}, ("range-malformed", f"{text} is not lower-left:upper-right of one site type"))
    if not within_device(device, span):
        return RangeAnswer(span, {}, ("range-outside-device", f"{text} leaves the device"))
    corners = ((span.left, span.bottom), (span.right, span.top))
    fault = None
    if not all(exists(device, span.kind, x, y) for x, y in corners):
        fault = "range-corner-missing", f"a corner of {text} is a hole"
    return RangeAnswer(span, sites_of_range(device, span), fault)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Sites that an area holds and ranges do not name: whole site types, and some of types that they do name."""

    kinds: list[str]
    some: Sites


def left_out(inside: Sites, named: Sites) -> LeftOut:
    """Compare what lies in an area with what ranges name; site types that hold no logic need not be named."""
    held = {key: mask for key, mask in inside.items() if key[0] not in FREE_SITE_TYPES}
    kinds = sorted({kind for kind, _ in held} - {kind for kind, _ in named})
    missing = difference(held, named)
    return LeftOut(kinds, {key: mask for key, mask in missing.items() if key[0] not in kinds})


class Area(Protocol):
    """A pblock as it is judged: its sites and, where a plan states them, its rectangles."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def sites(self) -> Sites:
        """What its ranges name."""

    @property
    def areas(self) -> Sequence[Rectangle]:
        """Its rectangles; none where ranges are all that is stated."""


A = TypeVar("A", bound=Area)


@dataclass(frozen=True)
class KeepOut:
    """What no pblock may touch: all sites of some rectangles, and the rectangles if there are any."""

    sites: Sites
    areas: Sequence[Rectangle] = ()

    def touched(self, block: Area) -> tuple[str, Sites]:
        """Say what a pblock touches, and the sites of it; an empty text if nothing."""
        both = shared(block.sites, self.sites)
        if both:
            return describe(both), both
        over = [kept for kept in self.areas if any(kept.overlaps(area) for area in block.areas)]
        return (f"{over[0]}" if over else ""), both


def slrs_of(device: Device, block: Area) -> list[int]:
    """Return the SLRs in which a pblock has sites or rows of a rectangle."""
    found = []
    for number, sites in enumerate(device.slr_sites):
        bottom, top = device.slr_rows(number)
        rows = any(area.bottom <= top and area.top >= bottom for area in block.areas)
        if rows or any(mask & sites.get(key, 0) for key, mask in block.sites.items()):
            found.append(number)
    return found


Extent = tuple[int, Rectangle]
"""A pblock's number and its span in X and Y of one site type, or one of its rectangles in columns and rows."""
PAIR_COST = 20
"""What the comparison of two pblocks counts for, beside the columns of sites of one of them."""


def _free(_amount: int) -> None:
    """Charge nothing: a plan has few pblocks."""


def overlapping(blocks: Sequence[A], charge: Callable[[int], None] = _free) -> Iterator[tuple[A, A, Sites]]:
    """Yield pairs of pblocks that share sites, or whose rectangles do, with what they share, by their lower edges.

    ``charge`` is told how much each comparison costs, and may end it.
    """
    kinds = sorted({kind for block in blocks for kind, _ in block.sites})
    seen: set[tuple[int, int]] = set()
    for extents in (_boxes(blocks), *(_spans(blocks, kind) for kind in kinds)):
        for lower, upper, known in _crossing(extents):
            if (lower, upper) in seen:
                continue
            charge(PAIR_COST + len(blocks[lower].sites))
            both = shared(blocks[lower].sites, blocks[upper].sites)
            if both or known:
                seen |= {(lower, upper), (upper, lower)}
                yield blocks[lower], blocks[upper], both


def _crossing(extents: tuple[Iterable[Extent], bool]) -> Iterator[tuple[int, int, bool]]:
    """Yield pairs of pblocks with extents that cross, by a line that moves upwards, and whether that is enough."""
    active: list[Extent] = []
    for number, area in sorted(extents[0], key=lambda one: (one[1].bottom, one[1].left, one[0])):
        active = [one for one in active if one[1].top >= area.bottom]
        for before, other in active:
            if before != number and other.left <= area.right and area.left <= other.right:
                yield before, number, extents[1]
        active.append((number, area))


def _boxes(blocks: Sequence[Area]) -> tuple[Iterable[Extent], bool]:
    return ((number, area) for number, block in enumerate(blocks) for area in block.areas), True


def _spans(blocks: Sequence[Area], kind: str) -> tuple[Iterable[Extent], bool]:
    return (span for number, block in enumerate(blocks) for span in _span(number, block.sites, kind)), False


def _span(number: int, sites: Sites, kind: str) -> Iterator[Extent]:
    masks = {x: mask for (own, x), mask in sites.items() if own == kind}
    if masks:
        every = 0
        for mask in masks.values():
            every |= mask
        bottom = (every & -every).bit_length() - 1
        yield number, Rectangle(min(masks), bottom, max(masks), every.bit_length() - 1)
