"""Which FINN op types floorflow knows, and what of their prices is in doubt.

Whoever adds a kind touches its family's file beside this one (a new family is named in `_KINDS` below),
``backends/finn/rates/patterns.py`` (when it reads and writes), ``roles.py``, ``folding/set_folding.py``, and the
judge's own ``verify/finn/engines.py``, ``kinds.py`` and ``foldings.py``. Where networks become it:
``network/operations.py`` and ``layers.py``, ``lower/lowering.py``; what FINN's own graphs say of it: ``read/``; its
levels of logic: ``clock.py``.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

from floorflow.backends.finn.attributes import GivenAttributes
from floorflow.backends.finn.kinds import (
    boundary,
    elementwise,
    joining,
    moving,
    pooling,
)
from floorflow.backends.finn.kinds.kind import EngineKind, Unit, priced
from floorflow.backends.finn.kinds.matrix_vector import Depthwise, MatrixVector
from floorflow.backends.finn.kinds.thresholding import Thresholding
from floorflow.backends.finn.kinds.window import Window
from floorflow.backends.finn.kinds.window_hls import HlsWindow
from floorflow.backends.finn.names import VERSION_NAMES, FinnVersion
from floorflow.errors import InputError
from floorflow.resources import Resources
from floorflow.technology import Technology

_KINDS: tuple[EngineKind, ...] = (
    MatrixVector("MVAU_hls"),
    MatrixVector("MVAU_rtl"),
    Depthwise("VVAU_hls"),
    Depthwise("VVAU_rtl"),
    Window("ConvolutionInputGenerator_rtl"),
    HlsWindow(),
    Thresholding("Thresholding_hls"),
    Thresholding("Thresholding_rtl"),
    *elementwise.KINDS,
    *pooling.KINDS,
    *moving.KINDS,
    *boundary.KINDS,
    *joining.KINDS,
)

WITH_WEIGHTS = frozenset({"MVAU", "VVAU"})
"""Families of kinds that multiply by weights: what versions of the tools make of them differs."""

HLS_ENDS = ((2022, 2), (2024, 2))
"""What no `--vivado` may turn out to be, before and after what HLS changed."""

KINDS: Mapping[str, EngineKind] = MappingProxyType({kind.op_type: kind for kind in _KINDS})
"""Every kind by FINN's op type."""


def kind_of(op_type: str) -> EngineKind:
    """Return the kind of that op type.

    Raises InputError if floorflow does not know it.
    """
    try:
        return KINDS[op_type]
    except KeyError:
        known = ", ".join(sorted(KINDS))
        raise InputError(f"FINN op type '{op_type}' is unknown", hint=f"known are {known}") from None


def known_kind(op_type: str, finn: FinnVersion) -> EngineKind:
    """Return the kind of that op type in that version of FINN.

    Raises InputError if that version does not have it.
    """
    kind = kind_of(op_type)
    if finn not in kind.versions:
        others = " and ".join(VERSION_NAMES[name] for name in VERSION_NAMES if name in kind.versions)
        raise InputError(f"{VERSION_NAMES[finn]} has no {op_type}", hint=f"{others} has it")
    return kind


def doubt(
    op_type: str, attributes: GivenAttributes, technology: Technology, finns: Sequence[FinnVersion]
) -> tuple[Resources, Resources]:
    """Return what an engine may need less and more than by the first FINN: by the others, and by any HLS if unknown.

    2022.2 and 2024.2 are the HLS before and after what changed (`kinds.weighted`). What one build alone shows is more.
    """
    units = [known_kind(op_type, finns[0]).unit(attributes, finns[0]), *_as_built_by(finns[1:], op_type, attributes)]
    part = getattr(units[0], "part", None) if op_type.endswith("_hls") else None
    unseen = part is not None and part.placement_is_unseen(technology)
    versions = HLS_ENDS if technology.vivado is None or unseen else (technology.vivado,)
    tools = [technology, *(replace(technology, vivado=version) for version in versions)]
    prices = [priced(unit, tool, "calibrated") for unit in units for tool in tools]
    amounts = list(zip(*(price.as_tuple() for price in prices), strict=True))
    least, most = (Resources(*map(choose, amounts)) for choose in (min, max))
    dearer = 0 if part is None else part.luts_in_doubt
    return prices[0] - least, most - prices[0] + Resources(lut=dearer)


def _as_built_by(finns: Sequence[FinnVersion], op_type: str, attributes: GivenAttributes) -> Iterator[Unit]:
    """Yield the engine as each FINN makes it; one that refuses its attributes has not built it."""
    for finn in finns:
        with suppress(InputError):
            yield known_kind(op_type, finn).unit(attributes, finn)
