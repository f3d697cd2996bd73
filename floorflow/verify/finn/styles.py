"""Which engines have weights, thresholds or other constants in LUTs, so that no other is the same circuit."""

from collections import Counter
from collections.abc import Iterator
from math import prod
from typing import Literal

from floorflow.verify.back_end import Files
from floorflow.verify.finn.engines import AttributeProblem, BuiltNetwork, FoldedEngine, bits_of, is_signed
from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings

_BLOCKS = ("block", "ultra")
"""Memories whose contents can be set in a netlist that is placed."""


def constants_in_logic(engine: FoldedEngine, *, written_later: bool) -> bool:
    """Whether some constant of an engine becomes part of its logic; of a folding that is none it is not told.

    ``written_later``: memories of two words and more are made with contents that nothing may trim, so that these stay
    contents in LUTs, too.
    """
    family = engine.kind.removesuffix("_hls").removesuffix("_rtl")
    try:
        if family in ("MVAU", "VVAU"):
            settable = _weights_can_be_set(engine) or (written_later and _weight_words(engine) > 1)
            return engine.number("noActivation", 0) == 0 or not settable
        if written_later and family in ("Thresholding", "ChannelwiseOp"):
            decoupled = engine.choice("mem_mode", "internal_decoupled") == "internal_decoupled"
            return not (decoupled and engine.number("NumChannels") > engine.pe)
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


def _weight_words(engine: FoldedEngine) -> int:
    """Return the words of decoupled weights, 0 of weights that are embedded."""
    if engine.choice("mem_mode", "internal_decoupled") != "internal_decoupled":
        return 0
    outputs, taps = ("MH", "MW") if engine.kind.startswith("MVAU") else ("Channels", "Kernel")
    kernel = engine.entry["attributes"].get(taps)
    products = prod(kernel) if isinstance(kernel, list) else engine.number(taps)
    return engine.number(outputs) * products // (engine.pe * engine.simd)


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


STYLE_FILE = "specialize_layers_config.json"
PREFERENCE = "preferred_impl_style"
"""FINN's attribute of a layer, and in a plan of an engine that is not as FINN itself would make it."""

Style = Literal["hls", "rtl"]
_RTL = ("ConvolutionInputGenerator", "FMPadding", "Thresholding")
_UNITS = ("MVAU", "VVAU")
_LEAST_BITS, _PREFERRED_BITS, _MOST_BITS = 2, 4, 8


def check_styles(folder: Files, plan: PlanRecord, built: BuiltNetwork, findings: Findings) -> None:
    """Check the style and name of every engine of a network, and the file that tells FINN of them."""
    engines = list(built.nodes.values())
    for name, engine in built.nodes.items():
        if PREFERENCE in engine.entry["attributes"] or _is_lowered(plan, engine):
            for message in _objections(engine, on_7series=str(built.rows[name]["part"]).lower().startswith("xc7")):
                findings.add("wrong-impl-style", engine.name, message)
    wanted = _wanted(engines)
    if wanted:
        options = plan["options"]
        if options["backend_options"].get("impl_style") == "default" and not options.get("keep_folding"):
            findings.add("wrong-impl-style", "options", f"impl_style is default, yet {', '.join(wanted)} deviate")
        _check_names(plan, built, findings)
    check_style_file(folder, built, findings)


def _wanted(engines: list[FoldedEngine]) -> Record:
    """Return what the file has to tell FINN: layers that are hls or rtl against its own choice."""
    return {
        layer: {PREFERENCE: engine.entry["attributes"][PREFERENCE]}
        for layer, engine in _layers(engines)
        if PREFERENCE in engine.entry["attributes"]
    }


def check_style_file(folder: Files, built: BuiltNetwork, findings: Findings) -> None:
    """Check that the file tells FINN of the engines that are not as it would make them, and of no others."""
    wanted, file = _wanted(list(built.nodes.values())), f"{built.folder}/{STYLE_FILE}"
    if wanted:
        content = folder.json(file)
        if content is not None:
            _check_file(content, wanted, folder.path(file), findings)
    elif folder.exists(file):
        message = "every engine is as FINN itself chooses: the file must not be"
        findings.add("finn-style-differs", folder.path(file), message)


def _is_lowered(plan: PlanRecord, engine: FoldedEngine) -> bool:
    """Whether floorflow made the engine, from an operation that is none of FINN's layers."""
    operations = (operation for network in plan["networks"] for operation in network["operations"])
    types = {operation.get("type") for operation in operations if operation.get("name") == engine.entry["operation"]}
    return bool(types) and _layer(engine) not in types


def _layer(engine: FoldedEngine) -> str:
    return engine.kind.rpartition("_")[0]


def _layers(engines: list[FoldedEngine]) -> Iterator[tuple[str, FoldedEngine]]:
    """Yield engines with the names of their layers: counted by generic op type, hls and rtl together."""
    counts: Counter[str] = Counter()
    for engine in engines:
        yield f"{_layer(engine)}_{counts[_layer(engine)]}", engine
        counts[_layer(engine)] += 1


def _objections(engine: FoldedEngine, *, on_7series: bool) -> Iterator[str]:
    style, preferred = engine.kind.rpartition("_")[2], engine.entry["attributes"].get(PREFERENCE)
    own = _own_style(engine, on_7series=on_7series)
    if preferred is None:
        if own not in (None, style):
            yield f"is {style}, FINN makes it {own} and no {PREFERENCE} says otherwise"
    elif preferred != style:
        yield f"{PREFERENCE} is {preferred!r}, the engine is {style}"
    elif preferred == own:
        yield f"{PREFERENCE} is {preferred}, which is FINN's own choice"
    elif preferred == "rtl" and not _has_rtl(engine, _LEAST_BITS):
        yield f"{PREFERENCE} is rtl, which FINN has not for this layer"
    elif _layer(engine) not in (*_RTL, *_UNITS):
        yield f"has {PREFERENCE}, but FINN has no choice for this layer"


def _own_style(engine: FoldedEngine, *, on_7series: bool) -> Style | None:
    """Return what FINN makes of a layer by itself; None if the plan does not tell."""
    if _layer(engine) in _RTL:
        return "rtl"
    if _layer(engine) not in _UNITS:
        return None
    if not _has_rtl(engine, _PREFERRED_BITS):
        return "hls"
    return None if on_7series else "rtl"


def _has_rtl(engine: FoldedEngine, least_bits: int) -> bool:
    """Whether FINN has the layer in rtl, given narrow weights, and takes it from so many bits on."""
    if _layer(engine) in _RTL:
        return True
    if _layer(engine) not in _UNITS or (_layer(engine) == "VVAU" and not engine.versal):
        return False
    attributes = engine.entry["attributes"]
    if attributes.get("noActivation", 0) != 1 or attributes.get("binaryXnorMode", 0):
        return False
    data, weights = (str(attributes.get(name, "")) for name in ("inputDataType", "weightDataType"))
    bits, weight_bits = bits_of(data) or 0, bits_of(weights) or 0
    fits = bits <= _MOST_BITS + is_signed(data) and weight_bits <= _MOST_BITS and is_signed(weights)
    return fits and min(bits, weight_bits) >= least_bits


def _check_names(plan: PlanRecord, built: BuiltNetwork, findings: Findings) -> None:
    """Check that a network's engines are numbered by op type over all phases, as FINN does behind SpecializeLayers."""
    network = next(iter(built.rows.values()))["network"]
    counts: Counter[str] = Counter()
    for engine in next(entry["engines"] for entry in plan["networks"] if entry["name"] == network):
        name = f"{engine['kind']}_{counts[engine['kind']]}"
        counts[engine["kind"]] += 1
        if engine["name"] != name:
            findings.add("wrong-engine-name", engine["name"], f"FINN calls it {name}")


def _check_file(content: Record, wanted: Record, file: str, findings: Findings) -> None:
    if content.get("Defaults") != {}:
        findings.add("finn-style-differs", file, "Defaults is no empty object")
    for layer in sorted({*content, *wanted} - {"Defaults"}):
        if content.get(layer) != wanted.get(layer):
            message = f"{layer} is {content.get(layer)!r:.80}, the plan says {wanted.get(layer)!r}"
            findings.add("finn-style-differs", file, message)
