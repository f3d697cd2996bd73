"""Lists in sentences are short."""

from __future__ import annotations

from floorflow.errors import some
from floorflow.facts.estimates import ShallowEntry, ThroughputEntry, throughput_warnings


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
