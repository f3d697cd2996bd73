"""FINN+ writes what each module's memories hold; read back, that are the weights and thresholds of the network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

from floorflow.backends.finn.attributes import bits_of, is_signed
from tests.tools_finn.oracle import FinnPlus
from tests.tools_finn.test_estimates import plan, saved
from tests.tools_finn.test_steps import write

pytestmark = pytest.mark.tools

Numbers = NDArray[np.int64]


def signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> (bits - 1) & 1 else number


def weights_of(path: Path, sizes: dict[str, int], bits: int) -> Numbers:
    """Return the matrix, (MW, MH), that a memory's words hold: PE times SIMD weights each, the first in the low bits.

    Words go through the inputs SIMD by SIMD, then through the outputs PE by PE.
    """
    pe, simd = sizes["PE"], sizes["SIMD"]
    found = np.zeros((sizes["MW"], sizes["MH"]), dtype=np.int64)
    words = path.read_text().split()
    folds = sizes["MW"] // simd
    assert len(words) == folds * sizes["MH"] // pe
    for place, word in enumerate(words):
        for lane in range(pe * simd):
            value = signed(int(word, 16) >> (lane * bits) & ((1 << bits) - 1), bits)
            found[place % folds * simd + lane % simd, place // folds * pe + lane // simd] = value
    return found


def thresholds_of(paths: list[Path], datatype: str) -> set[int]:
    """Return all thresholds that the memories of stages hold."""
    bits, words = bits_of(datatype), [int(word, 16) for path in paths for word in path.read_text().split()]
    return {signed(word, bits) if is_signed(datatype) else word for word in words}


def with_constants(path: Path) -> dict[str, list[Numbers]]:
    """Put numbers in the place of the zeros that a saved graph has; return those of each node with weights."""
    model, rng = onnx.load(path), np.random.default_rng(1)
    graph = model.graph
    shapes = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    made: dict[str, Numbers] = {}
    for node in [node for node in graph.node if node.op_type == "ConstantOfShape"]:
        graph.node.remove(node)
        shape = shapes[node.input[0]].tolist()
        steps = np.sort(rng.integers(-9, 10, shape), axis=1) if shape[0] > 1 else np.arange(255).reshape(1, 255)
        made[node.output[0]] = rng.integers(-2, 2, shape) if node.output[0].startswith("MatMul") else steps
    graph.initializer.extend(numpy_helper.from_array(one.astype(np.float32), name) for name, one in made.items())
    onnx.save(model, path)
    return {node.name: [made[name] for name in node.input if name in made] for node in graph.node}


def until(path: Path, tensor: str) -> Path:
    """Cut off all behind a tensor of a saved graph, which becomes its output: the largest weights take FINN+ long."""
    model = onnx.load(path)
    graph = model.graph
    if tensor != graph.output[0].name:
        known = {value.name: value for value in graph.value_info}
        nodes = list(graph.node)
        last = next(number for number, node in enumerate(nodes) if tensor in node.output)
        for node in nodes[last + 1 :]:
            graph.node.remove(node)
        graph.output[0].CopyFrom(known[tensor])
        graph.value_info.remove(known[tensor])
        onnx.save(model, path)
    return path


@pytest.mark.parametrize("last", ["MultiThreshold_5_out0", pytest.param("global_out", marks=pytest.mark.slow)])
def test_tables_of_each_instance_hold_the_constants_of_the_network(
    last: str, tmp_path: Path, finn_plus: FinnPlus
) -> None:
    graph = until(saved("cnv_2w2a", tmp_path), last)
    constants = with_constants(graph)
    outcome = plan(graph, "xcu250", flow="stitch", costs="calibrated", reuse="prefer", cap={"LUT": 0.12})
    write(outcome, tmp_path / "plan")
    build = tmp_path / "build"
    finn_plus.build(graph, tmp_path / "plan/finn", build, "floorflow_modules")
    table = json.loads((build / "contents/contents.json").read_text())
    options = outcome.plan.only_phase.networks[0].folding.engines
    compared = set()
    for module in outcome.plan.only_phase.modules:
        for name in module.engines:
            engine = outcome.plan.engines[name]
            if engine.kind.startswith(("MVAU", "Thresholding")):
                folder = build / "contents" / module.name / name
                paths = [folder / file for file in table[module.name][name]]
                if options[name].attributes.get("mem_mode") == "internal_embedded":
                    assert not paths, f"{name} has its constants in its logic"
                    continue
                compared.add(name)
                assert_held(paths, {**engine.attributes, **options[name].attributes}, constants[engine.operation])
    assert len(compared) > 2


def assert_held(paths: list[Path], attributes: dict[str, Any], constants: list[Numbers]) -> None:
    """Compare the memories of an engine with the constants of the node that it was made of."""
    bits = bits_of(attributes["weightDataType"])
    if "MW" in attributes:
        assert [path.name for path in paths] == ["memblock.dat"]
        assert (weights_of(paths[0], attributes, bits) == constants[0]).all()
    else:
        # Those of one row are all channels'; FINN+ has memories for the channels that are worked on at once.
        assert thresholds_of(paths, attributes["weightDataType"]) == set(constants[0].ravel().tolist())
