"""The folding that a user gives in a folding_config.json, instead of the one that a model carries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from floorflow.backends.finn.config.apply_config import DEFAULTS, read_config
from floorflow.backends.finn.config.style_file import STYLE_FILE, style_file_beside, with_styles
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
from floorflow.backends.finn.specialise import other_kind, respecialised
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine
from floorflow.errors import InputError, some
from floorflow.technology import Technology

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

    Raises
    ------
    InputError
        If the file is missing or broken, names a node that there is not, or holds values of other types than FINN's.

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

    Raises
    ------
    InputError
        If two names are of one engine.

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
