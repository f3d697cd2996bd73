"""Bands of error, how likely a sum of estimates fits, and what starting anew adds to an interval."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.cost.bands import band, relative_band
from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.rates.start_up import HLS_RESTART_CYCLES, Pace, expected_cycles
from floorflow.dataflow import bands
from floorflow.dataflow.bands import CROSSING, FF_PER_LUT, outcome_of
from floorflow.resources import RESOURCE_NAMES, Resources

ROOT = Path(__file__).parents[4]
spread = partial(bands.spread, band_of=relative_band)
fit_likelihood = partial(bands.fit_likelihood, band_of=relative_band)
AMOUNTS = st.builds(Resources, *(st.integers(0, 10**6) for _ in RESOURCE_NAMES))
USE = st.dictionaries(st.sampled_from(sorted(KINDS)), AMOUNTS, min_size=1, max_size=4)


@given(st.sampled_from(sorted(KINDS)), AMOUNTS)
def test_an_estimate_lies_in_its_band(kind: str, estimate: Resources) -> None:
    low, high = band(kind, estimate)
    assert low.fits(estimate)
    assert estimate.fits(high)


def test_kinds_that_no_build_had_are_wide_and_decided_counts_are_exact() -> None:
    assert relative_band("Lookup_hls", "LUT") == (0.5, 2.0)
    assert relative_band("MVAU_rtl", "DSP") == (1.0, 1.0)
    assert relative_band("VVAU_hls", "LUT") == relative_band("MVAU_hls", "LUT")


@given(USE)
def test_a_sum_of_kinds_errs_less_than_its_parts_together(use: dict[str, Resources]) -> None:
    low, high = spread(use)
    parts = [band(kind, amount) for kind, amount in use.items()]
    for name in RESOURCE_NAMES:
        assert low.as_dict()[name] >= sum(part[0].as_dict()[name] for part in parts) - 1
        assert high.as_dict()[name] <= sum(part[1].as_dict()[name] for part in parts) + 1


@given(USE, AMOUNTS, AMOUNTS)
def test_more_room_fits_more_likely_and_more_use_less(
    use: dict[str, Resources], room: Resources, more: Resources
) -> None:
    likely = fit_likelihood(use, room)
    assert 0 <= likely <= fit_likelihood(use, room + more) <= 1
    kind = min(use)
    alone = {kind: use[kind]}
    assert fit_likelihood({kind: use[kind] + use[kind]}, room) <= fit_likelihood(alone, room) + 1e-9


def test_the_upper_tenth_fits_nine_times_in_ten() -> None:
    use = {"MVAU_hls": Resources(lut=100_000)}
    _, high = spread(use)
    assert fit_likelihood(use, high) == pytest.approx(0.9, abs=0.001)
    assert fit_likelihood({CROSSING: Resources(ff=10)}, Resources(ff=10)) == 1
    assert fit_likelihood({CROSSING: Resources(ff=11)}, Resources(ff=10)) == 0


@given(USE, st.floats(0.5, 0.99), AMOUNTS, st.sets(st.sampled_from(RESOURCE_NAMES), min_size=1))
def test_a_supply_for_a_confidence_is_enough_and_hardly_more_than_that(
    use: dict[str, Resources], confidence: float, least: Resources, counted: set[str]
) -> None:
    outcome = outcome_of(use, relative_band, counted)
    supply = outcome.supply(least, confidence)
    assert least.fits(supply)
    beside = {**supply.as_dict(), "FF": max(supply.ff, FF_PER_LUT * supply.lut)}
    # Half a unit in the last place: a median is likely by one half, not by the next number.
    assert outcome.likelihood(beside) >= confidence * (1 - 1e-12)
    above = {name: have for name, have in supply.as_dict().items() if have > least.as_dict()[name]}
    if above:
        fewer = {name: have - max(1, have // 50) if name in above else have for name, have in supply.as_dict().items()}
        fewer["FF"] = max(fewer["FF"], FF_PER_LUT * fewer["LUT"])
        assert outcome.likelihood(fewer) < confidence


def test_what_may_fail_is_never_told_as_certain() -> None:
    plenty = Resources(*[10**9] * 5).as_dict()
    assert outcome_of({"MVAU_hls": Resources(lut=10)}, relative_band).told(plenty) == 0.98
    assert outcome_of({CROSSING: Resources(ff=10)}, relative_band).told(plenty) == 1
    unlikely = outcome_of({"MVAU_hls": Resources(lut=1000)}, relative_band)
    have = Resources(lut=1000).as_dict()
    assert 0 <= unlikely.likelihood(have) - unlikely.told(have) < 1e-4


@pytest.mark.parametrize("die", sorted((ROOT / "platforms" / "devices").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_clb_has_two_flip_flops_beside_each_lut(die: Path) -> None:
    legend = yaml.safe_load(die.read_text(encoding="utf-8"))["legend"].values()
    clbs = [tile["resources"] for tile in legend if tile.get("resources", {}).get("LUT")]
    assert clbs
    assert all(resources["FF"] == FF_PER_LUT * resources["LUT"] for resources in clbs)


def chain(*paces: Pace) -> int:
    names = [str(index) for index in range(len(paces))]
    return expected_cycles(dict(zip(names, paces, strict=True)), {b: [a] for a, b in pairwise(names)})


def test_the_engine_behind_a_window_waits_for_its_first_pixels() -> None:
    before, window = Pace(1000), Pace(500, first_window=0.25)
    assert chain(before, window, Pace(2000)) == 2250
    assert chain(before, window, Pace(2000, slack=100)) == 2150
    assert chain(before, window, Pace(2000, slack=400)) == 2000
    assert chain(Pace(10), Pace(1000), Pace(5), window, Pace(2000)) == 2250, "the slowest since the last window"


def test_restarts_count_once_a_frame_and_only_where_they_limit() -> None:
    assert chain(Pace(64, restart=HLS_RESTART_CYCLES), Pace(32)) == 70
    assert chain(Pace(64, restart=HLS_RESTART_CYCLES), Pace(90)) == 90


def test_a_join_waits_for_its_slower_branch() -> None:
    paces = {"a": Pace(100), "b": Pace(800), "window": Pace(50, first_window=0.5), "end": Pace(900)}
    assert expected_cycles(paces, {"b": ["a"], "window": ["a", "b"], "end": ["window"]}) == 1300
