"""Which FINN op types floorflow knows, and the estimate of any of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from floorflow.backends.finn.kinds import elementwise, joining, moving, pooling
from floorflow.backends.finn.kinds.depthwise import Depthwise
from floorflow.backends.finn.kinds.kind import EngineKind
from floorflow.backends.finn.kinds.matrix_vector import MatrixVector
from floorflow.backends.finn.kinds.thresholding import Thresholding
from floorflow.backends.finn.kinds.window import Window
from floorflow.dataflow.model import Attributes
from floorflow.errors import InputError
from floorflow.technology import Technology

_KINDS: tuple[EngineKind, ...] = (
    MatrixVector("MVAU_hls"),
    MatrixVector("MVAU_rtl"),
    Depthwise("VVAU_hls"),
    Depthwise("VVAU_rtl"),
    Window("ConvolutionInputGenerator_rtl"),
    Thresholding("Thresholding_hls"),
    Thresholding("Thresholding_rtl"),
    *elementwise.KINDS,
    *pooling.KINDS,
    *moving.KINDS,
    *joining.KINDS,
)

KINDS: Mapping[str, EngineKind] = MappingProxyType({kind.op_type: kind for kind in _KINDS})
"""Every kind by FINN's op type."""


def kind_of(op_type: str) -> EngineKind:
    """Return the kind of that op type.

    Raises
    ------
    InputError
        If floorflow does not know it.

    """
    try:
        return KINDS[op_type]
    except KeyError:
        known = ", ".join(sorted(KINDS))
        raise InputError(f"FINN op type '{op_type}' is unknown", hint=f"known are {known}") from None


@dataclass(frozen=True, slots=True)
class FinnEstimate:
    """FINN main's own estimate of one engine; widths of the first input and output, un-padded."""

    cycles: int
    lut: int
    bram_18k: int
    uram: int
    dsp: int
    in_width_bits: int
    out_width_bits: int


def estimate(op_type: str, attributes: Attributes, technology: Technology) -> FinnEstimate:
    """Return FINN main's estimate of an engine with all its attributes, folding included.

    Raises
    ------
    InputError
        If the op type is unknown or an attribute is missing or ill-typed.

    """
    unit = kind_of(op_type).unit(attributes)
    found = unit.finn_resources(technology)
    inside, outside = unit.input_widths_bits[0], unit.output_widths_bits[0]
    return FinnEstimate(unit.cycles, found.lut, found.bram18, found.uram, found.dsp, inside, outside)
