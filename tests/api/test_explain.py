"""A plan explained: prices hold in a plan made anew, every name of the plan and word of the glossary has an answer."""

import json
import shlex
import shutil
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

import floorflow as ff
from benchmarks.explain import rows_of
from floorflow.api.explaining import explain
from floorflow.errors import InputError, required
from floorflow.facts import Plan, read_plan
from floorflow.facts.explain import Explainer, glossary_words
from floorflow.facts.extras import LESS_RATE, best_bargains
from floorflow.facts.steps import Step
from floorflow.resources import RESOURCE_NAMES, Resources, total
from floorflow.study.steps import Steps
from tests.command_line import floorflow
from tests.conftest import Planned
from tests.plans import EXAMPLES, PLANS, ROOT, TFC

WORDS = glossary_words((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))


@pytest.fixture
def zynq(planned: Planned, tmp_path: Path) -> Path:
    """A plan in a folder of its own, beside its model and with room for others."""
    shutil.copy(TFC, tmp_path)
    return Path(shutil.copytree(planned(PLANS["TFC on a Zynq"]), tmp_path / "out"))


def unpriced(_engine: str, _way: str) -> Step:
    raise InputError("the model is gone")


def used(plan: Plan) -> Resources:
    return total(plan.only_phase.demand(slot.name) for slot in plan.platform.slots)


@pytest.mark.parametrize(
    ("words", "way"), [([], "slower"), pytest.param(["MVAU_hls_1"], "faster", marks=pytest.mark.slow)]
)
def test_the_commands_of_a_step_make_a_plan_that_changes_as_priced(zynq: Path, words: list[str], way: str) -> None:
    (step,) = (step for step in explain(zynq, *words).steps if step.way == way)
    for command in step.commands:
        done = floorflow(*shlex.split(command)[1:])
        assert done.returncode == 0, done.stderr
    before, after = (read_plan(folder / "plan.json") for folder in (zynq, zynq.with_name(f"out_{way}")))
    change = (used(after) - used(before)).as_dict()
    assert change["LUT"]
    assert {name for name in change if change[name]} == {name for name in change if step.resources[name]}
    for name in RESOURCE_NAMES:
        assert step.resources[name] == pytest.approx(change[name], rel=0.1)
    assert step.fps == pytest.approx(after.summary.networks[0].fps, rel=0.01)
    assert step.interval_cycles == after.only_phase.networks[0].interval_cycles
    folded = after.only_phase.engines
    assert all(folded[name].attributes == made.attributes for name, made in step.engines.items())


@pytest.mark.parametrize("resource", RESOURCE_NAMES)
def test_each_resource_of_a_plan_with_large_memories_has_its_users(resource: str, planned: Planned) -> None:
    found = Explainer(ff.load(planned(PLANS["CNV on a card by SLRs"])).views, unpriced, WORDS)
    assert "users" in found.explain(resource).text


@pytest.mark.slow
def test_prices_of_larger_plans_hold(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)  # where the model is found
    pairs = []
    for name in ("CNV on a Zynq", "CNV over several SLRs, with engines as large as they may be"):
        out = planned(PLANS[name])
        for row in rows_of(name, out, read_plan(out / "plan.json"), 6):
            assert row.seconds < 10
            assert row.anew is not None or row.step.short
            pairs += row.pairs
    assert len(pairs) > 12
    assert sum(priced * anew > 0 for priced, anew in pairs) >= 0.95 * len(pairs)
    assert statistics.median(abs(priced - anew) / abs(anew) for priced, anew in pairs if anew) <= 0.1


def test_the_story_names_what_limits_what_is_full_and_what_a_step_gives(zynq: Path) -> None:
    found, plan = explain(zynq), read_plan(zynq / "plan.json")
    part = plan.only_phase.networks[0]
    assert len(found.lines) < 25
    assert plan.named(part.estimates.bottleneck).partition(" ")[0] in found.text
    labels = {line.split("  ")[0] for line in found.lines}
    assert {"limited by", "why", "one slower", "fullest", "fits", "proven", "crossing"} <= labels
    assert any(line.strip().startswith("floorflow plan ") and "--stay-near" in line for line in found.lines)
    assert json.loads(floorflow("explain", zynq, "--json").stdout)["lines"] == list(found.lines)


def test_faster_needs_more_and_slower_takes_less_of_an_engine(zynq: Path) -> None:
    price, ways = Steps.of(zynq, read_plan(zynq / "plan.json")).of_engine, ("faster", "slower")
    steps = {way: required(price("MVAU_hls_1", way)) for way in ways}
    faster, slower = (steps[way].engines["MVAU_hls_1"] for way in ("faster", "slower"))
    assert faster.cycles[1] < faster.cycles[0] == slower.cycles[0] < slower.cycles[1]
    assert faster.resources[1]["LUT"] > faster.resources[0]["LUT"] > slower.resources[1]["LUT"]
    for step in steps.values():
        low, high = step.within["LUT"]
        assert low <= step.resources["LUT"] <= high
        assert ("LUT" in step.sure) == (low * high > 0)


def test_signs_are_sure_only_where_the_errors_of_the_costs_are_known_and_leave_them(zynq: Path) -> None:
    step = explain(zynq, "MVAU_hls_1").steps[0]
    changes = {**dict.fromkeys(RESOURCE_NAMES, 0), "LUT": 100, "DSP": -2}
    known = replace(
        step, resources=changes, within={**dict.fromkeys(RESOURCE_NAMES, (0, 0)), "LUT": (80, 130), "DSP": (-5, 1)}
    )
    assert known.sure == ["LUT"]
    assert known.price == "+100 LUT (+80 to +130), -2 DSP (-5 to +1); sign of DSP not sure"
    unknown = replace(known, within={})
    assert unknown.sure == []
    assert unknown.price == "+100 LUT, -2 DSP; how far these costs may be off is not known"


def test_a_slower_step_is_offered_only_if_it_frees_a_larger_share_than_it_costs_of_the_rate(zynq: Path) -> None:
    """An engine of a balanced pipeline costs the rate of all of it; all engines together are slower for little."""
    (whole,) = [step for step in explain(zynq).steps if step.way == "slower"]
    assert whole.frees > whole.loses > 0
    assert f"worth it: frees {whole.frees:.1%} of all that the design takes" in explain(zynq).text
    one = explain(zynq, "MVAU_hls_1")
    assert [step.way for step in one.steps] == ["faster"]
    assert "not worth it: frees " in one.text
    assert "--slower" not in one.text
    with pytest.raises(InputError, match="no such step"):
        explain(zynq, "MVAU_hls_1", slower=zynq.with_name("new"))
    dear = replace(whole, loses=1.0)
    views = ff.load(zynq).views
    for step in (dear, None):
        told = Explainer(views, lambda _, way, step=step: step if way == "slower" else None, WORDS).explain("LUT")
        assert told.steps == ()
        assert "none is worth it" in " ".join(told.text.split())


def test_what_less_rate_frees_is_the_reports_answer_and_each_names_the_other(planned: Planned) -> None:
    out = planned(PLANS["TFC on a Zynq and what less rate would free"])
    report = (out / "report.txt").read_text(encoding="utf-8").partition(f"\n{LESS_RATE}\n")[2]
    story = " ".join(explain(out).text.split())
    assert f"{LESS_RATE} in report.txt" in story
    assert "single step" in report.partition("\n\n")[0]
    view = ff.load(out).views[0]
    assert view.extras is not None
    best = best_bargains(view.extras, view.plan.options.cap.as_dict())
    assert all(line in report and line in story for line in best)
    assert best or "no lower rate" in story


def test_everything_in_a_plan_has_an_answer(zynq: Path) -> None:
    views = ff.load(zynq).views
    plan, phase = views[0].plan, views[0].phase
    about = Explainer(views, unpriced, WORDS)
    found = {}
    for name in [*plan.engines, *(e.operation for e in plan.engines.values()), *(s.name for s in plan.platform.slots)]:
        found[name] = about.explain(name)
    for name in [*(c.name for c in phase.channels), *RESOURCE_NAMES, *WORDS]:
        found[name] = about.explain(name)
    assert {each.kind for each in found.values()} == {"engine", "layer", "slot", "stream", "resource", "word"}
    assert all(each.lines and each.topic == name for name, each in found.items())
    channel = next(c for c in phase.channels if c.fifo_depth > 2)
    assert f"{channel.fifo_depth:,} words" in found[channel.name].text
    slot = plan.platform.slots[0].name
    assert f"{phase.demand(slot).lut:,}" in found[slot].text
    assert about.explain(slot.replace(".", "/").lower()) == found[slot]
    assert f"{plan.only_network.search.interval_cycles:,}" in about.explain("interval").text
    assert "the model is gone" in about.explain("MVAU_hls_0").text


def test_streams_over_links_and_slots_of_two_cards_are_told(branches_on_two_u250: Path) -> None:
    views = ff.load(branches_on_two_u250).views
    about, (phase,) = Explainer(views, unpriced, WORDS), views[0].plan.phases
    over = next(crossing for crossing in phase.partition.crossings if crossing.kind == "link")
    assert f"{over.source} to {over.target} (link)" in about.explain(over.channel).text
    assert "Gb/s" in about.explain().text
    for slot in (over.source, over.target):
        count = sum(slot in (crossing.source, crossing.target) for crossing in phase.partition.crossings)
        assert f"crossing    {count} streams" in about.explain(slot).text
    with pytest.raises(InputError, match="may be any of"):
        about.explain("slr0")


def test_a_name_that_nothing_has_is_refused_with_those_near_it(zynq: Path) -> None:
    done = floorflow("explain", zynq, "MVAU_hls_11")
    assert done.returncode == 2
    assert "MVAU_hls_1" in done.stderr
    assert floorflow("explain", zynq, "").returncode == 2


def test_a_name_that_several_have_lists_them(zynq: Path) -> None:
    done = floorflow("explain", zynq, "gemm")
    assert done.returncode == 2
    assert all(f"Gemm_{number}" in done.stderr for number in range(4))


def test_without_its_model_a_plan_is_explained_but_for_prices(zynq: Path) -> None:
    plan = json.loads((zynq / "plan.json").read_text())
    plan["inputs"][0]["sha256"] = "0" * 64
    (zynq / "plan.json").write_text(json.dumps(plan))
    found = explain(zynq)
    assert found.steps == ()
    assert "prices      not known" in found.text
    with pytest.raises(InputError, match="no such step"):
        explain(zynq, faster=zynq.with_name("faster"))


def test_a_folding_never_takes_the_place_of_a_file(zynq: Path) -> None:
    new = zynq.with_name("new")
    explain(zynq, slower=new)
    before = (new / "folding_config.json").read_text()
    assert floorflow("explain", zynq, "--faster", new).returncode == 2
    assert (new / "folding_config.json").read_text() == before
