"""FINN's versions, op types and attributes: old spellings become present ones.

Up to FINN 0.9 every engine was HLS (``StreamingFCLayer_Batch``, ``MatrixVectorActivation``, ``Thresholding_Batch``).
Since 0.10 a layer is first generic (``MVAU``) and SpecializeLayers makes it ``MVAU_hls`` or ``MVAU_rtl``.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, get_args

from floorflow.dataflow.model import AttributeValue
from floorflow.network.onnx_file import Node
from floorflow.technology import Technology, require_known_family, technology_of

FinnVersion = Literal["main", "dev", "plus"]
"""``main``: Xilinx/finn 39f0c9a (as v0.10.1). ``dev``: 73ba5ed. ``plus``: eki-project/finn-plus 1.6.1."""

FINN_VERSIONS: tuple[FinnVersion, ...] = get_args(FinnVersion)
VERSION_NAMES = {"main": "FINN main", "dev": "FINN dev", "plus": "FINN+"}

NAMED_HLS: Mapping[FinnVersion, tuple[int, int]] = {"main": (2022, 2), "dev": (2022, 2), "plus": (2024, 2)}
"""Year and release of the tools that each names: what is meant where nobody gave one (docs/statements.md)."""

_VERSAL = ("xcvc", "xcve", "xcvp", "xcvm", "xqvc", "xqvm", "xqrvc")
_NEWER_VERSAL = (*_VERSAL, "xcv80")


def technology_for(part: str, finn: FinnVersion) -> Technology:
    """Return the part's family as that FINN tells it (``get_dsp_block``), which misses some Versal parts.

    Raises PlatformError if the part is of no known family.
    """
    require_known_family(part)
    technology, name = technology_of(part), part.lower()
    if name.startswith(_VERSAL if finn == "main" else _NEWER_VERSAL):
        return replace(technology, architecture="versal", dsp_block="DSP58")
    if technology.architecture == "versal":
        return replace(technology, architecture="ultrascale+", dsp_block="DSP48E2")
    return technology


_DOMAIN = "finn.custom_op.fpgadataflow"

PARTITION = "StreamingDataflowPartition"

PASSING = ("CheckSum", "IODMA", "StreamingDataWidthConverter", "StreamingFIFO", "TLastMarker")
"""Kinds that pass on what they get."""

_OLD_NAMES: Mapping[str, str] = {
    "ConvolutionInputGenerator1D": "ConvolutionInputGenerator",
    "MatrixVectorActivation": "MVAU",
    "StreamingFCLayer": "MVAU",
    "Vector_Vector_Activate": "VVAU",
    "VectorVectorActivation": "VVAU",
}
"""Names before FINN 0.10, without ``_Batch``."""

_OLD_VALUES: Mapping[str, Mapping[str, str]] = {
    "mem_mode": {"const": "internal_embedded", "decoupled": "internal_decoupled"},
}
_OLD_ATTRIBUTES = ("inFIFODepth", "outFIFODepth")
"""Attributes that only graphs before FINN 0.10 have."""

FOLDING_ATTRIBUTES = ("PE", "SIMD", "parallel_window")
"""What SetFolding chooses; memory and multiplier styles stay with the engine, as the graph gives them."""

RUNTIME_WEIGHTS = "runtime_writeable_weights"
"""1 for an engine whose weights software writes before the first frame."""

HARDWARE_ATTRIBUTES = frozenset(
    (
        # matrix and vector units, thresholds
        *("ActVal", "Channels", "Dim", "K", "Kernel", "MH", "MW", "NumChannels", "TH", "accDataType", "binaryXnorMode"),
        *("deep_pipeline", "depth_trigger_bram", "depth_trigger_uram", "inputDataType", "mem_mode", "noActivation"),
        *("numInputVectors", "numSteps", "outputDataType", "pumpedCompute", "pumpedMemory", "ram_style"),
        *("ram_style_thresholds", "resType", "runtime_writeable_weights", "uniform_thres", "weightDataType"),
        # windows, padding, pools, resampling
        *("AccumBits", "BatchSize", "CeilMode", "ConvKernelDim", "Dilation", "DimMode", "Function", "HI", "HO"),
        *("IFMChannels", "IFMDim", "ImgDim", "InputDataType", "KernelSize", "M", "OFMDim", "OutImgDims"),
        *("OutputDataType", "Padding", "PoolDim", "Size", "Stride", "WI", "WO", "batchSize", "dataType", "depthwise"),
        *("dynamic_mode", "is1D"),
        # element by element, forks and joins, labels, lookup
        *("ChannelsPerStream", "ElemsPerStream", "EmbeddingDim", "EmbeddingType", "Func", "InputShape", "InputType"),
        *("Labels", "NumEmbeddings", "NumOutputStreams", "eltwiseOp", "inputDataType0", "inputDataType1"),
        *("inputDataTypes", "lhs_dtype", "lhs_shape", "lhs_style", "out_dtype", "out_shape", "paramDataType"),
        *("bodies", "dtype", "ext_mem_width", "inp_shape", "mlo_max_iter", "rhs_dtype", "rhs_shape", "rhs_style"),
    )
)
"""What describes hardware; all else is FINN's bookkeeping: paths, names, estimates, simulation."""


def is_dataflow(node: Node) -> bool:
    """Whether a node is one of FINN's engines, converters, FIFOs or partitions."""
    return node.domain.startswith(_DOMAIN) or node.attributes.get("backend") == "fpgadataflow" or is_partition(node)


def is_partition(node: Node) -> bool:
    """Whether a node stands for a dataflow graph in a file of its own."""
    return node.op_type == PARTITION


def is_old(nodes: Iterable[Node]) -> bool:
    """Whether a graph is from before FINN 0.10, where names without ``_hls`` are HLS engines."""
    return any(_is_old(node) for node in nodes if is_dataflow(node))


def _is_old(node: Node) -> bool:
    old_value = any(str(node.attributes.get(key)) in values for key, values in _OLD_VALUES.items())
    renamed = node.op_type.endswith("_Batch") or node.op_type in _OLD_NAMES
    return renamed or old_value or any(key in node.attributes for key in _OLD_ATTRIBUTES)


def present_name(op_type: str, *, old: bool) -> str:
    """Return today's op type, without suffix if FINN has yet to choose between HLS and RTL."""
    stem = op_type.removesuffix("_Batch")
    name = _OLD_NAMES.get(stem, stem)
    return f"{name}_hls" if old and not is_specialised(name) else name


def is_specialised(op_type: str) -> bool:
    """Whether an op type says that it is HLS or RTL."""
    return op_type.endswith(("_hls", "_rtl"))


def family(op_type: str) -> str:
    """Return an op type without ``_hls`` or ``_rtl``."""
    return op_type.removesuffix("_hls").removesuffix("_rtl")


def numbered(op_types: Iterable[str]) -> list[str]:
    """Return the names that FINN gives to nodes in this order: ``MVAU_hls_0``, each op type counted by itself."""
    counts: Counter[str] = Counter()
    names = []
    for op_type in op_types:
        names.append(f"{op_type}_{counts[op_type]}")
        counts[op_type] += 1
    return names


def hardware(node: Node) -> dict[str, AttributeValue]:
    """Return a node's attributes that describe hardware, in today's spelling, folding included."""
    hardware_keys = (key for key in sorted(node.attributes) if key in HARDWARE_ATTRIBUTES or key in FOLDING_ATTRIBUTES)
    attributes = {key: _value(key, node.attributes[key]) for key in hardware_keys}
    if node.op_type.startswith("ConvolutionInputGenerator1D"):
        attributes["is1D"] = 1
    return attributes


def _value(key: str, value: object) -> AttributeValue:
    if isinstance(value, list | tuple):
        texts = tuple(str(item, "utf-8", "replace") for item in value if isinstance(item, bytes))
        return texts or tuple(item for item in value if isinstance(item, int))
    return present_value(key, value if isinstance(value, int | str) else str(value))


def present_value(attribute: str, value: int | str) -> int | str:
    """Return an attribute's value in today's spelling."""
    return _OLD_VALUES.get(attribute, {}).get(str(value), value)


def fifo_depth(node: Node, attribute: str, port: int) -> int:
    """Return what ``inFIFODepths`` or ``outFIFODepths`` asks for at a port, 0 if nothing; old graphs have one depth."""
    depths = node.attributes.get(attribute, node.attributes.get(attribute.removesuffix("s"), ()))
    if isinstance(depths, int):
        return depths
    return depths[port] if isinstance(depths, tuple) and port < len(depths) and isinstance(depths[port], int) else 0
