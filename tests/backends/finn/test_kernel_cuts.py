"""Cuts of which FINN's rule makes kernels that wait for themselves are told, and are not planned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from floorflow import flow
from floorflow.backends.finn import kernel_cuts
from floorflow.backends.finn.backend import FinnBackend
from floorflow.backends.finn.in_phase import networks_in
from floorflow.backends.finn.kernel_cuts import unbuildable_engines
from floorflow.backends.finn.step.kernels import check_acyclic
from floorflow.backends.finn.step_data import foreseen
from floorflow.backends.placed import Home, PlacedStream
from floorflow.request import Request
from tests.backends.finn.finn_rules import floorplan
from tests.conftest import CNV, EXAMPLES, FREE

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
