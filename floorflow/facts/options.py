"""What was asked for, with what it left open as it was taken: rates, the preset and its values, limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from floorflow.facts.text import rate
from floorflow.presets import ALVEO_MHZ, PRESET_FIELDS
from floorflow.request.choices import HARD_FILL, LARGE_LUT, LARGE_LUT_FILL, Objective
from floorflow.request.model import Request, preset_value
from floorflow.resources import NONE, RESOURCE_NAMES, Fractions, SomeFractions

_OPEN = {
    "max_hops": "1, more only where no assignment exists with it",
    "fill": f"by confidence; hard at most LUT {HARD_FILL['LUT']:.0%} ({LARGE_LUT_FILL:.0%} above {LARGE_LUT:,} LUT), "
    f"FF {HARD_FILL['FF']:.0%}, others {HARD_FILL['BRAM18']:.0%}",
}
"""What holds where an option is left open."""


class Options(Request):
    """The request of the run, files by their names alone, with what it left open as it was taken.

    ``models`` stands for the request's ``model``, which plan.json does not have. ``rates`` and ``min_rate``, in frames
    a second by network, are those of several networks; a plan of one has neither.
    """

    model: SkipJsonSchema[Path] = Field(Path(), exclude=True)
    models: Annotated[list[str], Field(min_length=1)]
    rates: dict[str, float] = Field(default_factory=dict)
    min_rate: dict[str, float] = Field(default_factory=dict)
    clock_mhz: float
    objective: Objective

    @property
    def preset_mhz(self) -> float:
        """The highest clock that the preset gives Alveo cards."""
        return ALVEO_MHZ.get(self.preset, inf)


def goal(options: Options, fairness: str | None) -> str:
    """Return what was sought at which rates; ``fairness``: by which error, where networks share the memory."""
    if fairness is not None:
        rates = ", ".join(_rates_of_several(options)) or "the most that each network reaches alone"
        return f"the least {fairness} against {rates}"
    wanted = {"throughput": "the highest rate", "latency": "the lowest latency", "resources": "the least resources"}
    what = wanted[options.objective]
    if options.rates or options.min_rate:
        what = what if options.objective == "resources" else "the largest least share"
        return f"{what} at {', '.join(_rates_of_several(options))}"
    if options.fps is None:
        return what
    return f"{what} at {options.fps:,g} frames/s{' or more' if options.objective == 'latency' else ''}"


def _rates_of_several(options: Options) -> list[str]:
    """Tell what was asked for of each of several networks."""
    asked = [f"{name} {rate(fps)} frames/s" for name, fps in options.rates.items()]
    return [*asked, *(f"{name} at least {rate(fps)} frames/s" for name, fps in options.min_rate.items())]


def room(options: Options, *, with_bands: bool) -> str:
    """Tell by what pblocks are sized; ``with_bands``: the costs know their error."""
    sought, given = options.confidence_sought, options.fill.as_dict()
    words = [f"--fill {_percents(given)}"] if given else []
    if sought is not None and len(given) < len(RESOURCE_NAMES):
        words.append(f"--confidence {sought:g}" if with_bands else "without a confidence, as the costs know no error")
    rest = f"at most {_percents(options.fullest_fill)} full, --constraint-style {options.constraint_style}"
    return ", ".join([*words, rest])


def preset_lines(options: Options, own_mhz: float) -> list[str]:
    """Return the preset and, a line each, its values; one that is not the preset's own says what that has instead.

    ``own_mhz``: the clock that the preset gives the boards.
    """
    rows = list(_rows(options, own_mhz))
    width = max(len(name) for name, _, _ in rows)
    others = sum(value != usual for _, value, usual in rows)
    count = f"{others} of its values {'is' if others == 1 else 'are'} not the preset's" if others else "all its values"
    risk = "" if options.risk is None else f"; --risk {options.risk:g} gave caps and fills"
    lines = [f"preset     {options.preset}, {count}{risk}"]
    for name, value, usual in rows:
        beside = "" if value == usual else f"  (not of the preset, which has {usual})"
        lines.append(f"           {name.ljust(width)}  {value}{beside}")
    return lines


def _rows(options: Options, own_mhz: float) -> Iterator[tuple[str, str, str]]:
    """Yield option, value and the preset's value, as text."""
    for name in PRESET_FIELDS:
        yield (
            name.replace("_", "-"),
            _value(name, getattr(options, name)),
            _value(name, preset_value(options.preset, name)),
        )
    yield "clock", f"{options.clock_mhz:g} MHz", f"{own_mhz:g} MHz"
    own = options.backend_options
    for name in dict.fromkeys(name for changed in own.presets.values() for name in changed):
        yield name.replace("_", "-"), _value(name, getattr(own, name)), _value(name, own.usual(options.preset, name))


def _value(name: str, value: Any) -> str:
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
    words = ", ".join(f"{name} {share * 100:.4g}%" for name, share in kept.items()) or NONE
    rest = "" if lifted or len(kept) == len(RESOURCE_NAMES) else ", the others by confidence"
    return words + rest


def _percents(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.0%}" for name, value in shares.items())
