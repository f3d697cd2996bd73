"""Power: published builds lie in the band that is told, and a card above its board's limit is warned of."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.power import Build, builds, contents, in_band
from floorflow.facts.platform import FpgaEntry, PlatformEntry
from floorflow.facts.power import PowerEntry, power_lines, power_of, power_warnings
from floorflow.facts.values import Amounts
from floorflow.resources import ZERO, Resources
from tests.plans import ROOT

BUILDS = builds()
FINN = [build for build in BUILDS if build.group == "rfsoc"]
AMOUNTS = Resources(lut=100_000, ff=200_000, bram18=300, uram=10, dsp=50)


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.name)
def test_a_published_build_is_within_the_band_and_three_times_as_much_or_a_third_is_not(build: Build) -> None:
    assert in_band(build.watts, build.likely_w), build.of_likely
    assert not in_band(3 * build.watts, build.likely_w)
    assert not in_band(build.watts / 3, build.likely_w)


def test_builds_have_sources_and_say_what_their_watts_are_of() -> None:
    counts, groups = Counter(build.group for build in BUILDS), contents()["groups"]
    assert {*counts} == {*groups}
    assert counts["rfsoc"] >= 10, "networks built by FINN and measured on a board"
    assert all(
        group["source"] and group["what"].split(":")[0] in ("measured", "estimated by Vivado 2023.2")
        for group in groups.values()
    )


def test_the_band_leaves_out_builds_whose_logic_is_not_counted() -> None:
    at_rest = [replace(build, resources={}) for build in BUILDS]
    out = [build.name for build in at_rest if not in_band(build.watts, build.likely_w)]
    assert len(out) >= 8
    assert any("mobilenet" in name for name in out)


def test_what_is_used_is_within_twice_either_way_where_it_is_not_next_to_nothing() -> None:
    used = [(build.watts - build.leakage_w - build.base_w, build.dynamic_w) for build in BUILDS if not build.held_out]
    ratios = [measured / told for measured, told in used if told > 0.25]
    assert len(ratios) >= 20
    assert all(0.5 <= ratio <= 2 for ratio in ratios)


def _fpga(part: str = "xcu50-fsvh2104-2-e", *, limit: float | None = 75, base: float | None = 12) -> FpgaEntry:
    slot = SimpleNamespace(name="fpga0.SLR0", capacity=Amounts(LUT=1_000_000))
    return FpgaEntry.model_construct(
        name="fpga0", board="mine", part=part, slots=[slot], power_limit_w=limit, power_base_w=base
    )


def _power(fpga: FpgaEntry, *phases: tuple[str | None, Resources], mhz: float = 200, times: int = 1) -> PowerEntry:
    platform = PlatformEntry.model_construct(fpgas=[fpga], infrastructure=[])
    made: list[Any] = [
        SimpleNamespace(region=region, demand=lambda _, use=use: use, beside=lambda _: ZERO) for region, use in phases
    ]
    return power_of(platform, made, mhz, times)


def test_watts_are_those_of_the_figures_by_hand() -> None:
    found = _power(_fpga(), (None, AMOUNTS))
    (card,) = found.cards
    assert card.static_w == pytest.approx(12 + 2.55)
    in_use = 100_000 * 6 + 200_000 * 28 + 300 * 11_000 + 10 * 44_000 + 50 * 1_100
    assert card.dynamic_w == pytest.approx(200 * in_use / 1e9)
    assert (card.low_w, card.high_w) == pytest.approx((card.likely_w / 1.5, card.likely_w * 1.5))


def test_what_is_used_grows_with_the_clock_and_what_leaks_does_not() -> None:
    slow, fast = (_power(_fpga(), (None, AMOUNTS), mhz=mhz).cards[0] for mhz in (100, 300))
    assert fast.dynamic_w == pytest.approx(3 * slow.dynamic_w)
    assert fast.static_w == slow.static_w


def test_phases_that_follow_one_another_count_once_and_regions_side_by_side_all() -> None:
    alone = _power(_fpga(), (None, AMOUNTS)).cards[0].dynamic_w
    assert _power(_fpga(), (None, AMOUNTS), (None, ZERO)).cards[0].dynamic_w == pytest.approx(alone)
    assert _power(_fpga(), ("a", AMOUNTS), ("b", AMOUNTS)).cards[0].dynamic_w == pytest.approx(2 * alone)


def test_all_cards_of_copies_are_counted() -> None:
    one, four = (_power(_fpga(), (None, AMOUNTS), times=times) for times in (1, 4))
    assert four.likely_w == pytest.approx(4 * one.likely_w)
    assert four.cards == one.cards
    assert "all cards" in "\n".join(power_lines(four, [_fpga()]))


def test_seven_series_takes_twice_as_much_in_use() -> None:
    new, old = (_power(_fpga(part), (None, AMOUNTS)) for part in ("xczu7ev-ffvc1156-2-e", "xc7z045ffg900-2"))
    assert old.cards[0].dynamic_w == pytest.approx(2 * new.cards[0].dynamic_w)


def test_a_card_is_warned_of_where_it_is_likely_above_its_limit_not_where_that_is_only_possible() -> None:
    power = _power(_fpga(), (None, AMOUNTS))
    likely, high = power.cards[0].likely_w, power.cards[0].high_w
    (told,) = power_warnings(power, [_fpga(limit=likely - 0.1)])
    assert told.startswith("power: fpga0 is likely to draw ")
    assert not [*power_warnings(power, [_fpga(limit=(likely + high) / 2)])]
    assert not [*power_warnings(power, [_fpga(limit=None)])]


def test_a_board_that_says_nothing_of_power_is_named() -> None:
    fpga = _fpga(limit=None, base=None)
    lines = power_lines(_power(fpga, (None, AMOUNTS)), [fpga])
    assert "the file of mine has no power" in " ".join(line.strip() for line in lines)


@pytest.mark.parametrize(("board", "limit"), [("alveo-u50", 75), ("alveo-u55c", 150), ("alveo-u250", 225)])
def test_limits_of_boards_are_those_that_amd_states(board: str, limit: float) -> None:
    text = (ROOT / "platforms" / "boards" / f"{board}.yaml").read_text(encoding="utf-8")
    assert f"limit_w: {limit}}}" in text
