"""Which constants of an engine become part of its logic, so that no other engine is the same circuit.

Weights that HLS embeds are arrays of constants in its source. A memory in LUTs that nobody writes is a ROM, which
synthesis folds into the logic behind it; in block RAM or UltraRAM weights are contents of a memory, which can be set in
a netlist that is placed already.
"""

from __future__ import annotations

from typing import cast

from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.kinds.thresholding import ComparingUnit, SearchingUnit
from floorflow.backends.finn.kinds.weighted_styles import WeightedUnit
from floorflow.backends.finn.names import family
from floorflow.dataflow.model import Engine, Option

_OUTSIDE = ("external", "external_mem", "dynamic")
"""Where weights come from outside the engine."""
_CONSTANTS = {"ChannelwiseOp": "parameters", "Lookup": "table"}


def constants_in_logic(engine: Engine, option: Option) -> str:
    """Return what of an engine lies in LUTs for good: weights, thresholds, parameters; empty if nothing does."""
    layer = family(engine.kind)
    attributes = {**engine.attributes, **option.folding}
    if layer in ("MVAU", "VVAU"):
        return _of_weighted(cast("WeightedUnit", kind_of(engine.kind).unit(attributes)))
    if layer == "Thresholding":
        unit = cast("ComparingUnit | SearchingUnit", kind_of(engine.kind).unit(attributes))
        return "thresholds" if _thresholds_in_logic(unit) else ""
    if layer.startswith("Elementwise"):
        return "operand" if "const" in (attributes.get("lhs_style"), attributes.get("rhs_style")) else ""
    return _CONSTANTS.get(layer, "")


def _of_weighted(unit: WeightedUnit) -> str:
    part = unit.part
    written = part.mem_mode == "internal_decoupled" and (part.writeable or part.ram_style in ("block", "ultra"))
    parts = [] if written or part.mem_mode in _OUTSIDE else ["weights"]
    # Synthesis may put even those in block RAM into logic again: they are constants of the source.
    parts += ["thresholds"] if part.thresholds else []
    return " and ".join(parts)


def _thresholds_in_logic(unit: ComparingUnit | SearchingUnit) -> bool:
    if isinstance(unit, ComparingUnit):
        return unit.mem_mode != "internal_decoupled" or unit.ram_style not in ("block", "ultra") or unit.folds == 1
    trigger = min((depth for depth in (unit.bram_trigger, unit.uram_trigger) if depth), default=0)
    return not trigger or any(depth < trigger for _, depth in unit.stages())
