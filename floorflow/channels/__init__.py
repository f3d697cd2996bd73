"""Realise the streams between folded engines: widths, converters, FIFOs and crossing registers."""

from floorflow.channels.coupling_prices import StreamPrices, couplings
from floorflow.channels.fifo_styles import choose_styles
from floorflow.channels.realise import (
    Channel,
    ChannelCosts,
    PartialPlacement,
    choices_of,
    connect,
    not_convertible,
    port_widths_bits,
    with_styles,
)
