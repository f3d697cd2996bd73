"""Cuts of which FINN's rule makes kernels that wait for themselves, or v++ links none, are told and not planned."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx
import pytest

from examples.make_models import ModelBuilder
from floorflow import flow
from floorflow.backends.finn import kernel_cuts
from floorflow.backends.finn.backend import FinnBackend
from floorflow.backends.finn.kernel_cuts import (
    MOST_LINKED_BITS,
    unbuildable_engines,
    unlinkable_streams,
    unwritable_engines,
)
from floorflow.backends.finn.step.kernels import check_acyclic
from floorflow.backends.finn.step_data import foreseen, networks_in
from floorflow.backends.placed import Home, PlacedStream
from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.facts import read_plan
from floorflow.request import Request
from floorflow.verify.finn.files import LINKED_BELOW
from tests.backends.finn.finn_rules import floorplan
from tests.command_line import floorflow
from tests.plans import CNV, EXAMPLES, FREE

KINDS = {"fork": "DuplicateStreams_hls", "unit": "MVAU_hls", "sum": "AddStreams_hls"}
FOLDED: Any = SimpleNamespace(
    dataflow=SimpleNamespace(engines=[SimpleNamespace(name=n, kind=k, attributes={}) for n, k in KINDS.items()]),
    options={name: SimpleNamespace(folding={}) for name in KINDS},
)
ENDS = [(None, 0, "fork", 0), ("fork", 0, "unit", 0), ("fork", 1, "sum", 1), ("unit", 0, "sum", 0), ("sum", 0, None, 0)]


def home(unit_slr: int) -> dict[str, Home]:
    return {"fork": ("a", 0, 0), "unit": ("b", 0, unit_slr), "sum": ("c", 0, 0)}


def streams(homes: Mapping[str, Home]) -> list[PlacedStream]:
    return [
        PlacedStream(
            *(f"{source}->{target}.{target_port}", source, source_port, target, target_port),
            *(8, 8, None, None, homes[source or target or ""][0]),
        )
        for source, source_port, target, target_port in ENDS
    ]


@pytest.mark.parametrize("finn", ["main", "plus"])
def test_a_branch_that_leaves_and_comes_back_makes_a_circle_unless_a_fifo_moves(
    finn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = home(1)
    assert unbuildable_engines(FOLDED, streams(away), away, finn) == ()
    monkeypatch.setattr(kernel_cuts, "moves", lambda _: {})
    assert set(unbuildable_engines(FOLDED, streams(away), away, finn)) >= {"fork", "sum"}


def test_in_one_slr_there_is_no_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cuts, "moves", lambda _: {})
    assert unbuildable_engines(FOLDED, streams(home(0)), home(0), "main") == ()


@pytest.mark.parametrize(("finn", "port"), [("main", 1), ("plus", 0)])
def test_what_a_branch_holds_is_not_written_by_the_host_where_every_fpga_has_one_slr(finn: str, port: int) -> None:
    """The kernel that begins behind the port comes back to the one before it, where the sum goes on with that one.

    FINN main goes on with the last of a sum's inputs, FINN+ with the first; ``port`` is that of the other branch.
    """
    ends = [
        *(("host:in0", 0, "fork", 0), ("fork", 0, "unit", 0), ("fork", 1, "sum", port), ("unit", 0, "sum", 1 - port)),
        *(("sum", 0, "last", 0), ("last", 0, "host:out0", 0)),
    ]
    kinds = {**KINDS, "last": "MVAU_hls"}
    network = Dataflow(
        "joined",
        tuple(Engine(name, kind, name, {}, 4, 4, 4) for name, kind in kinds.items()),
        tuple(Stream(*end, elements=8, last_dimension=8, element_bits=8) for end in ends),
    )
    assert unwritable_engines(network, kinds, (1, 1), finn) == {"unit"}
    assert all(unwritable_engines(network, kinds, slots, finn) == frozenset() for slots in ((1,), (4, 4)))


@pytest.mark.slow
def test_a_cut_that_cannot_be_built_is_not_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that can build nothing over two SLRs gets a plan in one, at a lower rate."""

    def over_two(_: Any, __: Any, ___: Any, homes: Mapping[str, tuple[str, int, int]], ____: Any) -> tuple[str, ...]:
        return tuple(homes) if len({place[1:] for place in homes.values()}) > 1 else ()

    request = Request(CNV, "alveo-u250", effort="fast", runtime_weights="always", plots=False, **FREE)
    free = flow.plan(request).plan
    monkeypatch.setattr(FinnBackend, "unbuildable", over_two)
    bound = flow.plan(request).plan
    slots = [set(plan.phases[0].partition.assignment.values()) for plan in (free, bound)]
    assert len(slots[0]) > len(slots[1]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("finn", ["main", "plus"])
def test_resnet50_on_one_u250_can_be_built(finn: str) -> None:
    """The kernels are those of FINN's rule told once more; qonnx's own check of circles takes too long here."""
    model = Path(EXAMPLES / "resnet50_w1a2.onnx")
    request = Request(model, "alveo-u250", finn=finn, effort="fast", fps=500.0, granularity="block", plots=False)
    (one,) = networks_in(flow.plan(request).plan, 0)
    graph = foreseen(one)
    nodes = graph.bound.graph.nodes
    entries = {name: entry["slr"] for name, entry in graph.floorplan.items()}
    ids = floorplan(nodes, entries, plus=finn == "plus")[1]
    assert len(set(entries.values())) > 1
    check_acyclic(nodes, {node: ids[node.name] for node in nodes})


def wide_chain(bits: int, neurons: int) -> tuple[Any, list[PlacedStream]]:
    """Return two units joined by one stream of so many bits, and streams of 8 bits to and from the host."""
    engines = [SimpleNamespace(name=name, kind="MVAU_hls", attributes={}) for name in ("a", "b")]
    folded = SimpleNamespace(
        dataflow=SimpleNamespace(engines=engines), options={e.name: SimpleNamespace(folding={}) for e in engines}
    )
    ends = [(None, "a", 8, 8), ("a", "b", bits, neurons), ("b", None, 8, 8)]
    converter = "StreamingDataWidthConverter_rtl"
    return folded, [
        PlacedStream(
            *(f"{source}->{target}", source, 0, target, 0, width, other),
            *((None, None) if width == other else (converter, "one" if width > other else "two")),
            "one" if source in (None, "a") else "two",
        )
        for source, target, width, other in ends
    ]


def test_the_judge_knows_the_same_limit() -> None:
    assert MOST_LINKED_BITS + 8 == LINKED_BELOW


CARD, BARE = ["xilinx_u250"], [""]


@pytest.mark.parametrize(
    ("bits", "other", "slr", "shells", "refused"),
    [
        (4096, 4096, 1, CARD, 4096),
        (4089, 4089, 1, CARD, 4096),  # ports are whole bytes
        (4088, 4088, 1, CARD, None),
        (8192, 8192, 1, CARD, 8192),
        (4096, 4096, 0, CARD, None),  # inside one kernel
        (4096, 4096, 1, BARE, None),  # nothing is linked
        (4096, 8, 1, CARD, None),  # converted before it leaves
        (8, 4096, 1, CARD, None),  # converted behind the boundary
    ],
)
def test_a_stream_that_v_plus_plus_does_not_link_is_told(
    bits: int, other: int, slr: int, shells: list[str], refused: int | None
) -> None:
    folded, streams = wide_chain(bits, other)
    home: dict[str, Home] = {"a": ("one", 0, 0), "b": ("two", 0, slr)}
    for finn in ("main", "plus"):
        found = unlinkable_streams(folded, streams, home, shells, finn)
        assert found == ({} if refused is None else {"a->b": (refused, 4088)})


def test_a_stream_of_a_dma_engine_is_linked_too_and_a_link_of_two_cards_is_not() -> None:
    folded, streams = wide_chain(8, 8)
    wide = [replace(s, source_width=6272, target_width=6272) if s.source is None else s for s in streams]
    home: dict[str, Home] = {"a": ("one", 0, 0), "b": ("two", 0, 0)}
    assert unlinkable_streams(folded, wide, home, CARD, "main") == {"None->a": (6272, 4088)}
    folded, streams = wide_chain(4096, 4096)
    assert unlinkable_streams(folded, streams, {"a": ("one", 0, 0), "b": ("two", 1, 0)}, CARD * 2, "main") == {}


def test_a_given_folding_over_two_fixed_slrs_is_refused_and_planned_in_one(tmp_path: Path) -> None:
    """1,024 values of 4 bits leave the first unit at once."""
    builder = ModelBuilder("wide", (1, 16))
    builder.quantise(4)
    for neurons in (1024, 8):
        builder.fully_connected(neurons, 2)
        builder.activation(4)
    onnx.save(builder.model(), tmp_path / "wide.onnx")
    folding = {
        "Thresholding_rtl_0": {"PE": 16},
        "MVAU_hls_0": {"PE": 1024, "SIMD": 1},
        "MVAU_hls_1": {"PE": 1, "SIMD": 1024},
    }
    (tmp_path / "folding.json").write_text(json.dumps({"Defaults": {}} | folding))
    apart = [f"--fix-pblock=MVAU_hls_{n}=CLOCKREGION_X0Y{y}:CLOCKREGION_X3Y{y + 3}" for n, y in ((0, 8), (1, 12))]
    request = ("plan", tmp_path / "wide.onnx", "-p", "u250", "--effort", "fast", "--max-hops", 3, "--no-plots")
    ended = floorflow(*request, "--folding", tmp_path / "folding.json", *apart, "-o", tmp_path / "apart")
    assert (ended.returncode, (tmp_path / "apart").exists()) == (2, False), ended.stderr
    assert "MVAU_hls_0.0->MVAU_hls_1.0 leaves its kernel in fpga0.SLR2 with 4,096 bits" in " ".join(
        ended.stderr.split()
    )
    ended = floorflow(*request, *apart, "-o", tmp_path / "narrower")
    assert ended.returncode == 0, ended.stderr
    channels = read_plan(tmp_path / "narrower" / "plan.json").phases[0].channels
    assert max(channel.width_bits for channel in channels) < 4096
