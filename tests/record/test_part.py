"""A network that is recorded as one of several bears its name before those of its engines and ends."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from floorflow.errors import InputError, Refusal
from floorflow.facts.search import SearchEntry
from floorflow.record.network import network_entry
from floorflow.record.part import Part, PhaseRun, alone
from floorflow.record.phase import phase
from floorflow.search.candidate.findings import SearchResult, TraceRow
from floorflow.search.candidate.preparing import read
from floorflow.several import plain_name


@pytest.fixture(scope="module")
def part(tfc_on_pynq: SearchResult) -> Part:
    return Part("tfc", tfc_on_pynq.context, tfc_on_pynq)


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


def searched(part: Part, **known: Any) -> SearchEntry:
    """Return what is recorded of a search that knows these things, and had nothing but the highest rate to seek."""
    request = part.context.request.changed(fps=None)
    result = replace(part.result, bound_cycles=100, **known)
    asked = replace(part, context=replace(part.context, request=request), result=result)
    estimates = phase(alone(part)).networks[0].estimates
    return network_entry(read(request).network, [("main", asked, estimates)]).search


@pytest.mark.parametrize(("joint", "recorded"), [(None, None), (90, 100), (100, 100), (120, 120)])
def test_a_joint_bound_is_never_below_the_folding_bound(part: Part, joint: int | None, recorded: int | None) -> None:
    assert searched(part, joint_bound_cycles=joint).joint_bound_cycles == recorded


def test_a_joint_bound_above_the_interval_is_a_mistake(part: Part) -> None:
    with pytest.raises(ValueError, match="below its bound"):
        searched(part, joint_bound_cycles=part.candidate.interval_cycles + 1)


def test_only_the_highest_rate_has_a_joint_bound(part: Part) -> None:
    found = replace(part, result=replace(part.result, joint_bound_cycles=part.result.bound_cycles))
    estimates = phase(alone(part)).networks[0].estimates
    entry = network_entry(read(part.context.request).network, [("main", found, estimates)])
    assert found.context.request.goal == "resources"
    assert entry.search.joint_bound_cycles is None


def test_the_try_that_ended_a_search_is_recorded_with_what_was_short_and_where(part: Part) -> None:
    short = Refusal("each slot", "URAM", "fpga0.SLR1", needed=330, allowed=320)
    row = TraceRow(99, "not found within the limit", "partition", "URAM is short", (short,))
    ended_at = searched(part, ended_at=row).ended_at
    assert ended_at is not None
    assert (ended_at.interval_cycles, ended_at.stage) == (99, "partition")
    assert [refusal.model_dump() for refusal in ended_at.refusals] == [asdict(short) | {"names": []}]
    assert searched(part).ended_at is None


@pytest.mark.parametrize(
    ("file", "name"),
    [("cnv_2w2a", "cnv_2w2a"), ("my net (2)", "my_net__2_"), ("", "network"), ("..", "network"), (".x", "x")],
)
def test_networks_have_plain_names_whatever_the_file_is_called(file: str, name: str) -> None:
    assert plain_name(file) == name
