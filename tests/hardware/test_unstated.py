"""A board file that says nothing of shell, infrastructure or host port: what is taken for granted is said."""

from pathlib import Path

import pytest

from floorflow.assets import asset_folder
from floorflow.errors import PlatformError
from floorflow.hardware import Board, known_platforms, load_platform

STATED = "shell: none\ninfrastructure: none\n"
PORT = "host_port: {left: 204, bottom: 0, right: 204, top: 59}\n"


def bare(tmp_path: Path, *edits: tuple[str, str]) -> Board:
    """Return the board of a file like that of the bare part, with edits."""
    text = (asset_folder("platforms") / "boards" / "xcku5p.yaml").read_text(encoding="utf-8")
    for old, new in (("name: xcku5p", "name: mine"), *edits):
        assert old in text
        text = text.replace(old, new, 1)
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    return load_platform(tmp_path / "mine.yaml").fpgas[0].board


@pytest.mark.parametrize("name", known_platforms())
def test_shipped_boards_state_everything(name: str) -> None:
    assert load_platform(name).fpgas[0].board.unstated == ()


def test_fields_that_are_left_out_are_named_with_what_is_taken_for_granted(tmp_path: Path) -> None:
    board = bare(tmp_path, (STATED, ""), (PORT, ""))
    assert board.unstated == ("shell", "infrastructure", "host_port")
    assert board.doubt == (
        "the board's file says nothing of shell, infrastructure, host_port: "
        "all its silicon counts as available and the host's streams enter at the right edge of SLR0"
    )


@pytest.mark.parametrize(
    ("new", "unstated"),
    [
        ("shell: none\n", ("infrastructure",)),
        ("infrastructure: []\n", ("shell",)),
        ("shell:\ninfrastructure: none\n", ("shell",)),
        ("shell: none\ninfrastructure: []\n", ()),
    ],
)
def test_none_and_an_empty_list_are_statements_and_a_field_without_a_value_is_not(
    new: str, unstated: tuple[str, ...], tmp_path: Path
) -> None:
    board = bare(tmp_path, (STATED, new))
    assert (board.unstated, board.shell, board.infrastructure) == (unstated, None, ())


def test_another_word_than_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlatformError, match=r"shell: .*found 'nothing'"):
        bare(tmp_path, ("shell: none", "shell: nothing"))
