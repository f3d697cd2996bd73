"""Kinds that reduce: pools, global accumulation, and the choice of the best label."""

from __future__ import annotations

from math import prod

from floorflow.backends.finn import estimated
from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.datatype import bits_to_hold, extreme_value
from floorflow.backends.finn.kinds.simple import Simple, SimpleUnit
from floorflow.backends.finn.memory import ram_luts
from floorflow.resources import Resources


def _pool(reader: Reader) -> SimpleUnit:
    """Reduce each window of a depthwise sliding window before it, whose SIMD must equal this PE."""
    pe, taps = reader.integer("PE"), prod(reader.pair("KernelSize"))
    pixels = prod(reader.pair("OutImgDims")) * reader.integer("BatchSize", 1)
    inside, outside = reader.bits("InputDataType"), reader.bits("OutputDataType")
    accumulator = max(inside, reader.integer("AccumBits", 0))
    ports = pe * (inside + outside)
    extra = estimated.rounded(estimated.POOL_LUT - estimated.HLS_LUT, estimated.POOL_FF - estimated.HLS_FF)
    own = estimated.hls_unit(ports, pe * accumulator, pe * accumulator) + extra
    cycles = reader.integer("Channels") * taps // pe * pixels
    return SimpleUnit(cycles, (pe * inside,), (pe * outside,), own)


def pools_one_dimension(reader: Reader) -> bool:
    """Whether a max pool works along one axis; only then does FINN fold it."""
    image, pool = reader.pair("ImgDim"), reader.pair("PoolDim")
    return (image[0], pool[0]) == (1, 1) or (image[1], pool[1]) == (1, 1)


def _max_pool(reader: Reader) -> SimpleUnit:
    channels, bits = reader.integer("NumChannels"), reader.bits("dataType")
    length, pool = max(reader.pair("ImgDim")), max(reader.pair("PoolDim"))
    if pools_one_dimension(reader):
        pe = reader.integer("PE", 1)
        ceil_mode = reader.integer("CeilMode", 0) == 1
        outputs = (-((pool - length) // pool) if ceil_mode else (length - pool) // pool) + 1
        cycles, width = outputs * (channels // pe) * (pool + 1), bits * pe
    else:
        length, pool = reader.pair("ImgDim")[1], reader.pair("PoolDim")[1]
        cycles, width = int(length * length * (1 + 1 / (pool * pool))), bits * channels
    line = Resources(lut=ram_luts(width, max(2, length // pool)))
    own = estimated.hls_unit(2 * width, width, width) + line
    return SimpleUnit(cycles, (width,), (width,), own)


def _global_pool(reader: Reader) -> SimpleUnit:
    """Sum each channel over all pixels; the sums wait in memory while channels are folded."""
    channels, pe = reader.integer("NumChannels"), reader.integer("PE")
    vectors = reader.sizes("numInputVectors", (1,))
    pixels = prod(vectors[-2:])
    bits = reader.bits("inputDataType")
    sum_bits = bits_to_hold(pixels * extreme_value(reader.text("inputDataType")))
    folds = channels // pe
    own = estimated.hls_unit(pe * (bits + sum_bits), pe * sum_bits, pe * sum_bits)
    own = own + Resources(lut=ram_luts(pe * sum_bits, folds))
    return SimpleUnit(prod(vectors) * folds + folds, (pe * bits,), (pe * sum_bits,), own)


def _label_select(reader: Reader) -> SimpleUnit:
    """Keep the K best values and their indices."""
    labels, pe, best = reader.integer("Labels"), reader.integer("PE"), reader.integer("K", 1)
    bits = reader.bits("inputDataType")
    index_bits = reader.bits("outputDataType", f"UINT{bits_to_hold(labels - 1)}")
    compared = (pe + best) * (bits + index_bits)
    own = estimated.hls_unit(pe * bits + index_bits, compared, compared)
    return SimpleUnit(labels // pe, (pe * bits,), (index_bits,), own)


KINDS = (
    Simple("Pool_hls", _pool, "PE", "Channels"),
    Simple("StreamingMaxPool_hls", _max_pool, "PE", "NumChannels", pools_one_dimension),
    Simple("GlobalAccPool_hls", _global_pool, "PE", "NumChannels"),
    Simple("LabelSelect_hls", _label_select, "PE", "Labels"),
)
