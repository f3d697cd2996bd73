"""A back end's part of the judge that imports nothing of floorflow: three kinds, whose attributes tell their ports."""

from fractions import Fraction
from typing import Any

KINDS = ("Reader", "Mixer", "Writer")
findings = {"toy-lanes": "a toy engine has a lane too many", "toy-list": "the list of toys is not that of the plan"}


def option_objections(options: dict[str, Any]) -> list[str]:
    return [] if options.get("speed") in ("slow", "fast") else [f"speed is {options.get('speed')!r}"]


def may_cost_nothing(options: dict[str, Any]) -> bool:
    return options["speed"] == "slow"


def engine(row: dict[str, Any], context: dict[str, Any]) -> dict[str, Any] | None:
    entry, folding = row["entry"], row["folding"]["attributes"]
    if entry["kind"] not in KINDS:
        return None
    lanes = folding["lanes"]
    return {
        "cycles": entry["attributes"]["work"] // lanes,
        "inputs": [_port(words) for words in entry["attributes"]["inputs"]],
        "outputs": [_port(words) for words in entry["attributes"]["outputs"]],
        "window_fill": Fraction(1, 4) if entry["kind"] == "Mixer" else 0,
        "objections": [("toy-lanes", f"{lanes} lanes")] if lanes > 4 else [],
        "least_resources": {"LUT": 10 * lanes},
    }


def _port(words: list[int]) -> dict[str, Any]:
    width, count = words
    return {"parallel": width, "element_bits": 1, "elements": width * count, "last_dimension": width * count}


def joined(source: dict[str, Any], target: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    return {}


def converter(narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
    return "Widener", ["the toy has no wider one"] if wide_bits > 64 else []


def fifo(channel: dict[str, Any], part: str, context: dict[str, Any]) -> list[str]:
    return [f"the toy has no {channel['fifo_style']}"] if channel["fifo_style"] else []


def files(plan: dict[str, Any], phase: dict[str, Any], folder: Any, context: dict[str, Any]) -> Any:
    listed = folder.json("toy/list.json") or {"toys": None}
    wanted = list(context["engines"])
    problems = [] if listed["toys"] == wanted else [("toy-list", folder.path("toy/list.json"), f"expected {wanted}")]
    patterns = context["cell_patterns"]
    rows = context["engines"].values()
    return problems, {r["id"]: patterns[r["fpga"]].replace("{engine}", r["id"]) for r in rows if r["fpga"] in patterns}
