"""A strict reader of fpgaConvNet's JSON, written from its published format and from nothing of floorflow's.

Source: ``proto/fpgaconvnet.proto`` of github.com/AlexMontgomerie/fpgaconvnet-model (edfbeb6): fields and
their types, which are required, and that a message has no others; ``parser/prototxt/parse.py``: which parameters the
layers of each type are made from; and what a graph of such layers has to keep: streams that are as wide at both ends.
"""

from typing import Any, NamedTuple

Fields = dict[str, Any]


class FormatError(ValueError):
    """The file is not of fpgaConvNet's format."""


FIXED_POINT: Fields = {"width": int, "binary_point": int}
STREAM: Fields = {"name": str, "coarse": int, "buffer_depth": int, "node": str}
INTEGERS = frozenset(
    {
        *(
            "batch_size",
            "buffer_depth",
            "filters",
            "groups",
            "fine",
            "has_bias",
            "biases_width",
            "ports_in",
            "ports_out",
        ),
        *(f"{size}_{side}" for size in ("rows", "cols", "depth", "channels", "coarse") for side in ("in", "out")),
        *("coarse", "coarse_group"),
        *(f"pad_{side}" for side in ("top", "right", "front", "bottom", "left", "back")),
        *(f"{what}_{size}" for what in ("kernel", "stride") for size in ("rows", "cols", "depth")),
    }
)
PARAMETERS: Fields = {
    **dict.fromkeys(INTEGERS, int),
    **dict.fromkeys(("data_t", "weight_t", "acc_t", "input_t", "output_t"), FIXED_POINT),
    **{key: [int] for key in ("kernel_size", "stride")},
    **dict.fromkeys(("mem_bw_in", "mem_bw_out"), float),
}
LAYER: Fields = {
    "name": str,
    "onnx_node": str,
    "type": str,
    "op_type": str,
    "streams_in": [STREAM],
    "streams_out": [STREAM],
    "parameters": PARAMETERS,
    "weights_path": str,
    "bias_path": str,
}
PARTITION: Fields = {
    "id": int,
    "ports": int,
    "batch_size": int,
    "input_nodes": [str],
    "output_nodes": [str],
    "weights_reloading_factor": int,
    "weights_reloading_layer": str,
    "layers": [LAYER],
    "gen_last_width": int,
}
REQUIRED = {
    id(FIXED_POINT): {"width", "binary_point"},
    id(STREAM): {"name", "coarse", "buffer_depth"},
    id(LAYER): {"name", "onnx_node", "type", "parameters"},
    id(PARTITION): {"id", "ports", "batch_size", "weights_reloading_factor", "weights_reloading_layer"},
}
MAP = {"rows_in", "cols_in", "channels_in", "rows_out", "cols_out", "channels_out"}
WINDOW = {"kernel_rows", "kernel_cols", "stride_rows", "stride_cols", "pad_top", "pad_right", "pad_bottom", "pad_left"}
TYPES = {"input_t", "output_t", "weight_t", "acc_t"}
MADE_FROM = {
    "CONVOLUTION": MAP | WINDOW | TYPES | {"groups", "fine", "coarse_in", "coarse_out", "coarse_group", "has_bias"},
    "INNER_PRODUCT": MAP | TYPES | {"coarse_in", "coarse_out", "filters", "has_bias"},
    "POOLING": MAP | WINDOW | {"coarse", "data_t"},
    "RELU": MAP | {"coarse", "data_t"},
    "ELTWISE": MAP | {"coarse", "ports_in", "data_t"},
    "SPLIT": MAP | {"coarse", "ports_out", "data_t"},
}


class Folding(NamedTuple):
    """What a layer of the file is folded by."""

    coarse_in: int
    coarse_out: int
    fine: int


def read(content: Any, *, matching: bool) -> dict[str, Folding]:
    """Return the folding of each layer; ``matching``: streams must be as wide at both ends."""
    _message(content, {"partition": [PARTITION]}, "partitions")
    foldings = {}
    for partition in content["partition"]:
        layers = {layer["name"]: layer for layer in partition["layers"]}
        if len(layers) < len(partition["layers"]):
            raise FormatError("two layers have one name")
        for layer in partition["layers"]:
            foldings[layer["name"]] = _layer(layer, layers, matching=matching)
    return foldings


def _message(value: Any, fields: Fields, where: str) -> None:
    if not isinstance(value, dict):
        raise FormatError(f"{where} is no message")
    for name in REQUIRED.get(id(fields), set()) - set(value):
        raise FormatError(f"{where} lacks {name}")
    for name, held in value.items():
        if name not in fields:
            raise FormatError(f"{where} has a field {name}")
        _value(held, fields[name], f"{where}.{name}")


def _value(value: Any, kind: Any, where: str) -> None:
    if isinstance(kind, list):
        if not isinstance(value, list):
            raise FormatError(f"{where} is not repeated")
        for number, each in enumerate(value):
            _value(each, kind[0], f"{where}[{number}]")
    elif isinstance(kind, dict):
        _message(value, kind, where)
    elif type(value) is not kind:
        raise FormatError(f"{where} is {value!r}, no {kind.__name__}")


def _layer(layer: dict[str, Any], layers: dict[str, Any], *, matching: bool) -> Folding:
    name, kind, has = layer["name"], layer["type"], layer["parameters"]
    if kind not in MADE_FROM:
        raise FormatError(f"{name}: there is no type {kind}")
    missing = MADE_FROM[kind] - set(has)
    if missing:
        raise FormatError(f"{name}: a {kind} is made from {sorted(missing)}, too")
    folding = Folding(has["coarse_in"], has["coarse_out"], has.get("fine", 1))
    taps = has.get("kernel_rows", 1) * has.get("kernel_cols", 1)
    for value, whole in zip(folding, (has["channels_in"], has["channels_out"], taps), strict=True):
        if value < 1 or whole % value:
            raise FormatError(f"{name}: {value} does not divide {whole}")
    if kind not in {"CONVOLUTION", "INNER_PRODUCT"} and folding.coarse_in != folding.coarse_out:
        raise FormatError(f"{name}: a {kind} has one folding")
    for side, coarse in (("in", folding.coarse_in), ("out", folding.coarse_out)):
        _streams(layer, side, coarse, layers if matching else {})
    return folding


def _streams(layer: dict[str, Any], side: str, coarse: int, layers: dict[str, Any]) -> None:
    for stream in layer[f"streams_{side}"]:
        if stream["coarse"] != coarse or stream["buffer_depth"] < 1:
            raise FormatError(f"{layer['name']}: stream {stream['name']} is {stream}")
        other = stream["node"]
        if other == layer["name"]:
            continue  # fpgaConvNet's way to say that it is outside
        back = "in" if side == "out" else "out"
        ends = [s for s in layers.get(other, {}).get(f"streams_{back}", ()) if s["node"] == layer["name"]]
        if layers and [s["coarse"] for s in ends if s["name"] == stream["name"]] != [coarse]:
            raise FormatError(f"{layer['name']}: stream {stream['name']} does not end so at {other}")
