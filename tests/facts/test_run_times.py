"""What Vivado is predicted to take: by the figures that it rests on, and how runs share sessions and slots."""

from __future__ import annotations

import pytest

from floorflow.facts.run_times import MOST_SHARING, SHARED_S, Run, assembly_s, minutes, session_s, sessions, wall_s


@pytest.mark.parametrize(
    ("lut", "seconds"),
    [(8_000, 286), (35_000, 726)],
    ids=["TFC out of context", "CNV out of context"],
)
def test_a_run_takes_what_real_ones_took(lut: int, seconds: float) -> None:
    """LUTs are what FINN's examples are known to have, more or less."""
    assert Run("whole", lut).seconds == pytest.approx(seconds, rel=0.05)


def test_a_module_takes_as_long_as_modules_were_seen_to_take() -> None:
    """72 to 100 s of synthesis, and 80 to 390 s of placement and routing."""
    assert 152 <= Run("a FIFO", 15).seconds < Run("a large one", 20_000).seconds <= 100 + 390
    assert Run("placed twice", 15, places=2).seconds == pytest.approx(72 + 2 * 80, abs=1)


def test_a_card_is_stitched_as_fast_as_real_ones() -> None:
    """Reading 15 to 23 s and routing 46 to 137 s, beside the synthesis of a top."""
    assert 46 + 15 <= assembly_s(8_000) <= assembly_s(35_000) <= 16 + 23 + 137 + 27


def test_small_modules_share_runs_and_large_ones_do_not() -> None:
    runs = [Run("large", 90_000), *(Run(f"small_{n}", 100) for n in range(14)), Run("other", 1_000)]
    held = sessions(runs)
    assert sorted(run.name for session in held for run in session) == sorted(run.name for run in runs)
    assert [len(session) for session in held] == [1, 1, 6, 6, 2]
    assert max(map(len, held)) == MOST_SHARING
    short = sessions([Run(f"small_{n}", 100) for n in range(14)])
    assert max(map(session_s, short)) <= SHARED_S
    assert session_s(short[0]) < sum(run.seconds for run in short[0])


def test_slots_are_shared_out_the_longest_first() -> None:
    assert wall_s([5, 1, 1, 1, 2], 2) == 5
    assert wall_s([5, 1, 1, 1, 2], 1) == 10
    assert wall_s([], 3) == 0
    assert [minutes(s) for s in (40, 600, 7200)] == ["40 s", "10 min", "2.0 h"]
