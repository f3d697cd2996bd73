"""Refusals: one value, one sentence."""

from __future__ import annotations

from typing import get_args

import pytest

from floorflow.errors import MOST_NAMES, Refusal, What, sentence, unproven

KINDS: tuple[What, ...] = get_args(What)


@pytest.mark.parametrize("what", KINDS)
def test_every_kind_has_a_sentence_with_and_without_details(what: What) -> None:
    assert sentence(Refusal(what, "LUT", "fpga0.SLR0", 12_345, 1_234, names=("m0",)))
    assert "None" not in sentence(Refusal(what))


def test_numbers_are_those_of_the_value() -> None:
    short = Refusal("budget", "LUT", "", 32_100, 30_000, proven=True)
    assert str(short) == "LUT: at least 32,100 needed, 30,000 allowed"
    assert sentence(short, Refusal("partition limit")) == f"{short}; no assignment found within the limit"


def test_long_lists_are_cut_with_a_count_and_stand_whole_in_the_value() -> None:
    names = tuple(f"m{i}" for i in range(MOST_NAMES + 3))
    refusal = Refusal("no room", place="fpga0.SLR0", names=names)
    assert f"m{MOST_NAMES - 1} and 3 more" in str(refusal)
    assert f"m{MOST_NAMES}" not in str(refusal)
    assert refusal.names == names


def test_what_holds_only_for_a_part_is_not_proven() -> None:
    assert not any(r.proven for r in unproven((Refusal("each slot", proven=True), Refusal("folding limit"))))
