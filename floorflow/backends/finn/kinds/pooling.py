"""Kinds that reduce: pools, global accumulation, and the choice of the best label."""

from math import prod

from floorflow.backends.finn.attributes import Reader, bits_to_hold, extreme_value, is_signed
from floorflow.backends.finn.cost.estimated import Logic
from floorflow.backends.finn.cost.memory import ceil_divide, ram_luts
from floorflow.backends.finn.kinds.kind import ONLY_MAIN, Simple, SimpleUnit
from floorflow.resources import Resources

_FUNCTIONS = ("MaxPool", "QuantAvgPool")


def _pool(reader: Reader) -> SimpleUnit:
    """Reduce each window of a depthwise sliding window before it, whose SIMD must equal this PE."""
    pe, taps = reader.positive("PE"), prod(reader.sizes("KernelSize"))
    pixels = prod(reader.sizes("OutImgDims")) * reader.integer("BatchSize", 1)
    inside, outside = reader.bits("InputDataType"), reader.bits("OutputDataType")
    accumulator = max(inside, reader.integer("AccumBits", 0))
    ports = pe * (inside + outside)
    own = Logic(ports, pe * accumulator, pe * accumulator, control="pool")
    cycles = reader.folds("Channels", "PE") * taps * pixels
    told = None if _finn_pools(reader) else (pe * inside, None)
    return SimpleUnit(cycles, (pe * inside,), (pe * outside,), own, told_bits=told)


def _finn_pools(reader: Reader) -> bool:
    """Whether FINN takes the pool's types; for others it does not tell the output's width."""
    names = [_one_name(reader.text(name)) for name in ("InputDataType", "OutputDataType")]
    functions = ("MaxPool", "QuantAvgPool", "AvgPool", "AccPool") if reader.finn == "plus" else _FUNCTIONS
    function = reader.one_of("Function", functions)
    if function == "MaxPool":
        return names[0] == names[1]
    return function != "QuantAvgPool" or is_signed(names[0]) == is_signed(names[1])


def _one_name(name: str) -> str:
    """Return BINARY for its other name."""
    return "BINARY" if name == "UINT1" else name


def pools_one_dimension(reader: Reader) -> bool:
    """Whether a max pool works along one axis; only then does FINN fold it."""
    image, pool = reader.pair("ImgDim"), reader.pair("PoolDim")
    return (image[0], pool[0]) == (1, 1) or (image[1], pool[1]) == (1, 1)


def max_pool_outputs(reader: Reader) -> int:
    """Return the pixels that a max pool writes."""
    image, window = reader.pair("ImgDim"), reader.pair("PoolDim")
    if not pools_one_dimension(reader):
        return (image[0] // window[0]) * (image[1] // window[1])
    length, pool = max(image), max(window)
    return (-((pool - length) // pool) if reader.integer("CeilMode", 0) == 1 else (length - pool) // pool) + 1


def _max_pool(reader: Reader) -> SimpleUnit:
    channels, bits = reader.positive("NumChannels"), reader.bits("dataType")
    length, pool = max(reader.pair("ImgDim")), max(reader.pair("PoolDim"))
    if pools_one_dimension(reader):
        pe, outputs = reader.positive("PE"), max_pool_outputs(reader)
        cycles, width = outputs * reader.folds("NumChannels", "PE") * (pool + 1), bits * pe
    else:
        if any(size % step for size, step in zip(reader.pair("ImgDim"), reader.pair("PoolDim"), strict=True)):
            raise reader.wrong("PoolDim", f"two integers that divide ImgDim, which is {reader.pair('ImgDim')}")
        length, pool = reader.pair("ImgDim")[1], reader.pair("PoolDim")[1]
        cycles, width = int(length * length * (1 + 1 / (pool * pool))), bits * channels
    # Two row buffers, which HLS puts into block RAM however short they are: 12 RAMB18 of three pools, as built.
    line = Resources(bram18=2 * ceil_divide(width, 36))
    own = Logic(2 * width, width, width, line)
    return SimpleUnit(cycles, (width,), (width,), own)


def _global_pool(reader: Reader) -> SimpleUnit:
    """Sum each channel over all pixels; the sums wait in memory while channels are folded.

    Of a single vector FINN cannot tell the output's width: it looks for an image's height and width.
    """
    pe, folds = reader.positive("PE"), reader.folds("NumChannels", "PE")
    vectors = reader.sizes("numInputVectors", (1,))
    pixels = prod(vectors[-2:])
    bits = reader.bits("inputDataType")
    sum_bits = bits_to_hold(pixels * extreme_value(reader.text("inputDataType")))
    memory = Resources(lut=ram_luts(pe * sum_bits, folds))
    own = Logic(pe * (bits + sum_bits), pe * sum_bits, pe * sum_bits, memory)
    told = (pe * bits, None) if len(vectors) == 1 else None
    return SimpleUnit(prod(vectors) * folds + folds, (pe * bits,), (pe * sum_bits,), own, told_bits=told)


def _label_select(reader: Reader) -> SimpleUnit:
    """Keep the K best values and their indices; left out, their type has whole bytes, of two labels one bit."""
    labels, pe, best = reader.positive("Labels"), reader.positive("PE"), reader.positive("K", 1)
    bits = reader.bits("inputDataType")
    index_bits = ceil_divide(bits_to_hold(labels - 1), 8) * 8 if labels > 2 else 1
    if reader.attributes.get("outputDataType"):
        index_bits = reader.bits("outputDataType")
    kept = best * (bits + index_bits)
    own = Logic(pe * bits + index_bits, pe * bits * best, pe * bits + kept)
    return SimpleUnit(reader.folds("Labels", "PE"), (pe * bits,), (index_bits,), own)


KINDS = (
    Simple("Pool_hls", _pool, "PE", "Channels"),
    Simple("StreamingMaxPool_hls", _max_pool, "PE", "NumChannels", pools_one_dimension, ONLY_MAIN),
    Simple("GlobalAccPool_hls", _global_pool, "PE", "NumChannels"),
    Simple("LabelSelect_hls", _label_select, "PE", "Labels"),
)
