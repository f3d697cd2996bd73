"""The preset of a plan and each of its values, with the preset's own beside a value that is another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from floorflow.facts import Options
from floorflow.hardware import Platform
from floorflow.presets import ALVEO_MHZ, PRESET_FIELDS
from floorflow.request import HARD_FILL, LARGE_LUT, LARGE_LUT_FILL, preset_value
from floorflow.resources import NONE, RESOURCE_NAMES, Fractions, SomeFractions

_OPEN = {
    "max_hops": "1, more only where no assignment exists with it",
    "fill": f"by confidence; hard at most LUT {HARD_FILL['LUT']:.0%} ({LARGE_LUT_FILL:.0%} above {LARGE_LUT:,} LUT), "
    f"FF {HARD_FILL['FF']:.0%}, others {HARD_FILL['BRAM18']:.0%}",
}
"""What holds where an option is left open."""


def preset_lines(options: Options, platform: Platform) -> list[str]:
    """Return the preset and, a line each, its values; one that is not the preset's own says what that has instead."""
    rows = list(_rows(options, platform))
    width = max(len(name) for name, _, _ in rows)
    others = sum(value != usual for _, value, usual in rows)
    count = f"{others} of its values {'is' if others == 1 else 'are'} not the preset's" if others else "all its values"
    risk = "" if options.risk is None else f"; --risk {options.risk:g} gave caps and fills"
    lines = [f"preset     {options.preset}, {count}{risk}"]
    for name, value, usual in rows:
        beside = "" if value == usual else f"  (not of the preset, which has {usual})"
        lines.append(f"           {name.ljust(width)}  {value}{beside}")
    return lines


def _rows(options: Options, platform: Platform) -> Iterator[tuple[str, str, str]]:
    """Yield option, value and the preset's value, as text."""
    for name in PRESET_FIELDS:
        yield (
            name.replace("_", "-"),
            _told(name, getattr(options, name)),
            _told(name, preset_value(options.preset, name)),
        )
    own_mhz = platform.own_mhz(ALVEO_MHZ.get(options.preset, inf))
    yield "clock", f"{options.clock_mhz:g} MHz", f"{own_mhz:g} MHz"
    own = options.backend_options
    for name in dict.fromkeys(name for changed in own.presets.values() for name in changed):
        yield name.replace("_", "-"), _told(name, getattr(own, name)), _told(name, own.usual(options.preset, name))


def _told(name: str, value: Any) -> str:
    if isinstance(value, SomeFractions) and not value.as_dict():
        return _OPEN[name]
    if isinstance(value, Fractions | SomeFractions):
        return _fractions(value.as_dict(), lifted=name == "max_engine_share")
    if value is None:
        return _OPEN[name]
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _fractions(shares: Mapping[str, float], *, lifted: bool) -> str:
    """Return shares by resource; of a limit that may be lifted those alone that are not."""
    kept = {name: share for name, share in shares.items() if share < 1 or not lifted}
    told = ", ".join(f"{name} {_share(share)}" for name, share in kept.items()) or NONE
    rest = "" if lifted or len(kept) == len(RESOURCE_NAMES) else ", the others by confidence"
    return told + rest


def _share(share: float) -> str:
    return f"{share * 100:.4g}%"
