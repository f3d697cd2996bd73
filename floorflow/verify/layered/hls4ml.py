"""hls4ml's part of the judge: every number anew from the engines' attributes, and its configuration.

Sources: hls4ml 1.3.0, ``backends/fpga/fpga_backend.py`` (which reuse factors it takes) and its io_stream templates (a
word is a pixel); SAMO (c562238) for cycles and DSPs.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import prod
from typing import Any

from floorflow.verify.back_end import Row
from floorflow.verify.files import parsed_yaml
from floorflow.verify.layered import (
    BRAM_BITS,
    CELLS_FINDINGS,
    LUT_BITS,
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

DEPTHWISE = ("DepthwiseConv1D", "DepthwiseConv2D")
WEIGHTED = ("Conv1D", "Conv2D", *DEPTHWISE, "Dense")
GLOBAL_POOLS = ("GlobalPooling1D", "GlobalPooling2D")
WINDOWS = (*WEIGHTED[:-1], "Pooling1D", "Pooling2D", *GLOBAL_POOLS)
JOINS = ("Merge", "Concatenate")
MAP = ("in_height", "in_width", "out_height", "out_width", "n_chan", "n_filt")
WINDOW = ("filt_height", "filt_width", "stride_height", "stride_width")
SIZES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("Activation", "BatchNormalization", "Softmax"), MAP),
    **dict.fromkeys(WINDOWS, (*MAP, *WINDOW)),
    **dict.fromkeys(JOINS, (*MAP, "n_inputs")),
    "Dense": ("n_in", "n_out", "n_pack"),
    "Clone": (*MAP, "copies"),
}
"""The sizes that each class of layer has."""
MOST_UNROLLED = 4096
WIDEST_IN_LUTS = 10
"""Bits of the wider operand up to which HLS makes a product of LUTs."""
MOST_BITS = 18
"""Of weights and activations that may be asked for."""
Sizes = dict[str, int]


class Hls4ml(LayeredJudge):
    """The part for hls4ml."""

    folder = title = "hls4ml"
    kinds = SIZES
    choices: Mapping[str, tuple[str, ...]] = {
        "strategy": ("auto", "resource", "latency"),
        "legal_set": ("hls4ml", "samo"),
        "costs": ("structure", "samo"),
    }
    findings: Mapping[str, str] = {
        **CELLS_FINDINGS,
        "hls4ml-layer-missing": "hls4ml's configuration has no entry for a layer, or one for something that is none",
        "hls4ml-config-differs": "hls4ml's configuration has another reuse factor or strategy than the plan",
        "hls4ml-config-malformed": "hls4ml's configuration is no table of layers, or its two files differ",
    }

    def option_objections(self, options: Told) -> Iterator[str]:
        """Yield what is wrong with hls4ml's own options of a plan."""
        yield from super().option_objections(options)
        for name in ("weight_bits", "activation_bits"):
            bits = options.get(name)
            if bits is not None and not (is_positive(bits) and bits <= MOST_BITS):
                yield f"{name} is {bits!r:.60}, expected 1 to {MOST_BITS}"

    def may_cost_nothing(self, options: Told) -> bool:
        """Whether engines may be free: in SAMO's model all without multipliers are."""
        return options.get("costs") == "samo"

    def malformed(self, entry: Told) -> str:
        """Return what is wrong with sizes, operands, words, weights, channels or windows."""
        kind, has = entry["kind"], entry["attributes"]
        if wrong := wrong_sizes(has, SIZES[kind]):
            return wrong
        if kind in JOINS:
            return _wrong_operands(kind, has, entry["input_bits"])
        if kind == "Dense" and has["n_in"] % has["n_pack"]:
            return f"{has['n_in']} inputs are no whole number of words of {has['n_pack']}"
        if (kind in WEIGHTED) != bool(entry["weight_bits"]) and kind != "BatchNormalization":
            return f"weight_bits is {entry['weight_bits']}"
        if kind not in ("Dense", "Conv1D", "Conv2D") and has["n_chan"] != has["n_filt"]:
            return f"takes {has['n_chan']} channels and makes {has['n_filt']}"
        return wrong_windows(has.get("pads"), _axes(has)) if kind in WINDOWS else ""

    def illegal(self, row: Row, context: Told) -> Iterator[str]:
        """Yield what hls4ml, the options or SAMO's set do not allow."""
        kind, folding = row["entry"]["kind"], row["folding"]["attributes"]
        reuse, strategy = folding.get("ReuseFactor"), folding.get("Strategy")
        keys = {"ReuseFactor", "Strategy"} if kind in WEIGHTED else {"ReuseFactor"}
        if {*folding} != keys or not isinstance(reuse, int) or not is_positive(reuse):
            yield f"has {dict(folding)!r:.120}, expected {' and '.join(sorted(keys))}"
        elif kind in WEIGHTED:
            yield from _illegal_weights(kind, row["entry"]["attributes"], (reuse, strategy), context)
        elif reuse != 1:
            yield f"{kind} has a reuse factor of {reuse}, expected 1"

    def facts(self, row: Row, context: Told) -> Told:
        """Return cycles, ports, fill and least resources."""
        entry, folding = row["entry"], row["folding"]["attributes"]
        kind, has = entry["kind"], entry["attributes"]
        sizes = {key: value for key, value in has.items() if is_positive(value)}
        operands = has["operand_bits"] if kind in JOINS else [entry["input_bits"]]
        word = sizes["n_pack"] if kind == "Dense" else sizes["n_chan"]
        words = has["operand_channels"] if kind == "Concatenate" else [word] * len(operands)
        pixels = sizes.get("in_height", 1) * sizes.get("in_width", 1)
        if kind == "Dense":
            into = [port(word, operands[0], sizes["n_in"], word)]
            out = port(sizes["n_out"], entry["output_bits"], sizes["n_out"], sizes["n_out"])
        else:
            into = [port(own, bits, own * pixels, own) for own, bits in zip(words, operands, strict=True)]
            made = sizes["n_filt"]
            out = port(made, entry["output_bits"], made * sizes["out_height"] * sizes["out_width"], made)
        return {
            "cycles": pixels * folding["ReuseFactor"],
            "inputs": into,
            "outputs": [out] * sizes.get("copies", 1),
            "window_fill": _fill(kind, has),
            "least_resources": _least(kind, sizes, entry, folding, context["options"]),
        }

    def converter(self, narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
        """Refuse any converter: both ends of a stream carry whole pixels."""
        return "", [f"hls4ml has no converter between {narrow_bits} and {wide_bits} bits"]

    def network_files(self, network: Network) -> Iterator[Problem]:
        """Yield where the configuration has other factors or strategies, and where the project's file is another."""
        (config, where), project = network.json("hls_config.json"), f"{network.place}/config.yml"
        if config is not None:
            yield from _differences(config, where, network.rows)
        text = network.folder.text(project)
        if text is not None and config is not None:
            yield from _wrong_project(text, network.folder.path(project), config, network.plan)


def _axes(has: Told) -> dict[str, tuple[int, int, int, int]]:
    names = ("in", "out", "filt", "stride")
    sides = {side: [has[f"{name}_{side}"] for name in names] for side in ("height", "width")}
    return {f"out_{side}": (size, made, kernel, stride) for side, (size, made, kernel, stride) in sides.items()}


def _wrong_operands(kind: str, has: Told, widest: int) -> str:
    """Return what is wrong with the bits of what is joined, and with the channels that a concatenation joins."""
    bits: Any = has.get("operand_bits")
    channels: Any = has.get("operand_channels")
    inputs = has["n_inputs"]
    if not _are_sizes(bits, inputs) or max(bits) != widest:
        return f"operand_bits is {bits!r:.60}, expected the bits of {inputs} inputs"
    if kind == "Merge":
        takes, makes = has["n_chan"], has["n_filt"]
        return "" if takes == makes else f"takes {takes} channels and makes {makes}"
    if _are_sizes(channels, inputs):
        return "" if sum(channels) == has["n_filt"] else f"{channels} channels make {has['n_filt']}"
    return f"operand_channels is {channels!r:.60}, expected the channels of {inputs} inputs"


def _are_sizes(values: Any, count: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(map(is_positive, values))


def _weights(kind: str, sizes: Told) -> tuple[int, int]:
    """Return the inputs and outputs of the matrix that a reuse factor divides."""
    if kind == "Dense":
        return sizes["n_in"], sizes["n_out"]
    taps = sizes["filt_height"] * sizes["filt_width"]
    return (taps if kind in DEPTHWISE else taps * sizes["n_chan"]), sizes["n_filt"]


def _illegal_weights(kind: str, sizes: Told, chosen: tuple[int, Any], context: Told) -> Iterator[str]:
    reuse, strategy = chosen
    options, asked = context["options"], context["options"].get("strategy")
    kept = context.get("keep_folding") is True  # the user's own folding is hls4ml's to take, not the options' to allow
    if strategy not in ("Resource", "Latency") or not (kept or asked in ("auto", str(strategy).lower())):
        yield f"strategy {strategy!r:.60}, and the option strategy is {asked}"
        return
    rows, columns = _weights(kind, sizes)
    whole = rows * columns
    if kept and strategy == "Latency":
        if reuse > whole:
            yield f"a reuse factor of {reuse} for {whole} products"
        return
    if whole % reuse:
        yield f"a reuse factor of {reuse} does not divide {whole} products"
        return
    if strategy == "Latency" and asked == "auto" and whole > MOST_UNROLLED:
        yield f"strategy Latency unrolls {whole} weights, at most {MOST_UNROLLED} unless it is asked for"
    if options.get("legal_set") == "samo" and not kept:
        if not _passes(rows, columns, whole // reuse):
            yield f"{whole // reuse} multipliers are none of SAMO's for {rows} inputs and {columns} outputs"
    elif strategy == "Resource" and kind not in DEPTHWISE and not _passes(rows, columns, reuse):
        yield f"hls4ml takes no reuse factor of {reuse} for {rows} inputs and {columns} outputs"


def _passes(rows: int, columns: int, number: int) -> bool:
    """Whether hls4ml's test passes: whole outputs, and whole inputs beyond one pass over them."""
    if number < rows:
        return -(-rows * columns // number) % columns == 0
    return number % rows == 0


def _fill(kind: str, has: Told) -> Fraction:
    """Return the share of a frame with which the first window is whole; dense layers and global pools need all."""
    if kind in ("Dense", *GLOBAL_POOLS):
        return Fraction(1)
    if kind not in WINDOWS:
        return Fraction(0)
    kernel = has["filt_height"], has["filt_width"]
    return first_window((has["in_height"], has["in_width"]), kernel, has["pads"])


def _least(kind: str, sizes: Sizes, entry: Told, folding: Told, options: Told) -> dict[str, int]:
    """Return what a layer needs at least: its multipliers, and room for its weights where they are read one by one.

    At a reuse factor of 1 weights are constants, and what their products take depends on their values.
    """
    if kind not in WEIGHTED:
        return {}
    products, reuse = prod(_weights(kind, sizes)), folding["ReuseFactor"]
    multipliers = -(-products // reuse)
    if options.get("costs") == "samo":
        return {"DSP": multipliers}
    if reuse == 1:
        return {}
    least = {"DSP": multipliers} if max(entry["input_bits"], entry["weight_bits"]) > WIDEST_IN_LUTS else {}
    bits = products * entry["weight_bits"]
    if folding["Strategy"] == "Resource" and reuse > LUT_BITS:
        return {**least, "BRAM18": -(-bits // BRAM_BITS), "LUT": multipliers}
    return {**least, "LUT": -(-bits // LUT_BITS)}


def _differences(config: Told, where: str, rows: Mapping[str, Row]) -> Iterator[Problem]:
    layers = config.get("LayerName")
    if not isinstance(layers, dict):
        yield "hls4ml-config-malformed", where, "LayerName is no table"
        return
    named = ((row["entry"]["attributes"].get("layer"), row["folding"]["attributes"]) for row in rows.values())
    wanted: Told = {name: folding for name, folding in named if name}
    for name in sorted({*wanted} ^ {*layers}, key=str):
        yield "hls4ml-layer-missing", where, f"{name} is in one of plan and file only"
    for name in sorted({*wanted} & {*layers}):
        told = layers[name] if isinstance(layers[name], dict) else {}
        if {key: told[key] for key in told if key != "Precision"} != wanted[name]:
            yield "hls4ml-config-differs", where, f"{name} has {told!r:.120}, planned {wanted[name]}"


def _wrong_project(text: str, where: str, config: Told, plan: Told) -> Iterator[Problem]:
    project, fault = parsed_yaml(text)
    if project is None:
        yield "hls4ml-config-malformed", where, f"{fault:.120}"
    elif project.get("HLSConfig") != config:
        yield "hls4ml-config-malformed", where, "HLSConfig is not hls_config.json"
    elif project.get("IOType") != "io_stream":
        yield "hls4ml-config-differs", where, f"IOType is {project.get('IOType')!r:.60}, planned io_stream"
    elif project.get("ClockPeriod") != round(1000 / plan["summary"]["clock_mhz"], 4):
        yield "hls4ml-config-differs", where, f"ClockPeriod is {project.get('ClockPeriod')!r:.60}"


judge = Hls4ml()
