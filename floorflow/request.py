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
CostModelName = Literal["calibrated", "estimated", "finn"]
FinnName = Literal["main", "dev", "plus"]
Topology = Literal["pair", "chain", "ring", "star", "full"]
ImplStyle = Literal["auto", "default", "free"]
Objective = Literal["throughput", "latency", "resources"]

DEFAULT_CAP: Mapping[str, float] = MappingProxyType({"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9})
"""The coarse-grained floorplanning paper's share of a slot that a design may use."""
DEFAULT_FILL: Mapping[str, float] = MappingProxyType({"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0})
"""How full one pblock may be."""
MOST_FPGAS = 16
"""As many FPGAs ``auto`` takes at most."""


@dataclass(frozen=True)
class Request:
    """One run of ``plan``. ``cap`` and ``fill`` hold a fraction for each of the five resources.

    ``impl_style``: engines are hls or rtl as FINN itself chooses (``default``), or as is best (``free``); ``auto`` is
    free where that serves the objective, and never with FINN's own costs.
    ``folding``: a folding_config.json whose folding ``keep_folding`` keeps, instead of the model's.
    """

    model: Path
    platform: str
    fpgas: int | Literal["auto"] = 1
    max_fpgas: int = MOST_FPGAS
    link: str | None = None
    topology: Topology = "chain"
    fps: float | None = None
    objective: Objective | None = None
    cap: Mapping[str, float] = field(default_factory=lambda: DEFAULT_CAP)
    fill: Mapping[str, float] = field(default_factory=lambda: DEFAULT_FILL)
    clock_mhz: float | None = None
    seed: int = 0
    effort: Effort = "default"
    granularity: Granularity = "stage"
    keep_granularity: bool = False
    costs: CostModelName = "calibrated"
    finn: FinnName = "main"
    impl_style: ImplStyle = "auto"
    runtime_weights: bool = True
    label_select: bool = False
    weight_bits: int | None = None
    activation_bits: int | None = None
    keep_folding: bool = False
    folding: Path | None = None
    plots: bool = True

    def __post_init__(self) -> None:
        """Refuse a rate to be met together with the highest rate, and a choice of styles by FINN's own costs."""
        if self.objective == "throughput" and self.fps is not None:
            raise InputError(
                f"--objective throughput: --fps {self.fps:g} asks for that rate, not for the highest",
                hint="leave out one of the two; --fps goes with the objectives resources and latency",
            )

        if self.impl_style == "free" and self.costs == "finn":
            raise InputError(
                "--impl-style free: --costs finn prices FINN's own choices, and some hardware at nothing",
                hint="use --costs calibrated or estimated to choose between hls and rtl",
            )

    @property
    def styles_are_open(self) -> bool:
        """Whether engines may be hls where FINN would make them rtl, and the other way."""
        return self.impl_style != "default" and self.costs != "finn"

    @property
    def goal(self) -> Objective:
        """The objective: what was asked for, else the highest rate, or the least resources at a given rate."""
        return self.objective or ("throughput" if self.fps is None else "resources")


ROUNDING = 1e-9
"""Added before a limit is rounded down, so that 0.7 x 10 is 7."""


def scaled_down(amount: Resources, fractions: Mapping[str, float]) -> Resources:
    """Return floor(fraction x amount) of each resource."""
    return Resources(
        *(floor(fractions[n] * have + ROUNDING) for n, have in zip(RESOURCE_NAMES, amount.as_tuple(), strict=True))
    )


def parse_fractions(defaults: Mapping[str, float], settings: list[str], option: str) -> dict[str, float]:
    """Apply ``LUT=0.75`` settings of ``--cap`` or ``--fill`` over defaults.

    Raises
    ------
    InputError
        For an unknown resource, one that is given twice, or a value outside (0, 1].

    """
    result = dict(defaults)
    given: dict[str, str] = {}
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
        if name in given:
            raise InputError(
                f"{option} {setting}: {name} is given twice, before as {given[name]}", hint=f"give {option} {name} once"
            )
        given[name] = setting
        result[name] = fraction
    return result


def fpga_count(text: str, most: int | None) -> int | Literal["auto"]:
    """Read ``--fpgas``; ``most`` is ``--max-fpgas``, None if it was not given.

    Raises
    ------
    InputError
        If it is neither ``auto`` nor a number from 1 to ``most``.

    """
    if text == "auto":
        return "auto"
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise InputError(f"--fpgas {text}: expected auto or a number of 1 and more")
    if most is not None and int(text) > most:
        raise InputError(f"--fpgas {text}: --max-fpgas allows {most}", hint="ask for fewer or raise --max-fpgas")
    return int(text)
