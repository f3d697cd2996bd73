"""The least that must pass a link: a min-cut of the network, and no way around it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from floorflow.assets import asset_folder
from floorflow.backends.finn.read.source import read_source
from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.errors import InfeasibleError, required
from floorflow.hardware import load_platform
from floorflow.request import Request
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.routes import link_bound
from floorflow.search.interval import search
from tests.conftest import TFC


def stream(source: str, target: str, elements: int, port: int = 0) -> Stream:
    return Stream(source, 0, target, port, elements, 1, 2)


BRANCHES = Dataflow(
    "net",
    tuple(Engine(name, "AddStreams_hls", "", {}, 0, 2, 2) for name in "abcd"),
    (
        stream("host:in0", "a", 900),
        stream("a", "b", 300),
        stream("a", "c", 50),
        stream("b", "d", 20),
        stream("c", "d", 200, port=1),
        stream("d", "host:out0", 400),
    ),
)


def test_the_narrowest_cut_must_pass_every_link() -> None:
    bound = link_bound(BRANCHES, load_platform("alveo-u250", 3))
    assert bound is not None
    assert bound.bits_per_frame == 2 * (50 + 20)
    assert bound.interval_cycles == 1  # 140 bits pass in less than a cycle of 250 MHz at 100 Gb/s
    assert bound.load_gbps(1) == pytest.approx(35)


def test_one_fpga_and_rings_have_no_bound() -> None:
    assert link_bound(BRANCHES, load_platform("alveo-u250", 1)) is None
    assert link_bound(BRANCHES, load_platform("alveo-u250", 3, topology="ring")) is None


def test_a_link_too_slow_for_any_cut_is_named(tmp_path: Path) -> None:
    link = yaml.safe_load((asset_folder("platforms") / "links" / "ethernet-100g.yaml").read_text(encoding="utf-8"))
    slow = tmp_path / "slow.yaml"
    slow.write_text(yaml.safe_dump(link | {"name": "slow", "gbps": 1e-7}), encoding="utf-8")
    request = Request(TFC, "alveo-u250", fpgas=2, link=str(slow))
    with pytest.raises(InfeasibleError, match=r"proven infeasible: .* link fpga0-fpga1: .* 1e-07 Gb/s allowed"):
        required(search.search(prepare(read_source(TFC), request, 2)))
