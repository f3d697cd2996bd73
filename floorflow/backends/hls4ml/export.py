"""hls4ml's configuration: a reuse factor for each layer, and a strategy where it has weights.

``hls_config.json`` is the dictionary that ``convert_from_onnx_model(hls_config=...)`` takes, ``config.yml`` the file of
``hls4ml convert -c``. Layers go by the names that QONNX's clean-up gives their nodes, for hls4ml
reads ONNX behind it alone.
Source: hls4ml 1.3.0, ``model/graph.py`` (HLSConfig) and ``converters``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from floorflow.backends.backend import Unplaced
from floorflow.backends.hls4ml.lower import DEFAULT_BITS
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.layered.files import CELLS, Layer, Layers, as_json, cells_file, running
from floorflow.facts import Plan

HLS_CONFIG, PROJECT = "hls_config.json", "config.yml"
_INTEGER_BITS = 6
"""Of hls4ml's default, ``fixed<16,6>``; how numbers are scaled is the user's to tune."""


def files(plan: Plan, phase: int) -> dict[str, str]:
    """Return hls4ml's files of a phase, and the table of cells."""
    found = {f"hls4ml/{CELLS}": cells_file(plan, phase)}
    for one in running(plan, phase):
        project = Project(one.network.name, plan.summary.clock_mhz, plan.platform.fpgas[0].part)
        found |= {
            f"{one.folder}/{name}": text
            for name, text in _texts(project, plan.options.backend_options, one.engines).items()
        }
    return found


def unplaced_files(part: Unplaced) -> dict[str, str]:
    """Return hls4ml's files of a part of a network that is placed nowhere."""
    options = part.folded.options
    engines = tuple((engine, options[engine.name].folding) for engine in part.folded.dataflow.engines)
    project = Project(part.network, part.clock_mhz, part.part)
    return {f"hls4ml/{name}": text for name, text in _texts(project, part.options, engines).items()}


@dataclass(frozen=True)
class Project:
    """What the file for the command line tells of a network beside its layers."""

    network: str
    clock_mhz: float
    part: str


def _texts(project: Project, options: Any, engines: Layers) -> dict[str, str]:
    config = hls_config(options, engines)
    return {HLS_CONFIG: as_json(config), PROJECT: yaml.safe_dump(_project(project, config), sort_keys=True)}


def hls_config(asked: Any, engines: Layers) -> dict[str, Any]:
    """Return the dictionary of a network, of engines and options of the back end."""
    bits = asked.activations if isinstance(asked, Hls4mlOptions) else None
    model = {
        "Precision": {"default": f"fixed<{DEFAULT_BITS},{_INTEGER_BITS}>"},
        "ReuseFactor": 1,
        "Strategy": "Resource",
    }
    weight_bits = asked.weight_bits if isinstance(asked, Hls4mlOptions) else None
    layers: dict[str, Any] = {}
    for engine, folding in engines:
        name = engine.attributes.get("layer", "")
        if isinstance(name, str) and name:
            layers[name] = {**_values(folding), **_precision(engine, weight_bits, bits)}
    return {"Model": model, "LayerName": layers}


def _values(folding: Mapping[str, Any]) -> dict[str, Any]:
    return {key: folding[key] for key in ("ReuseFactor", "Strategy") if key in folding}


def _precision(engine: Layer, weight_bits: int | None, activation_bits: int | None) -> dict[str, Any]:
    """Return the types that the user chose; a network with quantisers has its own.

    Weights have the bits behind the point with which the largest of them fits, as they are priced.
    """
    fraction, written = engine.attributes.get("weight_fraction"), engine.attributes.get("types", ())
    if written:  # by the configuration whose folding is kept
        return {"Precision": dict(each.split("=", 1) for each in written)}
    types: dict[str, str] = {}
    if weight_bits is not None and isinstance(fraction, int):
        types["weight"] = f"fixed<{engine.weight_bits},{engine.weight_bits - fraction}>"
    if activation_bits is not None and engine.kind == "Activation" and engine.output_bits < DEFAULT_BITS:
        # Rounded and saturated, as it is priced: cut off and wrapped around, few bits are of no use.
        types["result"] = f"fixed<{engine.output_bits},{min(engine.output_bits, _INTEGER_BITS)},RND,SAT>"
    return {"Precision": types} if types else {}


def _project(project: Project, config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "Backend": "Vitis",
        "ClockPeriod": round(1000 / project.clock_mhz, 4),
        "HLSConfig": dict(config),
        "IOType": "io_stream",
        "OnnxModel": f"{project.network}_channels_last.onnx",
        "OutputDir": f"{project.network}_prj",
        "Part": project.part,
        "ProjectName": project.network,
    }
