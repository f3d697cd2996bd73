"""Boards say what their sources say: shells' ranges, clock regions, published totals, transceivers, memory channels."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from floorflow.assets import asset_folder
from floorflow.hardware import Board, Device, Rect, known_platforms, load_platform, parse_ranges, resources_of_sites
from floorflow.resources import Resources, total

DATA = Path(__file__).parent / "data"
DYNAMIC = yaml.safe_load((DATA / "dynamic_ranges.yaml").read_text(encoding="utf-8"))
REGIONS = yaml.safe_load((DATA / "clock_regions.yaml").read_text(encoding="utf-8"))
HBM = ("alveo-u280", "alveo-u50", "alveo-u55c", "aws-f2")
CARDS = ("alveo-u200", "alveo-u250", "alveo-u280", "alveo-u50", "alveo-u55c", "vcu118")

PLATFORMINFO_U200 = """
    SLR0:  LUTs: 388160  FFs: 776320  BRAMs: 720  URAMs: 320  DSPs: 2280
    SLR1:  LUTs: 205440  FFs: 410880  BRAMs: 420  URAMs: 160  DSPs: 1320
    SLR2:  LUTs: 385440  FFs: 770880  BRAMs: 720  URAMs: 320  DSPs: 2280
"""
"""What AMD's UG1702 (2025.2, Resource Availability) shows of the U200; its BRAMs are of 36 Kb."""

MACS = {
    "alveo-u200": (8, "CMACE4_X0Y8 of the first cage"),
    "alveo-u280": (6, "CMACE4_X0Y6"),
    "alveo-u50": (4, "CMACE4_X0Y4"),
    "alveo-u55c": (3, "CMACE4_X0Y3"),
    "vcu118": (7, "CMACE4_X0Y7"),
}
QUADS = {
    "alveo-u200": ("right", (11, 12)),
    "alveo-u250": ("right", (10, 11)),
    "alveo-u280": ("left", (10, 11)),
    "alveo-u50": ("left", (7, 7)),
    "alveo-u55c": ("left", (6, 7)),
    "vcu118": ("right", (12, 13)),
}
"""MACs, and rows of quads (GTYE4_COMMON), of the QSFP cages in corundum @ 1ca0151b: fpga/mqnic/*/fpga_100g/*.xdc."""

SILICON = {
    "kv260": Resources(117120, 234240, 288, 64, 1248),
    "ultra96": Resources(70560, 141120, 432, 0, 360),
    "zcu102": Resources(274080, 548160, 1824, 0, 2520),
    "zedboard": Resources(53200, 106400, 280, 0, 220),
    "vcu118": Resources(1182240, 2364480, 4320, 960, 6840),
    "aws-f1": Resources(1182240, 2364480, 4320, 960, 6840),
    "aws-f2": Resources(1303680, 2607360, 4032, 960, 9024),
}
"""As AMD's data sheets and Vivado's reports have them (DS190, DS890, DS891)."""


def board_and_die(name: str) -> tuple[Board, Device]:
    fpga = load_platform(name).fpgas[0]
    return fpga.board, fpga.device


def static_texts(board: Board) -> list[str]:
    assert board.shell is not None
    return [text for texts in board.shell.static.values() for text in texts]


@pytest.mark.parametrize("name", DYNAMIC)
def test_what_the_shell_keeps_is_all_that_its_constraints_do_not_leave(name: str) -> None:
    board, device = board_and_die(name)
    left = parse_ranges(device, [text for texts in DYNAMIC[name]["ranges"].values() for text in texts])
    kept = parse_ranges(device, static_texts(board))
    for site, exists in device.site_masks.items():
        nothing = np.zeros_like(exists)
        here, there = left.get(site, nothing), kept.get(site, nothing)
        assert not (here & there).any(), site
        if site != "LAGUNA" or name == "alveo-u280":
            assert ((here | there) == exists).all(), site


def test_platforminfo_reports_what_the_u200_leaves() -> None:
    platform = load_platform("alveo-u200")
    taken = total(item.resources for item in platform.infrastructure)
    for line in PLATFORMINFO_U200.split("\n")[1:-1]:
        slot = next(slot for slot in platform.slots if slot.slr in line)
        lut, ff, bram36, uram, dsp = (int(amount) for amount in re.findall(r"s: (\d+)", line))
        added_back = slot.available + taken if slot.slr == "SLR1" else slot.available
        assert added_back == Resources(lut, ff, 2 * bram36, uram, dsp)
    board, device = board_and_die("alveo-u200")
    kept = resources_of_sites(device, parse_ranges(device, static_texts(board)))
    assert platform.slots[1].capacity - kept == Resources(205440, 410880, 840, 160, 1320), "to the last LUT and block"


@pytest.mark.parametrize("part", REGIONS)
def test_each_clock_region_has_what_the_source_reports(part: str, load_device: Any) -> None:
    device, fields = load_device(part), REGIONS[part]["fields"]
    reported = REGIONS[part]["available"]
    assert len(reported) == len(device.clock_region_columns) * device.clock_region_rows
    for name, amounts in reported.items():
        x, y = (int(number) for number in re.findall(r"\d+", name))
        held = device.resources(device.clock_region(x, y)).as_dict()
        held["BRAM36"] = held["BRAM18"] // 2
        assert [held[field] for field in fields] == amounts, name


@pytest.mark.parametrize("name", SILICON)
def test_boards_have_the_published_silicon(name: str) -> None:
    assert load_platform(name).silicon == SILICON[name]


@pytest.mark.parametrize("name", HBM)
def test_each_channel_of_hbm_has_its_place_and_its_price(name: str) -> None:
    board, device = board_and_die(name)
    channels = [memory for memory in board.memories if memory.name.startswith("HBM[")]
    columns = device.site_types["DSP48E2"].columns
    assert [memory.name for memory in channels] == [f"HBM[{number}]" for number in range(32)]
    assert [memory.port for memory in channels] == [Rect(column, 0, column, 14) for column in columns]
    assert {memory.controller for memory in channels} == {Resources(10718 + 5000, 21793 + 6500, 8)}
    assert {device.layouts[0][column] for column in columns} == {"H"}, "its port is below a short column of DSPs"
    middle = device.clock_region(4, 0).left
    assert [memory.port.left < middle for memory in channels if memory.port] == [True] * 16 + [False] * 16


@pytest.mark.parametrize("name", HBM)
def test_the_hosts_channel_of_hbm_is_charged_where_its_streams_end(name: str) -> None:
    for channel in (None, "HBM[31]"):
        platform = load_platform(name, host_port=channel)
        (controller,) = (item for item in platform.infrastructure if item.name == f"{channel or 'HBM[0]'} controller")
        assert (controller.slot, controller.resources) == ("fpga0.SLR0", Resources(15718, 28293, 8))


@pytest.mark.parametrize("name", CARDS)
def test_links_end_at_the_quads_of_the_cages(name: str) -> None:
    board, device = board_and_die(name)
    assert board.link is not None
    side, rows = QUADS[name]
    region = device.slr_region(board.link.slr)
    column = region.left if side == "left" else region.right
    height = device.rows_per_clock_region
    expected = Rect(column, rows[0] * height, column, (rows[1] + 1) * height - 1)
    assert board.link.ports["aurora-100g"] == expected
    assert region.contains(expected)
    assert {device.layouts[row][column] for row in rows} == {"g"}


@pytest.mark.parametrize("name", MACS)
def test_ethernet_leaves_by_the_mac_of_that_number(name: str) -> None:
    """Counted up the left column of hard blocks."""
    board, device = board_and_die(name)
    assert board.link is not None
    port = board.link.ports["ethernet-100g"]
    assert port.left == port.right
    macs = [row for row, layout in enumerate(device.layouts) if layout[port.left] == "c"]
    row = macs[MACS[name][0]]
    assert (port.bottom, port.top) == (row * 60, row * 60 + 59)


@pytest.mark.parametrize("name", sorted({*DYNAMIC, "alveo-u200", "alveo-u250"}))
def test_no_more_wires_are_taken_than_the_shells_laguna_columns_leave(name: str) -> None:
    board, device = board_and_die(name)
    kept = parse_ranges(device, static_texts(board)).get("LAGUNA")
    for boundary, wires in enumerate(board.sll_wires or ()):
        upper = device.slrs[boundary + 1].bottom
        rows = device.site_tiles["LAGUNA"]
        there = [device.site_masks["LAGUNA"][(rows >= at) & (rows < at + 60)] for at in (upper - 60, upper)]
        gone = [
            np.zeros_like(there[0]) if kept is None else kept[(rows >= at) & (rows < at + 60)]
            for at in (upper - 60, upper)
        ]
        free = (there[0] & ~gone[0]).any(axis=0) & (there[1] & ~gone[1]).any(axis=0)
        assert wires <= int(free.sum()) // 2 * 1440


@pytest.mark.parametrize("name", known_platforms())
def test_every_stated_fact_has_evidence(name: str) -> None:
    text = (asset_folder("platforms") / "boards" / f"{name}.yaml").read_text(encoding="utf-8")
    data = yaml.safe_load(text)
    told = {re.split(r"[. ]", fact.strip())[0] for item in data["evidence"] for fact in item["fact"].split(",")}
    stated = {*data} - {"schema", "name", "device", "evidence", "host_slr", "max_fpgas"}
    assert stated <= told
    assert all(item["confidence"] and item["source"] for item in data["evidence"])
