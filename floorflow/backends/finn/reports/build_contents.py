"""What a file of a FINN or FINN+ build is: by the name that FINN gives it, else by its contents."""

import json
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any

from floorflow.backends.vivado.reports import is_flat_text, is_hierarchy_text, is_hierarchy_xml
from floorflow.backends.vivado.timing import is_timing_summary
from floorflow.reading import read_head

NAMES: Mapping[str, tuple[str, ...]] = {
    "synthesis": ("*post_synth_resources*.json",),
    "estimates": ("*estimate_layer_resources.json",),
    "estimates of HLS": ("*estimate_layer_resources_hls.json",),
    "cycles": ("*estimate_layer_cycles.json",),
    "performance": ("*estimate_network_performance.json",),
    "simulation": ("*rtlsim_performance*.json",),
    "out of context": ("*ooc_synth_and_timing.json",),
    "folding": ("final_hw_config.json",),
    "step times": ("time_per_step.json",),
    "hardware handoff": ("*.hwh",),
    "build settings": ("*dataflow_build_config*.json", "*build_config*.yaml", "*build_config*.yml", "settings.yaml"),
}
"""Names as FINN's steps write them, with what people put before them."""
GRAPH, TIMING, UTILISATION, HIERARCHY, AMOUNTS = (
    *("graph", "timing", "utilisation", "utilisation by hierarchy", "amounts"),
)
"""Roles that contents alone tell; ``amounts``: some JSON with LUTs and flip-flops in it that FINN does not write."""
VIVADO = (TIMING, UTILISATION, HIERARCHY)

_TEXTS = (".json", ".rpt", ".txt", ".log", ".xml", "")
_HEAD_BYTES = 65536
_GRAPH_HEAD_BYTES = 4 * 2**20
"""Nodes stand before weights in an ONNX file; a graph's first ones do well within this."""
_MOST_JSON_BYTES = 16 * 2**20
_DEEPEST = 8
"""Names on the way to an amount, beyond which JSON is nobody's report."""
_NODE = re.compile(r"\w+_\d+")
_FOLDED = {"PE", "SIMD", "parallel_window", "ram_style", "depth", "impl_style", "inFIFODepths", "outFIFODepths"}
_PERFORMANCE = {"critical_path_cycles", "max_cycles"}
_SIMULATED = {"latency_cycles", "fclk[mhz]", "stable_throughput[images/s]", "throughput[images/s]", "N_IN_TXNS"}
_SETTINGS = {"synth_clk_period_ns", "fpga_part", "shell_flow_type", "board"}


def role_of(path: Path) -> str | None:
    """Return what a file is for; None if for nothing that is read."""
    named = _by_name(path.name)
    if named is not None:
        return named
    suffix = path.suffix.lower()
    if suffix == ".onnx":
        return GRAPH if "finn.custom_op.fpgadataflow" in read_head(path, _GRAPH_HEAD_BYTES) else None
    if suffix not in _TEXTS:
        return None
    head = read_head(path, _HEAD_BYTES)
    return role_of_json("", read_head(path, _MOST_JSON_BYTES)) if is_json(head) else text_role(head)


def is_json(text: str) -> bool:
    """Whether a text begins as an object or a list of JSON does."""
    return text.lstrip()[:1] in {"{", "["}


def _by_name(name: str) -> str | None:
    return next((r for r, patterns in NAMES.items() if any(fnmatchcase(name, p) for p in patterns)), None)


def role_of_json(file: str, text: str) -> str | None:
    """Return what a JSON file whose text was read is for; None if for nothing, or if it is no JSON."""
    named = _by_name(PurePath(file).name)
    if named is not None:
        return named
    try:
        return json_role(json.loads(text))
    except (ValueError, RecursionError):
        return None


def text_role(head: str) -> str | None:
    """Return which of Vivado's reports a text is, by its start."""
    if is_hierarchy_text(head) or (is_hierarchy_xml(head) and "report_utilization" in head):
        return HIERARCHY
    if is_flat_text(head):
        return UTILISATION
    return TIMING if is_timing_summary(head) or "Timing Summary Report" in head else None


def json_role(content: Any) -> str | None:
    """Return what a JSON file is for, by its keys."""
    if not isinstance(content, dict):
        return AMOUNTS if amounts_in(content) else None
    if not content:
        return None
    keys = content.keys()
    by_keys = (
        (_role_by_node(content), True),
        ("out of context", {"LUT", "WNS"} <= keys or "fmax_mhz" in keys),
        ("performance", bool(keys & _PERFORMANCE)),
        ("simulation", bool(keys & _SIMULATED)),
        ("step times", all(key.startswith("step_") for key in keys)),
        ("build settings", bool(keys & _SETTINGS)),
        (AMOUNTS, bool(amounts_in(content))),
    )
    return next((role for role, is_so in by_keys if role is not None and is_so), None)


def _role_by_node(content: Mapping[str, Any]) -> str | None:
    """Return what FINN writes with a key a node: amounts, foldings or cycles."""
    entries = [entry for entry in content.values() if isinstance(entry, dict)]
    if len(entries) == len(content):
        if any({"LUT", "FF"} <= e.keys() and e.keys() & {"BRAM_36K", "SRL"} for e in entries):
            return "synthesis"
        if any({"LUT", "FF", "DSP48E"} <= entry.keys() for entry in entries):
            return "estimates of HLS"
        if any({"LUT", "BRAM_18K"} <= entry.keys() for entry in entries):
            return "estimates"
        if "Defaults" in content or any(e.keys() & _FOLDED for e in entries if "model" not in e):
            return "folding"
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in content.values())
    return "cycles" if numbers and all(_NODE.fullmatch(name) for name in content) else None


def amounts_in(content: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Return every object that has numbers of LUTs and flip-flops, with the names on the way to it."""
    if len(path) > _DEEPEST:
        return []
    if isinstance(content, dict):
        if all(isinstance(content.get(name), int | float) for name in ("LUT", "FF")):
            return [(path, content)]
        named = str(content["name"]) if isinstance(content.get("name"), str) else None
        own = path if named is None else (*path[:-1], named) if path and path[-1].isdigit() else (*path, named)
        return [found for key, value in content.items() for found in amounts_in(value, (*own, str(key)))]
    if isinstance(content, list):
        return [found for place, value in enumerate(content) for found in amounts_in(value, (*path, str(place)))]
    return []
