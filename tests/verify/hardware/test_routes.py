"""Chains of FPGAs: the one route between two slots, what stands at the ends of links, and what is left beside it."""

from functools import cache

import pytest
import yaml

from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.routes import Link, Route, Slot, roads
from tests.verify.dies import REPOSITORY, device

SLOTS = {
    f"{fpga}.{slr}": Slot(f"fpga{fpga}.SLR{slr}", f"fpga{fpga}", fpga, slr, {}) for fpga in range(4) for slr in range(4)
}
BOUNDARIES = [(f"fpga{fpga}.SLR{slr}", f"fpga{fpga}.SLR{slr + 1}") for fpga in range(4) for slr in range(3)]
LINKS = {(fpga, fpga + 1): Link(SLOTS[f"{fpga}.2"], SLOTS[f"{fpga + 1}.2"], {}) for fpga in range(3)}


def route_between(source: Slot, target: Slot, links: dict[tuple[int, int], Link]) -> Route | None:
    return roads({slot.name: slot for slot in SLOTS.values()}, BOUNDARIES, links.values()).route(source, target)


def steps(source: str, target: str) -> list[str]:
    """Spell a route: ``0.0-0.2:2`` is a run of two boundaries, ``0.2>1.2`` a link."""
    route = route_between(SLOTS[source], SLOTS[target], LINKS)
    short = {slot.name: name for name, slot in SLOTS.items()}
    return [
        f"{short[step.source.name]}{'>' if step.link else '-'}{short[step.target.name]}"
        + ("" if step.link else f":{step.hops}")
        for step in route or ()
    ]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("1.3", "1.3", []),
        ("1.3", "1.0", ["1.3-1.0:3"]),
        ("0.0", "1.1", ["0.0-0.2:2", "0.2>1.2", "1.2-1.1:1"]),
        ("0.2", "3.2", ["0.2>1.2", "1.2>2.2", "2.2>3.2"]),
        ("3.0", "1.3", ["3.0-3.2:2", "3.2>2.2", "2.2>1.2", "1.2-1.3:1"]),
    ],
)
def test_the_route_runs_to_the_link_over_it_and_on(source: str, target: str, expected: list[str]) -> None:
    assert steps(source, target) == expected


def test_links_of_one_fpga_in_two_slots_are_joined_inside_it() -> None:
    links = {(0, 1): LINKS[0, 1], (1, 2): Link(SLOTS["1.0"], SLOTS["2.0"], {})}
    route = route_between(SLOTS["0.2"], SLOTS["2.0"], links)
    assert route is not None
    assert [(step.source.name, step.hops, step.kind) for step in route] == [
        ("fpga0.SLR2", 1, "link"),
        ("fpga1.SLR2", 2, "sll"),
        ("fpga1.SLR0", 1, "link"),
    ]


def test_there_is_no_route_without_a_link() -> None:
    assert route_between(SLOTS["0.2"], SLOTS["2.2"], {(0, 1): LINKS[0, 1]}) is None


def test_runs_pass_their_boundaries_in_order() -> None:
    (down,) = route_between(SLOTS["1.3"], SLOTS["1.0"], LINKS) or ()
    (up,) = route_between(SLOTS["1.0"], SLOTS["1.3"], LINKS) or ()
    assert [lower.slr for lower, _ in down.boundaries] == [2, 1, 0]
    assert [lower.slr for lower, _ in up.boundaries] == [0, 1, 2]


@cache
def u250(number: int, fpga_count: int) -> Board:
    text = (REPOSITORY / "platforms" / "boards" / "alveo-u250.yaml").read_text(encoding="utf-8")
    return Board(yaml.safe_load(text), device("xcu250"), number, fpga_count)


@pytest.mark.parametrize(
    ("number", "fpga_count", "expected"),
    [
        (0, 1, ["DDR[0] controller", "interconnect", "input_dma", "output_dma"]),
        (0, 3, ["DDR[0] controller", "interconnect", "input_dma", "link core fpga0-fpga1"]),
        (1, 3, ["link core fpga0-fpga1", "link core fpga1-fpga2"]),
        (2, 3, ["DDR[0] controller", "interconnect", "output_dma", "link core fpga1-fpga2"]),
    ],
)
def test_cores_stand_at_both_ends_of_every_link(number: int, fpga_count: int, expected: list[str]) -> None:
    assert [item["name"] for item in u250(number, fpga_count).infrastructure] == expected


def test_link_cores_leave_less_of_their_slot() -> None:
    lone, outer, inner = (u250(*place).available(2) for place in ((0, 1), (0, 3), (1, 3)))
    assert lone == {"LUT": 419160, "FF": 838320, "BRAM18": 1344, "URAM": 320, "DSP": 3072}
    assert outer == {"LUT": 407160, "FF": 814320, "BRAM18": 1298, "URAM": 320, "DSP": 3072}
    assert inner == {"LUT": 395160, "FF": 790320, "BRAM18": 1252, "URAM": 320, "DSP": 3072}
    # A controller, the interconnect and the DMA engine that reads.
    assert u250(1, 3).available(0)["LUT"] - u250(0, 3).available(0)["LUT"] == 33256 + 5337 + 4508


def test_only_the_ends_of_a_chain_keep_room_for_memory_controllers() -> None:
    keep_outs = [len(u250(number, 3).keep_outs) for number in range(3)]
    assert keep_outs[0] == keep_outs[2] == keep_outs[1] + 1
