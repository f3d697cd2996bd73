"""Which engines have weights, thresholds or other constants in LUTs, so that no other is the same circuit."""

from __future__ import annotations

from floorflow.verify.finn.engines import AttributeProblem, FoldedEngine

_BLOCKS = ("block", "ultra")
"""Memories whose contents can be set in a netlist that is placed."""


def constants_in_logic(engine: FoldedEngine) -> bool:
    """Whether some constant of an engine becomes part of its logic; of a folding that is none it is not told."""
    family = engine.kind.removesuffix("_hls").removesuffix("_rtl")
    try:
        if family in ("MVAU", "VVAU"):
            return engine.number("noActivation", 0) == 0 or not _weights_can_be_set(engine)
        if engine.kind == "Thresholding_rtl":
            return not _all_stages_in_blocks(engine)
        if engine.kind == "Thresholding_hls":
            decoupled = engine.choice("mem_mode", "internal_decoupled") == "internal_decoupled"
            several = engine.pe < engine.number("NumChannels")
            return not (decoupled and several and engine.choice("ram_style", "distributed") in _BLOCKS)
    except (AttributeProblem, ArithmeticError):
        return False
    styles = (engine.entry["attributes"].get(name) for name in ("lhs_style", "rhs_style"))
    return family in ("ChannelwiseOp", "Lookup") or (family.startswith("Elementwise") and "const" in styles)


def _weights_can_be_set(engine: FoldedEngine) -> bool:
    mode = engine.choice("mem_mode", "internal_decoupled")
    if mode != "internal_decoupled":
        return mode in ("external", "external_mem", "dynamic")
    return engine.choice("runtime_writeable_weights", 0) == 1 or engine.choice("ram_style", "auto") in _BLOCKS


def _all_stages_in_blocks(engine: FoldedEngine) -> bool:
    """Whether each stage, which is twice as deep as the one before, reaches the depth that takes a block."""
    triggers = [engine.choice(f"depth_trigger_{kind}", 0) for kind in ("bram", "uram")]
    least = min((depth for depth in triggers if isinstance(depth, int) and depth > 0), default=None)
    if least is None:
        return False
    sets = max(1, engine.number("mlo_max_iter", 0), engine.number("bodies", 0)) if engine.flavour == "plus" else 1
    words = sets * engine.number("NumChannels") // engine.pe
    first = 1 if engine.number("uniform_thres", 0) == 1 else 0
    return all(words << stage >= least for stage in range(first, engine.output_bits))
