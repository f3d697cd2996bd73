"""The picture of a board before anything is planned on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from floorflow.errors import InputError
from floorflow.hardware import Platform, load_platform
from floorflow.view import empty_board
from floorflow.view.pictures.files import svg_bytes


def written(platform: Platform) -> list[Text]:
    return [text for text in empty_board(platform).findobj(Text) if text.get_text()]


def texts(platform: Platform) -> list[str]:
    return [text.get_text() for text in written(platform)]


def test_it_names_board_shell_slots_and_ports() -> None:
    told = texts(load_platform("alveo-u280"))
    assert "alveo-u280 (xcu280-fsvh2892-2L-e, 250 MHz)" in told
    assert "shell: xilinx_u280_gen3x16_xdma_1_202211_1" in told
    assert any(line.startswith("SLR2: available 378,720 of 432,000 LUT") for line in told)
    assert {"host", "memory HBM[0]", "HBM[0] to [31]", "DDR[0]", "DDR[1]", "aurora-100g", "ethernet-100g"} <= {*told}
    assert {"SLR0", "SLR1", "SLR2", "X0", "Y11", "static shell"} <= {*told}
    assert "kept free for a controller if the host's streams end there" in told
    assert not any("stream;" in line or "stream that" in line for line in told), "there are none"


def test_the_channel_of_the_host_is_marked_as_infrastructure() -> None:
    told = texts(load_platform("alveo-u250", host_port="DDR[3]"))
    assert "memory DDR[3]" in told
    assert "DDR[3] controller" in told


def test_what_the_file_does_not_say_is_told() -> None:
    told = " ".join(texts(load_platform("xczu9eg")))
    assert "shell: not stated" in told
    assert "the board's file says nothing of shell, infrastructure" in told
    assert "shell: none" in texts(load_platform("zcu102"))


@pytest.mark.parametrize("name", ["alveo-u200", "alveo-u250", "alveo-u280", "aws-f1", "kv260", "xc7z020"])
def test_texts_lie_on_the_sheet_and_off_each_other(name: str) -> None:
    figure = empty_board(load_platform(name))
    boxes = {text: text.get_window_extent() for text in figure.findobj(Text) if text.get_text()}
    for text, box in boxes.items():
        assert figure.bbox.x0 <= box.x0, text
        assert box.x1 <= figure.bbox.x1, text
        others = [
            other
            for other in boxes
            if other is not text and boxes[other].shrunk(0.98, 0.7).overlaps(box.shrunk(0.98, 0.7))
        ]
        assert not others, (text, others)


@pytest.mark.parametrize("name", ["alveo-u50", "alveo-u200"])
def test_names_of_slrs_hide_no_port_and_no_line_to_one(name: str) -> None:
    figure = empty_board(load_platform(name))
    labels = [text.get_window_extent() for text in figure.findobj(Text) if text.get_text() in ("SLR0", "SLR1", "SLR2")]
    ports = [line for line in figure.findobj(Line2D) if line.get_zorder() == 10]
    boxes = [patch for patch in figure.findobj(Rectangle) if patch.get_zorder() in (8, 9) and not patch.get_fill()]
    assert len(ports) >= 4
    assert boxes
    for shape in (*ports, *boxes):
        assert not any(label.overlaps(shape.get_window_extent()) for label in labels)


def test_the_same_board_is_the_same_picture(tmp_path: Path) -> None:
    first, second = (svg_bytes(empty_board(load_platform("kv260"))) for _ in range(2))
    assert first == second


def test_an_fpga_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="has no FPGA 'fpga1'"):
        empty_board(load_platform("kv260"), "fpga1")
