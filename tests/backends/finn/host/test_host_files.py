"""What a plan tells host/run.py: read by the script in a dry run, and judged against the plan."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest

import floorflow as ff
from floorflow.verify import check
from tests.conftest import Planned, made_once
from tests.plans import FAST, PLANS, TFC

GRAPHS = Path(__file__).parent.parent / "graphs"


@pytest.fixture(scope="session")
def two_cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return TFC squeezed until it needs two cards, for FINN+."""

    def make(place: Path) -> Path:
        quick = {"tie_break": "scarcity", "constraint_style": "none", **FAST}
        ff.plan(TFC, "alveo-u250", fpgas=2, finn="plus", cap={"LUT": 0.002}, **quick).save(place / "out")
        return place / "out"

    return made_once(tmp_path_factory, "tfc_on_two_cards", make)


def dry(folder: Path) -> str:
    command = [sys.executable, "-I", "-S", str(folder / "host/run.py"), "--dry-run"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def told(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "host/host.json").read_text(encoding="utf-8"))
    return found


def test_two_cards_are_loaded_from_the_last_and_their_link_is_waited_for(two_cards: Path) -> None:
    said = dry(two_cards)
    assert said.index("load fpga1 (device 1)") < said.index("load fpga0 (device 0) after fpga1, which it sends to")
    assert "aurora_flow_0 of fpga0 (fpga0-fpga1), aurora_flow_0 of fpga1 (fpga0-fpga1)" in said
    assert "finn-accel-1.xclbin for fpga1" in said
    assert (told(two_cards)["copies"][0]["input"], told(two_cards)["copies"][0]["output"]) == (
        ["fpga0", "idma_0"],
        ["fpga1", "odma_0"],
    )
    assert check(two_cards) == []


@pytest.mark.parametrize(
    ("card", "key", "value"),
    [(0, "links", {}), (1, "links", {"aurora_flow_1": "fpga0-fpga1"}), (1, "bitstream", "finn-accel-0.xclbin")],
)
def test_another_link_kernel_or_bitstream_is_found(card: int, key: str, value: object, two_cards: Path) -> None:
    path = two_cards / "host/host.json"
    before = path.read_text(encoding="utf-8")
    content = told(two_cards)
    content["cards"][card][key] = value
    try:
        path.write_text(json.dumps(content), encoding="utf-8")
        assert [violation.name for violation in check(two_cards)] == ["host-differs"]
    finally:
        path.write_text(before, encoding="utf-8")


def test_a_card_and_a_zynq_board_have_the_bitstreams_that_finn_makes(planned: Planned) -> None:
    card = planned(PLANS["TFC on a card, pblocks by fills"])
    zynq = planned(PLANS["TFC on a Zynq"])
    assert [told(one)["cards"][0]["bitstream"] for one in (card, zynq)] == ["finn-accel.xclbin", "finn-accel.bit"]
    assert [told(one)["zynq"] for one in (card, zynq)] == [False, True]
    assert all("load fpga0 (device 0)" in dry(one) for one in (card, zynq))


def classifier(folder: Path) -> Path:
    """Write the last engines of FINN+'s ResNet-18: a matrix unit, a factor and a summand in single precision."""
    model = onnx.load_from_string(gzip.decompress((GRAPHS / "rn18.onnx.gz").read_bytes()))
    graph = model.graph
    kept = [node for node in graph.node if node.domain.startswith("finn")][-3:]
    read = {name for node in kept for name in node.input}
    kept = [*(node for node in graph.node if node.op_type == "ConstantOfShape" and node.output[0] in read), *kept]
    read |= {name for node in kept for name in node.input}
    first = next(value for value in graph.value_info if value.name == kept[-3].input[0])
    tensors = [tensor for tensor in graph.initializer if tensor.name in read]
    made = onnx.helper.make_graph(kept, "classifier", [first], [*graph.output], tensors)
    made.value_info.extend(value for value in graph.value_info if value.name != first.name)
    made.quantization_annotation.extend(graph.quantization_annotation)
    path = folder / "classifier.onnx"
    onnx.save(onnx.helper.make_model(made, opset_imports=model.opset_import), path)
    return path


def test_a_network_whose_scores_are_floats_is_run(tmp_path: Path) -> None:
    ff.plan(classifier(tmp_path), "alveo-u250", finn="plus", fps=100.0, **FAST).save(tmp_path / "out")
    scores = told(tmp_path / "out")["output"]
    assert (scores["type"], scores["least"], scores["most"], scores["elements"]) == ("FLOAT32", None, None, 10)
    assert "run 1,000 frames" in dry(tmp_path / "out")
    assert check(tmp_path / "out") == []
    path = tmp_path / "out" / "host" / "host.json"
    path.write_text(path.read_text().replace('"FLOAT32"', '"INT32"'))
    assert [violation.name for violation in check(tmp_path / "out")] == ["host-differs"]


def test_what_ends_at_a_stitched_ip_is_not_run(planned: Planned) -> None:
    assert not (planned(PLANS["TFC on a Kintex"]) / "host").exists()
