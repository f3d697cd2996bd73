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
    "Conv2D": Kind("core", "conv"),
    "DepthwiseConv2D": Kind("core", "depthwise"),
    "Dense": Kind("core", "dense"),
    "Pooling2D": Kind("core", "pool"),
    "GlobalPooling2D": Kind("core", "pool"),
    "BatchNormalization": Kind("behind", "scale"),
    "Activation": Kind("behind", "activation"),
    "Merge": Kind("front", "add"),
    "Clone": Kind("behind", "copy"),
}
WEIGHTED = frozenset({"Conv2D", "DepthwiseConv2D", "Dense"})
"""Classes with a strategy."""
