"""An engine for a network: its subgraphs in depth and in input maps, with time, bytes and resources.

Source: f-CNN^x, section III-A and eq. 1 and 2. Each subgraph is one convolution, or one tile of its input maps, with
what follows. Weights of a subgraph are traffic that flows while it computes (``serial_weights``: eq. 2 literally, first
weights, then work). What the paper does not print is calibrated: see the constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from floorflow.backends.fcnnx.layers import ConvLayer
from floorflow.backends.fcnnx.sdf import subgraph_cycles
from floorflow.dataflow.traffic import BYTES_PER_US, EnginePoint, Subgraph
from floorflow.resources import Resources

CLOCK_MHZ = 150.0
WORD_BYTES = 2
"""Q8.8."""
PARTIAL_SUM_BYTES = 4
TRAFFIC_FACTOR = 1.3
"""Bytes moved over bytes needed: calibrated on rows 1 to 4 of Table III, not printed."""
BEAT_BYTES = 8
"""What one engine's port moves in a cycle: 1.2 GB/s at 150 MHz."""
BLOCK_WORDS = 1024
"""16-bit words of a block of 18 Kb, and of a memory bank of one multiplier."""
FIFO_BRAM18 = 8
"""Blocks of an engine's FIFOs."""
BASE_LUT, DSP_LUT = 8_000, 130
"""Of an engine, and for each multiplier: assumed, not calibrated."""
BASE_FF, DSP_FF = 10_000, 200


@dataclass(frozen=True)
class Engine:
    """Folding of an engine: ``n_pe`` output maps and ``n_op`` window values at once, ``banks`` blocks a multiplier."""

    n_pe: int
    n_op: int
    banks: int = 1
    clock_mhz: float = CLOCK_MHZ
    serial_weights: bool = False

    @property
    def port_gbs(self) -> float:
        """What the engine's port moves at most."""
        return BEAT_BYTES * self.clock_mhz / BYTES_PER_US

    @property
    def multipliers(self) -> int:
        """DSP slices."""
        return self.n_pe * self.n_op

    def tile_maps(self, layer: ConvLayer) -> int:
        """Return f_in: the input maps of a tile whose weights lie on chip, balanced over the tiles; 0 if none fits."""
        words = BLOCK_WORDS * self.multipliers * self.banks
        most = min(words // (layer.maps_out * layer.kernel**2), layer.maps_in)
        return most and ceil(layer.maps_in / ceil(layer.maps_in / most))

    def subgraphs(self, layers: tuple[ConvLayer, ...]) -> tuple[Subgraph, ...]:
        """Return the subgraphs of a network in order; every layer has a tile that fits."""
        return tuple(subgraph for layer in layers for subgraph in self._tiles(layer))

    def _tiles(self, layer: ConvLayer) -> Iterator[Subgraph]:
        maps = self.tile_maps(layer)
        starts = range(0, layer.maps_in, maps)
        for number, start in enumerate(starts):
            here = min(maps, layer.maps_in - start)
            is_last = number == len(starts) - 1
            weights = TRAFFIC_FACTOR * WORD_BYTES * here * layer.maps_out * layer.kernel**2
            moved = weights + TRAFFIC_FACTOR * _map_bytes(layer, here, is_first=number == 0, is_last=is_last)
            cycles = subgraph_cycles(layer, here, self.n_pe, self.n_op, is_last=is_last)
            port = self.port_gbs * BYTES_PER_US
            latency = max(cycles / self.clock_mhz, moved / port)
            if self.serial_weights:
                latency = max(cycles / self.clock_mhz, (moved - weights) / port) + weights / port
            yield Subgraph(f"{layer.name}.{number}", latency, moved)

    def resources(self, layers: tuple[ConvLayer, ...]) -> Resources:
        """Return what the engine takes: multipliers, their banks, the largest window's rows and FIFOs."""
        rows = max((layer.kernel - 1) * layer.columns_in * self.tile_maps(layer) for layer in layers)
        bram18 = self.multipliers * self.banks + 2 * ceil(rows / BLOCK_WORDS) + FIFO_BRAM18
        lut, ff = BASE_LUT + DSP_LUT * self.multipliers, BASE_FF + DSP_FF * self.multipliers
        return Resources(lut=lut, ff=ff, bram18=bram18, dsp=self.multipliers)

    def fits(self, layers: tuple[ConvLayer, ...]) -> bool:
        """Whether weights of at least one input map of every layer lie on chip."""
        return all(self.tile_maps(layer) for layer in layers)

    def point(self, network: str, layers: tuple[ConvLayer, ...]) -> EnginePoint:
        """Return the engine as a point of the design space."""
        folding = {"N_PE": self.n_pe, "N_op": self.n_op, "banks": self.banks}
        work = sum(layer.operations for layer in layers) / 1e9
        return EnginePoint(network, folding, self.subgraphs(layers), self.resources(layers), work)


def _map_bytes(layer: ConvLayer, maps: int, *, is_first: bool, is_last: bool) -> float:
    """Return the bytes of feature maps that a tile reads and writes, partial sums among them."""
    read = WORD_BYTES * maps * layer.rows_in * layer.columns_in
    sums = PARTIAL_SUM_BYTES * layer.maps_out * layer.rows_out * layer.columns_out
    written = WORD_BYTES * layer.results if is_last else sums
    return read + written + (0 if is_first else sums)
