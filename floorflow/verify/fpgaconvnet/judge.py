"""fpgaConvNet's part of the judge: every number anew from the engines' attributes.

Source: ``fpgaconvnet-model`` 0.1.4, ``models/layers``, with words of 16 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from floorflow.verify.cells_file import FINDINGS as CELLS_FINDINGS
from floorflow.verify.cells_file import check_cells_file
from floorflow.verify.fpgaconvnet.config import FINDINGS as CONFIG_FINDINGS
from floorflow.verify.fpgaconvnet.config import check_configs
from floorflow.verify.judge import Files, Row
from floorflow.verify.plain_fifos import BRAM_BITS, check_plain_fifo

findings: Mapping[str, str] = {**CELLS_FINDINGS, **CONFIG_FINDINGS}
names_are_read = True

WORD_BITS = 16
MAP = ("rows_in", "cols_in", "channels_in", "rows_out", "cols_out", "channels_out")
MORE: Mapping[str, tuple[str, ...]] = {
    "ConvolutionLayer": ("kernel_size", "stride", "groups"),
    "InnerProductLayer": (),
    "PoolingLayer": ("kernel_size", "stride"),
    "ReLULayer": (),
    "EltWiseLayer": ("ports_in",),
    "SplitLayer": ("ports_out",),
}
WEIGHTED = ("ConvolutionLayer", "InnerProductLayer")


def option_objections(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with fpgaConvNet's own options of a plan."""
    if options.get("matching") not in ("inter", "none"):
        yield f"matching is {options.get('matching')!r:.60}, expected inter or none"


def may_cost_nothing(options: Mapping[str, Any]) -> bool:  # noqa: ARG001
    """Return False: nothing is free."""
    return False


def engine(row: Row, context: Mapping[str, Any]) -> dict[str, Any] | None:  # noqa: ARG001
    """Return what follows from a layer's attributes and foldings; None for a type that is none."""
    entry, folding = row["entry"], row["folding"]["attributes"]
    if entry["kind"] not in MORE:
        return None
    wrong = _malformed(entry)
    if wrong:
        return {"objections": [("engine-malformed", wrong)]}
    illegal = _illegal(entry["kind"], entry["attributes"], folding)
    if illegal:
        return {"objections": [("illegal-folding", illegal)]}
    has = entry["attributes"]
    maps = {side: has[f"rows_{side}"] * has[f"cols_{side}"] * has[f"channels_{side}"] for side in ("in", "out")}
    return {
        "objections": [],
        "cycles": _cycles(entry["kind"], has, folding),
        "inputs": [_port(folding["coarse_in"], maps["in"], has["channels_in"])] * has.get("ports_in", 1),
        "outputs": [_port(folding["coarse_out"], maps["out"], has["channels_out"])] * has.get("ports_out", 1),
        "window_fill": _fill(entry["kind"], has),
        "least_resources": _least(entry["kind"], has, folding),
    }


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _malformed(entry: Mapping[str, Any]) -> str:
    kind, has = entry["kind"], entry["attributes"]
    wrong = [key for key in (*MAP, *MORE[kind]) if not _count(has.get(key))]
    if wrong:
        return f"{wrong[0]} is {has.get(wrong[0])!r:.60}, expected an integer of 1 or more"
    if (entry["input_bits"], entry["output_bits"]) != (WORD_BITS, WORD_BITS):
        return f"has {entry['input_bits']} bits in and {entry['output_bits']} out, words have {WORD_BITS}"
    if entry["weight_bits"] != (WORD_BITS if kind in WEIGHTED else 0):
        return f"weight_bits is {entry['weight_bits']}"
    if kind not in WEIGHTED and has["channels_in"] != has["channels_out"]:
        return f"takes {has['channels_in']} channels and makes {has['channels_out']}"
    if kind == "ConvolutionLayer" and (has["channels_in"] % has["groups"] or has["channels_out"] % has["groups"]):
        return f"{has['groups']} groups divide no {has['channels_in']} and {has['channels_out']} channels"
    return _wrong_window(has) if "stride" in MORE[kind] else ""


def _wrong_window(has: Mapping[str, Any]) -> str:
    pads = has.get("pads")
    if not isinstance(pads, list) or len(pads) != 4 or not all(isinstance(p, int) and p >= 0 for p in pads):
        return f"pads is {pads!r:.60}, expected top, left, bottom and right"
    for size, padding in (("rows", pads[0] + pads[2]), ("cols", pads[1] + pads[3])):
        windows = (has[f"{size}_in"] + padding - has["kernel_size"]) // has["stride"] + 1
        if not windows <= has[f"{size}_out"] <= windows + 1:  # pools may round up
            return f"{size}_out is {has[f'{size}_out']}, {windows} windows fit"
    return ""


def _illegal(kind: str, has: Mapping[str, Any], folding: Mapping[str, Any]) -> str:
    """Return what Table II's factors forbid: eq. 8, and eq. 9 of layers without weights."""
    wholes = {"coarse_in": has["channels_in"], "coarse_out": has["channels_out"]}
    if kind == "ConvolutionLayer":
        wholes["fine"] = has["kernel_size"] ** 2
    if {*folding} != {*wholes}:
        return f"has {sorted(folding)}, expected {sorted(wholes)}"
    for name, whole in wholes.items():
        if not _count(folding[name]) or whole % folding[name]:
            return f"{name} is {folding[name]!r:.60} and divides no {whole}"
    if kind not in WEIGHTED and folding["coarse_in"] != folding["coarse_out"]:
        return f"{kind} has coarse_in {folding['coarse_in']} and coarse_out {folding['coarse_out']}"
    return ""


def _cycles(kind: str, has: Mapping[str, Any], folding: Mapping[str, Any]) -> int:
    pixels = int(has["rows_in"] * has["cols_in"])
    into, out = int(has["channels_in"]), int(has["channels_out"])
    words, results = Fraction(into, folding["coarse_in"]), Fraction(out, folding["coarse_out"])
    if kind == "InnerProductLayer":
        return ceil(pixels * words * results)
    if kind != "ConvolutionLayer":
        return ceil(pixels * words)
    # A dot product takes that many steps an output; the windows come at the pace of what is read again for each result.
    steps = Fraction(into * has["kernel_size"] ** 2, has["groups"] * folding["fine"] * folding["coarse_in"])
    made = int(has["rows_out"] * has["cols_out"])
    pace = min(Fraction(1), steps, results * Fraction(made, pixels))
    top, left, bottom, right = has["pads"]
    padded = int((has["rows_in"] + top + bottom) * (has["cols_in"] + left + right))
    return ceil(max(made * results * steps / pace, words * padded * results * Fraction(made, pixels) / pace))


def _port(coarse: int, elements: int, channels: int) -> dict[str, Any]:
    return {
        "parallel": coarse,
        "element_bits": WORD_BITS,
        "elements": elements,
        "last_dimension": channels,
        "type": None,
    }


def _fill(kind: str, has: Mapping[str, Any]) -> Fraction:
    """Return the share of a frame with which the first window is whole; a dense layer needs all."""
    if kind == "InnerProductLayer":
        return Fraction(1)
    if "stride" not in MORE[kind]:
        return Fraction(0)
    rows = min(max(has["kernel_size"] - has["pads"][0], 1), has["rows_in"])
    columns = min(max(has["kernel_size"] - has["pads"][1], 1), has["cols_in"])
    return Fraction((rows - 1) * has["cols_in"] + columns, has["rows_in"] * has["cols_in"])


def _least(kind: str, has: Mapping[str, Any], folding: Mapping[str, Any]) -> dict[str, int]:
    """Return a multiplier for each product at once, and room for the weights."""
    if kind not in WEIGHTED:
        return {"LUT": folding["coarse_in"]} if kind != "PoolingLayer" else {"LUT": 1}
    taps = has["kernel_size"] ** 2 if kind == "ConvolutionLayer" else has["rows_in"] * has["cols_in"]
    words = taps * has["channels_in"] * has["channels_out"] // has.get("groups", 1)
    products = folding["coarse_in"] * folding["coarse_out"] * folding.get("fine", 1)
    # A memory for each multiplier; where there are more of these than weights, the models count none.
    memories = max(products, words * WORD_BITS // BRAM_BITS) if words >= products else 0
    return {"DSP": products, "BRAM18": memories}


def joined(source: Row, target: Row, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether the foldings at the two ends of a stream match (eq. 10), where the options ask for it."""
    out, into = (row["folding"]["attributes"].get(key) for row, key in ((source, "coarse_out"), (target, "coarse_in")))
    if context["options"].get("matching") == "inter" and out != into:
        return {"objections": [("illegal-folding", f"coarse_out {out!r:.60} meets coarse_in {into!r:.60}")]}
    return {}


def converter(narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
    """Return the squeeze layer, which joins any two foldings."""
    whole = narrow_bits % WORD_BITS == 0 == wide_bits % WORD_BITS
    return "SqueezeLayer", [] if whole else [f"{narrow_bits} and {wide_bits} bits are no whole words"]


def fifo(channel: Mapping[str, Any], part: str, context: Mapping[str, Any]) -> Iterator[str]:  # noqa: ARG001
    """Return what is wrong with a FIFO: a style, or too little room for its words."""
    return check_plain_fifo(channel, "fpgaConvNet")


def files(
    plan: Mapping[str, Any],  # noqa: ARG001
    phase: Mapping[str, Any],
    folder: Files,
    context: Mapping[str, Any],
) -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """Judge fpgaConvNet's configuration and the table of cells; what cells are called the user tells."""
    problems = list(check_cells_file(phase, folder, "fpgaconvnet"))
    problems += check_configs(phase, folder, context)
    return problems, {}


def unplaced_files(
    phase: Mapping[str, Any],
    folder: Files,
    clock_mhz: float,  # noqa: ARG001 - the file has no clock
    context: Mapping[str, Any],
) -> list[tuple[str, str, str]]:
    """Judge fpgaConvNet's configuration of a part of a network that is placed nowhere."""
    return list(check_configs(phase, folder, context))


def reads_memory(row: Row) -> bool:  # noqa: ARG001
    """Return True: a cell's ports are its FIFOs' and memories', which the plan has no names for."""
    return True
