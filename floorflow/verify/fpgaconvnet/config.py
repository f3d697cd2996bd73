"""fpgaConvNet's configuration: the layers of the plan with their foldings, joined as the plan's channels join them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from floorflow.verify.judge import Files

FINDINGS = {
    "fpgaconvnet-layer-missing": "fpgaConvNet's configuration lacks a layer, or has one that is no engine",
    "fpgaconvnet-config-differs": "a layer of fpgaConvNet's configuration has other foldings, sizes or streams",
    "fpgaconvnet-config-malformed": "fpgaConvNet's configuration is not one partition of layers",
}
TYPES = {
    "ConvolutionLayer": "CONVOLUTION",
    "InnerProductLayer": "INNER_PRODUCT",
    "PoolingLayer": "POOLING",
    "ReLULayer": "RELU",
    "EltWiseLayer": "ELTWISE",
    "SplitLayer": "SPLIT",
}
SIZES = ("rows_in", "cols_in", "channels_in", "rows_out", "cols_out", "channels_out", "groups", "has_bias")
Problem = tuple[str, str, str]


def check_configs(phase: Mapping[str, Any], folder: Files, context: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with the files of every network that runs."""
    for run in phase["networks"]:
        place = f"fpgaconvnet/{run['network']}" if context["several_networks"] else "fpgaconvnet"
        rows = {i: row for i, row in context["engines"].items() if row["network"] == run["network"]}
        config, where = folder.json(f"{place}/config.json"), folder.path(f"{place}/config.json")
        if config is not None:
            yield from _differences(config, where, rows, phase["channels"])


def _differences(
    config: Mapping[str, Any], where: str, rows: Mapping[str, Any], channels: list[Any]
) -> Iterator[Problem]:
    partitions = config.get("partition")
    layers = partitions[0].get("layers") if isinstance(partitions, list) and len(partitions) == 1 else None
    if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
        yield "fpgaconvnet-config-malformed", where, "has not one partition with layers"
        return
    told = {layer.get("name"): layer for layer in layers}
    names = {row["entry"]["name"]: identity for identity, row in rows.items()}
    for name in sorted({*told} ^ {*names}, key=str):
        yield "fpgaconvnet-layer-missing", where, f"{name} is in one of plan and file only"
    for name in sorted({*told} & {*names}):
        for what in _wrong(told[name], rows[names[name]], channels):
            yield "fpgaconvnet-config-differs", where, f"{name}: {what}"


def _wrong(layer: Mapping[str, Any], row: Mapping[str, Any], channels: list[Any]) -> Iterator[str]:
    entry, folding = row["entry"], row["folding"]["attributes"]
    if layer.get("type") != TYPES.get(entry["kind"]):
        yield f"type is {layer.get('type')!r:.60}"
    parameters = layer.get("parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    wanted = {**{key: entry["attributes"][key] for key in SIZES if key in entry["attributes"]}, **folding}
    for key, value in wanted.items():
        if parameters.get(key) != value:
            yield f"{key} is {parameters.get(key)!r:.60}, planned {value!r:.60}"
    for side, port, coarse in (("in", "target", "coarse_in"), ("out", "source", "coarse_out")):
        planned = sorted(c["fifo_depth"] for c in channels if c[port] == row["id"])
        streams = layer.get(f"streams_{side}")
        streams = [s for s in streams if isinstance(s, dict)] if isinstance(streams, list) else []
        if sorted(s.get("buffer_depth", 0) for s in streams) != planned:
            yield f"streams_{side} has other FIFOs than the plan's {planned}"
        if any(s.get("coarse") != folding.get(coarse) for s in streams):
            yield f"a stream of streams_{side} is not {folding.get(coarse)!r:.60} wide"
