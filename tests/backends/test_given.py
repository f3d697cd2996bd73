"""Foldings that engines already have are found among their options; cells go without what Vivado adds."""

import pytest

from floorflow.backends.backend import rows_as_given
from floorflow.backends.instances import NamedCells, plain_name
from floorflow.dataflow.model import Attributes, Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError
from floorflow.resources import Resources


def engine(name: str, **folding: int) -> Engine:
    return Engine(name, "filter", "op", {}, 0, 8, 8, folding=folding)


def option(**folding: int) -> Option:
    own: Attributes = folding
    return Option(own, 60, Resources(10), (8,), (8,))


def groups() -> tuple[OptionGroup, ...]:
    tied = OptionGroup(("a", "b"), tuple((option(lanes=n), option(lanes=n)) for n in (1, 2, 3)))
    return (tied, OptionGroup(("c",), ((option(lanes=1),), (option(lanes=2),))))


def test_each_group_has_the_row_of_its_engines_own_folding() -> None:
    dataflow = Dataflow("n", (engine("a", lanes=2), engine("b", lanes=2), engine("c", lanes=1)), ())
    found = rows_as_given(dataflow, groups())
    assert [(group.engines, [o.folding["lanes"] for o in group.rows[0]]) for group in found] == [
        (("a", "b"), [2, 2]),
        (("c",), [1]),
    ]
    assert [len(group.rows) for group in found] == [1, 1]


def test_a_folding_that_is_none_of_the_options_is_refused() -> None:
    dataflow = Dataflow("n", (engine("a", lanes=1), engine("b", lanes=2), engine("c")), ())
    with pytest.raises(InputError, match=r"\(a: lanes = 1; b: lanes = 2\) is none of the options"):
        rows_as_given(dataflow, groups())


@pytest.mark.parametrize("cell", ["smooth", "\\\\smooth ", "smooth__xdcDup__3"])
def test_escapes_and_copies_are_left_out(cell: str) -> None:
    assert plain_name(cell) == "smooth"


def test_an_instance_is_the_engine_whose_cell_has_its_whole_name() -> None:
    cells = NamedCells({"toy_3": "smooth"})
    assert cells.engine(["top", "toy_3__xdcDup__1"]) == "smooth"
    assert cells.engine(["toy_3", "fifo"]) is None
    assert cells.engine(["toy_33"]) is None
