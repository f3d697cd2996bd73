"""Classes of hls4ml's layers that become engines, and their legal reuse factors.

Source: hls4ml 1.3.0, ``FPGABackend._validate_reuse_factor``; SAMO (c562238) puts that test to numbers of multipliers.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.layered.areas import divisors
from floorflow.dataflow.model import Engine, Role


@dataclass(frozen=True)
class Kind:
    """How an engine of a class groups with others, and what people call it."""

    role: Role
    label: str


KINDS: Mapping[str, Kind] = {
    "Conv1D": Kind("core", "conv"),
    "Conv2D": Kind("core", "conv"),
    "DepthwiseConv1D": Kind("core", "depthwise"),
    "DepthwiseConv2D": Kind("core", "depthwise"),
    "Dense": Kind("core", "dense"),
    "Pooling1D": Kind("core", "pool"),
    "Pooling2D": Kind("core", "pool"),
    "GlobalPooling1D": Kind("core", "pool"),
    "GlobalPooling2D": Kind("core", "pool"),
    "BatchNormalization": Kind("behind", "scale"),
    "Activation": Kind("behind", "activation"),
    "Softmax": Kind("behind", "softmax"),
    "Merge": Kind("front", "add"),
    "Concatenate": Kind("front", "concat"),
    "Clone": Kind("behind", "copy"),
}
DEPTHWISE = frozenset({"DepthwiseConv1D", "DepthwiseConv2D"})
WEIGHTED = frozenset({"Conv1D", "Conv2D", "Dense"}) | DEPTHWISE
"""Classes with a strategy, and with a reuse factor that anything comes of."""
POOLS = frozenset({"Pooling1D", "Pooling2D"})
GLOBAL_POOLS = frozenset({"GlobalPooling1D", "GlobalPooling2D"})
JOINS = frozenset({"Merge", "Concatenate"})

BY_OPERATOR: Mapping[str, str] = {
    **dict.fromkeys(("Elu", "LeakyRelu", "ThresholdedRelu"), "ParametrizedActivation"),
    **dict.fromkeys(("Selu", "Sigmoid", "Softplus", "Softsign", "Tanh"), "Activation"),
}
"""hls4ml's class for each ONNX activation that it reads beside Relu (``converters/onnx/core.py``); it reads no Clip."""
TYPE_NAMES: Mapping[str, tuple[str, ...]] = {
    **{kind: (kind,) for kind in KINDS},
    "Dense": ("Dense", "MatMul"),
    "Conv1D": ("Conv1D", "Conv"),
    "Conv2D": ("Conv2D", "Conv", "PointwiseConv2D"),
    "DepthwiseConv1D": ("DepthwiseConv1D", "Conv"),
    "DepthwiseConv2D": ("DepthwiseConv2D", "Conv"),
    "Activation": ("Activation", "ParametrizedActivation"),
    "BatchNormalization": ("BatchNormalization", "BatchNormOnnx", "ApplyAlpha"),
}
"""Names under which a ``LayerType`` section may have a class: hls4ml's own, and its ONNX reader's before it merges."""


MOST_UNROLLED = 4096
"""Weights of a layer that are unrolled at most: Vivado HLS partitions no larger array completely (hls4ml's FAQ)."""
Folding = tuple[int, str]
"""Reuse factor and strategy; no strategy for layers without weights."""


def matrix_of(engine: Engine) -> tuple[int, int]:
    """Return inputs and outputs of the matrix of weights; a depthwise layer has one channel for each filter."""
    sizes = {key: value for key, value in engine.attributes.items() if isinstance(value, int)}
    if engine.kind == "Dense":
        return sizes["n_in"], sizes["n_out"]
    channels = 1 if engine.kind in DEPTHWISE else sizes["n_chan"]
    return channels * sizes["filt_height"] * sizes["filt_width"], sizes["n_filt"]


def products(engine: Engine) -> int:
    """Return the multiplications a pixel, and the largest number of multipliers."""
    inputs, outputs = matrix_of(engine)
    return inputs * outputs


def foldings(engine: Engine, options: Hls4mlOptions) -> Iterator[Folding]:
    """Yield the legal foldings of an engine, the fastest first."""
    if engine.kind in WEIGHTED:
        for strategy in strategies(engine, options):
            yield from ((reuse, strategy) for reuse in legal_factors(engine, options, strategy).tolist())
    else:
        yield (1, "")  # streams of other layers heed none: nnet_activation_stream.h, nnet_batchnorm_stream.h


def strategies(engine: Engine, options: Hls4mlOptions) -> tuple[str, ...]:
    """Return the strategies that an engine may have: ``Latency`` unrolls all weights."""
    asked = {"resource": ("Resource",), "latency": ("Latency",), "auto": ("Latency", "Resource")}[options.strategy]
    if options.strategy == "auto" and products(engine) > MOST_UNROLLED:
        return ("Resource",)
    return asked


def legal_factors(engine: Engine, options: Hls4mlOptions, strategy: str) -> NDArray[np.int64]:
    """Return the reuse factors that a layer with weights may have with a strategy, ascending."""
    inputs, outputs = matrix_of(engine)
    reuse = np.array(divisors(inputs * outputs), dtype=np.int64)
    legal = reuse[taken(inputs, outputs, reuse)]
    if options.legal_set == "samo":
        return np.sort(inputs * outputs // legal)
    # hls4ml counts a depthwise layer's inputs over all channels: every divisor passes its test.
    return reuse if strategy == "Latency" or engine.kind in DEPTHWISE else legal


def taken(inputs: int, outputs: int, reuse: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the reuse factors, divisors of ``inputs * outputs``, that hls4ml takes with the strategy Resource."""
    limit = -(-(inputs * outputs) // np.minimum(inputs, reuse))
    passes = ((limit % outputs == 0) | (reuse >= inputs)) & ((reuse % inputs == 0) | (reuse < inputs))
    return np.asarray(passes, dtype=np.bool_)
