"""Platforms of several FPGAs: links, what they take, and the route between slots."""

import time
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.errors import PlatformError
from floorflow.hardware import Link, RouteStep, SllBoundary, load_platform
from floorflow.resources import Resources
from tests.hardware.conftest import shipped

CORE = Resources(12000, 24000, 46)
DDR = Resources(33256, 44889, 199, 0, 3)
INTERCONNECT, INPUT_DMA, OUTPUT_DMA = Resources(5337, 7329), Resources(4508, 8640, 15), Resources(1850, 3960, 8)


@pytest.fixture(scope="module")
def three():
    return load_platform("alveo-u250", fpgas=3)


def link_of(name):
    text = shipped(name)
    return text[text.index("link:\n") : text.index("evidence:\n")]


def test_one_fpga_has_no_links():
    for name in ("alveo-u250", "xcku5p", "zcu104", "pynq-z1"):
        platform = load_platform(name)
        assert platform.links == ()
        assert not any(item.name.startswith("link core") for item in platform.infrastructure)


def test_equal_fpgas_share_one_die_and_one_board(three):
    assert [fpga.name for fpga in three.fpgas] == ["fpga0", "fpga1", "fpga2"]
    assert len({id(fpga.device) for fpga in three.fpgas}) == 1
    assert len({id(fpga.board) for fpga in three.fpgas}) == 1
    assert [slot.name for slot in three.slots] == [f"fpga{f}.SLR{s}" for f in range(3) for s in range(4)]
    assert {slot.fpga for slot in three.fpgas[1].slots} == {"fpga1"}
    assert sorted(three.files) == ["boards/alveo-u250.yaml", "devices/xcu250.yaml"]
    assert three.silicon == Resources(3 * 1728000, 3 * 3456000, 3 * 5376, 3 * 1280, 3 * 12288)


def test_u250_are_a_chain_of_aurora_links_that_end_beside_the_transceivers(three):
    assert three.links == (
        Link("fpga0-fpga1", "aurora-100g", "fpga0.SLR2", "fpga1.SLR2", 100, 1, assumed=True, overhead=0.016),
        Link("fpga1-fpga2", "aurora-100g", "fpga1.SLR2", "fpga2.SLR2", 100, 1, assumed=True, overhead=0.016),
    )


def test_ku5p_are_an_assumed_chain_without_cores():
    platform = load_platform("xcku5p", fpgas=2)
    assert platform.links == (Link("fpga0-fpga1", "pcie", "fpga0.SLR0", "fpga1.SLR0", 50, 5, assumed=True),)
    assert platform.infrastructure == ()
    assert all(slot.available == slot.capacity for slot in platform.slots)


def test_each_link_end_has_a_core_and_only_the_outer_fpgas_what_the_host_takes(three):
    assert [(item.name, item.slot, item.resources) for item in three.infrastructure] == [
        ("DDR[0] controller", "fpga0.SLR0", DDR),
        ("interconnect", "fpga0.SLR0", INTERCONNECT),
        ("input_dma", "fpga0.SLR0", INPUT_DMA),
        ("link core fpga0-fpga1", "fpga0.SLR2", CORE),
        ("link core fpga0-fpga1", "fpga1.SLR2", CORE),
        ("link core fpga1-fpga2", "fpga1.SLR2", CORE),
        ("DDR[0] controller", "fpga2.SLR0", DDR),
        ("interconnect", "fpga2.SLR0", INTERCONNECT),
        ("output_dma", "fpga2.SLR0", OUTPUT_DMA),
        ("link core fpga1-fpga2", "fpga2.SLR2", CORE),
    ]


def test_available_is_less_by_what_stands_in_each_slot(three):
    bare = {slot.slr: slot for slot in load_platform("alveo-u250").slots}
    available = {slot.name: slot.available for slot in three.slots}
    for fpga, cores in (("fpga0", CORE), ("fpga1", CORE + CORE), ("fpga2", CORE)):
        assert available[f"{fpga}.SLR1"] == bare["SLR1"].available
        assert available[f"{fpga}.SLR2"] == bare["SLR2"].available - cores
        assert available[f"{fpga}.SLR3"] == bare["SLR3"].available
    assert available["fpga0.SLR0"] == bare["SLR0"].available + OUTPUT_DMA
    assert available["fpga2.SLR0"] == bare["SLR0"].available + INPUT_DMA
    assert available["fpga1.SLR0"] == bare["SLR0"].available + DDR + INTERCONNECT + INPUT_DMA + OUTPUT_DMA


def test_only_the_outer_fpgas_keep_the_controllers_area_free(three):
    alone = load_platform("alveo-u250").slots[0].keep_outs
    first, inner, last = (fpga.slots[0].keep_outs for fpga in three.fpgas)
    assert first == last == alone
    assert set(alone) - set(inner) == {three.infrastructure[0].reserved}


def test_infrastructure_of_every_fpga_stands_on_each(write_board):
    platform = load_platform(write_board("per: first_and_last", "per: every"), fpgas=3)
    stands = [item.slot for item in platform.infrastructure if item.name == "interconnect"]
    assert stands == [f"fpga{n}.SLR0" for n in range(3)]


def test_boundaries_stay_inside_their_fpga(three):
    wires = (11520, 11520, 23040)
    expected = [SllBoundary(f"fpga{f}.SLR{s}", f"fpga{f}.SLR{s + 1}", w) for f in range(3) for s, w in enumerate(wires)]
    assert three.boundaries == tuple(expected)


def test_the_host_enters_the_first_fpga_and_leaves_the_last(three):
    assert (three.host_in_slot, three.host_out_slot) == ("fpga0.SLR0", "fpga2.SLR0")
    alone = load_platform("alveo-u250")
    assert (alone.host_in_slot, alone.host_out_slot) == ("fpga0.SLR0", "fpga0.SLR0")


def spelt(steps):
    return [(step.kind, step.source, step.target, step.hops, step.link) for step in steps]


def test_the_route_runs_to_the_link_and_on_from_it(three):
    assert spelt(three.route_steps("fpga0.SLR0", "fpga2.SLR3")) == [
        ("sll", "fpga0.SLR0", "fpga0.SLR2", 2, None),
        ("link", "fpga0.SLR2", "fpga1.SLR2", 1, "fpga0-fpga1"),
        ("link", "fpga1.SLR2", "fpga2.SLR2", 1, "fpga1-fpga2"),
        ("sll", "fpga2.SLR2", "fpga2.SLR3", 1, None),
    ]
    assert spelt(three.route_steps("fpga1.SLR2", "fpga0.SLR0")) == [
        ("link", "fpga1.SLR2", "fpga0.SLR2", 1, "fpga0-fpga1"),
        ("sll", "fpga0.SLR2", "fpga0.SLR0", 2, None),
    ]
    assert spelt(three.route_steps("fpga1.SLR0", "fpga1.SLR2")) == [("sll", "fpga1.SLR0", "fpga1.SLR2", 2, None)]
    assert three.route_steps("fpga1.SLR2", "fpga1.SLR2") == ()
    with pytest.raises(KeyError):
        three.route_steps("fpga1.SLR2", "fpga3.SLR0")


def test_a_route_has_the_crossing_of_each_boundary_in_the_order_of_passing(three):
    wires = [crossing.wires for crossing in three.route("fpga0.SLR1", "fpga1.SLR0").crossings]
    assert wires == [11520, None, 11520, 11520]
    assert [crossing.wires for crossing in three.route("fpga0.SLR0", "fpga0.SLR3").crossings] == [11520, 11520, 23040]


@cache
def u250s(count):
    return load_platform("alveo-u250", fpgas=count)


@given(count=st.integers(1, 5), data=st.data())
def test_a_route_is_connected_takes_each_link_once_and_is_the_same_backwards(count, data):
    platform = u250s(count)
    names = [slot.name for slot in platform.slots]
    source, target = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    route = platform.route_steps(source, target)
    stops = [source, *(step.target for step in route)]
    assert stops[-1] == target
    assert [step.source for step in route] == stops[:-1]
    fpgas = sorted(int(name[4]) for name in (source, target))
    links = sorted(step.link for step in route if step.kind == "link")
    assert links == [f"fpga{near}-fpga{far}" for near, far in pairwise(range(fpgas[0], fpgas[1] + 1))]
    for step in route:
        if step.kind == "sll":
            assert step.source.split(".")[0] == step.target.split(".")[0]
            assert step.hops == abs(int(step.source[-1]) - int(step.target[-1])) > 0
    back = [RouteStep(s.kind, s.target, s.source, s.crossings[::-1], s.link, s.joints[::-1]) for s in reversed(route)]
    assert platform.route_steps(target, source) == tuple(back)


def test_sixteen_fpgas_load_in_half_a_second():
    started = time.process_time()
    platform = load_platform("alveo-u250", fpgas=16)
    assert time.process_time() - started < 0.5
    assert (len(platform.slots), len(platform.links), len(platform.boundaries)) == (64, 15, 48)


def test_a_board_without_link_is_used_alone(write_board):
    path = write_board(link_of("xcku5p"), "", base="xcku5p")
    assert load_platform(path).links == ()
    with pytest.raises(PlatformError, match=r"mine\.yaml: link: mine: 2 FPGAs were asked for, but the field") as caught:
        load_platform(path, fpgas=2)
    assert caught.value.exit_code == 2
    assert "platforms/README.md" in caught.value.hint


def test_link_cores_that_exceed_a_slot_are_refused_where_they_stand(write_board):
    path = write_board("core: {LUT: 12000", "core: {LUT: 300000")
    assert len(load_platform(path, fpgas=2).links) == 1
    complaint = (
        r"infrastructure: fpga1\.SLR2 cannot hold link core fpga0-fpga1, link core fpga1-fpga2: .*'LUT': -180840"
    )
    with pytest.raises(PlatformError, match=complaint):
        load_platform(path, fpgas=3)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("us: 1\n  slr: SLR2", "us: 1\n  slr: SLR4", r"link\.slr: xcu250 has no SLR4"),
        ("gbps: 100", "gbps: 0", r"link\.gbps: .*greater than 0"),
        ("gbps: 100", "gbps: .inf", r"link\.gbps: .*finite"),
        ("latency_us: 1", "latency_us: -1", r"link\.latency_us: .*greater than or equal to 0"),
        ("  assumed: true\n  over", "  over", r"link\.assumed: the field is missing"),
        ("BRAM18: 46", "BRAM: 46", r"link\.core\.BRAM"),
        ("kind: aurora-100g", "kind: Aurora 100G", r"link\.kind: .*pattern"),
        ("kind: aurora-100g", "kind: aurora-100g\n  topology: ring", r"link\.topology: unknown field"),
    ],
)
def test_a_bad_link_names_file_and_field(write_board, old, new, complaint):
    with pytest.raises(PlatformError, match=rf"mine\.yaml: {complaint}"):
        load_platform(write_board(old, new))
