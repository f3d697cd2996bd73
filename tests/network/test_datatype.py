"""Datatypes: names, ranges, and the smallest type for a range."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.network.datatype import BINARY, BIPOLAR, FLOAT32, TERNARY, DataType, integer, named, smallest


@pytest.mark.parametrize(
    ("bits", "signed", "narrow", "expected"),
    [
        (8, True, False, ("INT8", -128, 127)),
        (8, True, True, ("INT8", -127, 127)),
        (4, False, False, ("UINT4", 0, 15)),
        (4, False, True, ("UINT4", 0, 14)),
        (2, True, True, ("INT2", -1, 1)),
        (1, True, False, ("BIPOLAR", -1, 1)),
        (1, False, False, ("BINARY", 0, 1)),
    ],
)
def test_quantiser_settings_give_name_and_range(
    bits: int, signed: bool, narrow: bool, expected: tuple[str, int, int]
) -> None:
    datatype = integer(bits, signed=signed, narrow=narrow)
    assert (datatype.name, datatype.min, datatype.max, datatype.bits) == (*expected, bits)


@pytest.mark.parametrize(
    ("datatype", "steps"),
    [
        (integer(8, signed=True), 255),
        (integer(2, signed=True, narrow=True), 2),
        (BIPOLAR, 1),
        (BINARY, 1),
        (TERNARY, 2),
    ],
)
def test_thresholds_tell_all_values_apart(datatype: DataType, steps: int) -> None:
    assert datatype.steps == steps


@given(st.integers(-(10**6), 10**6), st.integers(0, 10**6))
def test_smallest_type_holds_the_range_and_one_bit_less_does_not(low: int, span: int) -> None:
    datatype = smallest(low, low + span) if low < 0 else smallest(0, low + span)
    assert datatype.min <= low
    assert datatype.max >= low + span
    if datatype.bits > 2:
        less = integer(datatype.bits - 1, signed=datatype.signed)
        assert less.min > low or less.max < low + span


@pytest.mark.parametrize("name", ["INT3", "UINT8", "BIPOLAR", "BINARY", "TERNARY", "FLOAT32"])
def test_names_are_read_back(name: str) -> None:
    assert named(name).name == name
    assert named(name).is_integer == (name != "FLOAT32")


@pytest.mark.parametrize("name", ["INT", "INT0", "FIXED<8,2>", "int8", ""])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no datatype"):
        named(name)
    assert FLOAT32.bits == 32
