"""Ports: where streams leave the die."""

import pytest

from floorflow.hardware import Rect, load_platform
from floorflow.hardware.ports import link_port


@pytest.mark.parametrize(
    ("name", "host", "link"),
    [
        ("alveo-u250", Rect(226, 60, 280, 239), Rect(445, 600, 445, 719)),
        ("xcku5p", Rect(204, 0, 204, 59), Rect(204, 0, 204, 59)),
        ("zcu104", Rect(85, 0, 85, 239), None),
        ("pynq-z1", Rect(18, 50, 18, 149), None),
    ],
)
def test_each_board_says_where_its_streams_leave_the_die(name: str, host: Rect, link: Rect | None) -> None:
    fpga = load_platform(name).fpgas[0]
    assert (fpga.host_port, fpga.link_port) == (host, link)


@pytest.mark.parametrize(
    ("name", "port", "hard_block"),
    [("alveo-u250", "link", "GTY"), ("xcku5p", "link", "PCIE4"), ("zcu104", "host", "PS8"), ("pynq-z1", "host", "PS7")],
)
def test_ports_in_one_column_are_on_the_hard_block_that_they_stand_for(name: str, port: str, hard_block: str) -> None:
    fpga = load_platform(name).fpgas[0]
    rect, device = (fpga.link_port if port == "link" else fpga.host_port), fpga.device
    assert rect is not None
    assert rect.columns == 1
    height = device.rows_per_clock_region
    for region in range(rect.bottom // height, rect.top // height + 1):
        assert hard_block in device.legend[device.layouts[region][rect.left]].description


def test_ethernet_links_of_u250_leave_at_the_upper_mac_of_the_slr_with_the_transceivers() -> None:
    fpga = load_platform("alveo-u250", fpgas=2, link="ethernet-100g").fpgas[0]
    assert fpga.link_port == Rect(25, 660, 25, 719)
    assert "CMAC" in fpga.device.legend[fpga.device.layouts[11][25]].description
    assert fpga.device.slr_region("SLR2").contains(fpga.link_port)


def test_the_hosts_port_on_u250_is_where_the_memory_controller_is() -> None:
    platform = load_platform("alveo-u250")
    assert platform.fpgas[0].host_port in [item.reserved for item in platform.infrastructure]


def test_ports_that_a_board_does_not_give_are_at_the_right_edge_of_their_slr(write_board) -> None:
    text = "    port: {left: 226, bottom: 60, right: 280, top: 239}\n"
    fpga = load_platform(write_board(text, "")).fpgas[0]
    assert fpga.host_port == Rect(445, 0, 445, 239)


def test_another_kind_of_link_leaves_elsewhere() -> None:
    unknown = load_platform("alveo-u250", fpgas=2, link="pcie").fpgas[0]
    assert link_port(unknown.board, unknown.device) == Rect(445, 480, 445, 719)
