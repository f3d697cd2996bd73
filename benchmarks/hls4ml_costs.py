"""Compare the costs of the back end hls4ml with builds that others published.

    python benchmarks/hls4ml_costs.py        # the tables of docs/hls4ml.md, from benchmarks/data/hls4ml_builds.json

Each row of the data has its source beside it, the layers with their types and reuse factors, and what was built. What
is told are the layers alone: no FIFO between them and no wrapper, which some reports hold. Where weights are constants,
a layer has their counts (not 0, of two digits, of more, all digits) if they were published.
"""

from __future__ import annotations

import json
from math import exp, log
from pathlib import Path
from statistics import mean, median
from typing import Any

from floorflow.backends.hls4ml.costs import Hls4mlCosts
from floorflow.backends.hls4ml.foldings import WEIGHTED
from floorflow.backends.hls4ml.lower import DEFAULT_BITS
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.hls4ml.weights import DEFAULT_FRACTION, Constants
from floorflow.dataflow.model import Engine
from floorflow.resources import Resources

DATA = Path(__file__).parent / "data" / "hls4ml_builds.json"
COUNTS = ("nonzero_weights", "two_digit_weights", "many_digit_weights", "weight_digits")
OUTSIDE = frozenset({"jet, batch norm, 4 bit", "CNN 6 bit, half pruned"})
"""Rows that miss; docs/hls4ml.md says why."""
MOST_LUT, MOST_DSP, SPARE_DSP = 1.5, 0.25, 8
"""What is asked of a row: LUT within a factor, DSP within a share or so many."""


def rows() -> list[dict[str, Any]]:
    """Return the builds with what is told of each."""
    found: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))["rows"]
    return [{**row, "told": told(row)} for row in found]


def told(row: dict[str, Any]) -> Resources:
    """Return the costs of a row's layers."""
    costs, total = Hls4mlCosts(Hls4mlOptions()), Resources()
    for number, layer in enumerate(row["layers"]):
        engine = _engine(f"layer{number}", layer)
        total += costs.option(engine, (layer.get("reuse", 1), layer.get("strategy", ""))).resources
    return total


def _engine(name: str, layer: dict[str, Any]) -> Engine:
    attributes = {key: value for key, value in layer.items() if key not in ("kind", "constants", "reuse", "strategy")}
    attributes.setdefault("n_filt", attributes.get("n_chan", 1))
    attributes.setdefault("n_pack", attributes.get("n_in", 1))
    if layer["kind"] in WEIGHTED:
        counts = _constants(layer, layer["constants"])
        attributes |= dict(zip(COUNTS, counts, strict=True))
    bits = (layer.get("weight_bits", 0), layer["input_bits"], layer["output_bits"])
    return Engine(name, layer["kind"], name, attributes, *bits)


def _constants(layer: dict[str, Any], known: list[Any] | None) -> tuple[int, int, int, int]:
    if known is not None and known[0] != "half":
        return tuple(known)  # type: ignore[return-value]
    weights = known[1] // 2 if known else _weights(layer)
    bits = layer["weight_bits"]
    found = Constants.unknown(weights, bits, DEFAULT_FRACTION if bits == DEFAULT_BITS else None)
    return found.nonzero, found.two, found.many, found.digits


def _weights(layer: dict[str, Any]) -> int:
    taps = int(layer.get("filt_height", 1)) * int(layer.get("filt_width", 1))
    return taps * int(layer.get("n_in", layer.get("n_chan"))) * int(layer.get("n_out", layer.get("n_filt")))


def holds(row: dict[str, Any]) -> bool:
    """Whether LUT and DSP of a row are as near as is asked."""
    built, use = row["built"], row["told"]
    lut = "LUT" not in built or 1 / MOST_LUT <= use.lut / built["LUT"] <= MOST_LUT
    return lut and abs(use.dsp - built["DSP"]) <= max(MOST_DSP * built["DSP"], SPARE_DSP)


def table(found: list[dict[str, Any]]) -> list[str]:
    """Return the rows of builds, told and built."""
    lines = ["| build | tool | LUT built | told | FF built | told | DSP built | told | |", f"|---|---|{'--:|' * 6}---|"]
    for row in found:
        built, use = row["built"], row["told"]
        cells = [_cell(built.get("LUT")), _cell(use.lut), _cell(built.get("FF")), _cell(use.ff)]
        cells += [_cell(built["DSP"]), _cell(use.dsp), "" if holds(row) else "misses"]
        lines.append(f"| {row['name']} | {row['tool']} | {' | '.join(cells)} |")
    return lines


def _cell(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def left_out(found: list[dict[str, Any]]) -> list[str]:
    """Return, for each origin, what all others say of the level of LUT, and how far its own rows are off then."""
    ratios = {row["name"]: row["built"]["LUT"] / row["told"].lut for row in found if "LUT" in row["built"]}
    origins = dict.fromkeys(row["origin"] for row in found if row["name"] in ratios)
    lines = [
        "| origin left out | LUT by the others' level | its rows are off by, median | worst |",
        "|---|--:|--:|--:|",
    ]
    for origin in origins:
        own = [ratios[row["name"]] for row in found if row["origin"] == origin and row["name"] in ratios]
        others = [_level(ratios, found, each) for each in origins if each != origin]
        level = exp(mean(map(log, others)))
        errors = [abs(level / each - 1) for each in own]
        lines.append(f"| {origin} | x {level:.2f} | {100 * median(errors):.0f}% | {100 * max(errors):.0f}% |")
    return lines


def _level(ratios: dict[str, float], found: list[dict[str, Any]], origin: str) -> float:
    return exp(mean(log(ratios[row["name"]]) for row in found if row["origin"] == origin and row["name"] in ratios))


def sources(found: list[dict[str, Any]]) -> list[str]:
    """Return where each build stands."""
    return ["| build | source | weights |", "|---|---|---|"] + [
        f"| {row['name']} | {row['source']} | {row['weights']} |" for row in found
    ]


if __name__ == "__main__":
    builds = rows()
    print("\n".join([*table(builds), "", *left_out(builds), "", *sources(builds)]))
