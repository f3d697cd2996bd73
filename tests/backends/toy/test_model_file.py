"""Mistakes in the toy's model file and options: exit 2, with file and line, and nothing is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from floorflow.errors import InputError
from tests.backends.toy.toolbox import plan

GOOD = ["network n", "input a rows=4 columns=4 channels=2 bits=8", "filter f a outputs=2 weights=4", "output f"]


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (3, "fliter f a outputs=2 weights=4", "unknown word 'fliter'"),
        (3, "filter", "'filter' has no name"),
        (3, "filter 2f a outputs=2 weights=4", "'2f' is no name"),
        (3, "filter f a outputs=2", "filter lacks weights"),
        (3, "filter f a outputs=two weights=4", "outputs is 'two'"),
        (3, "filter f a outputs=2 weights=4 PE=2", "unknown 'PE'"),
        (3, "filter f b outputs=2 weights=4", "there is no stream b to read"),
        (3, "filter f a a outputs=2 weights=4", "it reads 2 streams"),
        (3, "filter a a outputs=2 weights=4", "the name is taken"),
        (3, "lines f a taps=2", "taps=2 is even"),
        (3, "mix f a copies=3", "more than two copies"),
        (4, "output g", "there is no stream g to read"),
        (4, "tie f g", "g cannot be tied"),
    ],
)
@pytest.mark.usefixtures("installed")
def test_a_wrong_line_is_named(line: int, text: str, message: str, tmp_path: Path) -> None:
    from toykit.model import read

    model = tmp_path / "bad.toy"
    model.write_text("\n".join([*GOOD[: line - 1], text, *GOOD[line:]]))
    with pytest.raises(InputError, match=re.escape(f"{model}:{line}: ")) as refused:
        read(model)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", ": cannot be read"),
        ("\n".join(GOOD[:3]).encode(), ": lacks a network, an engine or an output"),
        ("\n".join([*GOOD[:3], "output g"]).encode(), ":4: g: there is no stream g to read"),
    ],
    ids=("no text", "no output", "unknown stream"),
)
def test_a_wrong_file_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    model = tmp_path / "bad.toy"
    model.write_bytes(content)
    ended = plan(model, tmp_path / "out", "-p", "zcu104")
    assert (ended.returncode, f"{model}{message}" in ended.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("most_lanes=0", "--backend-option most_lanes 0: expected at least 1 and at most 4,096"),
        ("maths=wood", "--backend-option maths wood: expected free, dsp or fabric"),
        ("lanes=2", "hint: did you mean most_lanes?"),
        ("PE=2", "hint: the back end has most_lanes, maths"),
    ],
)
def test_a_wrong_option_is_named(option: str, message: str, tmp_path: Path) -> None:
    model = tmp_path / "good.toy"
    model.write_text("\n".join(GOOD))
    ended = plan(model, tmp_path / "out", "-p", "zcu104", "--backend-option", option)
    assert (ended.returncode, message in ended.stderr) == (2, True), ended.stderr
