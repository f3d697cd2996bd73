"""Where the weights of an engine lie, and how many bits they are."""

from __future__ import annotations

from typing import cast

from floorflow.backends.backend import WeightMemory
from floorflow.backends.finn.cost.memory import FINN_EMBEDDED_LUT_DEPTH
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.kinds.weighted_styles import WeightedUnit
from floorflow.dataflow.model import Engine, Option

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
