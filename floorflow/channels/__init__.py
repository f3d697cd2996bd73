"""Realise the streams between folded engines: widths, converters, FIFOs and crossing registers."""

from floorflow.channels.coupling_prices import couplings
from floorflow.channels.realise import Channel, ChannelCosts, PartialPlacement, connect, padded_width_bits
from floorflow.channels.route_delay import Way

__all__ = ["Channel", "ChannelCosts", "PartialPlacement", "Way", "connect", "couplings", "padded_width_bits"]
