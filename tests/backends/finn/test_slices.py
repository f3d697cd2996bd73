"""Register slices in FINN's graph: where they are put, what tells them from FIFOs, and where they lie."""

from __future__ import annotations

from typing import Any

import pytest

from floorflow.backends.finn.made_graph import made_nodes
from floorflow.backends.finn.step.graph import BuiltNode, BuiltStream, joined
from floorflow.backends.finn.step.match import streams_between
from floorflow.backends.finn.step.settings import Bound, fifo_settings, own_kernels, placements
from floorflow.backends.finn.step.slices import slice_nodes
from floorflow.verify.finn.build import stream_problems
from floorflow.verify.finn.kernels import Node


def fifo(depth: int) -> BuiltNode:
    return BuiltNode(f"fifo {depth}", "StreamingFIFO_rtl", {"depth": depth}, [], [])


ENGINE = BuiltNode("engine", "MVAU_hls", {}, [], [])


@pytest.mark.parametrize(
    ("depths", "found"),
    [
        pytest.param([32], 0, id="none inserted"),
        pytest.param([32, 2], 1, id="behind its FIFO"),
        pytest.param([256, 2], 0, id="a FIFO of 258 words in two pieces"),
        pytest.param([256, 2, 2], 1, id="the same with a slice"),
        pytest.param([2, 2], 1, id="behind a FIFO of two words"),
    ],
)
def test_slices_are_told_from_pieces_of_their_streams_fifo(depths: list[int], found: int) -> None:
    planned = {256: 258, 32: 32, 2: 2}[depths[0]]
    stream = {"converter": None, "depth": planned, "slices": [[0, 1]], "source_width": 8, "target_width": 8}
    chain = [fifo(depth) for depth in depths]
    assert slice_nodes(stream, BuiltStream(ENGINE, 0, ENGINE, 0, chain)) == chain[len(chain) - found :]


def test_slices_of_a_stream_from_outside_come_before_its_fifo() -> None:
    stream = {"converter": None, "depth": 32, "slices": [[0, 1]], "source_width": 8, "target_width": 8}
    chain = [fifo(2), fifo(32)]
    assert slice_nodes(stream, BuiltStream(None, 0, ENGINE, 0, chain)) == chain[:1]


def plan(widths: tuple[int, int], slices: dict[str, list[list[int]]]) -> dict[str, Any]:
    ends = {"in": (None, "a"), "middle": ("a", "b"), "out": ("b", None)}
    common = {"source_port": 0, "target_port": 0, "depth": 32, "style": "auto"}
    converter = "StreamingDataWidthConverter_rtl" if widths[0] != widths[1] else None
    narrow = "first" if widths[0] < widths[1] else "second"
    streams = [
        {
            **common,
            "name": name,
            "source": source,
            "target": target,
            "source_width": widths[0] if name == "middle" else 8,
            "target_width": widths[1] if name == "middle" else 8,
            "converter": converter if name == "middle" else None,
            "converter_module": narrow if name == "middle" and converter else None,
            "fifo_module": "second" if name == "out" else "first",
            "slices": slices.get(name, []),
        }
        for name, (source, target) in ends.items()
    ]
    engine = {"kind": "Thresholding_rtl", "attributes": {}, "folding": {}, "fpga": "fpga0"}
    homes = {"first": {"slr": 0, "device": 0}, "second": {"slr": 1, "device": 0}}
    return {
        "finn": "plus",
        "known_fifos": True,
        "engines": [{**engine, "id": "a", "module": "first"}, {**engine, "id": "b", "module": "second"}],
        "streams": streams,
        "modules": homes,
        "dma": {"in": homes["first"], "out": homes["first"]},
    }


@pytest.mark.parametrize("widths", [(8, 8), (8, 16), (16, 8)])
def test_slices_lie_outside_modules_each_in_its_slr_and_leave_kernels_as_they_are(widths: tuple[int, int]) -> None:
    slices = {"in": [[0, 0]], "middle": [[0, 0], [0, 1]], "out": [[0, 1]]}
    kernels = []
    for data in (plan(widths, {}), plan(widths, slices)):
        nodes, of = made_nodes(data)
        graph = joined(nodes)
        one = Bound(data, graph, of, tuple(streams_between(data["streams"], of, graph)))
        ids, module_of = own_kernels(one), one.module_of
        kernels.append([ids[of["a"]] == ids[of["b"]]])
        for stream, link in one.links:
            own = slice_nodes(stream, link)
            assert [[placements(one)[n]["device_id"], placements(one)[n]["slr"]] for n in own] == stream["slices"]
            assert not {*own} & {*module_of}
            assert all(fifo_settings(one)[node]["depth"] == 2 for node in own)
            deep = [
                node for node in link.chain if node in module_of and fifo_settings(one).get(node, {}).get("depth") == 32
            ]
            assert len(deep) == 1
    assert kernels[0] == kernels[1]


def test_a_build_without_a_planned_slice_is_found() -> None:
    def node(name: str, kind: str, into: str, out: str, depth: int = 0) -> Node:
        return Node(0, name, kind, {"depth": depth}, (into,), (out,), (0,))

    engines = {"a": node("a", "MVAU_hls", "x", "y"), "b": node("b", "MVAU_hls", "z", "end")}
    channel = {
        "name": "a.0->b.0",
        "source": "a",
        "target": "b",
        "source_port": 0,
        "target_port": 0,
        "converter": None,
        "fifo_depth": 32,
        "fifo_style": "auto",
        "slices": 1,
        "crossing_slots": [],
    }
    rows: dict[str, Any] = {"a": {}, "b": {}}
    alone = [*engines.values(), node("f", "StreamingFIFO_rtl", "y", "z", 32)]
    sliced = [
        *engines.values(),
        node("f", "StreamingFIFO_rtl", "y", "w", 32),
        node("s", "StreamingFIFO_rtl", "w", "z", 2),
    ]
    found = [name for name, _ in stream_problems([channel], rows, alone, engines, {})]
    assert "build-slice-missing" in found
    assert "build-slice-missing" not in [name for name, _ in stream_problems([channel], rows, sliced, engines, {})]
