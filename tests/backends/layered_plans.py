"""Plans of the zoo with the back ends hls4ml and fpgaConvNet, made once in a session."""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from floorflow.request import Request
from floorflow.verify import check
from tests.conftest import make_plan
from tests.plans import ROOT
from tests.residual_models import residual_network

ZOO = ROOT / "examples" / "zoo"
QUICK: dict[str, Any] = {"effort": "fast", "plots": False}


def residual(folder: Path) -> Path:
    """Write the residual network to a folder, as the model ``residual``."""
    path = folder / "residual.onnx"
    return path if path.exists() else saved(residual_network(), path)


def saved(model: onnx.ModelProto, path: Path) -> Path:
    """Save a model at once as a whole: other workers may read it."""
    onnx.save(model, own := path.with_suffix(f".{os.getpid()}"))
    return own.replace(path)


Nodes = list[onnx.NodeProto]
Change = Callable[[dict[str, Any], dict[str, Any]], None]
"""Plants a mistake in a plan's JSON or in files of its back end."""
ACTIVATIONS = (
    *("Clip", "Elu", "HardSigmoid", "LeakyRelu", "LogSoftmax", "Selu", "Sigmoid", "Softmax", "Softplus", "Softsign"),
    *("Tanh", "ThresholdedRelu"),
)
"""ONNX's activations that floorflow reads, beside Relu."""


def write_float_model(path: Path, nodes: Nodes, shapes: tuple[list[int], list[int]], weights: dict[str, Any]) -> Path:
    """Write a model from ``x`` to ``y``; weights are arrays, or shapes to be drawn."""
    rng = np.random.default_rng(0)
    arrays = {
        n: rng.normal(0, 0.2, each) if isinstance(each, tuple) else np.asarray(each) for n, each in weights.items()
    }
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in zip("xy", shapes, strict=True)]
    initialisers = [numpy_helper.from_array(each.astype(np.float32), name) for name, each in arrays.items()]
    graph = helper.make_graph(nodes, path.stem, ends[:1], ends[1:], initialisers)
    return saved(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def window(op: str, names: str, kernel: tuple[int, ...], pads: tuple[int, ...], **more: Any) -> onnx.NodeProto:
    """Return a node with a window; the last word of ``names`` is its output, ``strides`` are 1 if not told."""
    *into, out = names.split()
    usual = {"strides": [1] * len(kernel), "dilations": [1] * len(kernel)} | ({"group": 1} if op == "Conv" else {})
    return helper.make_node(op, into, [out], kernel_shape=kernel, pads=pads, **{**usual, **more})


def sequence(path: Path) -> Path:
    """Write a network of sequences that ends with a Softmax."""
    nodes = [
        window("Conv", "x w b a", (3,), (1, 1)),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("MatMul", ["f", "v"], ["m"]),
        helper.make_node("Softmax", ["m"], ["y"], axis=-1),
    ]
    return write_float_model(path, nodes, ([1, 4, 16], [1, 5]), {"w": (8, 4, 3), "b": (8,), "v": (8, 5)})


def oblong(path: Path) -> Path:
    """Write a network of two branches with kernels that are not square, joined by a Concat."""
    nodes = [
        window("Conv", "x w b a", (3, 1), (1, 0, 1, 0)),
        helper.make_node("Relu", ["a"], ["r"]),
        window("Conv", "x v b c", (1, 5), (0, 2, 0, 2)),
        helper.make_node("Relu", ["c"], ["s"]),
        helper.make_node("Concat", ["r", "s"], ["j"], axis=1),
        window("MaxPool", "j p", (2, 4), (0, 0, 0, 0), strides=[2, 4]),
        window("Conv", "p u d q", (1, 1), (0, 0, 0, 0)),
        helper.make_node("Relu", ["q"], ["y"]),
    ]
    weights = {"w": (6, 3, 3, 1), "v": (6, 3, 1, 5), "b": (6,), "u": (4, 12, 1, 1), "d": (4,)}
    return write_float_model(path, nodes, ([1, 3, 8, 8], [1, 4, 4, 2]), weights)


def jet(path: Path) -> Path:
    """Write the jet tagger of hls4ml's papers (16-64-32-32-5) with drawn weights and biases, without its Softmax."""
    sizes, nodes, weights = (16, 64, 32, 32, 5), [], {}
    for number, pair in enumerate(pairwise(sizes)):
        last = number == len(sizes) - 2
        weights |= {f"w{number}": pair, f"b{number}": pair[1:]}
        into = f"r{number - 1}" if number else "x"
        nodes += [
            helper.make_node("MatMul", [into, f"w{number}"], [f"m{number}"], name=f"fc{number}"),
            helper.make_node("Add", [f"m{number}", f"b{number}"], ["y" if last else f"a{number}"]),
            *([] if last else [helper.make_node("Relu", [f"a{number}"], [f"r{number}"], name=f"act{number}")]),
        ]
    return write_float_model(path, nodes, ([1, 16], [1, 5]), weights)


def activation_model(folder: Path, operator: str) -> Path:
    """Write a dense layer with an activation behind it."""
    bounds = {"low": 0.0, "high": 6.0} if operator == "Clip" else {}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node(operator, ["a", *bounds], ["y"])]
    return write_float_model(folder / f"{operator}.onnx", nodes, ([1, 8], [1, 5]), {"w": (8, 5), **bounds})


MADE = {"sequence": sequence, "oblong": oblong, "jet": jet}


def model_of(folder: Path, name: str) -> Path:
    """Return the file of a network of the zoo, of the residual one, or of one that is made here."""
    if name in MADE:
        path = folder / f"{name}.onnx"
        return path if path.exists() else MADE[name](path)
    return residual(folder) if name == "residual" else ZOO / f"{name}.onnx"


def plan(folder: Path, model: str, backend: str, *options: str, platform: str = "zcu104") -> Path:
    """Return the folder of a plan, which must succeed; ``options`` of the back end as on the command line."""
    out = folder / re.sub(r"\W", "_", " ".join((backend, model, platform, *options)))
    own: dict[str, Any] = dict(each.split("=") for each in options)
    # Floorplans of modules are those on cards: elsewhere folding, files and judge are looked at.
    granularity = "slot" if platform == "zcu104" else "stage"
    with out.with_suffix(".lock").open("w") as lock:  # the folder is that of all workers
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (out / "plan.json").exists():
            asked = {**QUICK, "backend": backend, "backend_options": own, "granularity": granularity}
            make_plan(out, Request(model_of(folder, model), platform, **asked))
    return out


def read(out: Path) -> dict[str, Any]:
    """Return a plan's JSON."""
    return json.loads((out / "plan.json").read_text())


def foldings(made: dict[str, Any]) -> dict[str, Any]:
    """Return the folding of each engine."""
    return made["phases"][0]["networks"][0]["folding"]["engines"]


def assert_legal(out: Path) -> None:
    """Let the judge find nothing."""
    assert [*check(out)] == []


def findings(out: Path, target: Path, spoil: Change) -> set[str]:
    """Return what the judge finds in a copy of a plan in which a mistake was planted: in its JSON, or in files."""
    shutil.copytree(out, target)
    made = read(target)
    own = target / made["options"]["backend"]
    files = {path.name: json.loads(path.read_text()) for path in own.glob("*.json")}
    spoil(made, files)
    (target / "plan.json").write_text(json.dumps(made))
    for name, content in files.items():
        (own / name).write_text(json.dumps(content))
    return {violation.name for violation in check(target)}


def folding(name: str, **values: object) -> Change:
    return lambda made, files: foldings(made)[name]["attributes"].update(values)


def attribute(name: str, **values: object) -> Change:
    return lambda made, files: next(e for e in made["networks"][0]["engines"] if e["name"] == name)[
        "attributes"
    ].update(values)


def no_dsp(made: dict[str, Any], files: dict[str, Any]) -> None:
    foldings(made)["conv1"]["resources"]["DSP"] = 0
