"""boxkit's part of the judge: what follows from an engine, and which cell is in which module. Imports no floorflow."""

from __future__ import annotations

from typing import Any

findings = {"boxkit-cells-differ": "cells.json puts a cell into another module than the plan"}


def option_objections(options: dict[str, Any]) -> list[str]:
    return [f"unknown option {name}" for name in sorted(options)]


def may_cost_nothing(options: dict[str, Any]) -> bool:
    return False


def engine(row: dict[str, Any], context: dict[str, Any]) -> dict[str, Any] | None:
    entry, lanes = row["entry"], row["folding"]["attributes"].get("lanes")
    if entry["kind"] not in {"filter", "whiten"}:
        return None
    values, taps = (entry["attributes"][key] for key in ("values", "taps"))
    if lanes not in (1, 2, 4, 8) or values % lanes:
        return {"objections": [("illegal-folding", f"lanes is {lanes!r}")]}
    port = {"parallel": lanes, "elements": values, "last_dimension": values, "type": None}
    held = entry["input_bits"] * lanes * (taps if entry["kind"] == "filter" else 1)
    return {
        "cycles": values // lanes * taps,
        "inputs": [{**port, "element_bits": entry["input_bits"]}],
        "outputs": [{**port, "element_bits": entry["output_bits"]}],
        "least_resources": {"FF": held},
    }


def joined(source: dict[str, Any], target: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    return {}


def converter(narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
    return "none", ["there are no converters"]


def fifo(channel: dict[str, Any], part: str, context: dict[str, Any]) -> list[str]:
    bits = channel["width_bits"] * channel["fifo_depth"]
    return [] if channel["fifo_resources"]["FF"] >= bits else [f"it holds {bits} bits in flip-flops"]


def files(plan: dict[str, Any], phase: dict[str, Any], folder: Any, context: dict[str, Any]) -> Any:
    name = "boxkit/cells.json"
    wanted = {engine: module["name"] for module in phase["modules"] for engine in module["engines"]}
    wanted |= {f"fifo_{n}": channel["fifo_module"] for n, channel in enumerate(phase["channels"])}
    found = folder.json(name)
    wrong = [("boxkit-cells-differ", folder.path(name), f"expected {wanted}")] if found not in (None, wanted) else []
    return wrong, None
