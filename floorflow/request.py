"""What the user asked for, resolved: the options that every stage reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import floor
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from floorflow.errors import InputError
from floorflow.resources import RESOURCE_NAMES, Resources

Effort = Literal["fast", "default", "best"]
Granularity = Literal["stage", "block", "layer", "slot"]
CostModelName = Literal["estimated", "finn"]
Objective = Literal["throughput", "resources"]

PAPER_CAPS: Mapping[str, float] = MappingProxyType({"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9})
"""The coarse-grained floorplanning paper's share of a slot that a design may use."""
DEFAULT_FILL: Mapping[str, float] = MappingProxyType({"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0})
"""How full one pblock may be."""


@dataclass(frozen=True)
class Request:
    """One run of ``plan``. ``cap`` and ``fill`` hold a fraction for each of the five resources."""

    model: Path
    platform: str
    fpgas: int | Literal["auto"] = 1
    max_fpgas: int = 16
    fps: float | None = None
    cap: Mapping[str, float] = field(default_factory=lambda: PAPER_CAPS)
    fill: Mapping[str, float] = field(default_factory=lambda: DEFAULT_FILL)
    clock_mhz: float | None = None
    seed: int = 0
    effort: Effort = "default"
    granularity: Granularity = "stage"
    keep_granularity: bool = False
    costs: CostModelName = "estimated"
    runtime_weights: bool = True
    label_select: bool = False
    plots: bool = True


def limited(amount: Resources, fractions: Mapping[str, float]) -> Resources:
    """Return floor(fraction x amount) of each resource; the tiny term keeps 0.7 x 10 at 7."""
    return Resources(
        *(floor(fractions[n] * have + 1e-9) for n, have in zip(RESOURCE_NAMES, amount.as_tuple(), strict=True))
    )


def fractions(defaults: Mapping[str, float], settings: list[str], option: str) -> dict[str, float]:
    """Apply ``LUT=0.75`` settings of ``--cap`` or ``--fill`` over defaults.

    Raises
    ------
    InputError
        For an unknown resource or a value outside (0, 1].

    """
    result = dict(defaults)
    for setting in settings:
        name, _, value = setting.partition("=")
        if name not in RESOURCE_NAMES:
            raise InputError(
                f"{option} {setting}: unknown resource {name!r}", hint=f"use one of {', '.join(RESOURCE_NAMES)}"
            )
        try:
            fraction = float(value)
        except ValueError:
            fraction = -1.0
        if not 0 < fraction <= 1:
            raise InputError(f"{option} {setting}: expected a fraction above 0 and up to 1, such as {name}=0.75")
        result[name] = fraction
    return result


def fpga_count(text: str) -> int | Literal["auto"]:
    """Read ``--fpgas``.

    Raises
    ------
    InputError
        If it is neither ``auto`` nor a number above 0.

    """
    if text == "auto":
        return "auto"
    if not text.isdecimal() or int(text) < 1:
        raise InputError(f"--fpgas {text}: expected auto or a number of 1 and more")
    return int(text)
