"""Register slices in FINN's graph: where they are put, what tells them from FIFOs, and where they lie."""

from dataclasses import replace
from typing import Any

import pytest

from floorflow.backends.finn.made_graph import made_nodes
from floorflow.backends.finn.step.graph import BuiltNode, BuiltStream, joined
from floorflow.backends.finn.step.match import streams_between
from floorflow.backends.finn.step.settings import Bound, fifo_settings, own_kernels, placements
from floorflow.backends.finn.step.slices import slice_nodes
from floorflow.verify.finn.build import kernel_starts, stream_problems
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


def node(name: str, kind: str, into: str, out: str, depth: int = 0, slr: int = -1) -> Node:
    return Node(0, name, kind, {"depth": depth, "slr": slr}, (into,), (out,), (0,))


PLANNED = [(32, 0), (2, 0), (2, 1), (2, 1), (2, 2)]
"""Depth and SLR of the FIFOs of a stream from SLR 0 to SLR 2, its own first."""


@pytest.mark.parametrize(
    ("fifos", "is_found"),
    [
        pytest.param(PLANNED, False, id="as planned"),
        pytest.param([(2, 0), *PLANNED], False, id="a slice more"),
        pytest.param(PLANNED[:-1], True, id="no FIFO on the last side"),
        pytest.param([PLANNED[0], *PLANNED[2:]], True, id="none but its own on the first side"),
        pytest.param([*PLANNED[:2], *PLANNED[3:]], True, id="one for two sides"),
        pytest.param(PLANNED[:1], True, id="none at all"),
        pytest.param([*PLANNED[:-1], (2, 1)], True, id="both on one side"),
        pytest.param([*PLANNED[:2], (2, 3), *PLANNED[3:]], True, id="in a wrong SLR"),
        pytest.param([PLANNED[0], (0, 0), *PLANNED[2:]], True, id="of no words"),
        pytest.param([PLANNED[0], (32, 0), *PLANNED[2:]], True, id="too deep to be registers"),
        pytest.param([*PLANNED[:3], (2, 1), (2, 0), (2, 0), (2, 1), *PLANNED[4:]], True, id="a boundary thrice"),
        pytest.param([PLANNED[0], *PLANNED[:0:-1]], True, id="the other way about"),
        pytest.param([(depth, -1) for depth, _ in PLANNED], True, id="in no SLR"),
    ],
)
def test_a_build_without_fifos_on_both_sides_of_each_boundary_is_found(
    fifos: list[tuple[int, int]], *, is_found: bool
) -> None:
    slots = ["SLR0", "SLR1", "SLR1", "SLR2"]
    homes = {f"SLR{slr}": (0, slr) for slr in range(4)}
    ends = {"source": "a", "target": "b", "source_port": 0, "target_port": 0}
    channel: Any = {"name": "a.0->b.0", **ends, "converter": None, "fifo_depth": 32, "fifo_style": "auto", "slices": 4}
    channel |= {"slice_slots": slots, "crossing_slots": slots}
    engines = {"a": node("a", "MVAU_hls", "x", "t0", slr=0), "b": node("b", "MVAU_hls", f"t{len(fifos)}", "y", slr=2)}
    between = [
        node(f"f{place}", "StreamingFIFO_rtl", f"t{place}", f"t{place + 1}", *fifo) for place, fifo in enumerate(fifos)
    ]
    rows: Any = {"a": {}, "b": {}}
    found = {name for name, _ in stream_problems([channel], rows, [*engines.values(), *between], engines, (homes, {}))}
    assert ("build-crossing-open" in found) == is_found
    assert is_found or not found & {"build-slice-missing", "build-fifo-differs"}


def test_a_build_without_a_planned_slice_is_found() -> None:

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
    found = [name for name, _ in stream_problems([channel], rows, alone, engines, ({}, {}))]
    assert "build-slice-missing" in found
    assert "build-slice-missing" not in [
        name for name, _ in stream_problems([channel], rows, sliced, engines, ({}, {}))
    ]


@pytest.mark.parametrize(("joins", "depth", "is_found"), [(True, 32, False), (False, 32, True), (True, 64, True)])
def test_a_fifo_in_another_slr_is_found_unless_all_it_does_is_to_begin_a_kernel_before_a_join(
    joins: bool, depth: int, is_found: bool
) -> None:
    """Of 64 words it lies behind another FIFO in that SLR, so that the stream does go there."""
    first = [("f", 32, 2)] if depth == 32 else [("e", 32, 2), ("f", 32, 2)]
    path = [*first, ("s", 2, 1)]
    between = [
        replace(node(name, "StreamingFIFO_rtl", f"t{n}", f"t{n + 1}", words, slr), kernel=slr)
        for n, (name, words, slr) in enumerate(path)
    ]
    into = (f"t{len(path)}", "other") if joins else (f"t{len(path)}",)
    engines = {
        "a": replace(node("a", "MVAU_hls", "x", "t0", slr=1), kernel=0),
        "b": replace(node("b", "AddStreams_hls", "", "y", slr=1), inputs=into, ports=tuple(range(len(into))), kernel=1),
    }
    channel: Any = {"name": "a.0->b.0", "source": "a", "target": "b", "source_port": 0, "target_port": 0}
    channel |= {"converter": None, "fifo_depth": 32, "fifo_style": "auto", "slices": 1, "slice_slots": ["SLR1"]}
    home: Any = {"module": {"slr": 1, "dies": 4, "style": "hard"}}
    nodes = [*engines.values(), *between]
    starts = kernel_starts(nodes, dict.fromkeys(between[:-1], "module"), home)
    homes = {f"SLR{slr}": (0, slr) for slr in range(4)}
    rows: Any = {"a": {}, "b": {}}
    problems = stream_problems([channel | {"crossing_slots": []}], rows, nodes, engines, (homes, starts))
    assert ("build-crossing-open" in {name for name, _ in problems}) == is_found
