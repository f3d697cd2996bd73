"""Bands of error, how likely a sum of estimates fits, and what starting anew adds to an interval."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.cost.calibrated import band, relative_band
from floorflow.backends.finn.kinds.kind import priced
from floorflow.backends.finn.kinds.registry import KINDS, kind_of
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.rates.start_up import HLS_RESTART_CYCLES, Pace, expected_cycles
from floorflow.dataflow import bands
from floorflow.dataflow.bands import CROSSING, FF_PER_LUT, LESS, MORE, uncertain_sum
from floorflow.dataflow.model import Attributes, Engine, Option
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.technology import technology_of

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
    outcome = uncertain_sum(use, relative_band, counted)
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
    assert uncertain_sum({"MVAU_hls": Resources(lut=10)}, relative_band).told(plenty) == 0.98
    assert uncertain_sum({CROSSING: Resources(ff=10)}, relative_band).told(plenty) == 1
    unlikely = uncertain_sum({"MVAU_hls": Resources(lut=1000)}, relative_band)
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


def mvau(**folding: object) -> Engine:
    attributes = {"MW": 64, "MH": 64, "numInputVectors": (1,), "noActivation": 1, "accDataType": "INT20"}
    types = {"inputDataType": "UINT4", "weightDataType": "INT4", "outputDataType": "INT20"}
    return Engine("MVAU_hls_0", "MVAU_hls", "", attributes | types, 4, 4, 20, folding={"PE": 4, "SIMD": 8, **folding})


def priced_and_in_doubt(engine: Engine, **options: str) -> tuple[Resources, Resources, Resources]:
    """Return the price of the engine as it is folded, and what it may take less and more."""
    return priced_as(engine, engine.folding, **options)


def priced_as(engine: Engine, folding: Attributes, **options: str) -> tuple[Resources, Resources, Resources]:
    costs = BACKEND.costs(technology_of("xczu7ev-ffvc1156-2-e"), FinnOptions(**options))
    attributes = {**engine.attributes, **folding}
    told = priced(kind_of(engine.kind).unit(attributes, costs.finn), costs.technology, "calibrated")
    option = Option(folding, 1, told, (32,), (80,))
    return told, *costs.doubt(engine, option)


def test_products_that_hls_places_span_both_where_its_version_is_not_known() -> None:
    for finn, in_dsp in (("main", True), ("plus", False)):
        told, less, more = priced_and_in_doubt(mvau(resType="auto"), finn=finn)
        assert (told.dsp > 0) == in_dsp
        placed = {name: priced_and_in_doubt(mvau(resType=name), finn=finn)[0] for name in ("lut", "dsp")}
        assert told.dsp - less.dsp == 0
        assert told.dsp + more.dsp == placed["dsp"].dsp >= 32
        assert told.lut - less.lut == placed["dsp"].lut
        assert told.lut + more.lut == placed["lut"].lut


@pytest.mark.parametrize("vivado", ["2022.1", "2022.2"])
def test_a_version_that_is_given_leaves_no_doubt(vivado: str) -> None:
    told, less, more = priced_and_in_doubt(mvau(resType="auto"), finn="main", vivado=vivado)
    assert told.dsp == 36
    assert less == more == Resources()


def test_what_no_build_shows_stays_in_doubt_by_a_version_that_is_given() -> None:
    """HLS 2024.2 was seen with 2 x 2 bits alone, 2023.x not at all."""
    for vivado in ("2023.2", "2024.2"):
        told, less, more = priced_and_in_doubt(mvau(resType="auto"), finn="main", vivado=vivado)
        assert {told.dsp - less.dsp, told.dsp + more.dsp} == {0, 36}
    stated = priced_and_in_doubt(mvau(resType="lut"), finn="main", vivado="2024.2")
    assert stated[1] == stated[2] == Resources()


def test_newer_hls_takes_more_registers_for_products_in_luts() -> None:
    """By 0.66 for each bit of the operands: 32 products of 8 bits."""
    old, new = (priced_and_in_doubt(mvau(resType="lut"), finn="main", vivado=v)[0] for v in ("2022.2", "2023.2"))
    assert new.ff - old.ff == pytest.approx(0.66 * 32 * 8, abs=1)
    unknown = priced_and_in_doubt(mvau(resType="lut"), finn="main")
    assert (unknown[0].ff, unknown[0].ff + unknown[2].ff) == (old.ff, new.ff)


def test_a_folding_of_nobody_knows_which_finn_spans_its_streamers() -> None:
    """FINN main's has neither queue nor output register; of what floorflow folds anew the FINN is what it emits for."""
    given = mvau(resType="lut", ram_style="block")
    known, less, more = priced_and_in_doubt(given, finn="main", vivado="2022.2")
    assert less == more == Resources()
    told, _, more = priced_and_in_doubt(given, vivado="2022.2")
    assert told == known
    assert more.ff == priced_and_in_doubt(given, finn="plus", vivado="2022.2")[0].ff - told.ff > 0
    assert priced_as(replace(given, folding={}), given.folding, vivado="2022.2")[1:] == (Resources(), Resources())


def test_doubts_of_all_engines_are_one_and_no_part_of_the_estimate() -> None:
    use = {"MVAU_hls": Resources(lut=1000), MORE: Resources(lut=400)}
    assert bands.estimate_of(use) == Resources(lut=1000)
    mean, deviation = bands.moments(use, "LUT", lambda *_: (1.0, 1.0))
    assert (mean, deviation) == (1200, pytest.approx(200 / 1.2816))
    low, high = bands.spread({LESS: Resources(dsp=64), "MVAU_hls": Resources(dsp=64)}, lambda *_: (1.0, 1.0))
    assert (low.dsp, high.dsp) == (0, 64)


def test_a_finn_that_refuses_an_engine_has_not_built_it() -> None:
    """FINN+ alone fetches weights through a memory of its own."""
    given = mvau(resType="lut", mem_mode="external_mem")
    costs = BACKEND.costs(technology_of("xczu7ev-ffvc1156-2-e"), FinnOptions(vivado="2022.2"))
    costs = replace(costs, finn="plus")
    told = priced(
        kind_of("MVAU_hls").unit({**given.attributes, **given.folding}, "plus"), costs.technology, "calibrated"
    )
    assert costs.doubt(given, Option(given.folding, 1, told, (32,), (80,))) == (Resources(), Resources())
