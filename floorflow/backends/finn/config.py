"""FINN's configuration files of a folding: folding_config.json and specialize_layers_config.json, read and written.

Both are of FINN's ApplyConfig: an object of named entries, and ``Defaults`` beside them. A folding that a user gives
stands instead of the one that a model carries; styles say which layers are hls or rtl, before these are numbered as
engines.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.lower.integer_form import listed
from floorflow.backends.finn.names import (
    FOLDING_ATTRIBUTES,
    HARDWARE_ATTRIBUTES,
    PASSING,
    family,
    is_specialised,
    present_name,
    present_value,
)
from floorflow.backends.finn.specialise import PREFERENCE, layers, other_kind, respecialised
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine, FoldedDataflow
from floorflow.errors import InputError, some
from floorflow.reading import exists, read_json
from floorflow.technology import Technology

DEFAULTS = "Defaults"


def read_config(path: Path, members: str, hint: str) -> dict[str, Any]:
    """Return the object in a file; ``members`` says in a message what it should hold.

    Raises InputError if the file cannot be read or holds no object.
    """
    config = read_json(path, "configuration", hint)
    if not isinstance(config, dict):
        raise InputError(f"{path}: expected an object of {members}", hint)
    return config


STYLE_FILE = "specialize_layers_config.json"
"""What the file is called beside the folding_config.json that goes with it."""
_STYLE_HINT = "Give the file that went through FINN's step_specialize_layers, or none if FINN chose by itself."


def style_file_beside(folding_file: Path) -> Path | None:
    """Return the file of styles that goes with a folding_config.json, if there is one."""
    path = folding_file.with_name(STYLE_FILE)
    return path if exists(path) else None


def with_styles(dataflow: Dataflow, path: Path, technology: Technology) -> Dataflow:
    """Return lowered engines as hls or rtl as a file has them, with FINN's names of these.

    Raises InputError if the file is broken, names a layer that there is not, or asks for an engine that FINN does not
    have.
    """
    config = read_config(path, "layers", _STYLE_HINT)
    named = layers(dataflow)
    unknown = sorted(config.keys() - named.keys() - {DEFAULTS})
    if unknown:
        message = f"{path}: the network has no layer {listed([repr(name) for name in unknown])}"
        raise InputError(message, f"Layers are numbered by generic op type: {listed([repr(n) for n in named])}.")
    asked = {name: _default_style(path, config.get(DEFAULTS, {}), engine) for name, engine in named.items()}
    asked |= {name: _style(f"{path}: {name}", config[name], asked[name]) for name in named if name in config}
    kinds = {named[name].name: _kind(path, name, named[name], style, technology) for name, style in asked.items()}
    return respecialised(dataflow, kinds)


def _default_style(path: Path, entry: object, engine: Engine) -> str:
    """Return what ``{"preferred_impl_style": ["hls", ["MVAU"]]}`` says of an engine, else nothing."""
    pairs = entry.get(PREFERENCE, []) if isinstance(entry, dict) and set(entry) <= {PREFERENCE} else None
    if not isinstance(pairs, list) or len(pairs) % 2:
        message = f"{path}: {DEFAULTS} is {entry!r:.60}, expected {PREFERENCE} with a style and a list of op types"
        raise InputError(message, _STYLE_HINT)
    style = ""
    for value, kinds in zip(pairs[::2], pairs[1::2], strict=True):
        if kinds == "all" or (isinstance(kinds, list) and family(engine.kind) in kinds):
            style = _style(f"{path}: {DEFAULTS}", {PREFERENCE: value}, "")
    return style


def _style(where: str, entry: object, default: str) -> str:
    """Return the style that an entry asks for; empty: FINN's own choice."""
    style = entry.get(PREFERENCE, default) if isinstance(entry, Mapping) and set(entry) <= {PREFERENCE} else None
    if style not in ("", "hls", "rtl"):
        raise InputError(f"{where} is {entry!r:.60}, expected {PREFERENCE} of hls or rtl and nothing else", _STYLE_HINT)
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


FOLDING_FILE = "folding_config.json"


def folding_texts(folded: FoldedDataflow) -> Mapping[str, str]:
    """Return folding_config.json, and specialize_layers_config.json where hls or rtl is not FINN's own choice."""
    config = {name: dict(sorted(option.folding.items())) for name, option in sorted(folded.options.items())}
    chosen = ((layer, engine.attributes.get(PREFERENCE)) for layer, engine in layers(folded.dataflow).items())
    styles = {layer: {PREFERENCE: style} for layer, style in chosen if style is not None}
    files = {FOLDING_FILE: as_json({"Defaults": {}} | config)}
    return files | {STYLE_FILE: as_json({"Defaults": {}} | styles)} if styles else files


def as_json(content: object) -> str:
    """Return an object as FINN's files of a plan have it."""
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


_OF_THE_BUILD = frozenset(
    (
        *("device_id", "impl_style", "inFIFODepth", "inFIFODepths", "mem_port", "outFIFODepth", "outFIFODepths"),
        *("partition_id", "preferred_impl_style", "slr"),
    )
)
"""Attributes that FINN's own files hold beside the folding, and that floorflow decides itself."""
_HINT = "Give a file of FINN's ApplyConfig for this graph, such as finn/folding_config.json of a plan."


def with_given_folding(dataflow: Dataflow, path: Path, technology: Technology) -> Dataflow:
    """Return the engines with the attributes of a folding_config.json; FINN only warns of names that it lacks.

    Lowered engines are first made hls or rtl as a specialize_layers_config.json beside the file says.

    Raises InputError if the file is missing or broken, names a node that there is not, or holds values of other types
    than FINN's.
    """
    config = _read(path)
    styles = style_file_beside(path) if dataflow.unspecialised else None
    if styles is not None:
        dataflow = with_styles(dataflow, styles, technology)
    elif dataflow.unspecialised:
        dataflow = _in_one_style(dataflow, config, technology)
    config, renamed = _by_present_names(path, config, dataflow)
    names = {engine.name for engine in dataflow.engines}
    unknown = sorted(name for name in config.keys() - names - {DEFAULTS} if not name.startswith(PASSING))
    if unknown:
        message = f"{path}: the graph has no node {some(repr(name) for name in unknown)}"
        hint = f"Its nodes are called {listed([repr(n) for n in sorted(names)])}."
        raise InputError(message, hint + _hint_on_styles(dataflow, unknown, styles) + _hint_on_counts(dataflow, config))
    defaults = _defaults(path, config.get(DEFAULTS, {}))
    engines = tuple(_applied(engine, path, defaults, config.get(engine.name, {})) for engine in dataflow.engines)
    notes = (*renamed, *_notes(path, dataflow, config))
    return replace(dataflow, engines=engines, notes=(*dataflow.notes, *notes))


def _in_one_style(dataflow: Dataflow, config: Mapping[str, Any], technology: Technology) -> Dataflow:
    """Return the engines hls or rtl as the names of a file say that has all engines of a layer in one style."""
    kinds: dict[str, str] = {}
    for layer in sorted({family(engine.kind) for engine in dataflow.engines}):
        engines = [engine for engine in dataflow.engines if family(engine.kind) == layer]
        for kind in (f"{layer}_hls", f"{layer}_rtl"):
            every = {f"{kind}_{index}" for index in range(len(engines))}
            named = {name for name in config if family(name.rpartition("_")[0]) == layer}
            if named == every and all(kind in (each.kind, other_kind(each, technology)) for each in engines):
                kinds |= {engine.name: kind for engine in engines}
    return respecialised(dataflow, kinds) if kinds else dataflow


def _by_present_names(
    path: Path, config: Mapping[str, dict[str, Any]], dataflow: Dataflow
) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
    """Return a file by the names of the engines, and a note on names that say neither hls nor rtl.

    Such are names from before FINN 0.10, where every engine was hls (``MatrixVectorActivation_3``), and of layers that
    SpecializeLayers has not seen (``MVAU_3``): the fourth of its layer is meant.

    Raises InputError if two names are of one engine.
    """
    found, told = dict[str, dict[str, Any]](), []
    for name, entry in config.items():
        present = name if name == DEFAULTS else _present_name(name, dataflow, config)
        if present in found:
            raise InputError(f"{path}: '{name}' is a name of '{present}', which has an entry already", _HINT)
        found[present] = entry
        if present != name:
            told.append(f"'{name}' is '{present}'")
    return found, (f"{path.name} has names that say neither hls nor rtl: {listed(told)}",) if told else ()


def _present_name(name: str, dataflow: Dataflow, config: Mapping[str, Any]) -> str:
    """Return the name of the engine that an older name means; the name itself if it is of today or of none."""
    op_type, _, index = name.rpartition("_")
    if is_specialised(op_type) or name.startswith(PASSING) or not index.isdigit():
        return name
    layer = family(present_name(op_type, old=True))
    alike = [engine for engine in dataflow.engines if family(engine.kind) == layer]
    if layer == "ConvolutionInputGenerator" and any("Generator1D_" in other for other in config):
        alike = [engine for engine in alike if engine.attributes.get("is1D", 0) == ("Generator1D" in op_type)]
    return alike[int(index)].name if int(index) < len(alike) else name


def _hint_on_counts(dataflow: Dataflow, config: Mapping[str, Any]) -> str:
    """Say where the file has more engines of a layer than the network, which then is another one."""
    has = Counter(family(engine.kind) for engine in dataflow.engines)
    names = (name.rpartition("_")[0] for name in config if name != DEFAULTS and not name.startswith(PASSING))
    given = Counter(family(present_name(op_type, old=True)) for op_type in names)
    more = [f"{count} {layer}, the model {has[layer]}" for layer, count in sorted(given.items()) if count > has[layer]]
    return f" The file is of another model: it has {'; '.join(more)}." if more else ""


def _hint_on_styles(dataflow: Dataflow, unknown: Iterable[str], styles: Path | None) -> str:
    """Say what to do if names are of layers that the network has, but hls instead of rtl or the other way."""
    layers = {family(engine.kind) for engine in dataflow.engines}
    if not dataflow.unspecialised or not all(family(name.rpartition("_")[0]) in layers for name in unknown):
        return ""
    if styles is not None:
        return f" {styles.name} beside the file makes other engines hls or rtl than the file has."
    return f" Engines that are hls where FINN makes them rtl, or the other way, need its {STYLE_FILE} beside the file."


def _read(path: Path) -> dict[str, dict[str, Any]]:
    config = read_config(path, "nodes", _HINT)
    for name, entry in config.items():
        if not isinstance(entry, dict):
            raise InputError(f"{path}: {name} is {entry!r:.40}, expected an object of attributes", _HINT)
    return config


def _defaults(path: Path, entry: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return attribute, value and op types, or ``"all"``, of each default: ``{"PE": [2, ["MVAU_hls"]]}``."""
    defaults = []
    for attribute, pairs in entry.items():
        if not isinstance(pairs, list) or len(pairs) % 2:
            message = f"{path}: Defaults: {attribute} is {pairs!r:.60}, expected a value and a list of op types"
            raise InputError(message, _HINT)
        for value, kinds in zip(pairs[::2], pairs[1::2], strict=True):
            _check_kinds(path, attribute, kinds)
            defaults.append((attribute, value, kinds))
    return defaults


def _check_kinds(path: Path, attribute: str, kinds: object) -> None:
    """Refuse op types that are none, such as ``["all"]``, which FINN matches with nothing."""
    if kinds == "all":
        return
    known = isinstance(kinds, list) and all(kind in KINDS for kind in kinds)
    if not known:
        message = f"{path}: Defaults: {attribute} is for {kinds!r:.60}, expected a list of FINN's op types"
        raise InputError(message, 'Name them as in the graph, ["MVAU_hls"], or say "all" without brackets.')


def _applied(engine: Engine, path: Path, defaults: list[tuple[str, Any, Any]], own: Mapping[str, Any]) -> Engine:
    """Return an engine with its attributes of the file, those of its own over the defaults."""
    by_default = {attribute: value for attribute, value, kinds in defaults if kinds == "all" or engine.kind in kinds}
    attributes, folding = dict(engine.attributes), dict(engine.folding)
    for attribute, value in {**by_default, **own}.items():
        if attribute in _OF_THE_BUILD:
            continue
        checked = _checked(f"{path}: {engine.name}", attribute, value)
        (folding if attribute in FOLDING_ATTRIBUTES else attributes)[attribute] = checked
    return replace(engine, attributes=attributes, folding=folding)


def _checked(where: str, attribute: str, value: object) -> AttributeValue:
    """Return a value if FINN's ApplyConfig takes it for that attribute, in today's spelling."""
    if attribute not in HARDWARE_ATTRIBUTES and attribute not in FOLDING_ATTRIBUTES:
        raise InputError(f"{where}: FINN's engines have no attribute {attribute}", _HINT)
    if attribute in FOLDING_ATTRIBUTES and (isinstance(value, bool) or not isinstance(value, int)):
        raise InputError(f"{where}: {attribute} is {value!r:.40}, expected an integer", _HINT)
    if isinstance(value, list) and all(_is_plain(one) for one in value):
        return tuple(value)
    if not isinstance(value, int | str) or not _is_plain(value):
        raise InputError(f"{where}: {attribute} is {value!r:.40}, expected integers or texts", _HINT)
    return present_value(attribute, value)


def _is_plain(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)


def _notes(path: Path, dataflow: Dataflow, config: Mapping[str, Any]) -> Iterator[str]:
    """Say what the file leaves open and what of it is not used."""
    absent = [repr(engine.name) for engine in dataflow.engines if engine.name not in config]
    if absent:
        yield f"{path.name} has no entry for {listed(absent)}: folded as the model has it, else not at all"
    unused = [repr(name) for name in sorted(config) if name.startswith(PASSING)]
    if unused:
        yield f"{path.name}: floorflow makes FIFOs and converters of its own instead of {listed(unused)}"
