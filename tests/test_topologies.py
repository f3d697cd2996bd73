"""Every topology and kind of link, end to end: planned and passed by check, which derives links and routes itself."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest

from floorflow.assets import Topology
from floorflow.facts import read_plan
from floorflow.request import DEFAULT_CAP, Request
from floorflow.verify import check
from tests.conftest import TFC, make_plan
from tests.random_models import random_graph


@pytest.mark.parametrize("topology", ["chain", "ring", "star", "full"])
def test_plans_on_every_topology_are_legal_and_use_its_links(topology: Topology, tmp_path: Path) -> None:
    onnx.save(random_graph(27), tmp_path / "branches.onnx")
    cap = {**DEFAULT_CAP, "LUT": 0.06}
    request = Request(
        tmp_path / "branches.onnx", "xcku5p", fpgas=4, topology=topology, cap=cap, effort="fast", plots=False
    )
    out = make_plan(tmp_path / "out", request)
    assert check(out) == []
    plan = read_plan(out / "plan.json")
    assert plan.options.topology == topology
    assert len(plan.platform.links) == {"chain": 3, "ring": 4, "star": 3, "full": 6}[topology]
    assert any(crossing.kind == "link" for crossing in plan.phases[0].partition.crossings)


def test_another_kind_of_link_is_planned_listed_and_compared_with_the_shipped_one(tmp_path: Path) -> None:
    request = Request(TFC, "alveo-u250", fpgas=2, link="aurora-100g", effort="fast", plots=False)
    out = make_plan(tmp_path / "out", request)
    assert check(out) == []
    assert json.loads((out / "plan.json").read_text())["options"]["link"] == "aurora-100g"
    file = out / "platform" / "links" / "aurora-100g.yaml"
    file.write_text(file.read_text().replace("gbps: 100", "gbps: 400"))
    assert {v.name for v in check(out)} == {"shipped-file-differs", "wrong-link"}
