"""From a network to its one engine: layers as attributes, beats of the external memory in and out.

A layer is a convolution with the ReLU and the pool behind it.
"""

from __future__ import annotations

from math import prod

from floorflow.backends.fcnnx.engine import BEAT_BYTES, WORD_BYTES, ConvLayer, Pool, layers_of
from floorflow.backends.layered.graph import LayerSource, check_read
from floorflow.dataflow.model import HOST_PREFIX, AttributeValue, Dataflow, Engine, Stream
from floorflow.errors import InputError
from floorflow.network import Network

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
