"""The types of fpgaConvNet's layers that become engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from floorflow.dataflow.model import Role


@dataclass(frozen=True)
class Kind:
    """How an engine of a type groups with others, what people call it, and its type in fpgaConvNet's files."""

    role: Role
    label: str
    proto_type: str
    op_type: str = ""


KINDS: Mapping[str, Kind] = {
    "ConvolutionLayer": Kind("core", "conv", "CONVOLUTION", "dense"),
    "InnerProductLayer": Kind("core", "dense", "INNER_PRODUCT"),
    "PoolingLayer": Kind("core", "pool", "POOLING"),
    "ReLULayer": Kind("behind", "relu", "RELU", "ReLU"),
    "EltWiseLayer": Kind("front", "add", "ELTWISE", "add"),
    "SplitLayer": Kind("behind", "split", "SPLIT"),
}
SQUEEZE = "SqueezeLayer"
"""What joins streams of different foldings."""
WITH_WEIGHTS = frozenset({"ConvolutionLayer", "InnerProductLayer"})
