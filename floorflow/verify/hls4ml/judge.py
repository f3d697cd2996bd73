"""hls4ml's part of the judge: every number anew from the engines' attributes.

Sources: hls4ml 1.3.0, ``backends/fpga/fpga_backend.py`` (which reuse factors it takes) and its io_stream templates (a
word is a pixel); SAMO (c562238) for cycles and DSPs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import prod
from typing import Any

from floorflow.verify.cells_file import FINDINGS as CELLS_FINDINGS
from floorflow.verify.cells_file import check_cells_file
from floorflow.verify.hls4ml.config import FINDINGS as CONFIG_FINDINGS
from floorflow.verify.hls4ml.config import check_configs
from floorflow.verify.judge import Files, Row
from floorflow.verify.plain_fifos import BRAM_BITS, LUT_BITS, check_plain_fifo

findings: Mapping[str, str] = {**CELLS_FINDINGS, **CONFIG_FINDINGS}
names_are_read = True

CHOICES = {
    "strategy": ("auto", "resource", "latency"),
    "legal_set": ("hls4ml", "samo"),
    "costs": ("structure", "samo"),
}
DEPTHWISE = ("DepthwiseConv1D", "DepthwiseConv2D")
WEIGHTED = ("Conv1D", "Conv2D", *DEPTHWISE, "Dense")
GLOBAL_POOLS = ("GlobalPooling1D", "GlobalPooling2D")
WINDOWS = (*WEIGHTED[:-1], "Pooling1D", "Pooling2D", *GLOBAL_POOLS)
JOINS = ("Merge", "Concatenate")
KINDS = (*WEIGHTED, "Activation", "BatchNormalization", *WINDOWS, *JOINS, "Softmax", "Clone")
MAP = ("in_height", "in_width", "out_height", "out_width", "n_chan", "n_filt")
MOST_UNROLLED = 4096
WIDEST_IN_LUTS = 10
"""Bits of the wider operand up to which HLS makes a product of LUTs."""
Sizes = dict[str, int]


def option_objections(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with hls4ml's own options of a plan."""
    for name, allowed in CHOICES.items():
        if options.get(name) not in allowed:
            yield f"{name} is {options.get(name)!r:.60}, expected one of {', '.join(allowed)}"
    for name in ("weight_bits", "activation_bits"):
        bits = options.get(name)
        if bits is not None and not (_count(bits) and bits <= 18):
            yield f"{name} is {bits!r:.60}, expected 1 to 18"


def may_cost_nothing(options: Mapping[str, Any]) -> bool:
    """Whether engines may be free: in SAMO's model all without multipliers are."""
    return options.get("costs") == "samo"


def engine(row: Row, context: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what follows from a layer's attributes and its reuse factor; None for a class that is none."""
    entry, folding = row["entry"], row["folding"]["attributes"]
    kind = entry["kind"]
    if kind not in KINDS:
        return None
    wrong = _malformed(entry)
    if wrong:
        return {"objections": [("engine-malformed", wrong)]}
    sizes = {key: value for key, value in entry["attributes"].items() if _count(value)}
    operands = entry["attributes"]["operand_bits"] if kind in JOINS else [entry["input_bits"]]
    words = entry["attributes"]["operand_channels"] if kind == "Concatenate" else [_word(kind, sizes)] * len(operands)
    asked = {**context["options"], "kept": context.get("keep_folding") is True}
    illegal = list(_illegal(kind, sizes, folding, asked))
    if illegal:
        return {"objections": [("illegal-folding", message) for message in illegal]}
    reuse, pixels = folding["ReuseFactor"], sizes.get("in_height", 1) * sizes.get("in_width", 1)
    return {
        "objections": [],
        "cycles": pixels * reuse,
        "inputs": [_input(kind, sizes, word, bits) for word, bits in zip(words, operands, strict=True)],
        "outputs": [_output(kind, sizes, entry)] * sizes.get("copies", 1),
        "window_fill": _fill(kind, entry["attributes"]),
        "least_resources": _least(kind, sizes, entry, folding, context["options"]),
    }


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _malformed(entry: Mapping[str, Any]) -> str:
    kind, has = entry["kind"], entry["attributes"]
    wanted: tuple[str, ...] = ("n_in", "n_out", "n_pack") if kind == "Dense" else MAP
    wanted += ("filt_height", "filt_width", "stride_height", "stride_width") if kind in WINDOWS else ()
    wanted += ("n_inputs",) if kind in JOINS else ("copies",) if kind == "Clone" else ()
    wrong = [key for key in wanted if not _count(has.get(key))]
    if wrong:
        return f"{wrong[0]} is {has.get(wrong[0])!r:.60}, expected an integer of 1 or more"
    if kind in JOINS:
        return _wrong_operands(kind, has, entry["input_bits"])
    if kind == "Dense" and has["n_in"] % has["n_pack"]:
        return f"{has['n_in']} inputs are no whole number of words of {has['n_pack']}"
    if (kind in WEIGHTED) != bool(entry["weight_bits"]) and kind != "BatchNormalization":
        return f"weight_bits is {entry['weight_bits']}"
    if kind not in ("Dense", "Conv1D", "Conv2D") and has["n_chan"] != has["n_filt"]:
        return f"takes {has['n_chan']} channels and makes {has['n_filt']}"
    return _wrong_window(has) if kind in WINDOWS else ""


def _wrong_operands(kind: str, has: Mapping[str, Any], widest: int) -> str:
    """Return what is wrong with the bits of what is joined, and with the channels that a concatenation joins."""
    if not _are_operands(has.get("operand_bits"), has["n_inputs"], widest):
        return f"operand_bits is {has.get('operand_bits')!r:.60}, expected the bits of {has['n_inputs']} inputs"
    if kind == "Merge":
        takes, makes = has["n_chan"], has["n_filt"]
        return "" if takes == makes else f"takes {takes} channels and makes {makes}"
    channels = has.get("operand_channels")
    if isinstance(channels, list) and len(channels) == has["n_inputs"] and all(map(_count, channels)):
        return "" if sum(channels) == has["n_filt"] else f"{channels} channels make {has['n_filt']}"
    return f"operand_channels is {channels!r:.60}, expected the channels of {has['n_inputs']} inputs"


def _are_operands(bits: object, inputs: int, widest: int) -> bool:
    if not isinstance(bits, list) or len(bits) != inputs or not all(_count(each) for each in bits):
        return False
    return bool(max(bits) == widest)


def _wrong_window(has: Mapping[str, Any]) -> str:
    pads = has.get("pads")
    if not isinstance(pads, list) or len(pads) != 4 or not all(isinstance(p, int) and p >= 0 for p in pads):
        return f"pads is {pads!r:.60}, expected top, left, bottom and right"
    for side, (before, behind) in {"height": (pads[0], pads[2]), "width": (pads[1], pads[3])}.items():
        windows = (has[f"in_{side}"] + before + behind - has[f"filt_{side}"]) // has[f"stride_{side}"] + 1
        if not windows <= has[f"out_{side}"] <= windows + 1:  # pools may round up
            return f"out_{side} is {has[f'out_{side}']}, {windows} windows fit"
    return ""


def _weights(kind: str, sizes: Sizes) -> tuple[int, int]:
    """Return the inputs and outputs of the matrix that a reuse factor divides."""
    if kind == "Dense":
        return sizes["n_in"], sizes["n_out"]
    taps = sizes["filt_height"] * sizes["filt_width"]
    return (taps if kind in DEPTHWISE else taps * sizes["n_chan"]), sizes["n_filt"]


def _illegal(kind: str, sizes: Sizes, folding: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[str]:
    reuse, strategy = folding.get("ReuseFactor"), folding.get("Strategy")
    keys = {"ReuseFactor", "Strategy"} if kind in WEIGHTED else {"ReuseFactor"}
    if {*folding} != keys or not isinstance(reuse, int) or not _count(reuse):
        yield f"has {dict(folding)!r:.120}, expected {' and '.join(sorted(keys))}"
        return
    if kind in WEIGHTED:
        yield from _illegal_weights(kind, sizes, (reuse, strategy), options)
    elif reuse != 1:
        yield f"{kind} has a reuse factor of {reuse}, expected 1"


def _illegal_weights(kind: str, sizes: Sizes, chosen: tuple[int, Any], options: Mapping[str, Any]) -> Iterator[str]:
    reuse, strategy = chosen
    asked = options.get("strategy")
    kept = options["kept"]  # a folding that the user gave is hls4ml's to take, not the options' to allow
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


def _word(kind: str, sizes: Sizes) -> int:
    return sizes["n_pack"] if kind == "Dense" else sizes["n_chan"]


def _input(kind: str, sizes: Sizes, word: int, bits: int) -> dict[str, Any]:
    elements = sizes["n_in"] if kind == "Dense" else word * sizes["in_height"] * sizes["in_width"]
    return _port(word, elements, bits)


def _output(kind: str, sizes: Sizes, entry: Mapping[str, Any]) -> dict[str, Any]:
    if kind == "Dense":
        word = elements = sizes["n_out"]
    else:
        word = sizes["n_filt"]
        elements = word * sizes["out_height"] * sizes["out_width"]
    return _port(word, elements, entry["output_bits"])


def _port(word: int, elements: int, bits: int) -> dict[str, Any]:
    return {"parallel": word, "element_bits": bits, "elements": elements, "last_dimension": word, "type": None}


def _fill(kind: str, has: Mapping[str, Any]) -> Fraction:
    """Return the share of a frame with which the first window is whole; dense layers and global pools need all."""
    if kind in ("Dense", *GLOBAL_POOLS):
        return Fraction(1)
    if kind not in WINDOWS:
        return Fraction(0)
    height, width = has["in_height"], has["in_width"]
    rows = min(max(has["filt_height"] - has["pads"][0], 1), height)
    columns = min(max(has["filt_width"] - has["pads"][1], 1), width)
    return Fraction((rows - 1) * width + columns, height * width)


def _least(
    kind: str, sizes: Sizes, entry: Mapping[str, Any], folding: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, int]:
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


def joined(source: Row, target: Row, context: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Return nothing: what two layers have to agree on is what their ports carry."""
    return {}


def converter(narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
    """Refuse any converter: both ends of a stream carry whole pixels."""
    return "", [f"hls4ml has no converter between {narrow_bits} and {wide_bits} bits"]


def fifo(channel: Mapping[str, Any], part: str, context: Mapping[str, Any]) -> Iterator[str]:  # noqa: ARG001
    """Return what is wrong with a FIFO: a style, or too little room for its words."""
    return check_plain_fifo(channel, "hls4ml")


def files(
    plan: Mapping[str, Any], phase: Mapping[str, Any], folder: Files, context: Mapping[str, Any]
) -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """Judge hls4ml's configuration and the table of cells; what cells are called the user tells."""
    problems = list(check_cells_file(phase, folder, "hls4ml"))
    problems += check_configs(plan, phase, folder, context)
    return problems, {}


def unplaced_files(
    phase: Mapping[str, Any], folder: Files, clock_mhz: float, context: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
    """Judge hls4ml's configuration of a part of a network that is placed nowhere."""
    return list(check_configs({"summary": {"clock_mhz": clock_mhz}}, phase, folder, context))


def reads_memory(row: Row) -> bool:  # noqa: ARG001
    """Return True: a cell's ports are its FIFOs' and memories', which the plan has no names for."""
    return True
