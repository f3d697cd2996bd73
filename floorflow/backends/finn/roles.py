"""What other parts of floorflow ask of the kinds of FINN's engines: role, parallelism, constants and weights.

Weights that HLS embeds are arrays of constants in its source. A memory in LUTs that nobody writes is a ROM, which
synthesis folds into the logic behind it; in block RAM or UltraRAM weights are contents of a memory, which can be set in
a netlist that is placed already. An engine with constants in its logic is no other engine's circuit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import cast

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Parallelism, WeightMemory
from floorflow.backends.finn.attributes import Reader
from floorflow.backends.finn.cost.memory import FINN_EMBEDDED_LUT_DEPTH
from floorflow.backends.finn.kinds.matrix_vector import WeightedUnit
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.kinds.thresholding import ComparingUnit, SearchingUnit
from floorflow.backends.finn.names import family
from floorflow.dataflow.model import Attributes, Engine, Option, Role
from floorflow.dataflow.options import OptionTable
from floorflow.errors import InputError

_LAYERS: Mapping[str, tuple[Role, str]] = {
    "AddStreams": ("front", "add"),
    "ChannelwiseOp": ("behind", "channelwise"),
    "ConvolutionInputGenerator": ("front", "window"),
    "DuplicateStreams": ("behind", "duplicate"),
    "ElementwiseAdd": ("front", "add"),
    "ElementwiseMul": ("behind", "multiply"),
    "FMPadding": ("front", "pad"),
    "FMPadding_Pixel": ("front", "spread"),
    "GlobalAccPool": ("core", "average pool"),
    "LabelSelect": ("behind", "label"),
    "MVAU": ("core", "MVAU"),
    "Pool": ("core", "pool"),
    "StreamingConcat": ("front", "concat"),
    "StreamingEltwise": ("front", "StreamingEltwise"),
    "StreamingMaxPool": ("core", "max pool"),
    "StreamingSplit": ("behind", "split"),
    "Thresholding": ("behind", "threshold"),
    "UpsampleNearestNeighbour": ("behind", "upsample"),
    "VVAU": ("core", "VVAU"),
}
"""Role and label. All others are behind what comes before them, and called by their op types, without hls or rtl."""


def described(engine: Engine) -> Engine:
    """Return an engine with what its kind and attributes say of its role, its window fill and its label."""
    layer = family(engine.kind)
    role, label = _LAYERS.get(layer, ("behind", layer))
    return replace(engine, role=role, window_fill=_window_fill(engine), label=label)


def _window_fill(engine: Engine) -> Fraction:
    """Return the share of a frame until the first word: of windows and of sums over the image, else 0."""
    layer = family(engine.kind)
    if layer == "GlobalAccPool":
        return Fraction(1)
    if layer != "ConvolutionInputGenerator":
        return Fraction(0)
    reader = Reader(engine.kind, engine.attributes)
    try:
        (height, width), (kernel_h, kernel_w) = reader.pair("IFMDim"), reader.pair("ConvKernelDim")
        dilation_h, dilation_w = reader.pair("Dilation", (1, 1))
    except InputError:
        # Its foldings are refused for the same reason, with the engine's name.
        return Fraction(0)
    pixels = min((kernel_h - 1) * dilation_h * width + (kernel_w - 1) * dilation_w + 1, height * width)
    return Fraction(pixels, height * width)


PARALLEL = ("PE", "SIMD")
"""Attributes whose values ``inspect`` lists."""

_WHOLE: Mapping[str, tuple[str, ...]] = {
    "PE": ("MH", "Channels", "NumChannels", "Labels"),
    "SIMD": ("MW", "IFMChannels", "NumChannels"),
}
"""The engine's attributes of which the first that it has is the largest value of a folding attribute."""
_WINDOW = "parallel_window"
_MULTIPLYING = ("MVAU", "VVAU")
"""Layers whose engines form PE x SIMD products at once."""
KNOWN_PRODUCTS: Mapping[int, int] = MappingProxyType({1: 7168, 2: 784, 3: 320, 9: 0})
"""Products of the largest HLS engine in a build at hand, by the bits of its wider operand from which that holds.

From the builds that costs are fitted to (benchmarks/data/builds.jsonl.gz): TFC on PYNQ-Z2, TFC and KWS of FINN+'s
tests; what was built with wider operands counts for narrower ones. (FINN issue 1214: PE 80 x SIMD 5 with 7-bit
thresholds took more than 40 GB.)
"""


def parallelism(engine: Engine, option: Option) -> tuple[Parallelism, ...]:
    """Return in which ways an engine is folded to work in parallel; nothing where its kind has no folding."""
    return (*_folded(engine.attributes, option.folding), *_window(engine.attributes, option.folding))


def _folded(has: Attributes, chosen: Attributes) -> Iterator[Parallelism]:
    for name, sizes in _WHOLE.items():
        most = next((has[size] for size in sizes if size in has), None)
        value = chosen.get(name)
        if isinstance(value, int) and isinstance(most, int):
            yield name, value, most


def _window(has: Attributes, chosen: Attributes) -> Iterator[Parallelism]:
    """Yield whether a window generator gives whole windows, where it can: not depthwise, nor with one position."""
    value = chosen.get(_WINDOW)
    if isinstance(value, int) and has.get("depthwise", 0) == 0 and has.get("ConvKernelDim") != (1, 1):
        yield _WINDOW, value, 1


def products(engine: Engine, options: OptionTable) -> NDArray[np.int64]:
    """Return the products that each option of an HLS engine forms at once, 0 for all other engines, (n_options,).

    They are PE x SIMD, times the window positions (``M``) that are computed at once.
    """
    if family(engine.kind) not in _MULTIPLYING:
        return np.zeros(len(options), dtype=np.int64)
    positions = engine.attributes.get("M", 1)
    several = positions if isinstance(positions, int) else 1
    is_hls = np.array([(kind or engine.kind).endswith("_hls") for kind in options.kinds], dtype=np.int64)
    return np.asarray(options.attribute("PE", 1) * options.attribute("SIMD", 1) * several * is_hls)


_OUTSIDE = ("external", "external_mem", "dynamic")
"""Where weights come from outside the engine."""
_CONSTANTS = {"ChannelwiseOp": "parameters", "Lookup": "table"}


def constants_in_logic(engine: Engine, option: Option, *, written_later: bool = False) -> str:
    """Return what of an engine lies in LUTs for good: weights, thresholds, parameters; empty if nothing does.

    ``written_later``: it is made with other contents, which nothing may trim. Then a memory of several words keeps its
    place in LUTs as well: their INIT strings are the words.
    """
    layer = family(engine.kind)
    attributes = {**engine.attributes, **option.folding}
    if layer in ("MVAU", "VVAU"):
        return _of_weighted(cast("WeightedUnit", kind_of(engine.kind).unit(attributes)), written_later=written_later)
    if written_later and layer in ("Thresholding", "ChannelwiseOp"):
        decoupled = attributes.get("mem_mode", "internal_decoupled") == "internal_decoupled"
        words = cast("int", attributes["NumChannels"]) // cast("int", attributes.get("PE", 1))
        return "" if decoupled and words > 1 else "thresholds" if layer == "Thresholding" else "parameters"
    if layer == "Thresholding":
        unit = cast("ComparingUnit | SearchingUnit", kind_of(engine.kind).unit(attributes))
        return "thresholds" if _thresholds_in_logic(unit) else ""
    if layer.startswith("Elementwise"):
        return "operand" if "const" in (attributes.get("lhs_style"), attributes.get("rhs_style")) else ""
    return _CONSTANTS.get(layer, "")


def _of_weighted(unit: WeightedUnit, *, written_later: bool) -> str:
    part = unit.part
    in_block = part.ram_style in ("block", "ultra") or (written_later and part.depth > 1)
    written = part.mem_mode == "internal_decoupled" and (part.writeable or in_block)
    parts = [] if written or part.mem_mode in _OUTSIDE else ["weights"]
    # Synthesis may put even those in block RAM into logic again: they are constants of the source.
    parts += ["thresholds"] if part.thresholds else []
    return " and ".join(parts)


def _thresholds_in_logic(unit: ComparingUnit | SearchingUnit) -> bool:
    if isinstance(unit, ComparingUnit):
        return unit.mem_mode != "internal_decoupled" or unit.ram_style not in ("block", "ultra") or unit.folds == 1
    trigger = min((depth for depth in (unit.bram_trigger, unit.uram_trigger) if depth), default=0)
    return not trigger or any(depth < trigger for _, depth in unit.stages())


MEMORY_ATTRIBUTES = ("mem_mode", "ram_style", "runtime_writeable_weights")
"""Attributes of foldings that say where weights lie."""


def weight_memory(engine: Engine, option: Option) -> WeightMemory | None:
    """Return the weights of a matrix-vector or depthwise unit, None of any other kind."""
    if not engine.kind.startswith(("MVAU", "VVAU")):
        return None
    unit = cast("WeightedUnit", kind_of(engine.kind).unit({**engine.attributes, **option.folding}))
    part = unit.part
    bits = part.outputs * part.products_per_output * part.weight_bits
    return WeightMemory(bits, _style(part.mem_mode, part.ram_style, part.depth, written=part.writeable))


def _style(mem_mode: str, ram_style: str, depth: int, *, written: bool) -> str:
    if mem_mode == "internal_embedded":
        return "embedded in LUTs" if depth <= FINN_EMBEDDED_LUT_DEPTH else "embedded"
    if mem_mode != "internal_decoupled":
        return mem_mode
    return f"{ram_style}, written at run time" if written else ram_style
