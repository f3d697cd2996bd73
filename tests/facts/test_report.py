"""report.txt: what it says of a plan, and that every next step comes from the plan's own figures."""

from dataclasses import asdict
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from floorflow.backends.finn.backend import BACKEND
from floorflow.emit.bundle import platform_facts
from floorflow.emit.bundle import report_text as report
from floorflow.errors import Refusal
from floorflow.facts import SECTIONS, Plan, figures
from floorflow.facts.context import Context
from floorflow.facts.next_steps import next_steps
from floorflow.facts.platform import _others
from floorflow.facts.text import chance
from floorflow.hardware import Platform, load_platform

PART = ("phases", 0, "networks", 0)
"""Where the one network of the one phase stands in a plan."""


@cache
def loaded(name: str, fpgas: int) -> Platform:
    return load_platform(name, fpgas)


def platform_of(plan: Plan) -> Platform:
    return loaded(plan.platform.name, len(plan.platform.fpgas))


def context(plan: Plan) -> Context:
    return Context(plan, plan.phases[0], platform_facts(plan, platform_of(plan)), BACKEND)


def changed(plan: Plan, *path: str | int, value: Any) -> Plan:
    """Return the plan with another value at a place."""
    data = plan.model_dump(by_alias=True)
    inner: Any = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return Plan.model_validate(data)


def steps(plan: Plan) -> str:
    return "\n".join(next_steps(context(plan)))


def test_the_likely_clock_stands_above_the_rates_by_clock_and_is_left_out_where_it_is_not_known(pynq: Plan) -> None:
    told = [line for line in section(pynq, "Clock") if "likely clock" in line]
    assert len(told) == 1
    assert "MHz after routing (100 asked for); slowest path: " in told[0]
    unknown = changed(pynq, *PART, "estimates", "likely_clock", value=None)
    assert not [line for line in section(unknown, "Clock") if "likely clock" in line]


def section(plan: Plan, heading: str) -> list[str]:
    """Return the lines under a heading of the report; of a section of a phase it alone is made."""
    if heading in dict(SECTIONS):
        return dict(SECTIONS)[heading](context(plan))
    text = report(plan, platform_of(plan), BACKEND).split(f"\n{heading}\n{'-' * len(heading)}\n")
    return text[1].split("\n\n")[0].splitlines()


def test_report_has_every_section_in_order(two: Plan) -> None:
    lines = report(two, platform_of(two), BACKEND).splitlines()
    assert [line for line, rule in pairwise(lines) if rule == "-" * len(line) and line] == [
        "In figures",
        "What was read and assumed",
        "Power",
        "Rate",
        "Clock",
        "What makes it hard to close",
        "Longest streams",
        "What one frame takes",
        "How far from optimal",
        "Fullness against crossings",
        "What the search tried, and what ended it",
        "Use of each slot",
        "How likely it is to fit",
        "What is constrained",
        "Streams between slots",
        "Streams over several SLR boundaries",
        "Registers at SLR boundaries",
        "SLR boundaries and links",
        "Wires on each die",
        "What to try next",
        "Modules",
    ]


def test_report_says_what_was_read_and_taken_off(two: Plan) -> None:
    read = "\n".join(section(two, "What was read and assumed"))
    assert two.inputs[0].sha256[:12] in read
    assert "2 x alveo-u250 (xcu250-figd2104-2L-e)" in read
    assert "DDR[0] controller in fpga1.SLR0: 33,256 LUT" in read
    assert "output_dma in fpga1.SLR0: 1,850 LUT" in read
    assert "link core fpga0-fpga1 in fpga1.SLR2: 12,000 LUT" in read
    assert "fpga0-fpga1: aurora-100g, 100 Gb/s each way, 98.43 of them for streams, 1 us (assumed)" in read


def test_report_says_where_the_host_is_and_what_other_channels_would_free(two: Plan) -> None:
    read = section(two, "What was read and assumed")
    assert "host       its streams end at DDR[0] in SLR0, with its controller" in read
    freed = "frees 33,256 LUT, 44,889 FF, 199 BRAM18, 3 DSP of SLR0"
    assert f"           --host-port DDR[1]: in SLR1, without a controller (assumed); {freed}" in read
    assert (
        "           --host-port DDR[3]: in SLR3, with its controller; takes as much there as it frees in SLR0" in read
    )


def test_channels_that_are_alike_share_a_line() -> None:
    memories = loaded("alveo-u280", 1).fpgas[0].board.memories
    here = next(memory for memory in memories if memory.name == "HBM[0]")
    lines = list(_others(memories, here))
    assert len(lines) < 5 < len(memories)
    assert sum("HBM[1] ... HBM[31] (31 alike): in SLR0" in line for line in lines) == 1


def far(plan: Plan, max_hops: int | None, proof: str) -> Plan:
    """Return the plan as one with a stream over two boundaries."""
    channel = plan.phases[0].partition.crossings[0].channel
    registers = [{"boundary": f"fpga0.SLR{k}-fpga0.SLR{k + 1}", "stages": 2, "flip_flops": 68} for k in (0, 1)]
    stream = {"channel": channel, "source": "fpga0.SLR0", "target": "fpga0.SLR2", "hops": 2, "registers": registers}
    hops = {"most": 2, "proof": proof, "streams": [stream]}
    plan = changed(plan, "options", "max_hops", value=max_hops)
    return changed(plan, "phases", 0, "partition", "hops", value=hops)


def test_report_says_that_no_stream_goes_far(u250: Plan) -> None:
    told = section(u250, "Streams over several SLR boundaries")
    assert told == ["* no stream crosses more than one SLR boundary of an FPGA; --max-hops N would allow more"]


@pytest.mark.parametrize(
    ("max_hops", "proof", "why"),
    [
        (2, "", "--max-hops 2 allows 2"),
        (None, "no assignment does with 1 (CP-SAT)", "up to 2 are allowed, for no assignment does with 1 (CP-SAT)"),
    ],
)
def test_report_says_which_streams_go_far_why_and_on_which_registers(
    u250: Plan, max_hops: int | None, proof: str, why: str
) -> None:
    plan = far(u250, max_hops, proof)
    told = section(plan, "Streams over several SLR boundaries")
    stream = plan.phases[0].partition.hops.streams[0]
    assert told[0] == f"* {why}"
    assert "2 at fpga0.SLR0-fpga0.SLR1, 2 at fpga0.SLR1-fpga0.SLR2" in " ".join(told)
    name = context(plan).names[stream.channel]
    assert name.startswith(f"{stream.channel} (")
    assert told[-1].split(maxsplit=4) == ["fpga0.SLR0", "fpga0.SLR2", "2", "136", name]


def test_a_stretch_that_stops_the_rate_names_the_option(u250: Plan) -> None:
    told = steps(refused(u250, Refusal("slots and hops", allowed=1, proven=True), "partition"))
    assert "streams that cross 1 SLR boundary at most keep the interval above 10 cycles: --max-hops 2 may allow" in told


def test_a_full_slot_of_the_host_names_the_channel_that_takes_less(u250: Plan) -> None:
    cap = dict.fromkeys(("LUT", "FF", "BRAM18", "URAM", "DSP"), 0.001)
    told = steps(changed(u250, "options", "cap", value=cap))
    assert "--host-port DDR[1] (in SLR1, which is assumed) frees 33,256 LUT" in told
    assert "--host-port DDR[2]" not in told


def test_every_solver_has_a_row_with_status_and_gap(two: Plan) -> None:
    rows = section(two, "How far from optimal")
    folding, partition = two.phases[0].networks[0].folding, two.phases[0].partition
    names = [row.split()[0] for row in rows]
    assert list(dict.fromkeys(names[1:])) == ["interval", "fullness", "folding", "partition", "placement"]
    stats = {"fullness": folding.fullness, "folding": folding.stats, "partition": partition.stats}
    for name, stat in stats.items():
        assert stat.status in rows[names.index(name)]
        assert stat.method in rows[names.index(name)]
    assert [row.split()[2] for row in rows if row.startswith("placement")] == ["fpga0", "fpga1"]


def bounded(plan: Plan, interval: int, bound: int, joint: int | None) -> Plan:
    """Return the plan as one whose search ended at an interval, with these bounds on it."""
    known = {
        "interval_cycles": interval,
        "bound_cycles": bound,
        "joint_bound_cycles": joint,
        "gap": 1 - bound / interval,
    }
    search = plan.networks[0].search.model_dump() | known
    row = plan.summary.networks[0].model_dump() | known
    plan = changed(plan, "networks", 0, "search", value=search)
    return changed(plan, "summary", "networks", 0, value=row)


def test_the_joint_bound_stands_beside_the_folding_bound(u250: Plan) -> None:
    plan = bounded(u250, 1000, 500, 800)
    rows = [line.split()[:5] for line in section(plan, "How far from optimal") if line.startswith("interval")]
    assert rows == [
        ["interval", "feasible", "1,000", "500", "50.0%"],
        ["interval", "feasible", "1,000", "800", "20.0%"],
    ]
    last_lines = "folding bound 500 cycles, gap 50.0%; joint bound 800 cycles, gap 20.0%"
    assert f"  interval  {last_lines}" in figures(plan)


def test_an_interval_at_its_joint_bound_is_optimal(u250: Plan) -> None:
    rows = section(bounded(u250, 1000, 500, 1000), "How far from optimal")
    assert [line.split()[1] for line in rows if line.startswith("interval")] == ["optimal", "optimal"]


def test_without_a_joint_bound_the_folding_bound_stands_alone(u250: Plan) -> None:
    plan = bounded(u250, 1000, 500, None)
    rows = [line for line in section(plan, "How far from optimal") if line.startswith("interval")]
    assert [row.split()[:5] for row in rows] == [["interval", "feasible", "1,000", "500", "50.0%"]]
    assert "  interval  bound 500 cycles, gap 50.0%" in figures(plan)


def test_every_candidate_of_the_trace_is_listed(pynq: Plan) -> None:
    rows = section(pynq, "What the search tried, and what ended it")
    (network,) = pynq.networks
    assert rows[0] == f"ended by: {network.search.ended_by}"
    for tried, row in zip(network.trace, rows[2:], strict=True):
        assert f"{tried.interval_cycles:,}" in row
        assert tried.verdict in row


def test_modules_are_told_with_the_layers_that_they_compute(u250: Plan) -> None:
    rows = {row.split()[0]: row for row in section(u250, "Modules")[1:]}
    for module in u250.phases[0].modules:
        layers = [u250.layer_of(engine) or engine for engine in module.engines]
        assert layers[0] in rows[module.name]
        assert rows[module.name].endswith(layers[-1])


def test_a_faster_design_that_was_found_and_left_is_told_as_not_taken(u250: Plan) -> None:
    faster = u250.networks[0].trace[-1].model_dump() | {"interval_cycles": 1}
    found = changed(u250, "networks", 0, "trace", value=[faster, u250.networks[0].trace[-1].model_dump()])
    rows = section(found, "What the search tried, and what ended it")[2:]
    assert [row.partition("legal")[2].split("  ")[0] for row in rows] == [", not taken", ""]


def test_slots_stand_against_their_limits(u250: Plan) -> None:
    rows = section(u250, "Use of each slot")
    used = u250.phases[0].partition.utilisation[u250.platform.fpgas[0].slots[2].name]["LUT"]
    assert rows[3].endswith(f"LUT: {used:.1%} used, 70% allowed")
    assert rows[-1].split()[1:] == ["70%", "50%", "90%", "90%", "90%"]


def test_crossings_show_wires_and_boundaries_their_capacity(u250: Plan) -> None:
    crossing = u250.phases[0].partition.crossings[0]
    row = next(line for line in section(u250, "Streams between slots") if crossing.channel in line)
    assert row.split()[3:5] == [str(crossing.width_bits), str(-(-crossing.width_bits // 8) * 8 + 2)]
    load = u250.phases[0].partition.loads[0]
    row = next(line for line in section(u250, "SLR boundaries and links") if line.startswith(load.name))
    assert row.split()[1:3] == [f"{load.use:,.0f}", "11,520"]


def refused(plan: Plan, refusal: Refusal, stage: str = "fold", interval: int = 10) -> Plan:
    """Return the plan with one refused candidate below the interval that was found; its sentence says nothing."""
    row = {
        "phase": "main",
        "interval_cycles": interval,
        "verdict": "proven infeasible",
        "stage": stage,
        "detail": "refused",
    }
    return changed(plan, "networks", 0, "trace", value=[row | {"refusals": [asdict(refusal)]}])


def short_of_luts(needed: int) -> Refusal:
    return Refusal("budget", "LUT", "", needed, 30_000, proven=True)


def test_a_short_resource_names_the_cap_that_would_do(pynq: Plan) -> None:
    told = steps(refused(pynq, short_of_luts(32_100)))
    assert "LUT stops the rate: 10 cycles" in told
    assert "need 32,100, 7.0% more than the 30,000 allowed: --cap LUT=0.75" in told
    assert "--fpgas" not in told


def test_one_more_fpga_is_named_where_boards_can_be_linked(u250: Plan) -> None:
    assert "--cap LUT=0.75 or --fpgas 2" in steps(refused(u250, short_of_luts(32_100)))
    assert ": --fpgas 2" in steps(refused(u250, short_of_luts(59_000)))
    assert "no cap and no further FPGA" in steps(refused(u250, short_of_luts(99_000)))


def test_other_refusals_are_quoted(pynq: Plan) -> None:
    told = steps(refused(pynq, Refusal("no room", place="fpga0.SLR0"), "place"))
    assert "ended at the placement: refused" in told


def at_interval(plan: Plan, engine: str, **parallelism: tuple[int, int]) -> Plan:
    """Return the plan with one engine alone as its bottleneck."""
    engines = plan.model_dump(by_alias=True)["phases"][0]["networks"][0]["folding"]["engines"]
    interval = max(entry["cycles"] for entry in engines.values()) + 1
    ways = [{"name": name, "value": value, "most": most} for name, (value, most) in parallelism.items()]
    engines[engine] |= {"cycles": interval, "parallelism": ways}
    slower = changed(plan, "phases", 0, "networks", 0, "folding", "engines", value=engines)
    slower = changed(slower, "phases", 0, "networks", 0, "interval_cycles", value=interval)
    searched = changed(slower, "networks", 0, "search", "interval_cycles", value=interval)
    return changed(searched, "networks", 0, "trace", value=[])


def test_a_bottleneck_at_its_widest_folding_is_no_matter_of_resources(u250: Plan) -> None:
    told = steps(at_interval(u250, "ConvolutionInputGenerator_rtl_0", SIMD=(3, 3), parallel_window=(1, 1)))
    assert "ConvolutionInputGenerator_rtl_0 (Conv_0; SIMD 3 of 3, parallel_window 1 of 1): the widest folding" in told
    assert "no cap and no FPGA shortens; a higher --clock-mhz (now 250) or a smaller feature map than [32, 32]" in told


def test_a_bottleneck_whose_wider_foldings_fit_no_slot_is_held_against_the_largest(u250: Plan) -> None:
    told = steps(at_interval(u250, "MVAU_hls_1", PE=(64, 64), SIMD=(288, 576)))
    assert "MVAU_hls_1 (Conv_1; PE 64 of 64, SIMD 288 of 576) sets the rate" in told
    assert "fpga0.SLR3 allows 302,400" in told


@pytest.mark.parametrize("objective", ["resources", "latency"])
def test_other_objectives_than_the_rate_ask_for_no_faster_one(u250: Plan, objective: str) -> None:
    asked = changed(u250, "options", "objective", value=objective)
    assert "sets the rate" not in steps(asked)
    assert "stops the rate" not in steps(asked)


def test_full_links_and_boundaries_are_named_with_their_load(two: Plan) -> None:
    loads = two.model_dump(by_alias=True)["phases"][0]["partition"]["loads"]
    for load in loads:
        used = load["name"] in ("fpga0>fpga1", "fpga0.SLR0-fpga0.SLR1")
        load["use"] = 0.95 * load["capacity"] if used else 0.0
    told = steps(changed(two, "phases", 0, "partition", "loads", value=loads))
    assert "link fpga0>fpga1 carries 93.5 of 98.43 Gb/s (95%)" in told
    assert "SLR boundary fpga0.SLR0-fpga0.SLR1 uses 10,944 of 11,520 SLL wires (95%)" in told
    assert "link" not in steps(two)


def test_gaps_are_told_until_the_effort_is_best(u250: Plan) -> None:
    stats = {"method": "x", "status": "feasible", "objective": 100.0, "bound": 60.0, "gap": 0.4}
    wide = changed(u250, "phases", 0, "partition", "stats", value=stats)
    assert "is not proven the cheapest, --effort best searches longer" in steps(wide)
    assert "even at --effort best" in steps(changed(wide, "options", "effort", value="best"))


def test_weights_written_at_run_time_are_named(u250: Plan) -> None:
    engine = ("phases", 0, "networks", 0, "folding", "engines", "MVAU_hls_8")
    written = (*engine, "attributes", "runtime_writeable_weights")
    told = steps(changed(u250, *written, value=1))
    assert "before the first frame software writes the weights of" in told
    assert "MVAU_hls_8" in told
    assert "--runtime-weights never puts them elsewhere" in told
    asked = {"costs": "calibrated", "finn": "main", "impl_style": "auto", "runtime_weights": "auto"}
    spared = changed(u250, "options", "backend_options", value=asked)
    assert "--runtime-weights never" not in steps(changed(spared, *written, value=1))


def test_candidates_that_could_not_be_placed_ask_for_fewer_pblocks(pynq: Plan) -> None:
    failed = refused(pynq, Refusal("no room", place="fpga0.SLR0"), "place")
    assert len(pynq.phases[0].modules) == 1
    assert "(10 cycles) could not be placed: --fill LUT=" in steps(failed)
    module = pynq.phases[0].modules[0].model_dump()
    assert "fewer pblocks than these 2" in steps(changed(failed, "phases", 0, "modules", value=[module, module]))
    assert "without --keep-granularity" in steps(changed(failed, "options", "keep_granularity", value=True))


def test_a_plan_for_latency_says_so_and_holds_it_against_its_bound(u250: Plan) -> None:
    stats = {"method": "x", "status": "optimal", "objective": 200.0, "bound": 200.0, "gap": 0.0}
    plan = changed(changed(u250, "options", "objective", value="latency"), *PART, "folding", "stats", value=stats)
    plan = changed(plan, *PART, "folding", "whole_budget_bound", value=150.0)
    assert "asked for  the lowest latency at 250 MHz" in "\n".join(section(plan, "What was read and assumed"))
    gaps = [line.split()[:5] for line in section(plan, "How far from optimal")]
    assert ["folding", "optimal", "200", "200", "0.0%"] in gaps
    assert ["latency", "feasible", "200", "150", "25.0%"] in gaps
    assert "interval" not in {words[0] for words in gaps}


def test_each_slot_has_its_likelihood_of_fitting(u250: Plan) -> None:
    names = [slot.name for slot in u250.platform.fpgas[0].slots]
    amounts = {"LUT": 4320, "FF": 0, "BRAM18": 0, "URAM": 0, "DSP": 0}
    fits = {n: {"likelihood": 1 - i / 10, "low": amounts, "high": amounts} for i, n in enumerate(names)}
    plan = changed(u250, "phases", 0, "fits", value=fits)
    lines = section(plan, "How likely it is to fit")
    told = {line.split()[0]: line.split()[1] for line in lines if line.split()[0] in names}
    assert told == {name: chance(1 - i / 10) for i, name in enumerate(names)}
    assert "How likely" not in report(changed(u250, "phases", 0, "fits", value={}), platform_of(u250), BACKEND)


def test_reuse_is_told_where_modules_are_alike_with_what_it_founders_on(u250: Plan) -> None:
    names = [module.name for module in u250.phases[0].modules]
    assert not any("reuse" in line for line in section(u250, "Modules"))
    alike = changed(u250, "phases", 0, "modules", 1, "like", value=names[0])
    alike = changed(alike, "phases", 0, "modules", 1, "why_not", value=f"weights of {names[1]} are part of the logic")
    lines = " ".join(line.strip() for line in section(alike, "Modules")[len(names) + 1 :])
    count, share = len(names), 1 / len(names)
    assert f"{count} modules of {count - 1} sorts, made as {count} implementations: reuse {share:.1%} by kinds" in lines
    assert "dimensions and folding, 0.0% truly" in lines
    assert "modules that are made anew: 1 for constants in logic" in lines


def test_modules_that_share_a_pblock_for_want_of_rectangles_are_told_with_the_reason(u250: Plan) -> None:
    module = u250.phases[0].modules[0].name
    slot = u250.phases[0].partition.assignment[module]
    entry = {"module": module, "modules": ["former", "latter"], "slot": slot, "why": "no room found for latter"}
    lines = section(changed(u250, "phases", 0, "joined", value=[entry]), "Modules")
    told = " ".join(line.strip() for line in lines[len(u250.phases[0].modules) + 1 :])
    assert told.startswith(f"* {module} is 2 modules (former, latter) of {slot} in one pblock")
    assert told.endswith("no room found for latter")
    assert not any(line.startswith("*") for line in section(u250, "Modules"))


def test_start_ups_are_told_where_they_lengthen_the_interval(u250: Plan) -> None:
    cycles = u250.phases[0].networks[0].interval_cycles
    longer = changed(u250, *PART, "estimates", "expected_cycles", value=2 * cycles)
    told = f"the slowest engine takes {cycles:,} of them; the rest is that windows and HLS start anew each frame"
    assert told in section(longer, "Rate")
    assert any(f"one frame every {2 * cycles:,} cycles" in line for line in section(longer, "Rate"))
    rough = changed(longer, *PART, "estimates", "throughput", value=None)
    assert f"{told}, with small FIFOs" in section(rough, "Rate")
    same = changed(u250, *PART, "estimates", "expected_cycles", value=cycles)
    assert not any("start anew" in line for line in section(same, "Rate"))
