"""What a search found out beside its design: what weights written at run time buy; and what is found out behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from floorflow.resources import Resources

LimitOption = Literal["max_products", "max_engine_share"]


@dataclass(frozen=True)
class WithoutLimits:
    """The folding bound without the limits on single engines: proven, and reached by a folding.

    ``options``: fields of the request that have to be lifted for it; none if the limits cost nothing.
    """

    bound_cycles: int
    options: tuple[LimitOption, ...]


@dataclass(frozen=True)
class HostWeights:
    """What is known of designs with and without engines that the host writes, where these are to be spared.

    ``least``: no folding at the design's interval has fewer of them. Cycles are intervals; with the objective latency
    they are latencies, without bounds. ``bound_cycles`` is the folding bound where any engine may be written,
    ``without_bound_cycles`` where none is; None: it is proven that nothing fits, or none was worked out.
    ``without_cycles`` is that of the design found without, None if none was; ``sought``: whether one was looked for.
    """

    least: int
    bound_cycles: int | None
    without_bound_cycles: int | None
    without_cycles: int | None
    sought: bool


@dataclass(frozen=True)
class Figures:
    """What makes a design large or small: the fullest slot, the largest engine, all that is used, the wire length.

    ``share`` is of the cap on ``resource`` in ``slot``; ``engine`` takes the largest share of the LUTs or DSPs of its
    slot, ``amount`` of ``engine_resource``. ``hpwl`` is None where nothing was placed.
    """

    slot: str
    resource: str
    share: float
    engine: str
    engine_resource: str
    amount: int
    resources: Resources
    hpwl: float | None = None


@dataclass(frozen=True)
class Bargain:
    """A rate that is lower by a share, as ``--fps`` takes it, and the figures of the design for it.

    ``interval_cycles`` is that of the design; without figures none was found, or it is the plan's own interval, within
    which no folding is slower.
    """

    less: float
    fps: float
    interval_cycles: int | None
    figures: Figures | None


@dataclass(frozen=True)
class Bargains:
    """The figures of the plan itself, and its bargains, the least first; ``planned``: with floorplans.

    ``beside``: options that the same command takes beside ``--fps``, so that it asks for nothing else.
    """

    now: Figures
    rows: tuple[Bargain, ...]
    planned: bool
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeftOut:
    """What takes more work than the plan did, and the option with which it is worked out; ``less`` of bargains."""

    what: Literal["without_limits", "bargains"]
    option: str
    less: tuple[float, ...] = ()


@dataclass(frozen=True)
class Extras:
    """What is worked out once a plan stands; None where it is not known, or was not sought."""

    without_limits: WithoutLimits | None
    bargains: Bargains | None
    left_out: tuple[LeftOut, ...]
