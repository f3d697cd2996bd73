"""Reuse factors, strategies and types from a configuration of hls4ml's own, as hls4ml itself reads them.

``hls_config.json`` is the dictionary that ``config_from_onnx_model`` and ``config_from_keras_model`` make; a project's
``hls4ml_config.yml`` holds it under ``HLSConfig``. A layer's values stand under its name, else its class, else
``Model``. Sources: hls4ml 1.3.0, ``model/graph.py`` (HLSConfig), ``backends/fpga/fpga_backend.py`` (the nearest reuse
factor), ``model/optimizer/passes/infer_precision.py`` (``auto``).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from floorflow.backends.hls4ml.costs import Hls4mlCosts
from floorflow.backends.hls4ml.foldings import JOINS, POOLS, TYPE_NAMES, WEIGHTED, Folding, legal_factors, matrix_of
from floorflow.backends.hls4ml.lower import DEFAULT_BITS, counted
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.hls4ml.weights import DEFAULT_FRACTION, Constants
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine, Stream
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError, some
from floorflow.reading import is_file, is_folder, parse_json, read_text, shown

PROJECT_FILE = "hls4ml_config.yml"
_HINT = "give hls_config.json as config_from_onnx_model makes it, or the folder of an hls4ml project"
_TYPE = re.compile(r"(?:ap_)?(?:u?fixed|q?u?int)<\s*(\d+)\s*[,>]")
_POINT = re.compile(r"<\s*\d+\s*,\s*(-?\d{1,3})\s*[,>]")
_CLEAN = re.compile(r"[A-Z][A-Za-z0-9]*_\d+")
"""Names as QONNX's clean-up gives them."""
_STRATEGIES = {"latency": "Latency", "resource": "Resource", "stable": "", "argmax": "", "legacy": ""}
"""By hls4ml's word in small letters; those of Softmax alone are none of a layer with weights."""
_PREFIXES = ("", "dense_", "conv1d_", "conv2d_", "depthwiseconv2d_", "depthwiseconv1d_")
_UNUSED = f"the {PROJECT_FILE} beside the model is not used: "
_USUAL = Hls4mlOptions.model_validate({})
_VARIABLES = ("weight", "bias", "accum", "result")
_KEYS = ("Precision", "ReuseFactor", "Strategy", "ParallelizationFactor", "Compression")
_WIDEST = 64
"""Bits of a type of hls4ml's that is planned."""


@dataclass(frozen=True)
class Config:
    """A configuration by its sections, with names in small letters as hls4ml compares them; ``io_type`` if told."""

    file: str
    model: Mapping[str, Any]
    types: Mapping[str, Mapping[str, Any]]
    names: Mapping[str, Mapping[str, Any]]
    io_type: str = ""

    def value(self, engine: Engine, key: str) -> Any:
        """Return a value of a layer: under its name, its class, or the model's."""
        for section in self.sections(engine):
            if section.get(key) is not None:
                return section[key]
        return self.model.get(key)

    def sections(self, engine: Engine) -> Iterator[Mapping[str, Any]]:
        """Yield the layer's own section, then those of its class."""
        own = [*_names(engine)]
        yield from (self.names[name] for name in own if name in self.names)
        yield from (self.types[name.lower()] for name in TYPE_NAMES[engine.kind] if name.lower() in self.types)

    def precision(self, engine: Engine, variable: str) -> str:
        """Return the type of a layer's variable as it is written, ``auto`` included; empty: the default is meant."""
        for section in (*self.sections(engine), self.model):
            told = section.get("Precision")
            found = (
                told.get(variable, "" if section is self.model else told.get("default", ""))
                if isinstance(told, dict)
                else told
            )
            if found and not (section is self.model and not isinstance(told, dict)):
                return str(_scalar(found))
        return ""

    @property
    def default(self) -> str:
        """The model's default type as it is written, empty if it has none."""
        told = self.model.get("Precision")
        return str(_scalar(told.get("default") if isinstance(told, dict) else told) or "")

    @property
    def default_bits(self) -> int | None:
        """Bits of the model's default type, if it has one."""
        return _bits(self.default, self.file)


def beside(model: Path) -> Path | None:
    """Return the configuration of the hls4ml project that a model lies in, if it does."""
    found = model.parent / PROJECT_FILE
    return found if is_file(found) else None


def in_project(dataflow: Dataflow, file: Path) -> Dataflow:
    """Return the engines with types and foldings of the project that the model lies in; one of another is noted."""
    try:
        found = with_config(dataflow, file)
        return replace(
            found, notes=(*found.notes, f"types and reuse factors are those of {shown(file)}, beside the model")
        )
    except InputError as error:
        return replace(dataflow, notes=(*dataflow.notes, f"{_UNUSED}{error}"))


def config_file(path: Path) -> Path:
    """Return the file of a path that may be a project's folder."""
    return path / PROJECT_FILE if is_folder(path) else path


def with_config(dataflow: Dataflow, path: Path) -> Dataflow:
    """Return the engines with types and foldings of a configuration.

    Raises InputError if it is none, or asks for what hls4ml refuses or is not planned; names file, layer and key.
    """
    config = read_config(config_file(path))
    typed = _typed(dataflow, config)
    notes: list[str] = []
    engines = tuple(replace(engine, folding=_folding(engine, config, notes)) for engine in typed.engines)
    return replace(typed, engines=engines, notes=(*typed.notes, *notes, *_notes(dataflow, config)))


def read_config(file: Path) -> Config:
    """Read ``hls_config.json``, or ``hls4ml_config.yml`` of a project."""
    text = read_text(file, "configuration", _HINT)
    content = _yaml(text, file) if file.suffix in (".yml", ".yaml") else parse_json(text, str(file), _HINT)
    if not isinstance(content, dict):
        raise InputError(f"{shown(file)}: is no table of sections", _HINT)
    sections = content.get("HLSConfig", content)
    if not isinstance(sections, dict) or not {"Model", "LayerName", "LayerType"} & {*sections}:
        raise InputError(f"{shown(file)}: has none of the sections Model, LayerType and LayerName", _HINT)
    return Config(
        str(shown(file)),
        _table(sections.get("Model"), "Model", file),
        _tables(sections.get("LayerType"), "LayerType", file),
        _tables(sections.get("LayerName"), "LayerName", file),
        str(_scalar(content.get("IOType")) or ""),
    )


_SafeLoader: Any = yaml.SafeLoader


class _Loader(_SafeLoader):  # type: ignore[misc]  # as in hardware/reading.py
    """A loader for which hls4ml's tags of models are nothing."""


_Loader.add_multi_constructor("!", lambda *_: None)
# Where hls4ml was given a model and no file's name, it writes the object: it stands for its tag, which is no value.
_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda _, suffix, __: f"python/{suffix}")


def _yaml(text: str, file: Path) -> Any:
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{shown(file)}: the file is no YAML: {error!s:.200}", _HINT) from None


def _table(content: Any, section: str, file: Path) -> Mapping[str, Any]:
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InputError(f"{shown(file)}: {section} is no table", _HINT)
    return content


def _tables(content: Any, section: str, file: Path) -> Mapping[str, Mapping[str, Any]]:
    return {
        str(name).lower(): _table(each, f"{section}.{name}", file)
        for name, each in _table(content, section, file).items()
    }


def _names(engine: Engine) -> Iterator[str]:
    """Yield what a configuration may call an engine: its node's clean name, as merged, or as in the file."""
    clean = str(engine.attributes.get("layer", ""))
    for name in (clean, engine.operation, engine.name):
        # A file's own name that looks like a clean one may be that of another layer.
        if name and (name == clean or not _CLEAN.fullmatch(name)):
            yield from (f"{prefix}{name.lower()}" for prefix in _PREFIXES)


def _folding(engine: Engine, config: Config, notes: list[str]) -> dict[str, AttributeValue]:
    """Return the folding as hls4ml makes it of the values; what it changes is noted."""
    if engine.kind not in WEIGHTED:
        return {"ReuseFactor": 1}  # whatever it says: streams of other layers heed none
    reuse, strategy = _reuse(engine, config), _strategy(engine, config)
    if config.value(engine, "ParallelizationFactor") not in (None, 1):
        raise _wrong(engine, config, "ParallelizationFactor", "1: several pixels at a time are not planned")
    inputs, outputs = matrix_of(engine)
    if strategy == "Latency":
        taken = min(reuse, inputs * outputs)
    else:
        legal = legal_factors(engine, _USUAL, strategy)
        taken = int(legal[np.argmin(np.abs(legal - reuse))])  # of two as near the smaller, as hls4ml takes it
    if taken != reuse:
        notes.append(f"{config.file}: hls4ml takes no reuse factor of {reuse} for {engine.name}, but {taken}")
    return {"ReuseFactor": taken, "Strategy": strategy}


def _reuse(engine: Engine, config: Config) -> int:
    value = config.value(engine, "ReuseFactor")
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _wrong(engine, config, "ReuseFactor", "a whole number from 1, for the layer, its class or Model")
    return value


def _strategy(engine: Engine, config: Config) -> str:
    if config.value(engine, "Compression") not in (None, False, 0):
        raise _wrong(engine, config, "Compression", "false: compressed weights are not planned")
    told = config.value(engine, "Strategy")
    found = _STRATEGIES.get(str("Latency" if told is None else told).lower(), "")
    if not found:
        raise _wrong(engine, config, "Strategy", "Latency or Resource; others are not planned")
    return found


def _wrong(engine: Engine, config: Config, key: str, expected: str) -> InputError:
    value = _scalar(config.value(engine, key))
    return InputError(f"{config.file}: {key} of {engine.name} is {value!r:.60}, expected {expected}", _HINT)


def _scalar(value: Any) -> Any:
    """Return a value, or in place of a table or list, whose text YAML's aliases can make endless, what it is."""
    return value if value is None or isinstance(value, str | int | float) else f"a {type(value).__name__}"


def _bits(told: Any, file: str, of: str = "Precision") -> int | None:
    """Return the bits of a type; None for ``auto`` and nothing."""
    if told in ("", None, "auto"):
        return None
    told = _scalar(told)
    match = _TYPE.match(str(told))
    if match is None or not 1 <= int(match[1]) <= _WIDEST:
        raise InputError(f"{file}: {of} is {told!r:.60}, expected a type such as fixed<16,6> of at most 64 bits", _HINT)
    return int(match[1])


def _typed(dataflow: Dataflow, config: Config) -> Dataflow:
    """Return the engines and streams with the types that a configuration gives weights, sums and results.

    What the model's quantisers say stays: hls4ml lets a configuration overrule a quantiser only for a layer's own.
    """
    width: dict[tuple[str, int], int] = {}
    engines = []
    for engine in dataflow.engines:
        into = [s for s in dataflow.streams if s.target == engine.name]
        operands = tuple(width.get((s.source, s.source_port), _entering(s, config)) for s in into)
        typed = _with_types(engine, operands, config)
        width |= {(s.source, s.source_port): typed.output_bits for s in dataflow.streams if s.source == engine.name}
        engines.append(typed)
    streams = tuple(
        replace(s, element_bits=width.get((s.source, s.source_port), _entering(s, config))) for s in dataflow.streams
    )
    return replace(dataflow, engines=tuple(engines), streams=streams)


def _entering(stream: Stream, config: Config) -> int:
    """Return the bits of what the host sends: hls4ml's input has the model's default type."""
    if not stream.from_outside or stream.element_bits != DEFAULT_BITS:
        return stream.element_bits
    return config.default_bits or stream.element_bits


def _with_types(engine: Engine, operands: tuple[int, ...], config: Config) -> Engine:
    bits_in = max(operands, default=engine.input_bits)
    quantised = engine.attributes.get("quantised_output") == 1
    attributes = dict(engine.attributes)
    weight_bits = engine.weight_bits
    told = config.precision(engine, "weight")
    if engine.kind in WEIGHTED and "weight_fraction" in attributes:
        weight_bits = (
            _bits(told, config.file, f"Precision of {engine.name}'s weights") or config.default_bits or weight_bits
        )
        fraction = _fraction(config.default if told in ("", "auto") else told, weight_bits)
        if (weight_bits, fraction) != (engine.weight_bits, attributes["weight_fraction"]):
            attributes |= _drawn(engine, weight_bits, fraction)
    if engine.kind in WEIGHTED:
        attributes["accum_bits"] = _sum_bits(engine, (bits_in, weight_bits), config)
    if "operand_bits" in attributes:
        attributes["operand_bits"] = operands
    attributes |= _written(engine, config)
    typed = replace(engine, attributes=attributes, weight_bits=weight_bits, input_bits=bits_in)
    return typed if quantised else replace(typed, output_bits=_result_bits(typed, config))


def _written(engine: Engine, config: Config) -> dict[str, AttributeValue]:
    """Return the types as they are written, for the configuration that is emitted: ``variable=type`` each."""
    told = {"default": config.default} | {name: config.precision(engine, name) for name in _VARIABLES}
    types = tuple(f"{name}={found}" for name, found in told.items() if found)
    return {"types": types} if types else {}


def _fraction(told: str, bits: int) -> int:
    """Return the bits of weights behind the point; what is not told is as in hls4ml's default type."""
    match = _POINT.search(told)
    if match:
        return bits - int(match[1])
    return 0 if "int<" in told else min(bits, DEFAULT_FRACTION)


def _drawn(engine: Engine, bits: int, fraction: int) -> dict[str, AttributeValue]:
    """Return what is expected of the constants in another type than they were read for: of those that are not 0."""
    kept = int(engine.attributes["nonzero_weights"])  # type: ignore[arg-type]
    return {**counted(Constants.unknown(kept, bits, fraction)), "weight_fraction": fraction}


def _sum_bits(engine: Engine, operands: tuple[int, int], config: Config) -> int:
    told = config.precision(engine, "accum")
    if told == "auto":
        inputs, _ = matrix_of(engine)
        return sum(operands) + ceil(log2(max(inputs, 1))) + 1
    own = int(engine.attributes["accum_bits"])  # type: ignore[arg-type]
    if "weight_fraction" not in engine.attributes:
        return _bits(told, config.file, f"Precision of {engine.name}'s sums") or own
    return _bits(told, config.file, f"Precision of {engine.name}'s sums") or config.default_bits or own


def _result_bits(engine: Engine, config: Config) -> int:
    told = config.precision(engine, "result")
    if told not in ("", "auto"):
        return _bits(told, config.file, f"Precision of {engine.name}'s result") or engine.output_bits
    if engine.kind in POOLS | {"Clone", "Concatenate"}:
        return engine.input_bits
    if told == "auto" and engine.kind in WEIGHTED:
        return int(engine.attributes["accum_bits"])  # type: ignore[arg-type]
    if told == "auto" and engine.kind == "BatchNormalization":
        return engine.input_bits + engine.weight_bits + 1
    if told == "auto" and engine.kind in JOINS:
        return engine.input_bits * 2 if engine.attributes.get("operator") == "multiply" else engine.input_bits + 1
    return config.default_bits or engine.output_bits


def _notes(dataflow: Dataflow, config: Config) -> list[str]:
    notes = []
    weighted = [engine for engine in dataflow.engines if engine.kind in WEIGHTED]
    without = [e.name for e in weighted if not any(name in config.names for name in _names(e))]
    if config.names and without and len(without) == len(weighted):
        wanted = some([str(e.attributes["layer"]) for e in weighted])
        raise InputError(f"{config.file}: LayerName names none of the layers with weights, which are {wanted}", _HINT)
    if config.names and without:
        notes.append(f"{config.file}: no entry under LayerName for {some(without)}: the class's or the model's values")
    notes += [
        f"{config.file}: {where} is no key of hls4ml's, and passed over: is {key} meant?"
        for where, key in _misspelt(config)
    ]
    if config.io_type == "io_parallel":
        notes.append(f"{config.file}: IOType is io_parallel; planned with streams (io_stream)")
    return notes


def _misspelt(config: Config) -> Iterator[tuple[str, str]]:
    """Yield keys that are near to one that is planned by and not it, and that one: hls4ml passes them over, too."""
    for section, table in {"Model": config.model, **config.types, **config.names}.items():
        told = table.get("Precision")
        variables = told if isinstance(told, dict) else {}
        for keys, known in ((table, _KEYS), (variables, (*_VARIABLES, "default"))):
            near = {str(key): get_close_matches(str(key), known, 1, 0.8) for key in keys if key not in known}
            yield from ((f"{key} of {section}", found[0]) for key, found in near.items() if found)


def given_groups(dataflow: Dataflow, costs: Hls4mlCosts, *, carried: bool = True) -> tuple[OptionGroup, ...]:
    """Return a group of one option for each engine: the folding that it was given.

    ``carried``: the model itself is to lie in a project, so that one that does not is refused.

    Raises InputError if there is none.
    """
    if carried and not any(engine.folding for engine in dataflow.engines):
        hint = f"put the model beside {PROJECT_FILE} of its project, give --folding, or leave --keep-folding out"
        why = "".join(f"; {note}" for note in dataflow.notes if note.startswith(_UNUSED))
        raise InputError(f"--keep-folding: {dataflow.name} lies in no hls4ml project{why}", hint)
    return tuple(OptionGroup((e.name,), ((costs.option(e, _own(e)),),)) for e in dataflow.engines)


def _own(engine: Engine) -> Folding:
    reuse, strategy = engine.folding.get("ReuseFactor", 1), engine.folding.get("Strategy", "")
    return int(reuse), str(strategy)  # type: ignore[arg-type]
