"""The classes of hls4ml's layers that become engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.dataflow.model import Role


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
