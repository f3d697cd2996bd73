"""Whether an engine is hls or rtl, as a choice: FINN's SpecializeLayers, told otherwise by its configuration file.

FINN numbers the layers of each generic op type (``MVAU_3``), reads ``preferred_impl_style`` from
specialize_layers_config.json, makes the engines, and numbers those anew by their final op types (``MVAU_hls_1``). So an
engine of another style has another name, and so have all later ones of its two kinds.
"""

from collections.abc import Mapping
from dataclasses import replace

from floorflow.backends.finn.lower.state import has_rtl
from floorflow.backends.finn.names import family, numbered
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, is_outside, renamings
from floorflow.network.datatype import named
from floorflow.technology import Technology

PREFERENCE = "preferred_impl_style"
"""FINN's attribute of a layer whose style the user chooses; an engine has it where that is not FINN's own choice."""
_CHOOSABLE = ("MVAU", "VVAU", "Thresholding")
"""Layers of which floorflow offers both styles. The hls windows and paddings of FINN main are never cheaper."""


def other_kind(engine: Engine, technology: Technology) -> str | None:
    """Return the op type that SpecializeLayers makes of an engine if told to; None if it would not."""
    layer = family(engine.kind)
    if layer not in _CHOOSABLE:
        return None
    if engine.kind.endswith("_rtl"):
        return f"{layer}_hls"
    return f"{layer}_rtl" if layer != "Thresholding" and _can_be_rtl(engine, technology) else None


def _can_be_rtl(engine: Engine, technology: Technology) -> bool:
    """Whether a matrix or vector unit can be rtl; on DSP48E1 that would take weights known to be narrow."""
    attributes = engine.attributes
    if attributes.get("noActivation", 0) != 1 or attributes.get("binaryXnorMode", 0) != 0:
        return False
    data, weights = (named(str(attributes[name])) for name in ("inputDataType", "weightDataType"))
    return has_rtl(data, weights, technology, depthwise=engine.kind.startswith("VVAU"))


def is_offered(option: Option) -> bool:
    """Whether an option of the other style brings what FINN's own choice does not have.

    Both styles of thresholds keep the same bits in LUTs. In block RAM the hls one keeps them in one memory, the rtl one
    in one for each bit of the output.
    """
    return not option.kind.startswith("Thresholding") or option.folding.get("ram_style") == "block"


def specialised(folded: FoldedDataflow) -> FoldedDataflow:
    """Return the engines as their options make them; the same object if all are FINN's own choice."""
    kinds = {name: option.kind for name, option in folded.options.items() if option.kind}
    if not kinds:
        return folded
    dataflow = respecialised(folded.dataflow, kinds)
    options = {new: folded.options[old] for old, new in renamings(folded.dataflow, dataflow).items()}
    return FoldedDataflow(dataflow, options)


def respecialised(dataflow: Dataflow, kinds: Mapping[str, str]) -> Dataflow:
    """Return the engines with other ``kinds``, by name, all numbered as FINN does, and their streams."""
    engines = [_of_kind(engine, kinds.get(engine.name, engine.kind)) for engine in dataflow.engines]
    names = dict(zip((old.name for old in dataflow.engines), numbered(new.kind for new in engines), strict=True))
    return replace(
        dataflow,
        engines=tuple(replace(new, name=names[old.name]) for old, new in zip(dataflow.engines, engines, strict=True)),
        streams=tuple(
            replace(stream, source=_end(stream.source, names), target=_end(stream.target, names))
            for stream in dataflow.streams
        ),
    )


def _of_kind(engine: Engine, kind: str) -> Engine:
    if kind == engine.kind:
        return engine
    return replace(engine, kind=kind, attributes={**engine.attributes, PREFERENCE: kind.rpartition("_")[2]})


def _end(name: str, names: Mapping[str, str]) -> str:
    return name if is_outside(name) else names[name]


def layers(dataflow: Dataflow) -> dict[str, Engine]:
    """Return the engines by the names that FINN gives their layers, before it makes engines of them."""
    return dict(zip(numbered(family(engine.kind) for engine in dataflow.engines), dataflow.engines, strict=True))
