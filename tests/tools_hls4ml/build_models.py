"""Run by hls4ml's own Python: build models with given configurations, and tell what became of each layer.

Reads one JSON object from standard input, ``{"models": [[path, hls_config], ...], "matrices": [[n_in, n_out], ...],
"own": [[path, granularity, reuse factor, strategy], ...], "tried": [path, ...], "project": [path, folder]}``,
and writes one to the file named by the argument: of each model the layers and all that hls4ml printed, of each matrix
the reuse factors that it takes, of each of its own configurations that and what it builds of it, of each model that is
tried its layers or an error, of the project that it writes to a folder the layers with reuse factors and bits.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import warnings
from typing import Any

import hls4ml
from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.transformation.channels_last import ConvertToChannelsLastAndClean
from qonnx.transformation.gemm_to_matmul import GemmToMatMul
from qonnx.util.cleanup import cleanup_model

IMPLIED: dict[str, dict[str, Any]] = {
    "Conv": {"dilations": [1, 1], "group": 1},
    "MaxPool": {"dilations": [1, 1], "pads": [0] * 4, "ceil_mode": 0, "storage_order": 0},
}
"""Attributes that ONNX lets out where they have these values, and QONNX's channels-last operators ask for."""


def prepared(path: str) -> Any:
    """Return a model as hls4ml's documentation prepares it: clean, without Gemm, channels last."""
    model = cleanup_model(ModelWrapper(path))
    for node in model.graph.node:
        has = {attribute.name for attribute in node.attribute}
        missing = {key: value for key, value in IMPLIED.get(node.op_type, {}).items() if key not in has}
        node.attribute.extend(helper.make_attribute(key, value) for key, value in missing.items())
    model = cleanup_model(model.transform(GemmToMatMul()))
    return cleanup_model(model.transform(ConvertToChannelsLastAndClean(make_input_channels_last=True)))


def built(model: Any, config: dict[str, Any]) -> dict[str, Any]:
    """Return the layers of hls4ml's model, by name, and what it printed."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), tempfile.TemporaryDirectory() as folder:
        found = hls4ml.converters.convert_from_onnx_model(
            model, output_dir=folder, io_type="io_stream", backend="Vitis", hls_config=config
        )
    return {"layers": {each.name: _layer(each) for each in found.get_layers()}, "printed": told.getvalue()}


def _layer(layer: Any) -> dict[str, Any]:
    own = {key: layer.get_attr(key) for key in ("reuse_factor", "strategy")}
    return {**own, "class": layer.class_name, "bits": layer.get_output_variable().type.precision.width}


def own_config(path: str, granularity: str, reuse: int, strategy: str) -> dict[str, Any]:
    """Return the configuration that hls4ml makes of a model, and what it builds of it."""
    with contextlib.redirect_stdout(io.StringIO()):
        config = hls4ml.utils.config_from_onnx_model(
            prepared(path), granularity=granularity, backend="Vitis", default_reuse_factor=reuse
        )
    config["Model"]["Strategy"] = strategy
    return {"config": json.loads(json.dumps(config)), **built(prepared(path), config)}


def tried(path: str) -> dict[str, Any]:
    """Return what hls4ml builds of a model with a configuration of its own, or why it does not."""
    try:
        return own_config(path, "name", 1, "Latency")
    except Exception as error:  # noqa: BLE001 - whatever hls4ml raises is its answer
        return {"layers": {}, "printed": repr(error)}


def written(path: str, folder: str) -> list[list[Any]]:
    """Let hls4ml write a project, and return name, reuse factor and bits of weights, input and output of its layers."""
    config = hls4ml.utils.config_from_onnx_model(
        prepared(path), granularity="name", backend="Vivado", default_precision="fixed<12,6>", default_reuse_factor=4
    )
    config["Model"]["Strategy"] = "Resource"
    target = {"backend": "Vivado", "io_type": "io_stream", "part": "xc7z020clg400-1"}
    with contextlib.redirect_stdout(io.StringIO()):
        made = hls4ml.converters.convert_from_onnx_model(prepared(path), hls_config=config, output_dir=folder, **target)
        made.write()
    layers = []
    for layer in made.get_layers():
        if layer.class_name in ("Dense", "Conv2D"):
            held = layer.get_weights("weight"), layer.get_input_variable(), layer.get_output_variable()
            layers.append([layer.name, layer.get_attr("reuse_factor"), *(each.type.precision.width for each in held)])
    return layers


def main(asked: dict[str, Any]) -> dict[str, Any]:
    backend = hls4ml.backends.get_backend("Vitis")
    return {
        "models": [built(prepared(path), config) for path, config in asked["models"]],
        "matrices": [backend.get_valid_reuse_factors(*sizes) for sizes in asked["matrices"]],
        "own": [own_config(*words) for words in asked["own"]],
        "project": written(*asked["project"]),
        "tried": {path: tried(path) for path in asked["tried"]},
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    answer = main(json.load(sys.stdin))
    with open(sys.argv[1], "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(answer, file)
