"""Names for tools, whatever a model calls its things."""

import keyword
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.facts.names import LONGEST, RESERVED, plain_names


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("MVAU_hls_0", "MVAU_hls_0"),
        ("conv/1:0", "conv_1_0"),
        ("größe", "gr__e"),
        ("3x3", "part_3x3"),
        ("_x", "part__x"),
        ("", "part"),
        ("output", "part_output"),
        ("Class", "part_Class"),
        ("$(rm -rf ~)`x`;[exit]", "part___rm__rf____x___exit_"),
        ("a" * 400, "a" * LONGEST),
    ],
)
def test_a_name_becomes_plain(name: str, plain: str) -> None:
    assert plain_names([name], "part") == {name: plain}


def test_names_stay_apart_even_where_case_does_not_count() -> None:
    assert plain_names(["a.b", "a/b", "A_B", "a_b_1"], taken=["A_b_2"]) == {
        "a.b": "a_b",
        "a/b": "a_b_1",
        "A_B": "A_B_3",
        "a_b_1": "a_b_1_1",
    }


@pytest.mark.joint
@given(st.lists(st.text(), unique=True, max_size=12))
def test_any_names_become_such_that_all_tools_take_them_apart(names: list[str]) -> None:
    found = plain_names(names)
    assert [*found] == names
    assert len({name.lower() for name in found.values()}) == len(names)
    for name in found.values():
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name)
        assert name.isidentifier()
        assert not keyword.iskeyword(name)
        assert name.lower() not in RESERVED
