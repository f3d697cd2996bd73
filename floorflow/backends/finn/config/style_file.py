"""FINN's specialize_layers_config.json: which layers are to be hls or rtl, before they are numbered as engines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from floorflow.backends.finn.config.apply_config import DEFAULTS, read_config
from floorflow.backends.finn.lower.integer_form import listed
from floorflow.backends.finn.names import family
from floorflow.backends.finn.specialise import PREFERENCE, layers, other_kind, respecialised
from floorflow.dataflow.model import Dataflow, Engine
from floorflow.errors import InputError
from floorflow.reading import exists
from floorflow.technology import Technology

STYLE_FILE = "specialize_layers_config.json"
"""What the file is called beside the folding_config.json that goes with it."""
_HINT = "Give the file that went through FINN's step_specialize_layers, or none if FINN chose by itself."


def style_file_beside(folding_file: Path) -> Path | None:
    """Return the file of styles that goes with a folding_config.json, if there is one."""
    path = folding_file.with_name(STYLE_FILE)
    return path if exists(path) else None


def with_styles(dataflow: Dataflow, path: Path, technology: Technology) -> Dataflow:
    """Return lowered engines as hls or rtl as a file has them, with FINN's names of these.

    Raises
    ------
    InputError
        If the file is broken, names a layer that there is not, or asks for an engine that FINN does not have.

    """
    config = read_config(path, "layers", _HINT)
    named = layers(dataflow)
    unknown = sorted(config.keys() - named.keys() - {DEFAULTS})
    if unknown:
        message = f"{path}: the network has no layer {listed([repr(name) for name in unknown])}"
        raise InputError(message, f"Layers are numbered by generic op type: {listed([repr(n) for n in named])}.")
    asked = {name: _defaults(path, config.get(DEFAULTS, {}), engine) for name, engine in named.items()}
    asked |= {name: _style(f"{path}: {name}", config[name], asked[name]) for name in named if name in config}
    kinds = {named[name].name: _kind(path, name, named[name], style, technology) for name, style in asked.items()}
    return respecialised(dataflow, kinds)


def _defaults(path: Path, entry: object, engine: Engine) -> str:
    """Return what ``{"preferred_impl_style": ["hls", ["MVAU"]]}`` says of an engine, else nothing."""
    pairs = entry.get(PREFERENCE, []) if isinstance(entry, dict) and set(entry) <= {PREFERENCE} else None
    if not isinstance(pairs, list) or len(pairs) % 2:
        message = f"{path}: {DEFAULTS} is {entry!r:.60}, expected {PREFERENCE} with a style and a list of op types"
        raise InputError(message, _HINT)
    style = ""
    for value, kinds in zip(pairs[::2], pairs[1::2], strict=True):
        if kinds == "all" or (isinstance(kinds, list) and family(engine.kind) in kinds):
            style = _style(f"{path}: {DEFAULTS}", {PREFERENCE: value}, "")
    return style


def _style(where: str, entry: object, default: str) -> str:
    """Return the style that an entry asks for; empty: FINN's own choice."""
    style = entry.get(PREFERENCE, default) if isinstance(entry, Mapping) and set(entry) <= {PREFERENCE} else None
    if style not in ("", "hls", "rtl"):
        raise InputError(f"{where} is {entry!r:.60}, expected {PREFERENCE} of hls or rtl and nothing else", _HINT)
    return str(style)


def _kind(path: Path, name: str, engine: Engine, style: str, technology: Technology) -> str:
    """Return the op type that an engine gets."""
    if not style or engine.kind.endswith(f"_{style}"):
        return engine.kind
    kind = other_kind(engine, technology)
    if kind is None:
        message = f"{path}: {name} is to be {style}, but floorflow plans this layer as {engine.kind} only"
        raise InputError(message, "Take its entry out of the file.")
    return kind
