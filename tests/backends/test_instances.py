"""Names of cells without what Vivado adds to them."""

from __future__ import annotations

import pytest

from floorflow.backends.instances import NamedCells, plain_name


@pytest.mark.parametrize("cell", ["smooth", "\\\\smooth ", "smooth__xdcDup__3"])
def test_escapes_and_copies_are_left_out(cell: str) -> None:
    assert plain_name(cell) == "smooth"


def test_an_instance_is_the_engine_whose_cell_has_its_whole_name() -> None:
    cells = NamedCells({"toy_3": "smooth"})
    assert cells.engine(["top", "toy_3__xdcDup__1"]) == "smooth"
    assert cells.engine(["toy_3", "fifo"]) is None
    assert cells.engine(["toy_33"]) is None
