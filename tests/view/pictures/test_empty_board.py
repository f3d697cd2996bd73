"""The picture of a board before anything is planned on it."""

import pytest

from floorflow.errors import InputError
from floorflow.hardware import load_platform
from floorflow.view.files import svg_bytes
from floorflow.view.pictures.empty_board import empty_board
from tests.view.drawn import misplaced, texts_of, written


def test_it_names_board_shell_slots_and_ports() -> None:
    told = texts_of(empty_board(load_platform("alveo-u280")))
    assert "alveo-u280 (xcu280-fsvh2892-2L-e, 250 MHz)" in told
    assert "shell: xilinx_u280_gen3x16_xdma_1_202211_1" in told
    assert any(line.startswith("SLR2: available 378,720 of 432,000 LUT") for line in told)
    assert {"host", "memory HBM[0]", "HBM[0] to [31]", "DDR[0]", "DDR[1]", "aurora-100g", "ethernet-100g"} <= {*told}
    assert {"SLR0", "SLR1", "SLR2", "X0", "Y11", "static shell"} <= {*told}
    assert "kept free for a controller if the host's streams end there" in told
    assert not any("stream;" in line or "stream that" in line for line in told), "there are none"


def test_the_channel_of_the_host_is_marked_as_infrastructure() -> None:
    told = texts_of(empty_board(load_platform("alveo-u250", host_port="DDR[3]")))
    assert "memory DDR[3]" in told
    assert "DDR[3] controller" in told


def test_what_the_file_does_not_say_is_told() -> None:
    told = " ".join(texts_of(empty_board(load_platform("xczu9eg"))))
    assert "shell: not stated" in told
    assert "the board's file says nothing of shell, infrastructure" in told
    assert "shell: none" in texts_of(empty_board(load_platform("zcu102")))


@pytest.mark.parametrize("name", ["alveo-u200", "alveo-u250", "alveo-u280", "aws-f1", "kv260", "xc7z020"])
def test_texts_lie_on_the_sheet_and_off_each_other(name: str) -> None:
    assert misplaced(empty_board(load_platform(name))) == []


@pytest.mark.parametrize("name", ["alveo-u50", "alveo-u200"])
def test_names_of_slrs_hide_no_port_and_no_line_to_one(name: str) -> None:
    sheet = empty_board(load_platform(name))
    labels = [box for text, box in written(sheet) if text in ("SLR0", "SLR1", "SLR2")]
    lines = [shape for shape in sheet.shapes if shape.kind == "line" and shape.z == 10]
    ports = [shape for shape in sheet.shapes if shape.kind == "rect" and shape.z in (8, 9)]
    assert len(lines) >= 4
    assert ports
    assert not any(label.overlaps(shape.box) for label in labels for shape in (*lines, *ports))


def test_the_same_board_is_the_same_picture() -> None:
    first, second = (svg_bytes(empty_board(load_platform("kv260"))) for _ in range(2))
    assert first == second


def test_an_fpga_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="has no FPGA 'fpga1'"):
        empty_board(load_platform("kv260"), "fpga1")
