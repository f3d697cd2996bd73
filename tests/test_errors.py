"""Refusals: one value, one sentence; lists in sentences are short."""

from typing import get_args

from floorflow.errors import MOST_NAMES, Refusal, What, sentence, some, unproven
from floorflow.facts.estimates import ShallowEntry, ThroughputEntry, throughput_warnings

KINDS: tuple[What, ...] = get_args(What)


def test_every_kind_has_a_sentence_with_and_without_details() -> None:
    for what in KINDS:
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


def test_a_few_names_stand_whole_and_many_are_counted() -> None:
    assert some([]) == ""
    assert some("abcde") == "a, b, c, d, e"
    assert some(letter for letter in "abcdef") == "a, b, c, d, e and 1 more"
    assert some(range(1, 3000)) == "1, 2, 3, 4, 5 and 2,994 more"


def test_sixty_shallow_fifos_make_a_warning_of_five_names_and_stand_whole_in_the_plan() -> None:
    shallow = [ShallowEntry(channel=f"c{n}", planned=2, needed=9) for n in range(60)]
    found = ThroughputEntry(
        full_rate_cycles=10,
        interval_cycles=12,
        first_word_cycles=1,
        first_frame_cycles=20,
        deadlock=[],
        shallow=shallow,
        not_analysed="",
    )
    (warning,) = throughput_warnings(found)
    assert warning.endswith("c4 (2 words, 9 needed) and 55 more")
    assert "c5" not in warning
    assert [row["channel"] for row in found.model_dump()["shallow"]] == [f"c{n}" for n in range(60)]
