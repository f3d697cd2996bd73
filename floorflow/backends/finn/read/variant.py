"""Whether FINN's SpecializeLayers makes a generic layer an HLS or an RTL engine, and which FINN wrote a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from onnx import numpy_helper

from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.names import is_specialised
from floorflow.backends.finn.read.graph import Graph, GraphEngine
from floorflow.backends.finn.read.ports import input_type, weight_type
from floorflow.backends.finn.version import FINN_VERSIONS, FinnVersion
from floorflow.network.onnx_file import Node
from floorflow.technology import Technology

_ALWAYS_RTL = ("ConvolutionInputGenerator", "FMPadding", "Thresholding")
"""Layers that FINN makes RTL unless told otherwise."""
_WITHOUT_HLS: Mapping[str, tuple[FinnVersion, ...]] = {
    "ConvolutionInputGenerator": ("plus",),
    "FMPadding": ("plus",),
    "Reshape": ("plus",),
}
"""Versions of FINN in which a layer has no HLS engine."""
_ATTRIBUTES: Mapping[str, frozenset[FinnVersion]] = {
    **dict.fromkeys(("inShape", "outShape", "bodies", "address_offset", "debug_log_path"), frozenset({"plus"})),
    **dict.fromkeys(("io_chrc_in", "io_chrc_out", "io_chrc_period"), frozenset({"main", "dev"})),
    **dict.fromkeys(("pumpedMemory", "mlo_max_iter"), frozenset({"dev", "plus"})),
}
"""Attributes of nodes that not every FINN writes."""
_CONVERTERS_SHAPE: frozenset[FinnVersion] = frozenset({"main", "dev"})
"""Whose width converters have one attribute ``shape``."""
_MOST_BITS = 8
_PREFERRED_BITS = 4
"""Below, FINN takes the RTL matrix unit only if told to."""


def variant(engine: GraphEngine, graph: Graph, technology: Technology, finn: FinnVersion = "main") -> str:
    """Return an engine's op type with ``_hls`` or ``_rtl``."""
    if is_specialised(engine.kind):
        return engine.kind
    if finn in _WITHOUT_HLS.get(engine.kind, ()):
        return f"{engine.kind}_rtl"
    preferred = str(engine.node.attributes.get("preferred_impl_style", ""))
    return f"{engine.kind}_{'rtl' if _is_rtl(engine, graph, technology, preferred) else 'hls'}"


def _is_rtl(engine: GraphEngine, graph: Graph, technology: Technology, preferred: str) -> bool:
    if engine.kind == "ConvolutionInputGenerator" and preferred == "hls":
        return not _window_has_hls(engine)
    if engine.kind in _ALWAYS_RTL:
        return preferred != "hls"
    if engine.kind not in ("MVAU", "VVAU") or preferred == "hls":
        return False
    least = 1 if preferred == "rtl" else _PREFERRED_BITS
    return _unit_has_rtl(engine, graph, technology, least)


def _window_has_hls(engine: GraphEngine) -> bool:
    """Whether the HLS window can do it: square, without dilation and not dynamic, or one-dimensional."""
    attributes = engine.attributes
    if attributes.get("is1D"):
        return True
    square = all(len(set(_pair(attributes.get(key)))) == 1 for key in ("ConvKernelDim", "IFMDim", "Stride"))
    return square and prod(_pair(attributes.get("Dilation"))) == 1 and not attributes.get("dynamic_mode")


def _pair(value: object) -> tuple[int, ...]:
    return tuple(v for v in value if isinstance(v, int)) if isinstance(value, tuple) else (1,)


def _unit_has_rtl(engine: GraphEngine, graph: Graph, technology: Technology, least_bits: int) -> bool:
    """Whether the RTL matrix or vector unit can do it: no thresholds, signed weights, at most 8 bits.

    DSP48E1 needs weights without their most negative value, and the vector unit exists for DSP58 only.
    """
    attributes, data, weights = engine.attributes, input_type(engine.attributes, 0), weight_type(engine.attributes)
    if attributes.get("noActivation", 0) != 1 or attributes.get("binaryXnorMode", 0) or weights is None:
        return False
    fits = data.bits <= _MOST_BITS + data.signed and weights.signed and weights.bits <= _MOST_BITS
    if not fits or min(data.bits, weights.bits) < least_bits:
        return False
    if engine.kind == "VVAU":
        return technology.dsp_block == "DSP58"
    return technology.dsp_block != "DSP48E1" or _is_narrow(engine, graph, weights.min)


def _is_narrow(engine: GraphEngine, graph: Graph, least: int) -> bool:
    """Whether the weights that the file holds leave out the most negative value; unknown weights may have it."""
    tensors = [graph.flat.initialisers[name] for name in engine.node.inputs if name in graph.flat.initialisers]
    weights = next((tensor for tensor in tensors if tensor.data_location != tensor.EXTERNAL), None)
    return weights is not None and bool(numpy_helper.to_array(weights).min() > least)


def finn_of(nodes: Iterable[Node]) -> FinnVersion | None:
    """Return the one FINN that has all kinds and attributes of a graph: main where dev has them as well; else None."""
    left: set[FinnVersion] = set(FINN_VERSIONS)
    for node in nodes:
        kind = KINDS.get(node.op_type)
        left &= left if kind is None else kind.versions
        for name in node.attributes:
            left &= _ATTRIBUTES.get(name, left)
        if "shape" in node.attributes and node.op_type.startswith("StreamingDataWidthConverter"):
            left &= _CONVERTERS_SHAPE
    if left == _CONVERTERS_SHAPE:
        return "main"
    return left.pop() if len(left) == 1 else None
