"""Kinds that FINN inserts between engines; here so that its own estimates of them can be asked for."""

from __future__ import annotations

from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.converter import converter_resources
from floorflow.backends.finn.fifo import fifo_resources, finn_fifo_luts, finn_vivado_fifo
from floorflow.backends.finn.kinds.simple import Simple, SimpleUnit
from floorflow.resources import Resources
from floorflow.technology import Technology

_ANY = Technology("ultrascale+", "DSP48E2", has_uram=True)


def _converter(reader: Reader) -> SimpleUnit:
    inside, outside = reader.integer("inWidth"), reader.integer("outWidth")
    own, finn = (converter_resources(inside, outside, _ANY, model) for model in ("estimated", "finn"))
    return SimpleUnit(0, (inside,), (outside,), own, finn)


def _fifo(reader: Reader) -> SimpleUnit:
    depth = reader.integer("depth")
    width = reader.sizes("folded_shape")[-1] * reader.bits("dataType")
    if reader.text("impl_style", "rtl") == "vivado":
        finn = finn_vivado_fifo(width, depth, reader.text("ram_style", "auto"))
    else:
        finn = Resources(lut=finn_fifo_luts(width, depth))
    return SimpleUnit(0, (width,), (width,), fifo_resources(width, depth, _ANY, "estimated"), finn)


KINDS = (
    Simple("StreamingDataWidthConverter_rtl", _converter),
    Simple("StreamingDataWidthConverter_hls", _converter),
    Simple("StreamingFIFO_rtl", _fifo),
)
