"""What holds for the site ranges of any pblock on a die, whoever made it: rules of `check` for plans and for XDC files.

Names of faults are those of `check`; how grave a fault is and where it is told is the caller's to say.
"""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.verify.hardware.geometry import FREE_SITE_TYPES, Device, Sites, difference
from floorflow.verify.hardware.ranges import SiteRange, exists, parse_range, sites_of_range, within_device


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
