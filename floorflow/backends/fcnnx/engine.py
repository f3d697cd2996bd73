"""A network's engine: its subgraphs in depth and in input maps, with time, bytes and resources.

Source: f-CNN^x, sections III-A and III-B, eq. 1 and 2. Each subgraph is one convolution, or one tile of its input maps,
with what follows. Weights of a subgraph are traffic that flows while it computes (``serial_weights``: eq. 2 literally,
first weights, then work). What the paper does not print is calibrated: see the constants.

Initiation intervals are from the matrices of synchronous dataflow. The text joins workload and topology with a product
sign; elements over elements a cycle are cycles, so that II = W / Gamma, element by element. A stage works off whole
groups of output maps and of window values, at the rate of the groups: ``elements / ceil(maps/N_PE) / ceil(K^2/N_op)``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.layered.graph import has_square_kernel, refuse_others
from floorflow.dataflow.traffic import BYTES_PER_US, EnginePoint, Subgraph
from floorflow.network import Network, Operation
from floorflow.resources import Resources

_READ = frozenset({"conv", "relu", "max_pool", "average_pool"})
_WIRES = frozenset({"quantise", "affine", "flatten"})
"""Words have 16 bits whatever quantisers say, and batch norm is a convolution's."""
_CLASSIFIER = frozenset({"fully_connected", "softmax", "top_k"})
_HINT = "f-CNN^x' engine runs a chain of conv (square kernel, one group), relu and pools"


@dataclass(frozen=True)
class Pool:
    """A pool behind a convolution."""

    kernel: int
    rows_out: int
    columns_out: int


@dataclass(frozen=True)
class ConvLayer:
    """A convolution of ``maps_in`` x ``rows_in`` x ``columns_in`` with the ReLU and the pool behind it."""

    name: str
    maps_in: int
    rows_in: int
    columns_in: int
    kernel: int
    maps_out: int
    rows_out: int
    columns_out: int
    has_relu: bool = False
    pool: Pool | None = None

    @property
    def macs(self) -> int:
        """Multiplications a frame."""
        return self.maps_in * self.maps_out * self.kernel**2 * self.rows_out * self.columns_out

    @property
    def results(self) -> int:
        """Words of the feature map that leaves, behind the pool."""
        rows, columns = (self.pool.rows_out, self.pool.columns_out) if self.pool else (self.rows_out, self.columns_out)
        return self.maps_out * rows * columns

    @property
    def operations(self) -> int:
        """Operations a frame as Table I counts them: two a multiplication, one each of ReLU and in a pool's window."""
        relu = self.maps_out * self.rows_out * self.columns_out if self.has_relu else 0
        return 2 * self.macs + relu + (self.results * self.pool.kernel**2 if self.pool else 0)


def layers_of(network: Network) -> tuple[ConvLayer, ...]:
    """Return the layers of a network's feature extractor; dense layers behind it stay on the host.

    Raises InputError if operations before the first dense layer have no stage; all of them are named.
    """
    body = _feature_extractor(network)
    refuse_others(network, body, _has_stage, "f-CNN^x' engine", _HINT)
    _refuse_branches(network, body)
    layers: list[ConvLayer] = []
    for operation in body:
        if operation.type == "conv":
            layers.append(_convolution(network, operation))
        elif operation.type == "relu":
            layers[-1] = replace(layers[-1], has_relu=True)
        else:
            layers[-1] = replace(layers[-1], pool=_pool(network, operation))
    return tuple(layers)


def _feature_extractor(network: Network) -> list[Operation]:
    """Return the operations that have stages, up to the classifier."""
    body = []
    for operation in network.operations:
        if operation.type in _CLASSIFIER:
            break
        if operation.type not in _WIRES:
            body.append(operation)
    return body


def _has_stage(operation: Operation) -> bool:
    return operation.type in _READ and has_square_kernel(operation) and operation.attributes.get("group", 1) == 1


def _refuse_branches(network: Network, body: list[Operation]) -> None:
    """Refuse what is no chain, or has a ReLU or pool where no convolution stands before it."""
    behind: set[str] = set()

    def in_chain(operation: Operation) -> bool:
        if len(operation.inputs) != 1 or len(network.consumers(operation.outputs[0])) > 1:
            return False
        if operation.type == "conv":
            behind.clear()
            behind.add("conv")
            return True
        alone = "conv" in behind and operation.type not in behind and "pool" not in behind
        behind.add("pool" if operation.type.endswith("pool") else operation.type)
        return alone

    refuse_others(network, body, in_chain, "f-CNN^x' engine", f"{_HINT}, one of each behind a convolution")


def _convolution(network: Network, operation: Operation) -> ConvLayer:
    _, maps_in, rows_in, columns_in = network.tensor(operation.inputs[0]).shape
    _, maps_out, rows_out, columns_out = network.tensor(operation.outputs[0]).shape
    kernel = operation.integers("kernel")[0]
    return ConvLayer(operation.name, maps_in, rows_in, columns_in, kernel, maps_out, rows_out, columns_out)


def _pool(network: Network, operation: Operation) -> Pool:
    _, _, rows, columns = network.tensor(operation.outputs[0]).shape
    given = operation.attributes.get("kernel")
    kernel = given[0] if isinstance(given, tuple) else network.tensor(operation.inputs[0]).shape[2]
    return Pool(int(kernel), rows, columns)


Floats = NDArray[np.float64]

PIPELINE_CYCLES = 64
"""Depth of the arithmetic; with the window's rows the fill D of eq. 1."""


def fill_cycles(layer: ConvLayer) -> int:
    """Return the cycles until the first window is full."""
    return (layer.kernel - 1) * layer.columns_in + PIPELINE_CYCLES


def workload(layer: ConvLayer, maps: int, *, is_last: bool) -> Floats:
    """Return W, (n_arcs, n_stages): elements that convolution and pool take at each arc, in groups of all maps.

    Arcs: into the convolution, from it to the pool, out of the pool. ``maps``: input maps of this tile; the pool works
    behind the last tile alone, for others leave as partial sums.
    """
    convolved = maps * layer.maps_out * layer.kernel**2 * layer.rows_out * layer.columns_out
    pooled = layer.results * layer.pool.kernel**2 if layer.pool and is_last else 0
    return np.array([[convolved, 0], [convolved, pooled], [0, pooled]], dtype=np.float64)


def topology(layer: ConvLayer, n_pe: int, n_op: int, pool_n_op: int) -> Floats:
    """Return Gamma, (n_arcs, n_stages): elements a cycle of both stages where they touch an arc, else 0.

    What N_PE and N_op do not divide leaves processing elements idle: rates are those that remain.
    """
    groups = -(-layer.maps_out // n_pe)
    convolution = layer.maps_out * layer.kernel**2 / (groups * -(-(layer.kernel**2) // n_op))
    values = layer.pool.kernel**2 if layer.pool else 1
    pool = layer.maps_out * values / (groups * -(-values // pool_n_op))
    return np.array([[convolution, 0], [convolution, pool], [0, pool]], dtype=np.float64)


def initiation_intervals(work: Floats, rates: Floats) -> Floats:
    """Return II = W / Gamma in cycles, 0 where a stage does not touch an arc."""
    return np.divide(work, rates, out=np.zeros_like(work), where=rates > 0)


def pool_operators(layer: ConvLayer, maps: int, n_op: int) -> int:
    """Return the fewest comparators of a pool's processing element with which it does not hold a tile up."""
    if layer.pool is None:
        return 1
    values = layer.pool.kernel**2
    cycles = maps * -(-(layer.kernel**2) // n_op) * layer.rows_out * layer.columns_out
    pixels = layer.pool.rows_out * layer.pool.columns_out
    return next((n for n in range(1, values) if -(-values // n) * pixels <= cycles), values)


@lru_cache(maxsize=4096)
def subgraph_cycles(layer: ConvLayer, maps: int, n_pe: int, n_op: int, *, is_last: bool) -> int:
    """Return the cycles of one tile at batch 1 (eq. 1, with a D of fill and interval); tiles of a layer are alike."""
    rates = topology(layer, n_pe, n_op, pool_operators(layer, maps, n_op))
    intervals = initiation_intervals(workload(layer, maps, is_last=is_last), rates)
    return round(float(intervals.max())) + fill_cycles(layer)


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
class Pipeline:
    """An engine's folding: ``n_pe`` output maps and ``n_op`` window values at once, ``banks`` blocks a multiplier."""

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
        return EnginePoint(network, folding, self.subgraphs(layers), self.resources(layers))


def _map_bytes(layer: ConvLayer, maps: int, *, is_first: bool, is_last: bool) -> float:
    """Return the bytes of feature maps that a tile reads and writes, partial sums among them."""
    read = WORD_BYTES * maps * layer.rows_in * layer.columns_in
    sums = PARTIAL_SUM_BYTES * layer.maps_out * layer.rows_out * layer.columns_out
    written = WORD_BYTES * layer.results if is_last else sums
    return read + written + (0 if is_first else sums)
