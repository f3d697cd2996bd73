"""Slots are filled up, down, or there and back: no step goes further than a stream may, nor the first or the last."""

from __future__ import annotations

from itertools import pairwise

import pytest

from floorflow.hardware import load_platform
from floorflow.search.candidate.routes import SECOND_VISIT, shares, slot_orders

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
        *("01232", "23210"),
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
