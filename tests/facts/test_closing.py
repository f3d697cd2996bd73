"""What makes a plan hard to close, from its own figures, and its rates at other clocks."""

import re
from pathlib import Path

import pytest

import floorflow as ff
from floorflow.facts import Plan, figures
from floorflow.facts.closing import COMFORTABLE_SLOT, NO_BUILD, Closing, closing
from floorflow.facts.explain import Explainer
from tests.facts.test_report import PART, changed, context, section, steps


def item(plan: Plan, what: str) -> Closing:
    return next(item for item in closing(plan, plan.phases[0]) if item.what == what)


def test_rates_are_told_at_the_plans_clock_and_at_three_others(pynq: Plan) -> None:
    estimates = pynq.phases[0].networks[0].estimates
    rates = dict(estimates.clock_rates)
    assert list(rates) == [100, 150, 200, 250]
    assert rates[100] == estimates.believed_fps
    assert rates[250] == pytest.approx(2.5 * estimates.believed_fps)
    assert [line.split()[0] for line in section(pynq, "Clock")[-4:]] == ["100", "150", "200", "250"]
    assert "100 MHz is assumed" in "\n".join(section(pynq, "Clock"))


def test_where_fifos_do_not_keep_the_rate_other_clocks_do_no_better(pynq: Plan) -> None:
    throughput = pynq.phases[0].networks[0].estimates.throughput
    assert throughput is not None
    shallow = [{"channel": pynq.phases[0].channels[0].name, "planned": 2, "needed": 9}]
    slow = changed(pynq, *PART, "estimates", "throughput", value={**throughput.model_dump(), "shallow": shallow})
    slow = changed(slow, *PART, "estimates", "expected_cycles", value=10_000_000)
    assert dict(slow.phases[0].networks[0].estimates.clock_rates)[200] == pytest.approx(20.0)


def test_the_full_slot_is_the_one_farthest_beyond_what_is_comfortable(u250: Plan) -> None:
    used = u250.phases[0].partition.utilisation
    found = item(u250, "full slot")
    most = max((used[slot][r] / COMFORTABLE_SLOT[r], f"{r} of {slot}") for slot in used for r in used[slot])
    assert found.where == most[1]
    assert found.is_hard is (most[0] > 1)
    assert found.way.startswith("--cap ")


def test_a_slot_within_what_is_comfortable_is_not_hard(u250: Plan) -> None:
    used = {slot: dict.fromkeys(shares, 0.1) for slot, shares in u250.phases[0].partition.utilisation.items()}
    found = item(changed(u250, "phases", 0, "partition", "utilisation", value=used), "full slot")
    assert not found.is_hard


def with_engine(plan: Plan, **amounts: int) -> Plan:
    """Return the plan with an engine that takes this much."""
    engines = plan.phases[0].networks[0].folding.model_dump()["engines"]
    first = next(iter(engines))
    engines[first]["resources"] |= amounts
    return changed(plan, *PART, "folding", "engines", value=engines)


@pytest.mark.parametrize(("lut", "hard"), [(50_000, False), (200_000, True)])
def test_an_engine_beyond_a_quarter_of_its_slot_is_hard(u250: Plan, lut: int, hard: bool) -> None:
    small = {name: {**e.resources.model_dump(), "LUT": 1} for name, e in u250.phases[0].engines.items()}
    engines = u250.phases[0].networks[0].folding.model_dump()["engines"]
    for name, amounts in small.items():
        engines[name]["resources"] = amounts
    plan = with_engine(changed(u250, *PART, "folding", "engines", value=engines), LUT=lut)
    found = item(plan, "largest engine")
    assert found.where == plan.named(next(iter(small)))
    assert found.is_hard is hard


def test_in_a_small_slot_an_engine_of_20_000_luts_is_comfortable(pynq: Plan) -> None:
    found = item(with_engine(pynq, LUT=20_000), "largest engine")
    assert "20,000 LUT" in found.found
    assert not found.is_hard


def test_the_longest_stream_is_measured_from_register_to_register_and_by_the_clock(u250: Plan) -> None:
    longest = u250.phases[0].floorplan["fpga0"].model_dump()["longest"]
    for reach, is_hard in ((2400.0, False), (60.0, True)):
        rows = [row | {"comfortable_tiles": reach} for row in longest]
        found = item(changed(u250, "phases", 0, "floorplan", "fpga0", "longest", value=rows), "longest stream")
        assert found.is_hard is is_hard
        assert found.comfortable == f"{reach:,.0f}"


def test_slices_make_the_longest_stream_shorter_only_where_they_are_built(u250: Plan) -> None:
    longest = u250.phases[0].floorplan["fpga0"].model_dump()["longest"]
    rows = [row | {"unsliced_tiles": 900.0, "way_tiles": 90.0, "slices": 9} for row in longest]
    sliced = changed(u250, "phases", 0, "floorplan", "fpga0", "longest", value=rows)
    for built, tiles in ((True, 90), (False, 900)):
        found = item(changed(sliced, "phases", 0, "slices_built", value=built), "longest stream")
        assert found.found.startswith(f"{tiles} columns and rows between registers (")
        assert found.is_hard is not built


def test_the_longest_stream_is_told_by_both_measures_in_the_same_words_everywhere(u250: Plan) -> None:
    longest = u250.phases[0].floorplan["fpga0"].model_dump()["longest"]
    rows = [row | {"tiles": 800.0, "unsliced_tiles": 700.0, "way_tiles": 90.0 - at} for at, row in enumerate(longest)]
    plan = changed(u250, "phases", 0, "floorplan", "fpga0", "longest", value=rows)
    told = item(plan, "longest stream").found
    assert told.startswith("90 columns and rows between registers (800 end to end")
    heading, first, *_ = section(plan, "Longest streams")[-len(rows) - 1 :]
    assert re.split("  +", heading)[:5] == ["FPGA", "between registers", "end to end", "slices", "without slices"]
    assert first.split()[1:3] == ["90", "800"]
    page = Explainer([context(plan)], lambda _engine, _way: None, {}).explain(rows[0]["channel"]).text
    assert told in " ".join(page.split())


def test_a_stream_over_several_boundaries_is_hard(u250: Plan) -> None:
    crossings = [{**c.model_dump(), "hops": 1} for c in u250.phases[0].partition.crossings]
    assert not item(changed(u250, "phases", 0, "partition", "crossings", value=crossings), "most hops").is_hard
    crossings[-1]["hops"] = 3
    found = item(changed(u250, "phases", 0, "partition", "crossings", value=crossings), "most hops")
    assert found.is_hard
    assert found.where == crossings[-1]["channel"]


def test_of_a_plan_that_no_build_ends_registers_and_slices_are_planned_alone(two: Plan) -> None:
    phase = two.phases[0]
    assert two.unbuilt
    assert two.crossings_built(phase)
    rows = two.registers_at_boundaries(phase)
    assert rows
    assert not any(row.built for row in rows)
    found = item(two, "SLR boundaries")
    assert (found.is_hard, found.way) == (True, NO_BUILD)
    assert "planned, not built" in found.found
    assert not [each for each in closing(two, phase) if each.what == "most hops" and not each.is_hard]
    built = changed(two, "warnings", value=[])
    assert not item(built, "SLR boundaries").is_hard


def test_the_summary_tells_only_what_is_hard_and_the_report_all(u250: Plan) -> None:
    items = closing(u250, u250.phases[0])
    lines = [line for line in figures(u250) if line.startswith("  hard")]
    assert len(lines) == sum(item.is_hard for item in items)
    assert len(section(u250, "What makes it hard to close")) == len(items) + 1


def test_python_has_the_same_figures(cnv_on_u250: Path) -> None:
    summary = ff.load(cnv_on_u250).summary
    assert [row["clock_mhz"] for row in summary["networks"][0]["clocks"]] == [150, 200, 250]
    assert {row["what"] for row in summary["closing"]} >= {"full slot", "largest engine"}


def test_no_advice_follows_from_the_bound_on_wire_length(u250: Plan) -> None:
    stats = {"method": "auto", "status": "feasible", "objective": 100.0, "bound": 8.0, "gap": 0.92}
    weak = changed(u250, "phases", 0, "floorplan", "fpga0", "stats", value=stats)
    assert steps(weak) == steps(u250)
    assert "wire" not in steps(weak).replace("wires x boundaries", "")
