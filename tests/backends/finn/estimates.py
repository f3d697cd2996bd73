"""FINN's own estimate of one engine with all its attributes, folding included."""

from typing import NamedTuple

from floorflow.backends.finn.attributes import GivenAttributes
from floorflow.backends.finn.kinds.registry import known_kind
from floorflow.backends.finn.names import FinnVersion
from floorflow.technology import Technology


class FinnEstimate(NamedTuple):
    """Widths of the first input and output are un-padded, None where FINN refuses to tell."""

    cycles: int
    lut: int
    bram_18k: int
    uram: int
    dsp: int
    in_width_bits: int | None
    out_width_bits: int | None


def estimate(
    op_type: str, attributes: GivenAttributes, technology: Technology, finn: FinnVersion = "main"
) -> FinnEstimate:
    unit = known_kind(op_type, finn).unit(attributes, finn)
    use = unit.finn_resources(technology)
    return FinnEstimate(unit.cycles, use.lut, use.bram18, use.uram, use.dsp, *unit.finn_widths_bits)
