"""Areas that a user states by ranges: what is to stay free of pblocks, and where a pblock is to lie.

An area is ``SLICE_X0Y0:SLICE_X20Y59``, of any site type, or ``CLOCKREGION_X0Y0:CLOCKREGION_X1Y1``, after ``fpga1/``
where it is of one FPGA among several. It is the rectangle from its first tile to its last.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from floorflow.errors import InputError, PlatformError
from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.platform import Fpga, Platform
from floorflow.hardware.ranges import parse_range, parse_ranges, range_rect, ranges, resources_of_sites, sites_inside
from floorflow.hardware.slots import Slot
from floorflow.resources import Resources


@dataclass(frozen=True, slots=True)
class StatedPblock:
    """A rectangle that a pblock is to have: in a slot, as the text says."""

    slot: str
    rect: Rect
    text: str


def with_keep_outs(platform: Platform, areas: Sequence[str], option: str = "--keep-out") -> Platform:
    """Return the platform with areas that no pblock may touch; an area without an FPGA's name is kept free in each.

    Rows are widened to where pblocks may begin and end. What the sites hold is not available, unless the shell or an
    area for infrastructure has them already.

    InputError if an area is no range of a device, or of an FPGA that there is.
    """
    found = platform
    for area in areas:
        name, text = _parted(area)
        fpgas = _named(platform, name, f"{option} {area}")
        rects = {fpga.name: _widened(fpga.device, _rect(fpga.device, text, f"{option} {area}")) for fpga in fpgas}
        found = replace(found, fpgas=tuple(_kept_out(f, rects[f.name]) if f.name in rects else f for f in found.fpgas))
    return found


def stated_pblock(platform: Platform, area: str, told: str) -> StatedPblock:
    """Return where a pblock is to lie; ``told`` is what messages begin with.

    InputError if the area is no range, names no FPGA among several, lies in no single SLR, touches the shell or a
    keep-out, or cuts columns or rows that no pblock may part.
    """
    name, text = _parted(area)
    fpgas = _named(platform, name, told)
    if len(fpgas) > 1:
        raise InputError(f"{told}: there are {len(fpgas)} FPGAs", hint=f"say in which: {fpgas[0].name}/{text}")
    (fpga,) = fpgas
    rect = _rect(fpga.device, text, told)
    slot = next((slot for slot in fpga.slots if slot.region.contains(rect)), None)
    if slot is None:
        raise InputError(f"{told}: it lies in no single SLR of {fpga.name}", hint="give a range inside one SLR")
    legal = _drawable(fpga.device, rect, parse_range(fpga.device, text).site)
    if legal is None or any(legal.overlaps(hole) for hole in slot.keep_outs):
        nearest = _nearest(fpga.device, rect)
        if legal is None:
            hint = f"the legal pblock that lies nearest begins with {ranges(fpga.device, nearest)[0]}"
            raise InputError(f"{told}: its edges cut columns or rows that no pblock may part", hint=hint)
        raise InputError(f"{told}: it touches the shell or a keep-out of {slot.name}", hint="give another range")
    return StatedPblock(slot.name, legal, area)


def _parted(area: str) -> tuple[str, str]:
    """Return the name of the FPGA, empty if there is none, and the range."""
    name, slash, text = area.partition("/")
    return (name, text) if slash else ("", area)


def _named(platform: Platform, name: str, told: str) -> Sequence[Fpga]:
    found = [fpga for fpga in platform.fpgas if name in ("", fpga.name)]
    if not found:
        known = ", ".join(fpga.name for fpga in platform.fpgas)
        raise InputError(f"{told}: there is no FPGA {name}", hint=f"known are {known}")
    return found


def _rect(device: Device, text: str, told: str) -> Rect:
    try:
        return range_rect(device, text)
    except PlatformError as error:
        raise InputError(f"{told}: {error}", hint=error.hint) from error


def _widened(device: Device, rect: Rect) -> Rect:
    """Return the rectangle with whole steps of rows."""
    step = device.row_step
    return Rect(rect.left, rect.bottom // step * step, rect.right, (rect.top // step + 1) * step - 1)


def _drawable(device: Device, rect: Rect, kind: str) -> Rect | None:
    """Return the pblock that holds just the sites of a range, of its type; None if there is none."""
    lefts = device.left_edges[device.left_edges >= rect.left].tolist()
    rights = device.right_edges[device.right_edges <= rect.right].tolist()
    inner = Rect(lefts[0], rect.bottom, rights[-1], rect.top) if lefts and rights and lefts[0] <= rights[-1] else None
    legal = [one for one in (inner, _nearest(device, rect)) if one is not None and one == _widened(device, one)]
    return next((one for one in legal if _sites(device, one, kind) == _sites(device, rect, kind)), None)


def _nearest(device: Device, rect: Rect) -> Rect:
    """Return the least legal pblock around a rectangle."""
    lefts, rights = (edges.tolist() for edges in (device.left_edges, device.right_edges))
    left = max((column for column in lefts if column <= rect.left), default=lefts[0])
    right = min((column for column in rights if column >= rect.right), default=rights[-1])
    return _widened(device, Rect(min(left, rect.left), rect.bottom, right, rect.top))


def _sites(device: Device, rect: Rect, kind: str) -> dict[str, int]:
    """Return how many sites of a type a rectangle holds; of a clock region's all that pblocks hold."""
    held = device.sites(rect)
    return {name: held[name] for name in held if name == kind or (kind == "CLOCKREGION" and name != "LAGUNA")}


def _kept_out(fpga: Fpga, rect: Rect) -> Fpga:
    return replace(fpga, slots=tuple(_without(fpga, slot, rect) for slot in fpga.slots))


def _without(fpga: Fpga, slot: Slot, rect: Rect) -> Slot:
    """Return a slot with a keep-out more."""
    if not rect.overlaps(slot.region):
        return slot
    region, device = slot.region, fpga.device
    here = Rect(rect.left, max(rect.bottom, region.bottom), rect.right, min(rect.top, region.top))
    static = fpga.board.shell.static.get(slot.slr, ()) if fpga.board.shell else ()
    shells, new = parse_ranges(device, static), {}
    for name in device.site_types:
        known = [sites_inside(device, name, hole) for hole in slot.keep_outs]
        taken = np.logical_or.reduce([*known, shells.get(name, np.zeros_like(device.site_masks[name]))])
        new[name] = sites_inside(device, name, here) & ~taken
    left = (slot.available - resources_of_sites(device, new)).most(Resources())
    return replace(slot, keep_outs=tuple(sorted((*slot.keep_outs, here))), available=left)
