"""What links forbid, and in which order cuts fill slots."""

from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from floorflow.assets import asset_folder
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.errors import InfeasibleError, required
from floorflow.hardware import load_platform
from floorflow.request import Request
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.routes import SECOND_VISIT, link_bound, shares, slot_orders
from floorflow.search.interval import search
from tests.plans import TFC


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
    slow.write_text(yaml.safe_dump(link | {"name": "slow", "gbps": 1e-7, "overhead": 0.0}), encoding="utf-8")
    request = Request(TFC, "alveo-u250", fpgas=2, link=str(slow))
    with pytest.raises(InfeasibleError, match=r"proven infeasible: .* link fpga0-fpga1: .* 1e-07 Gb/s allowed"):
        required(search.search(prepare(read_source(TFC), request, 2)))


BOARDS = [("alveo-u250", n, port) for n in (1, 2, 3) for port in (None, "DDR[1]", "DDR[3]")] + [("xcku5p", 3, None)]


@pytest.mark.parametrize("max_hops", [1, 2, 3])
@pytest.mark.parametrize(("board", "fpgas", "host_port"), BOARDS)
def test_every_slot_is_filled_and_no_step_is_too_long(
    board: str, fpgas: int, host_port: str | None, max_hops: int
) -> None:
    platform = load_platform(board, fpgas, host_port=host_port)
    graph, places = platform.graph, {slot.name: place for place, slot in enumerate(platform.slots)}
    orders = slot_orders(platform, max_hops)
    assert orders
    for order in orders:
        assert set(order) == set(places)
        passed = [platform.host_in_slot, *order, platform.host_out_slot]
        hops = [graph.hops(places[a], places[b]) for a, b in pairwise(passed)]
        # Of an FPGA that streams may cross as they like any order will do.
        assert max(hops) <= max(max_hops, 3 if max_hops == 3 else 0)


def slrs(order: tuple[str, ...]) -> str:
    return "".join(slot[-1] for slot in order)


def test_from_one_end_of_a_card_and_back_all_slots_between_are_passed_twice() -> None:
    orders = slot_orders(load_platform("alveo-u250"), 1)
    assert [slrs(order) for order in orders] == ["012321", "123210"]
    assert shares(orders[0]) == pytest.approx((1, 0.6, 0.6, 1, SECOND_VISIT, SECOND_VISIT))


def test_a_host_port_in_the_middle_leaves_less_to_pass_twice() -> None:
    assert [slrs(order) for order in slot_orders(load_platform("alveo-u250", host_port="DDR[1]"), 1)] == [
        *("01232", "23210")
    ]


def test_over_two_cards_each_slot_is_passed_once() -> None:
    assert [slrs(order) for order in slot_orders(load_platform("alveo-u250", 2), 1)] == ["01233210"]


def test_shares_of_a_slot_add_up_to_the_whole() -> None:
    for fpgas in (1, 2, 3, 4):
        for order in slot_orders(load_platform("alveo-u250", fpgas), 1):
            sums = dict.fromkeys(order, 0.0)
            for slot, share in zip(order, shares(order), strict=True):
                sums[slot] += share
            assert list(sums.values()) == pytest.approx([1] * len(sums))
