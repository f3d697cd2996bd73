"""FINN+ itself says what an audit takes for granted of builds: widths of DMA engines, and how its nodes are told."""

from pathlib import Path
from typing import Any

import pytest

from floorflow.backends.finn.read.dataflow import _ATTRIBUTES, _CONVERTERS_SHAPE
from floorflow.backends.finn.reports.build_target import host_port_bits
from floorflow.study.audit.audit import audit
from tests.study.audit.layouts import AUTO, CUSTOM
from tests.tools_finn.oracle import FinnPlus

pytestmark = pytest.mark.tools
PYNQ_PORT_BITS = 64


@pytest.fixture(scope="module")
def finn_says(finn_plus: FinnPlus) -> dict[Path, dict[str, Any]]:
    graphs = {build: build / "graph_with_fifos.onnx" for build in (AUTO, CUSTOM)}
    return {build: finn_plus.ask(do="dma", graph=graph, port=PYNQ_PORT_BITS) for build, graph in graphs.items()}


def test_dma_engines_have_the_widths_that_finn_gives_them(
    finn_says: dict[Path, dict[str, Any]], tmp_path: Path
) -> None:
    for build in (AUTO, CUSTOM):
        folder = tmp_path / build.name
        folder.mkdir()
        for name in ("graph_with_fifos.onnx", "post_synth_resources.json"):
            (folder / name).write_bytes((build / name).read_bytes())
        nodes = [one.node for one in audit(folder, "pynq-z2").nodes if one.node.role == "DMA"]
        found = [
            ["in", n.output_bits, n.input_bits] if n.reads else ["out", n.input_bits, n.output_bits] for n in nodes
        ]
        assert sorted(found) == sorted(finn_says[build]["nodes"])


def test_ports_of_boards_are_as_wide_as_finns(finn_says: dict[Path, dict[str, Any]]) -> None:
    ports = finn_says[AUTO]["ports"]
    assert ports
    assert {board: host_port_bits(board, "") for board in ports} == ports


def test_attributes_that_tell_finn_plus_are_its_own(finn_says: dict[Path, dict[str, Any]]) -> None:
    attributes = finn_says[AUTO]["attributes"]
    held = {name for names in attributes.values() for name in names}
    told = {name for name, versions in _ATTRIBUTES.items() if "plus" not in versions}
    assert told
    assert not told & held
    assert {"inShape", "outShape"} <= set(attributes["StreamingDataWidthConverter_rtl"])
    assert "shape" not in attributes["StreamingDataWidthConverter_rtl"]
    assert "plus" not in _CONVERTERS_SHAPE
