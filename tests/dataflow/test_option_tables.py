"""Tables of foldings hold what the options did that they were made of, and make equal ones."""

from dataclasses import replace

import numpy as np
import pytest

from floorflow.dataflow.model import Option
from floorflow.dataflow.options import OptionGroup, OptionTable, TableRows, objects
from floorflow.resources import Resources

OPTIONS = tuple(
    Option({"PE": pe, "ram_style": style}, 64 // pe, Resources(10 * pe, 7, 0, pe, 3), (4 * pe, 8), (2 * pe,))
    for pe in (1, 2, 4)
    for style in ("block", "distributed")
)
TABLE = OptionTable.of(OPTIONS)
PAIRS = tuple(zip(OPTIONS, reversed(OPTIONS), strict=True))


def sized() -> OptionTable:
    """Return a table in which PE is a column."""
    styles = objects([{"ram_style": "block"}, {"ram_style": "block"}])
    return OptionTable(np.array([[4, 2], *[[1, 2]] * 5, [8, 16], [1, 2]]), styles, objects(["", ""]), 1, ("PE",))


def test_a_table_gives_back_its_options() -> None:
    assert list(TABLE) == [TABLE[place] for place in range(len(TABLE))] == list(OPTIONS)
    assert TABLE == OPTIONS
    assert TABLE[1:3] == OPTIONS[1:3]
    assert TABLE[:-1] != OPTIONS


def test_options_hold_plain_integers() -> None:
    option = TABLE[3]
    numbers = (option.cycles, *option.resources.as_tuple(), *option.input_widths_bits, *option.output_widths_bits)
    assert {type(number) for number in numbers} == {int}
    assert type(sized()[1].folding["PE"]) is int


def test_columns_of_sizes_come_first_in_a_folding() -> None:
    assert list(sized()[1].folding.items()) == [("PE", 2), ("ram_style", "block")]
    assert sized().attribute("PE", 1).tolist() == [1, 2]
    assert sized()[0].output_widths_bits == ()
    assert TABLE.attribute("PE", 1).tolist() == [1, 1, 2, 2, 4, 4]
    assert TABLE.attribute("SIMD", 1).tolist() == [1] * 6


def test_options_can_be_marked_or_counted_out() -> None:
    assert TABLE.take(TABLE.cycles == 32) == OPTIONS[2:4]
    assert TABLE.take(np.array([4, 0])) == (OPTIONS[4], OPTIONS[0])
    assert TABLE.of_styles(lambda option: option.folding["ram_style"] == "block").tolist() == [True, False] * 3


def test_tables_of_two_kinds_follow_each_other() -> None:
    both = TABLE.followed_by(TABLE.take(slice(2)).of_kind("MVAU_rtl"))
    assert both == (*OPTIONS, *(replace(option, kind="MVAU_rtl") for option in OPTIONS[:2]))


def test_a_group_sums_the_resources_of_a_row_and_takes_its_slowest_engine() -> None:
    group = OptionGroup(("window", "pool"), PAIRS)
    assert group.cycles.tolist() == [max(a.cycles, b.cycles) for a, b in PAIRS]
    assert group.use.tolist() == [list((a.resources + b.resources).as_tuple()) for a, b in PAIRS]
    assert group.engine_use.shape == (6, 2, 5)
    assert group.options_of("pool") == OPTIONS[::-1]


def test_a_group_of_tables_has_the_rows_of_a_group_of_options() -> None:
    given = OptionGroup(("window", "pool"), PAIRS)
    made = OptionGroup(given.engines, TableRows((TABLE, TABLE[::-1])))
    assert made == given
    keep = np.array([True, False, True, False, False, True])
    assert made.subset(keep) == given.subset(keep)
    assert made.subset(keep).rows == (PAIRS[0], PAIRS[2], PAIRS[5])
    assert made.engine_kinds.tolist() == [["", ""]] * 6


def test_a_row_is_found_among_rows_of_equal_numbers() -> None:
    twins = (OPTIONS[0], replace(OPTIONS[0], folding={"PE": 1, "ram_style": "auto"}))
    rows = TableRows((OptionTable.of((*twins, *OPTIONS)),))
    assert [rows.index((option,)) for option in (*twins, OPTIONS[5])] == [0, 1, 7]
    with pytest.raises(ValueError, match="no row"):
        rows.index((replace(OPTIONS[0], cycles=1),))
