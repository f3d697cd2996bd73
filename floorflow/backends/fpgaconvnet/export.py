"""fpgaConvNet's configuration: its protocol buffer ``partitions`` as JSON, one partition a network.

Source: ``fpgaconvnet-model``, ``proto/fpgaconvnet.proto`` and ``models/network/represent.py``, which writes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floorflow.backends.backend import Unplaced
from floorflow.backends.fpgaconvnet.layers import BITS, KINDS, WITH_WEIGHTS
from floorflow.backends.layered.files import CELLS, Layer, Layers, as_json, cells_file, running
from floorflow.facts import ChannelEntry, Plan

CONFIG = "config.json"
_FRACTION_BITS = BITS // 2
_STREAM_WIDTH = 16
"""``gen_last_width`` as fpgaConvNet itself writes it."""
_OWN = "fpgaconvnet"


def files(plan: Plan, phase: int) -> dict[str, str]:
    """Return fpgaConvNet's files of a phase, and the table of cells."""
    found = {f"{_OWN}/{CELLS}": cells_file(plan, phase)}
    for one in running(plan, phase):
        ids = {plan.engine_id(one.network.name, engine.name): engine for engine, _ in one.engines}
        channels = [c for c in plan.phases[phase].channels if c.source in ids or c.target in ids]
        found[f"{one.folder}/{CONFIG}"] = _config(phase, one.engines, _Around(ids, [*map(_joint, channels)]))
    return found


def unplaced_files(part: Unplaced) -> dict[str, str]:
    """Return fpgaConvNet's file of a part of a network that is placed nowhere."""
    dataflow, options = part.folded.dataflow, part.folded.options
    engines = tuple((engine, options[engine.name].folding) for engine in dataflow.engines)
    ids: dict[str, Layer] = {engine.name: engine for engine in dataflow.engines}
    joints = [
        Joint(s.source, s.source_port, s.target, s.target_port, part.fifo_depths[s.channel]) for s in dataflow.streams
    ]
    return {f"{_OWN}/{CONFIG}": _config(part.number, engines, _Around(ids, joints))}


@dataclass(frozen=True)
class Joint:
    """A stream by its ends, and the words of its FIFO."""

    source: str
    source_port: int
    target: str
    target_port: int
    fifo_depth: int


def _joint(channel: ChannelEntry) -> Joint:
    return Joint(channel.source, channel.source_port, channel.target, channel.target_port, channel.fifo_depth)


def _config(number: int, engines: Layers, around: "_Around") -> str:
    ids, channels = around.ids, around.channels
    partition = {
        "id": number,
        "ports": 1,
        "batch_size": 1,
        "input_nodes": [_outside(c.source) for c in channels if c.source not in ids],
        "output_nodes": [_outside(c.target) for c in channels if c.target not in ids],
        "weights_reloading_factor": 1,
        "weights_reloading_layer": "None",
        "layers": [_layer(engine, folding, around) for engine, folding in engines],
        "gen_last_width": _STREAM_WIDTH,
    }
    return as_json({"partition": [partition]})


def _outside(end: str) -> str:
    """Return a channel's end outside the network, without what says that it is the host's."""
    return end.rpartition(":")[2]


class _Around:
    """The streams around an engine."""

    def __init__(self, ids: Mapping[str, Layer], channels: list[Joint]) -> None:
        self.ids, self.channels = ids, channels
        self.id_of = {engine.name: identity for identity, engine in ids.items()}

    def streams(self, engine: Layer, coarse: int, *, into: bool) -> list[dict[str, Any]]:
        """Return the streams at an engine's inputs or outputs, in the order of its ports."""
        own = self.id_of[engine.name]
        at = sorted(
            (c for c in self.channels if (c.target if into else c.source) == own),
            key=lambda c: c.target_port if into else c.source_port,
        )
        return [self._stream(engine, channel, coarse, into=into) for channel in at]

    def _stream(self, engine: Layer, channel: Joint, coarse: int, *, into: bool) -> dict[str, Any]:
        other = self.ids.get(channel.source if into else channel.target)
        if other is None:
            name, node = ("in" if into else "out"), engine.name
        else:
            ends = (other.name, engine.name) if into else (engine.name, other.name)
            name, node = "_".join(ends), other.name
        return {"name": name, "coarse": coarse, "buffer_depth": channel.fifo_depth, "node": node}


def _layer(engine: Layer, folding: Mapping[str, Any], around: _Around) -> dict[str, Any]:
    kind, parameters = KINDS[engine.kind], _parameters(engine, folding)
    layer: dict[str, Any] = {
        "name": engine.name,
        "onnx_node": engine.operation,
        "type": kind.proto_type,
        "streams_in": around.streams(engine, parameters["coarse_in"], into=True),
        "streams_out": around.streams(engine, parameters["coarse_out"], into=False),
        "parameters": parameters,
    }
    if engine.kind == "PoolingLayer":
        layer["op_type"] = str(engine.attributes["pool_type"])
    elif kind.op_type:
        layer["op_type"] = kind.op_type
    if engine.kind in WITH_WEIGHTS:
        layer |= {"weights_path": f"{engine.name}_weights", "bias_path": f"{engine.name}_bias"}
    return layer


def _parameters(engine: Layer, folding: Mapping[str, Any]) -> dict[str, Any]:
    has = engine.attributes
    word = {"width": BITS, "binary_point": _FRACTION_BITS}
    told: dict[str, Any] = {"batch_size": 1, "data_t": word}
    told |= {key: has[key] for key in ("rows_in", "cols_in", "channels_in", "rows_out", "cols_out", "channels_out")}
    told |= {key: int(folding[key]) for key in ("coarse_in", "coarse_out")}
    if engine.kind in WITH_WEIGHTS:
        wide = {"width": 2 * BITS, "binary_point": 2 * _FRACTION_BITS}
        told |= {"input_t": word, "output_t": word, "weight_t": word, "acc_t": wide}
        told |= {"filters": has["channels_out"], "has_bias": has["has_bias"]}
    else:
        told["coarse"] = int(folding["coarse_in"])
    if engine.kind == "ConvolutionLayer":
        told |= {"fine": int(folding["fine"]), "groups": has["groups"], "coarse_group": 1}
    if "kernel_size" in has:
        told |= _window(has)
    told |= {key: has[key] for key in ("ports_in", "ports_out") if key in has}
    return told


def _window(has: Mapping[str, Any]) -> dict[str, Any]:
    kernel, stride = has["kernel_size"], has["stride"]
    sides = dict(zip(("pad_top", "pad_left", "pad_bottom", "pad_right"), has["pads"], strict=True))
    sizes = {"kernel_rows": kernel, "kernel_cols": kernel, "stride_rows": stride, "stride_cols": stride}
    return {**sizes, **sides, "kernel_size": [kernel, kernel], "stride": [stride, stride]}
