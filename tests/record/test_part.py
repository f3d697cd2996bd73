"""A network that is recorded as one of several bears its name before those of its engines and ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from floorflow.errors import InputError
from floorflow.record.network import plain_name
from floorflow.record.part import Part, PhaseRun, alone
from floorflow.record.phase import phase
from floorflow.request import Request
from floorflow.search.preparing import prepare, read
from floorflow.search.search import search
from tests.conftest import TFC


@pytest.fixture(scope="module")
def part() -> Part:
    request = Request(TFC, "pynq-z1", effort="fast", fps=1000)
    context = prepare(read(request), request, 1)
    return Part("tfc", context, search(context))


def test_the_name_stands_before_engines_and_ends(part: Part) -> None:
    bare, named = phase(alone(part)), phase(alone(replace(part, prefix="tfc/")))
    assert set(named.engines) == {f"tfc/{name}" for name in bare.engines}
    assert {c.source for c in named.channels} == {f"tfc/{c.source}" for c in bare.channels}
    assert named.channels[0].name == "tfc/host:in0.0->tfc/Thresholding_rtl_0.0"
    assert [m.name for m in named.modules] == [f"tfc__{m.name}" for m in bare.modules]
    assert named.networks[0].estimates.bottleneck == f"tfc/{bare.networks[0].estimates.bottleneck}"


def test_all_that_names_an_engine_or_a_channel_names_one_that_is_there(part: Part) -> None:
    named = phase(alone(replace(part, prefix="tfc/")))
    channels = {channel.name for channel in named.channels}
    assert {engine for module in named.modules for engine in module.engines} == set(named.engines)
    assert {port.channel for entry in named.implementations for port in entry.ports} <= channels
    assert {crossing.channel for crossing in named.partition.crossings} <= channels


def together(*parts: Part) -> PhaseRun:
    """Return a phase of networks as if one floorplan held the modules of all."""
    runs = [alone(part) for part in parts]
    placements = {
        fpga: replace(placed, regions={n: r for run in runs for n, r in run.placements[fpga].regions.items()})
        for fpga, placed in runs[0].placements.items()
    }
    return replace(runs[0], parts=parts, placements=placements)


def test_modules_of_two_networks_are_all_recorded_under_names_of_their_own(part: Part) -> None:
    left, right = (replace(part, network=name, prefix=f"{name}/") for name in ("left", "right-2.0"))
    both, bare = phase(together(left, right)), [m.name for m in phase(alone(part)).modules]
    names = [f"{network}__{name}" for network in ("left", "right_2_0") for name in bare]
    assert [m.name for m in both.modules] == [m.implementation for m in both.modules] == names
    assert [entry.name for entry in both.implementations] == names
    assert {*both.partition.assignment} == {*both.floorplan["fpga0"].pblocks} == {*names}
    assert {c.fifo_module for c in both.channels} <= {*names}
    assert {c.converter_module for c in both.channels} <= {*names, None}
    assert both.slot_of.keys() == both.engines.keys()
    assert both.fits


def test_networks_whose_modules_would_bear_one_name_are_refused(part: Part) -> None:
    left, right = (replace(part, network=name, prefix=f"{name}/") for name in ("a.b", "a-b"))
    with pytest.raises(InputError, match=r"phase main: networks a\.b, a-b: \d+ modules such as a_b__"):
        together(left, right)


@pytest.mark.parametrize(
    ("file", "name"), [("cnv_2w2a", "cnv_2w2a"), ("my net (2)", "my_net__2_"), ("", "network"), ("..", "network")]
)
def test_networks_have_plain_names_whatever_the_file_is_called(file: str, name: str) -> None:
    assert plain_name(file) == name
