"""Realise the streams between folded engines: widths, converters, FIFOs and crossing registers."""

from floorflow.channels.coupling_prices import StreamPrices, couplings
from floorflow.channels.realise import Channel, ChannelCosts, PartialPlacement, connect

__all__ = ["Channel", "ChannelCosts", "PartialPlacement", "StreamPrices", "connect", "couplings"]
