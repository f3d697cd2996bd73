"""f-CNN^x' engines as a back end: what each question of the planner is answered by."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil, prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Parallelism
from floorflow.backends.fcnnx import export
from floorflow.backends.fcnnx.engine import BEAT_BYTES, CLOCK_MHZ, WORD_BYTES, ConvLayer, Pipeline, Pool, layers_of
from floorflow.backends.fcnnx.options import FcnnxOptions
from floorflow.backends.layered.areas import EqualWidths
from floorflow.backends.layered.backend import NamedByUser, by_rows
from floorflow.backends.layered.files import parallel_rows
from floorflow.backends.layered.graph import LayerSource, check_read, read_layers
from floorflow.dataflow.model import HOST_PREFIX, AttributeValue, Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.dataflow.traffic import EnginePoint
from floorflow.errors import InputError
from floorflow.facts import Plan
from floorflow.network import FloatBits, Network
from floorflow.rates import Actor
from floorflow.resources import Resources
from floorflow.technology import Technology

UNCALIBRATED = (
    "engines are the model of f-CNN^x (FPL 2018) with what the paper does not print assumed: a factor of 1.3 on bytes, "
    "LUT and FF; nothing of it was measured on silicon"
)


class FcnnxBackend(NamedByUser):
    """One engine a network, which runs its layers from external memory; from ONNX and QONNX."""

    name = "fcnnx"
    parallel_attributes = ("N_PE", "N_op")
    folding_limit = "hold no tile's weights, or are no faster than narrower ones"
    start_ups = "each subgraph fills its window anew"
    tool_name = "f-CNN^x"
    config_file = export.CONFIG
    files = staticmethod(export.files)

    def read(self, path: Path, options: FcnnxOptions) -> LayerSource:
        """Read a model file; its quantisers count for nothing."""
        return read_layers(path, FloatBits(8 * WORD_BYTES, 8 * WORD_BYTES))

    def lower(self, source: LayerSource, technology: Technology, options: FcnnxOptions) -> Dataflow:
        return lowered(source)

    def costs(self, technology: Technology, options: FcnnxOptions, *, own_kinds: bool = False) -> "FcnnxCosts":
        return FcnnxCosts(options)

    def from_memory(
        self, network: str, engine: Engine, option: Option, clock_mhz: float, options: FcnnxOptions
    ) -> EnginePoint:
        folding = {name: int(value) for name, value in option.folding.items()}  # type: ignore[arg-type]
        sizes = (folding["N_PE"], folding["N_op"], folding["banks"])
        pipeline = Pipeline(*sizes, clock_mhz, serial_weights=options.weights == "serial")
        return pipeline.point(network, layers_in(engine))

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        """Return when the engine touches the network's own ends: reads evenly in its time, writes at the end."""
        written = np.array([0, 1], dtype=np.int64)
        return by_rows(engine.name, option.cycles, (inputs, outputs), written)

    def parallelism(self, engine: Engine, option: Option) -> tuple[Parallelism, ...]:
        layers = layers_in(engine)
        mosts = {"N_PE": max(each.maps_out for each in layers), "N_op": max(each.kernel**2 for each in layers)}
        return parallel_rows({name: (int(option.folding[name]), most) for name, most in mosts.items()})  # type: ignore[arg-type]

    def warnings(self, folded: FoldedDataflow, clock_mhz: float, options: FcnnxOptions) -> Sequence[str]:
        return (UNCALIBRATED,)

    def unbuilt(
        self,
        boards: Sequence[str],
        networks: int,
        options: FcnnxOptions,
        *,
        in_regions: bool,
    ) -> Sequence[str]:
        """Return nothing: several networks on one card are what it is for."""
        return ()

    def cost_model(self, plan: Plan, /) -> str:
        return "f-CNN^x' engine model, calibrated on its Table III, not on silicon (docs/several-networks.md)"


BACKEND = FcnnxBackend()


BANKS = (1, 2, 4)


def front(
    network: str,
    layers: tuple[ConvLayer, ...],
    available: Resources,
    clock_mhz: float = CLOCK_MHZ,
    *,
    serial_weights: bool = False,
) -> tuple[EnginePoint, ...]:
    """Return the engines within a device that no other one beats, the fastest first."""
    points = [
        engine.point(network, layers)
        for engine in _candidates(layers, available, clock_mhz, serial_weights=serial_weights)
        if engine.resources(layers).fits(available)
    ]
    if not points:
        return ()
    values = np.array([(p.latency_us, p.resources.dsp, p.resources.bram18, p.traffic_bytes) for p in points])
    order = np.lexsort(values.T[::-1])
    kept = [int(order[n]) for n in np.flatnonzero(_undominated(values[order]))]
    return tuple(points[number] for number in kept)


def _candidates(
    layers: tuple[ConvLayer, ...], available: Resources, clock_mhz: float, *, serial_weights: bool
) -> Iterator[Pipeline]:
    """Yield the engines whose N_PE and N_op are the least with the cycles that they have, in each layer."""
    maps, values = {layer.maps_out for layer in layers}, {layer.kernel**2 for layer in layers}
    for n_pe in _useful(maps):
        for n_op in _useful(values):
            for banks in BANKS if n_pe * n_op <= available.dsp else ():
                engine = Pipeline(n_pe, n_op, banks, clock_mhz, serial_weights)
                if engine.fits(layers):
                    yield engine


def _useful(counts: set[int]) -> list[int]:
    """Return the least divisors with each combination of rounded-up quotients."""
    least: dict[tuple[int, ...], int] = {}
    for divisor in range(1, max(counts) + 1):
        least.setdefault(tuple(-(-count // divisor) for count in sorted(counts)), divisor)
    return sorted(least.values())


def _undominated(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mark the rows, sorted and distinct, that no other row is at most as large as in every column."""
    kept = np.ones(len(values), dtype=np.bool_)
    for row in range(len(values)):
        before = values[:row][kept[:row]]
        kept[row] = not (before <= values[row]).all(axis=1).any()
    return kept


MOST = Resources(lut=2**24, ff=2**24, bram18=2**14, uram=0, dsp=2048)
"""Of the largest engine that is looked at; the paper's device has 900 DSP slices."""
ROUNDING = 1e-6
"""Of a cycle: whole ones that floating point has put above are not rounded up."""


@dataclass(frozen=True)
class FcnnxCosts(EqualWidths):
    """Prices of engines, the same on all parts; all streams are beats of the memory."""

    options: FcnnxOptions
    name: str = field(init=False, default="f-CNN^x' engine model, calibrated on its Table III, not on silicon")

    def options_of(self, engine: Engine) -> list[Option]:
        """Return the engines that none beats in time, DSP, block RAM and bytes."""
        serial = self.options.weights == "serial"
        points = front(engine.name, layers_in(engine), MOST, serial_weights=serial)
        return [
            Option(
                dict(point.folding),
                ceil(point.latency_us * CLOCK_MHZ - ROUNDING),
                point.resources,
                (BEAT_BITS,),
                (BEAT_BITS,),
            )
            for point in points
        ]


KIND, NAME = "ConvEngine", "engine"
BEAT_BITS = 8 * BEAT_BYTES
SIZES = ("maps_in", "rows_in", "columns_in", "kernel", "maps_out", "rows_out", "columns_out")
POOL_SIZES = ("pool_kernel", "pool_rows", "pool_columns")
"""0 where a layer has no pool."""


def lowered(source: LayerSource) -> Dataflow:
    """Return the engine of a network's feature extractor, with its streams from and to memory.

    Raises InputError if operations could not be read or have no stage; all of them are named.
    """
    network = source.network
    check_read(network)
    layers = layers_of(network)
    if not layers or len(network.inputs) != 1:
        raise InputError(
            f"{network.name}: {len(layers)} convolutions and {len(network.inputs)} inputs",
            hint="f-CNN^x' engine runs a chain of convolutions from one input",
        )
    bits = 8 * WORD_BYTES
    engine = Engine(NAME, KIND, layers[0].name, _attributes(layers), bits, bits, bits, role="core", label="conv")
    read, written = _beats(prod(network.tensor(network.inputs[0]).shape[1:])), _beats(layers[-1].results)
    streams = (
        Stream(f"{HOST_PREFIX}in0", 0, NAME, 0, read, read, BEAT_BITS),
        Stream(NAME, 0, f"{HOST_PREFIX}out0", 0, written, written, BEAT_BITS),
    )
    return Dataflow(network.name, (engine,), streams, _notes(network))


def _notes(network: Network) -> tuple[str, ...]:
    """Return the reader's notes but for those on bits, which are the engine's whatever quantisers say."""
    kept = tuple(each for each in network.notes if "quantised" not in each and "quantiser" not in each)
    return (*kept, "f-CNN^x' engine has words of 16 bits, whatever the model's quantisers say")


def _beats(words: int) -> int:
    return -(-words * WORD_BYTES // BEAT_BYTES)


def _attributes(layers: tuple[ConvLayer, ...]) -> dict[str, AttributeValue]:
    found: dict[str, AttributeValue] = {"layers": tuple(layer.name for layer in layers)}
    found |= {name: tuple(int(getattr(layer, name)) for layer in layers) for name in SIZES}
    found["relu"] = tuple(int(layer.has_relu) for layer in layers)
    pools = [layer.pool or Pool(0, 0, 0) for layer in layers]
    columns = zip(*((pool.kernel, pool.rows_out, pool.columns_out) for pool in pools), strict=True)
    return found | dict(zip(POOL_SIZES, columns, strict=True))


def layers_in(engine: Engine) -> tuple[ConvLayer, ...]:
    """Return the layers that an engine runs."""
    names, *columns = (engine.attributes[name] for name in ("layers", *SIZES, "relu", *POOL_SIZES))
    rows = zip(names, *columns, strict=True)  # type: ignore[arg-type]
    return tuple(_layer(str(name), *map(int, sizes)) for name, *sizes in rows)


def _layer(name: str, *sizes: int) -> ConvLayer:
    *shape, relu, kernel, rows, columns = sizes
    maps_in, rows_in, columns_in, window, maps_out, rows_out, columns_out = shape
    pool = Pool(kernel, rows, columns) if kernel else None
    return ConvLayer(
        name, maps_in, rows_in, columns_in, window, maps_out, rows_out, columns_out, has_relu=bool(relu), pool=pool
    )
