"""Prices of streams between engines whose ports never differ in width: FIFOs by structure, no converters."""

from __future__ import annotations

from floorflow.backends.backend import Costs
from floorflow.backends.layered import areas
from floorflow.resources import Resources


class EqualWidths(Costs):
    """A cost model of engines that leave no choice of widths; what they cost themselves is its own."""

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        """Price one FIFO by structure."""
        return areas.fifo(width_bits, depth_words)

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:  # noqa: ARG002
        """Price no converter: there is none."""
        return Resources()

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        """Whether both are the same."""
        return input_bits == output_bits

    def converter_kind(self, input_bits: int, output_bits: int) -> str:  # noqa: ARG002
        """Return no kind: there is no converter."""
        return ""
