"""Which FINN: its stable branch, its development branch, or FINN+ of the eki project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

from floorflow.technology import Technology, require_known_family, technology_of

FinnVersion = Literal["main", "dev", "plus"]
"""``main``: Xilinx/finn 39f0c9a (as v0.10.1). ``dev``: 73ba5ed. ``plus``: eki-project/finn-plus 1.6.1."""

FINN_VERSIONS: tuple[FinnVersion, ...] = get_args(FinnVersion)
VERSION_NAMES = {"main": "FINN main", "dev": "FINN dev", "plus": "FINN+"}

NAMED_HLS: Mapping[FinnVersion, tuple[int, int]] = {"main": (2022, 2), "dev": (2022, 2), "plus": (2024, 2)}
"""Year and release of the tools that each names: what is meant where nobody gave one (docs/statements.md)."""

_VERSAL = ("xcvc", "xcve", "xcvp", "xcvm", "xqvc", "xqvm", "xqrvc")
_NEWER_VERSAL = (*_VERSAL, "xcv80")


def technology_for(part: str, finn: FinnVersion) -> Technology:
    """Return the part's family as that FINN tells it (``get_dsp_block``), which misses some Versal parts.

    Raises
    ------
    PlatformError
        If the part is of no known family.

    """
    require_known_family(part)
    technology, name = technology_of(part), part.lower()
    if name.startswith(_VERSAL if finn == "main" else _NEWER_VERSAL):
        return replace(technology, architecture="versal", dsp_block="DSP58")
    if technology.architecture == "versal":
        return replace(technology, architecture="ultrascale+", dsp_block="DSP48E2")
    return technology
