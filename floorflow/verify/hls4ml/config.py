"""hls4ml's configuration: it holds the reuse factor and strategy of each layer of the plan, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from floorflow.verify.files.reader import parsed_yaml
from floorflow.verify.judge import Files

FINDINGS = {
    "hls4ml-layer-missing": "hls4ml's configuration has no entry for a layer, or one for something that is none",
    "hls4ml-config-differs": "hls4ml's configuration has another reuse factor or strategy than the plan",
    "hls4ml-config-malformed": "hls4ml's configuration is no table of layers, or its two files differ",
}
Problem = tuple[str, str, str]


def check_configs(
    plan: Mapping[str, Any], phase: Mapping[str, Any], folder: Files, context: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield what is wrong with the files of every network that runs."""
    for run in phase["networks"]:
        place = f"hls4ml/{run['network']}" if context["several_networks"] else "hls4ml"
        rows = [row for row in context["engines"].values() if row["network"] == run["network"]]
        name, project = f"{place}/hls_config.json", f"{place}/config.yml"
        config = folder.json(name)
        if config is not None:
            yield from _differences(config, folder.path(name), rows)
        text = folder.text(project)
        if text is not None and config is not None:
            yield from _project(text, folder.path(project), config, plan)


def _differences(config: Mapping[str, Any], where: str, rows: list[Any]) -> Iterator[Problem]:
    layers = config.get("LayerName")
    if not isinstance(layers, dict):
        yield "hls4ml-config-malformed", where, "LayerName is no table"
        return
    wanted = {row["entry"]["attributes"].get("layer"): row["folding"]["attributes"] for row in rows}
    wanted = {name: folding for name, folding in wanted.items() if name}
    for name in sorted({*wanted} ^ {*layers}, key=str):
        yield "hls4ml-layer-missing", where, f"{name} is in one of plan and file only"
    for name in sorted({*wanted} & {*layers}):
        told = layers[name] if isinstance(layers[name], dict) else {}
        if {key: told[key] for key in told if key != "Precision"} != wanted[name]:
            yield "hls4ml-config-differs", where, f"{name} has {told!r:.120}, planned {wanted[name]}"


def _project(text: str, where: str, config: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[Problem]:
    project, fault = parsed_yaml(text)
    if project is None:
        yield "hls4ml-config-malformed", where, f"{fault:.120}"
    elif project.get("HLSConfig") != config:
        yield "hls4ml-config-malformed", where, "HLSConfig is not hls_config.json"
    elif project.get("IOType") != "io_stream":
        yield "hls4ml-config-differs", where, f"IOType is {project.get('IOType')!r:.60}, planned io_stream"
    elif project.get("ClockPeriod") != round(1000 / plan["summary"]["clock_mhz"], 4):
        yield "hls4ml-config-differs", where, f"ClockPeriod is {project.get('ClockPeriod')!r:.60}"
