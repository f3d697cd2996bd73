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

from floorflow.backends.finn.attributes import bits_of
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


def thresholds_of(paths: list[Path], bits: int) -> list[int]:
    """Return all thresholds that the memories of stages hold, ascending."""
    return sorted(signed(int(word, 16), bits) for path in paths for word in path.read_text().split())


def test_tables_of_each_instance_hold_the_constants_of_the_network(tmp_path: Path, finn_plus: FinnPlus) -> None:
    graph = saved("cnv_2w2a", tmp_path)
    outcome = plan(graph, "xcu250", flow="stitch", costs="calibrated", reuse="prefer", cap={"LUT": 0.12})
    write(outcome, tmp_path / "plan")
    build = tmp_path / "build"
    finn_plus.build(graph, tmp_path / "plan/finn", build, "floorflow_modules")
    table = json.loads((build / "contents/contents.json").read_text())
    model = onnx.load(graph).graph
    known = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.initializer}
    constants = {node.name: [known[name] for name in node.input if name in known] for node in model.node}
    options = outcome.plan.only_phase.networks[0].folding.engines
    compared = set()
    for module in outcome.plan.only_phase.modules:
        for name in module.engines:
            engine = outcome.plan.engines[name]
            if engine.kind.startswith(("MVAU", "Thresholding")):
                compared.add(name)
                folder = build / "contents" / module.name / name
                paths = [folder / file for file in table[module.name][name]]
                assert_held(paths, {**engine.attributes, **options[name].attributes}, constants[engine.operation])
    assert {name for engines in table.values() for name in engines} == compared
    assert len(compared) > 10


def assert_held(paths: list[Path], attributes: dict[str, Any], constants: list[Any]) -> None:
    """Compare the memories of an engine with the constants of the node that it was made of."""
    values, bits = constants[0].astype(np.int64), bits_of(attributes["weightDataType"])
    if "MW" in attributes:
        assert [path.name for path in paths] == ["memblock.dat"]
        assert (weights_of(paths[0], attributes, bits) == values).all()
    else:
        assert thresholds_of(paths, bits) == sorted(
            np.broadcast_to(values, (attributes["NumChannels"], values.shape[1])).ravel().tolist()
        )
