"""fpgaConvNet's part of the judge: every number anew from the engines' attributes, and its configuration.

Source: ``fpgaconvnet-model`` 0.1.4, ``models/layers``, with words of 16 bits.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import Any

from floorflow.verify.back_end import Row
from floorflow.verify.layered import (
    BRAM_BITS,
    CELLS_FINDINGS,
    LayeredJudge,
    Network,
    Problem,
    Told,
    first_window,
    is_positive,
    port,
    wrong_sizes,
    wrong_windows,
)

WORD_BITS = 16
MAP = ("rows_in", "cols_in", "channels_in", "rows_out", "cols_out", "channels_out")
KINDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ConvolutionLayer": ("CONVOLUTION", ("kernel_size", "stride", "groups")),
    "InnerProductLayer": ("INNER_PRODUCT", ()),
    "PoolingLayer": ("POOLING", ("kernel_size", "stride")),
    "ReLULayer": ("RELU", ()),
    "EltWiseLayer": ("ELTWISE", ("ports_in",)),
    "SplitLayer": ("SPLIT", ("ports_out",)),
}
"""By kind of layer its type in the configuration, and the sizes that it has besides those of its maps."""
WEIGHTED = ("ConvolutionLayer", "InnerProductLayer")
SIZES = ("rows_in", "cols_in", "channels_in", "rows_out", "cols_out", "channels_out", "groups", "has_bias")
"""Attributes of layers in the configuration."""


class FpgaConvNet(LayeredJudge):
    """The part for fpgaConvNet."""

    folder, title = "fpgaconvnet", "fpgaConvNet"
    kinds = KINDS
    choices: Mapping[str, tuple[str, ...]] = {"matching": ("inter", "none")}
    findings: Mapping[str, str] = {
        **CELLS_FINDINGS,
        "fpgaconvnet-layer-missing": "fpgaConvNet's configuration lacks a layer, or has one that is no engine",
        "fpgaconvnet-config-differs": "a layer of fpgaConvNet's configuration has other foldings, sizes or streams",
        "fpgaconvnet-config-malformed": "fpgaConvNet's configuration is not one partition of layers",
    }

    def malformed(self, entry: Told) -> str:
        """Return what is wrong with sizes, bits, channels, groups or windows."""
        kind, has = entry["kind"], entry["attributes"]
        more = KINDS[kind][1]
        if wrong := wrong_sizes(has, (*MAP, *more)) or _wrong_bits(entry):
            return wrong
        if kind not in WEIGHTED and has["channels_in"] != has["channels_out"]:
            return f"takes {has['channels_in']} channels and makes {has['channels_out']}"
        if kind == "ConvolutionLayer" and (has["channels_in"] % has["groups"] or has["channels_out"] % has["groups"]):
            return f"{has['groups']} groups divide no {has['channels_in']} and {has['channels_out']} channels"
        if "stride" not in more:
            return ""
        window = has["kernel_size"], has["stride"]
        return wrong_windows(has.get("pads"), {f"{s}_out": (has[f"{s}_in"], has[f"{s}_out"], *window) for s in _SIDES})

    def illegal(self, row: Row, context: Told) -> Iterator[str]:  # noqa: ARG002
        """Yield what Table II's factors forbid: eq. 8, and eq. 9 of layers without weights."""
        kind, has, folding = row["entry"]["kind"], row["entry"]["attributes"], row["folding"]["attributes"]
        wholes = {"coarse_in": has["channels_in"], "coarse_out": has["channels_out"]}
        if kind == "ConvolutionLayer":
            wholes["fine"] = has["kernel_size"] ** 2
        if {*folding} != {*wholes}:
            yield f"has {sorted(folding)}, expected {sorted(wholes)}"
            return
        wrong = [name for name, whole in wholes.items() if not is_positive(folding[name]) or whole % folding[name]]
        for name in wrong:
            yield f"{name} is {folding[name]!r:.60} and divides no {wholes[name]}"
        if not wrong and kind not in WEIGHTED and folding["coarse_in"] != folding["coarse_out"]:
            yield f"{kind} has coarse_in {folding['coarse_in']} and coarse_out {folding['coarse_out']}"

    def facts(self, row: Row, context: Told) -> Told:  # noqa: ARG002
        """Return cycles, ports, fill and least resources."""
        kind, has, folding = row["entry"]["kind"], row["entry"]["attributes"], row["folding"]["attributes"]
        maps = {side: has[f"rows_{side}"] * has[f"cols_{side}"] * has[f"channels_{side}"] for side in ("in", "out")}
        ports = {
            side: [port(folding[f"coarse_{side}"], WORD_BITS, maps[side], has[f"channels_{side}"])]
            for side in ("in", "out")
        }
        return {
            "cycles": _cycles(kind, has, folding),
            "inputs": ports["in"] * has.get("ports_in", 1),
            "outputs": ports["out"] * has.get("ports_out", 1),
            "window_fill": _fill(kind, has),
            "least_resources": _least(kind, has, folding),
        }

    def joined(self, source: Row, target: Row, context: Told) -> dict[str, Any]:
        """Return whether the foldings at the two ends of a stream match (eq. 10), where the options ask for it."""
        out, into = source["folding"]["attributes"].get("coarse_out"), target["folding"]["attributes"].get("coarse_in")
        if context["options"].get("matching") == "inter" and out != into:
            return {"objections": [("illegal-folding", f"coarse_out {out!r:.60} meets coarse_in {into!r:.60}")]}
        return {}

    def converter(self, narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
        """Return the squeeze layer, which joins any two foldings."""
        whole = narrow_bits % WORD_BITS == 0 == wide_bits % WORD_BITS
        return "SqueezeLayer", [] if whole else [f"{narrow_bits} and {wide_bits} bits are no whole words"]

    def network_files(self, network: Network) -> Iterator[Problem]:
        """Yield where layers of the configuration are not the plan's, or are joined otherwise."""
        config, where = network.json("config.json")
        if config is None:
            return
        partitions = config.get("partition")
        layers = partitions[0].get("layers") if isinstance(partitions, list) and len(partitions) == 1 else None
        if not isinstance(layers, list) or not all(isinstance(layer, dict) for layer in layers):
            yield "fpgaconvnet-config-malformed", where, "has not one partition with layers"
            return
        told = {layer.get("name"): layer for layer in layers}
        names = {row["entry"]["name"]: identity for identity, row in network.rows.items()}
        for name in sorted({*told} ^ {*names}, key=str):
            yield "fpgaconvnet-layer-missing", where, f"{name} is in one of plan and file only"
        for name in sorted({*told} & {*names}):
            for what in _wrong_layer(told[name], network.rows[names[name]], network.phase["channels"]):
                yield "fpgaconvnet-config-differs", where, f"{name}: {what}"


_SIDES = ("rows", "cols")


def _wrong_bits(entry: Told) -> str:
    if (entry["input_bits"], entry["output_bits"]) != (WORD_BITS, WORD_BITS):
        return f"has {entry['input_bits']} bits in and {entry['output_bits']} out, words have {WORD_BITS}"
    weighted = WORD_BITS if entry["kind"] in WEIGHTED else 0
    return "" if entry["weight_bits"] == weighted else f"weight_bits is {entry['weight_bits']}"


def _cycles(kind: str, has: Told, folding: Told) -> int:
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


def _fill(kind: str, has: Told) -> Fraction:
    """Return the share of a frame with which the first window is whole; a dense layer needs all."""
    if "stride" not in KINDS[kind][1]:
        return Fraction(kind == "InnerProductLayer")
    return first_window((has["rows_in"], has["cols_in"]), (has["kernel_size"], has["kernel_size"]), has["pads"])


def _least(kind: str, has: Told, folding: Told) -> dict[str, int]:
    """Return a multiplier for each product at once, and room for the weights."""
    if kind not in WEIGHTED:
        return {"LUT": folding["coarse_in"]} if kind != "PoolingLayer" else {"LUT": 1}
    taps = has["kernel_size"] ** 2 if kind == "ConvolutionLayer" else has["rows_in"] * has["cols_in"]
    words = taps * has["channels_in"] * has["channels_out"] // has.get("groups", 1)
    products = folding["coarse_in"] * folding["coarse_out"] * folding.get("fine", 1)
    # A memory for each multiplier; where there are more of these than weights, the models count none.
    memories = max(products, words * WORD_BITS // BRAM_BITS) if words >= products else 0
    return {"DSP": products, "BRAM18": memories}


def _wrong_layer(layer: Told, row: Row, channels: list[Any]) -> Iterator[str]:
    entry, folding = row["entry"], row["folding"]["attributes"]
    if layer.get("type") != KINDS.get(entry["kind"], (None,))[0]:
        yield f"type is {layer.get('type')!r:.60}"
    parameters = layer.get("parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    wanted = {**{key: entry["attributes"][key] for key in SIZES if key in entry["attributes"]}, **folding}
    for key, value in wanted.items():
        if parameters.get(key) != value:
            yield f"{key} is {parameters.get(key)!r:.60}, planned {value!r:.60}"
    for side, end, coarse in (("in", "target", "coarse_in"), ("out", "source", "coarse_out")):
        planned = sorted(c["fifo_depth"] for c in channels if c[end] == row["id"])
        streams = layer.get(f"streams_{side}")
        streams = [s for s in streams if isinstance(s, dict)] if isinstance(streams, list) else []
        if sorted(s.get("buffer_depth", 0) for s in streams) != planned:
            yield f"streams_{side} has other FIFOs than the plan's {planned}"
        if any(s.get("coarse") != folding.get(coarse) for s in streams):
            yield f"a stream of streams_{side} is not {folding.get(coarse)!r:.60} wide"


judge = FpgaConvNet()
