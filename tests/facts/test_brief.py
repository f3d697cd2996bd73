"""The summary: ten lines of a hundred characters, its sentences, and that nothing else says otherwise."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import floorflow as ff
from floorflow.backends.finn.backend import BACKEND
from floorflow.emit.bundle import report_text
from floorflow.facts import Extras, Plan, figures
from floorflow.facts.brief import MOST_LINES, WIDTH, clause, summary, ways_on
from floorflow.facts.explain import Explainer
from floorflow.facts.plan import UNBUILT
from floorflow.facts.search import ended
from floorflow.view.names import network_rate_text
from tests.facts.test_report import PART, bounded, changed, context, platform_of, section


def told(plan: Plan, **more: Any) -> str:
    return summary([replace(context(plan), **more)])


def line(plan: Plan, label: str, **more: Any) -> str:
    """Return the first line with a label, without it."""
    found = [text for text in told(plan, **more).splitlines() if text.startswith(f"{label:<12}")]
    return found[0][12:] if found else ""


def limited(plan: Plan) -> Plan:
    """Return the plan as one whose engines have a limit."""
    return changed(plan, "options", "max_products", value="1:8192")


def free(bound_cycles: int, *options: str) -> Extras:
    """Return extras that know the bound without limits on engines."""
    own = {"bound_cycles": bound_cycles, "options": options}
    known = {"plan_sha256": "", "without_limits": own, "bargains": None, "left_out": []}
    return Extras.model_validate({"schema": "floorflow-extras/1"} | known)


def crowded(plan: Plan) -> Plan:
    """Return a plan with more to tell than there are lines, and longer names than a line."""
    long = "a_network_of_a_very_long_name_" * 4
    data = plan.model_dump(by_alias=True)
    data["warnings"] = [f"{UNBUILT}{'no tool does that, ' * 9}", f"{UNBUILT}nor that", "and more: " + "so, " * 50]
    for engine in data["networks"][0]["engines"]:
        engine["operation"] = f"/{long}/{engine['name']}"
    for use in data["phases"][0]["partition"]["utilisation"].values():
        use["LUT"] = 0.99
    return Plan.model_validate(data)


@pytest.mark.parametrize("name", ["pynq", "u250", "two"])
@pytest.mark.parametrize("full", [False, True])
def test_it_has_ten_lines_of_a_hundred_characters_at_most(
    name: str, full: bool, request: pytest.FixtureRequest
) -> None:
    plan: Plan = request.getfixturevalue(name)
    plan = crowded(plan) if full else plan
    extras = free(500, "max_products", "max_engine_share")
    ways = ways_on("out", ["report.txt"], "floorflow check out")
    lines = summary([replace(context(plan), extras=extras)], ways).splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines)) <= WIDTH
    assert lines[-2:] == ["open        out: report.txt", "next        floorflow check out"]
    kept = {"limited by", "lifted by", "fullest", "fits", "proven"}
    assert kept <= {text[:12].strip() for text in lines}
    assert lines[0].startswith(UNBUILT) is bool(plan.unbuilt)


def test_paths_and_commands_are_never_cut() -> None:
    folder = "a/long/folder" * 9
    opened, command = map(
        str, ways_on(folder, ["plots/floorplan_fpga0.png", "report.txt"], f"floorflow check {folder}")
    )
    assert opened == f"open        {folder}: plots/floorplan_fpga0.png"
    assert command == f"next        floorflow check {folder}"


def test_the_page_is_opened_first_and_a_picture_where_there_is_none() -> None:
    names = ["NEXT.md", "plots/floorplan_fpga0.png", "report.html", "report.txt"]
    assert next(line.text for line in ways_on("out", names, "")) == "out: report.html, report.txt, NEXT.md"
    del names[2]
    assert next(line.text for line in ways_on("out", names, "")).startswith("out: plots/floorplan_fpga0.png, report")


def test_a_clause_ends_where_a_reader_would_end_it() -> None:
    assert clause("FINN builds for one card, this plan has 2: folding and cut", 50) == (
        "FINN builds for one card, this plan has 2"
    )
    assert clause("short enough: it stays", 50) == "short enough: it stays"
    assert clause("one part, and another that is too long", 20) == "one part"
    assert clause("no mark to end it at all", 15) == "no mark to..."


def test_the_layer_of_the_user_stands_beside_the_engine(u250: Plan) -> None:
    engine = u250.phases[0].networks[0].estimates.bottleneck
    layer = next(entry.operation for entry in u250.networks[0].engines if entry.name == engine)
    assert line(u250, "limited by").startswith(f"layer {layer} ({engine}): ")
    assert f"bottleneck {engine} ({layer}))" in figures(u250)[0]
    assert any(f"{engine} ({layer}; " in text for text in section(u250, "Rate"))
    data = u250.model_dump(by_alias=True)
    assert network_rate_text(data, data["phases"][0]["networks"][0]).endswith(f"bottleneck {engine} ({layer})")


def test_the_report_begins_with_it(u250: Plan) -> None:
    head = report_text(u250, platform_of(u250), BACKEND).splitlines()[2:]
    assert "\n".join(head[: head.index("")]) == summary([context(u250)], rest="below")


def test_one_rate_and_one_latency_everywhere(cnv_on_u250: Path) -> None:
    plan = ff.load(cnv_on_u250)
    (row,) = plan.plan.summary.networks
    estimates = plan.plan.phases[0].networks[0].estimates
    assert estimates.throughput is not None
    assert row.fps == estimates.believed_fps == row.sustained_fps
    assert row.latency_us == estimates.throughput.first_frame_cycles / row_clock(plan.plan)
    report = (cnv_on_u250 / "report.txt").read_text()
    rates = set(re.findall(r"([\d,]+)(?:\.\d+)? frames/s(?: \(interval|: one|; \d+ MHz)", report))
    assert rates == {f"{int(row.fps):,}"}
    assert f"{row.latency_us:,.1f} us" in report
    data = plan.plan.model_dump(by_alias=True)
    assert f"{int(row.fps):,} frames/s at" in network_rate_text(data, data["phases"][0]["networks"][0])


def row_clock(plan: Plan) -> float:
    return plan.summary.clock_mhz


def test_a_deadlock_is_told_in_the_place_of_a_rate(u250: Plan) -> None:
    timed = u250.phases[0].networks[0].estimates.throughput
    assert timed is not None
    stuck = changed(u250, *PART, "estimates", "throughput", value={**timed.model_dump(), "deadlock": ["a->b"]})
    assert "no frames, the planned FIFOs deadlock" in told(stuck).splitlines()[0]


@pytest.mark.parametrize(
    ("bounds", "sentence"),
    [
        ((1000, 1000, None), "No faster folding fits this board, with engines of the allowed size: proven."),
        ((1000, 500, 1000), "No faster folding fits the dies of this board: proven."),
        ((1000, 500, 800), "A folding up to 25.0% faster is not excluded; none was found."),
        ((1000, 500, None), "A folding up to 100.0% faster is not excluded; none was found."),
    ],
)
def test_what_is_proven_is_told_in_a_sentence(u250: Plan, bounds: tuple[int, int, int | None], sentence: str) -> None:
    assert line(limited(bounded(u250, *bounds)), "proven") == sentence


def test_limits_on_engines_are_no_part_of_the_proof_where_they_cost_nothing(u250: Plan) -> None:
    plan = limited(bounded(u250, 1000, 1000, None))
    assert line(plan, "proven", extras=free(1000)) == "No faster folding fits this board: proven."
    extras = free(500, "max_products")
    assert line(plan, "proven", extras=extras).endswith(", with engines of the allowed size: proven.")
    clock_mhz = row_clock(plan)
    lifted = [text[12:] for text in told(plan, extras=extras).splitlines() if text.startswith("lifted by")]
    assert f"--max-products none: {int(clock_mhz * 1e6 / 500):,} frames/s at most, not planned" in lifted


def test_a_refusal_for_a_resource_names_the_cap_that_allows_more(pynq: Plan) -> None:
    cycles = pynq.networks[0].search.interval_cycles
    refusal = {"what": "slots together", "resource": "LUT", "place": "", "needed": 101, "allowed": 100}
    row = {
        "phase": "main",
        "interval_cycles": cycles - 1,
        "verdict": "proven infeasible",
        "stage": "fold",
        "detail": "",
        "refusals": [{**refusal, "proven": True, "names": []}],
    }
    plan = changed(pynq, "networks", 0, "trace", value=[row])
    cap = pynq.options.cap.LUT
    more = f"{int(row_clock(plan) * 1e6 / (cycles - 1)):,} frames/s may fit"
    assert line(plan, "lifted by") == f"--cap LUT={cap * 1.01 + 0.005:.2f}: {more}"


def test_a_proof_within_hops_says_so_beside_the_option_that_allows_more(u250: Plan) -> None:
    plan = bounded(u250, 1000, 500, 1000)
    refusal = {"what": "slots and hops", "resource": "", "place": "", "needed": None, "allowed": 1}
    row = {
        "phase": "main",
        "interval_cycles": 900,
        "verdict": "proven infeasible",
        "stage": "partition",
        "detail": "",
        "refusals": [{**refusal, "proven": True, "names": []}],
    }
    plan = changed(plan, "networks", 0, "trace", value=[row])
    plan = changed(plan, "networks", 0, "search", "ended_by", value="no assignment allows a shorter interval")
    network = plan.networks[0]
    within = " while streams cross at most 1 SLR boundary"
    assert ended(network.search, network.trace) == f"{network.search.ended_by}{within}"
    assert any(text.endswith(within) for text in figures(plan))
    assert line(plan, "proven").endswith("where streams cross at most 1 SLR boundary: proven.")
    assert ended(network.search, []) == network.search.ended_by


def test_a_pblock_that_lacks_room_is_told_as_hard_everywhere(u250: Plan) -> None:
    module = next(iter(u250.phases[0].floorplan["fpga0"].pblocks))
    short = changed(u250, "phases", 0, "floorplan", "fpga0", "pblocks", module, "short", value=True)
    assert not any("nothing beyond what is comfortable" in text for text in figures(short))
    assert line(short, "hard").startswith(f"pblocks {module}, 1 short of room, its slot has no more")


def test_a_die_that_one_module_has_alone_is_told_to_have_no_floorplan(pynq: Plan) -> None:
    alone = changed(pynq, "phases", 0, "constraint_styles", value={"fpga0.SLR0": "none"})
    alone = changed(alone, "options", "constraint_style", value="auto")
    module = pynq.phases[0].modules[0].name
    assert line(alone, "floorplan") == f"none: the module {module} has 100% of the plan's LUTs, no pblock is needed"
    hard = changed(alone, "phases", 0, "constraint_styles", value={"fpga0.SLR0": "hard"})
    assert line(hard, "floorplan") == ""


def test_a_confidence_that_is_not_held_is_told_with_what_was_asked_for(u250: Plan) -> None:
    unheld = {"held": False, "likelihood": 0.5, "place": "fpga0.SLR0", "without": None}
    plan = changed(u250, "phases", 0, "confidence", value=unheld)
    assert line(plan, "fits").startswith("each part only ")
    assert f"{u250.options.confidence_bound or 0:.0%} was asked for" in line(plan, "fits")


def test_weights_that_software_writes_come_before_what_is_assumed(u250: Plan) -> None:
    none = {"least": 1, "bound_cycles": None, "without_bound_cycles": None, "without_cycles": None, "sought": False}
    plan = changed(u250, *PART, "host_weights", value={"engines": ["MVAU_hls_8"], **none})
    assert line(plan, "before use").startswith("software writes the weights of 1 engine before the first frame")


def test_report_txt_does_not_send_its_reader_to_itself(two: Plan) -> None:
    plan = crowded(two)
    assert "report.txt" in told(plan)
    above = report_text(plan, platform_of(plan), BACKEND).partition("\nIn figures\n")[0]
    assert "report.txt" not in above
    assert "more: below" in above


def test_what_is_fullest_has_one_form_wherever_it_is_told(u250: Plan) -> None:
    fullest = line(u250, "fullest")
    assert re.fullmatch(r"\w+ of \S+: [\d.]+% used, \d+% allowed", fullest)
    resource, _, slot, *shares = fullest.replace(":", "").split()
    told_in_slot = f"{resource}: {' '.join(shares)}"
    assert any(text.startswith(f"  fullest   {fullest}") for text in figures(u250))
    assert any(text.startswith(slot) and text.endswith(told_in_slot) for text in section(u250, "Use of each slot"))
    assert fullest in "\n".join(section(u250, "How far from optimal"))
    about = Explainer([context(u250)], lambda _engine, _way: None, {})
    assert f"fullest     {fullest}" in about.explain().text
    assert " ".join(shares) in about.explain(slot).text
    assert " ".join(shares) in about.explain(resource).text
