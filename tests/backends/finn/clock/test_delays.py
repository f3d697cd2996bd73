"""Parts: family and speed grade told from the name, and what they do to a path."""

import pytest

from floorflow.backends.finn.clock import DELAYS, LARGEST_LUTS, Path, known_part

LOCAL, WIDE = Path(10, "local"), Path(10, "wide", nets="engine")


@pytest.mark.parametrize(
    "part", ["xc7z020clg400-1", "xczu7ev-ffvc1156-2-e", "xcu250-figd2104-2L-e", "xcku5p-ffvd900-2-i"]
)
def test_families_of_which_builds_are_known(part: str) -> None:
    assert known_part(part)


@pytest.mark.parametrize("part", ["xcvc1902-vsva2197-2MP-e-S", "xcku115-flva1517-2-e", "xcvu190-flga2577-2-e"])
def test_of_versal_and_of_ultrascale_without_the_plus_no_build_is_known(part: str) -> None:
    assert not known_part(part)
    with pytest.raises(ValueError, match="no delays are known"):
        DELAYS.path_ns(LOCAL, part, 10, 0)


def test_faster_grades_and_the_newer_family_are_faster() -> None:
    parts = ["xc7z045ffg900-1", "xc7z045ffg900-2", "xc7z045ffg900-3", "xczu7ev-ffvc1156-1-e", "xcu250-figd2104-2L-e"]
    delays = [DELAYS.path_ns(LOCAL, part, 10, 0) for part in parts]
    assert delays == sorted(delays, reverse=True)
    assert len(set(delays)) == len(delays)


def test_a_part_without_a_grade_counts_as_the_slowest() -> None:
    assert DELAYS.path_ns(LOCAL, "xc7z020", 10, 0) == DELAYS.path_ns(LOCAL, "xc7z020clg400-1", 10, 0)


def test_nets_are_longer_in_larger_engines_up_to_the_largest_that_was_built() -> None:
    part = "xc7z020clg400-1"
    small, large, largest, beyond = (
        DELAYS.path_ns(WIDE, part, 10, luts) for luts in (100, 10_000, LARGEST_LUTS, 9 * LARGEST_LUTS)
    )
    assert small < large < largest == beyond
    assert DELAYS.path_ns(LOCAL, part, 10, 100) == DELAYS.path_ns(LOCAL, part, 10, 10_000)


def test_what_hls_may_cut_takes_no_longer_than_it_puts_in_a_cycle() -> None:
    part, path = "xc7z020clg400-1", Path(100, "sum", scheduled=True)
    assert DELAYS.path_ns(path, part, 5, 0) < DELAYS.path_ns(path, part, 10, 0) < 10
