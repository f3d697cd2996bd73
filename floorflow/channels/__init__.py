"""Realise the streams between folded engines: widths, converters, FIFOs and crossing registers."""

from floorflow.channels.connect import Channel, ChannelCosts, Layout, connect, padded_width_bits
from floorflow.channels.couplings import couplings
from floorflow.channels.delays import Way

__all__ = ["Channel", "ChannelCosts", "Layout", "Way", "connect", "couplings", "padded_width_bits"]
