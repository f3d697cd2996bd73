"""Which FPGAs each topology joins."""

import pytest

from floorflow.verify.hardware.routes import joined_pairs


@pytest.mark.parametrize(
    ("topology", "count", "expected"),
    [
        ("pair", 2, "01"),
        ("chain", 4, "01 12 23"),
        ("ring", 2, "01"),
        ("ring", 3, "01 02 12"),
        ("ring", 5, "01 04 12 23 34"),
        ("star", 4, "01 02 03"),
        ("mesh", 4, "01 03 12 23"),
        ("mesh", 5, "01 12 14 23 34"),
        ("mesh", 9, "01 05 12 14 23 34 38 45 47 56 67 78"),
        ("full", 4, "01 02 03 12 13 23"),
        ("full", 1, ""),
    ],
)
def test_topologies_join(topology: str, count: int, expected: str) -> None:
    assert sorted(f"{low}{high}" for low, high in joined_pairs(topology, count)) == expected.split()
