"""FINN's type names."""

import pytest

from floorflow.backends.finn.attributes import bits_of, bits_to_hold, extreme_value, is_signed
from floorflow.errors import InputError


@pytest.mark.parametrize(
    ("name", "bits", "signed", "extreme"),
    [
        ("BIPOLAR", 1, True, -1),
        ("BINARY", 1, False, 1),
        ("TERNARY", 2, True, -1),
        ("INT8", 8, True, -128),
        ("UINT4", 4, False, 15),
        ("UINT32", 32, False, 2**32 - 1),
    ],
)
def test_types_tell_bits_sign_and_extreme(name: str, bits: int, signed: bool, extreme: int) -> None:
    assert (bits_of(name), is_signed(name), extreme_value(name)) == (bits, signed, extreme)


@pytest.mark.parametrize(("value", "bits"), [(0, 1), (1, 1), (2, 2), (255, 8), (256, 9), (-1, 1), (-2, 2), (-129, 9)])
def test_smallest_type_holds_the_value(value: int, bits: int) -> None:
    assert bits_to_hold(value) == bits


@pytest.mark.parametrize("name", ["FLOAT33", "INT0", "INT", "uint8", "FIXED<8>", "INT8 "])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="unknown; expected INT"):
        bits_of(name)
