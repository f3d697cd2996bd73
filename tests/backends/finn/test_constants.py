"""Which constants of FINN's engines lie in logic: by hand, and as the judge has it by rules of its own."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.constants import constants_in_logic
from floorflow.backends.finn.options import FinnOptions
from floorflow.dataflow.model import Attributes, Engine, Option
from floorflow.resources import Resources
from floorflow.technology import technology_of
from floorflow.verify.finn.engines import FoldedEngine
from floorflow.verify.finn.styles import constants_in_logic as judged
from tests.residual_models import residual_network

PART = "xcu250-figd2104-2L-e"
MVAU = {
    "MW": 64,
    "MH": 64,
    "numInputVectors": (1,),
    "inputDataType": "UINT4",
    "weightDataType": "INT4",
    "outputDataType": "UINT4",
    "noActivation": 1,
}
STEPS = {"NumChannels": 256, "numInputVectors": (1,), "inputDataType": "INT16", "weightDataType": "INT16"}
STEPS |= {"outputDataType": "UINT4", "numSteps": 15}


def told(kind: str, attributes: Attributes, folding: Attributes) -> str:
    return constants_in_logic(Engine(kind, kind, "", attributes, 4, 4, 4), option_of(folding))


def option_of(folding: Attributes) -> Option:
    return Option(folding, 1, Resources(lut=1), (), ())


@pytest.mark.parametrize(
    ("folding", "expected"),
    [
        ({"mem_mode": "internal_embedded"}, "weights"),
        ({"mem_mode": "internal_decoupled", "ram_style": "distributed"}, "weights"),
        ({"mem_mode": "internal_decoupled", "ram_style": "block"}, ""),
        ({"mem_mode": "internal_decoupled", "ram_style": "distributed", "runtime_writeable_weights": 1}, ""),
        ({"mem_mode": "external"}, ""),
    ],
)
def test_weights_in_luts_are_logic_and_in_block_ram_contents(folding: Attributes, expected: str) -> None:
    assert told("MVAU_hls", MVAU, {"PE": 2, "SIMD": 2, **folding}) == expected


def test_thresholds_in_a_matrix_unit_are_logic_wherever_its_weights_lie() -> None:
    folding = {"PE": 2, "SIMD": 2, "mem_mode": "internal_decoupled", "ram_style": "block"}
    assert told("MVAU_hls", {**MVAU, "noActivation": 0}, folding) == "thresholds"


@pytest.mark.parametrize(
    ("kind", "folding", "expected"),
    [
        ("Thresholding_rtl", {"depth_trigger_bram": 0}, "thresholds"),
        ("Thresholding_rtl", {"depth_trigger_bram": 128}, ""),
        ("Thresholding_rtl", {"depth_trigger_bram": 129}, "thresholds"),
        ("Thresholding_hls", {"mem_mode": "internal_decoupled", "ram_style": "block"}, ""),
        ("Thresholding_hls", {"mem_mode": "internal_decoupled", "ram_style": "distributed"}, "thresholds"),
    ],
)
def test_thresholds_are_contents_where_every_stage_is_in_blocks(kind: str, folding: Attributes, expected: str) -> None:
    assert told(kind, STEPS, {"PE": 2, **folding}) == expected


def test_the_judge_has_it_alike_of_all_foldings_of_a_network(tmp_path: Path) -> None:
    onnx.save(residual_network(), tmp_path / "net.onnx")
    options, technology = FinnOptions(), technology_of(PART)
    dataflow = BACKEND.lower(BACKEND.read(tmp_path / "net.onnx", options), technology, options)
    seen = set()
    for group in BACKEND.costs(technology, options).groups(dataflow):
        for name in group.engines:
            engine, table = dataflow.engine(name), group.options_of(name)
            entry = {"kind": "", "attributes": _plain(engine.attributes), "output_bits": engine.output_bits}
            for row in range(0, len(table), max(1, len(table) // 40)):
                option = table[row]
                entry |= {"kind": option.kind or engine.kind}
                made = Engine(name, entry["kind"], "", engine.attributes, 1, 1, 1)
                found = bool(constants_in_logic(made, option))
                assert judged(FoldedEngine(name, entry, _plain(option.folding))) is found, (name, option.folding)
                seen.add((entry["kind"].split("_")[0], found))
    assert {("MVAU", True), ("MVAU", False)} <= seen


def _plain(attributes: Attributes) -> dict[str, object]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in attributes.items()}
