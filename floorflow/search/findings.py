"""What a search found out beside its design: what limits cost, and what weights written at run time buy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
