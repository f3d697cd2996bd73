"""What plans count on of links is what link kernels carry in Verilator; a link that limits a rate is named."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import floorflow as ff
from floorflow.assets import asset_folder
from floorflow.facts import Plan, read_plan
from floorflow.facts.link_kernels import LinkStream
from floorflow.facts.link_rates import LinkDirection
from tests.conftest import DEFAULT_CAP, branches
from tests.link_kernels.building import Bench, pair
from tests.link_kernels.test_two_cards import of_parts, over_links, pipeline

pytestmark = pytest.mark.tools
CARD_MHZ, LINK_ODDS = 200, 167
"""The clock of both cards, and cycles of 256 in which a link of 100.2 Gb/s takes a word."""
LINK_GBPS = LINK_ODDS / 256 * 300 * 512 / 1e3
THERE = [LinkStream("wide", 2048, 1024), *(LinkStream(f"narrow_{at}", 8 * at, 512) for at in (1, 1 + 1, 3, 4))]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return pair(tmp_path_factory.mktemp("rates"), THERE, [LinkStream("back", 8, 512)])


def rates(bench: Bench, count: int, **settings: int) -> dict[str, float]:
    """Return Gb/s of the first streams of some, which alone send as much as they can."""
    idle = sum(1 << at + 1 for at in range(count, len(THERE))) | 1 << 11
    runs = [bench.run(until=end, most=1 << 30, idle=idle, **settings) for end in (20_000, 60_000)]
    words = {one.name: runs[1][f"got_{one.name}_m"] - runs[0][f"got_{one.name}_m"] for one in THERE[:count]}
    return {one.name: words[one.name] * one.bits / 40e3 for one in THERE[:count]}


def direction(carried: dict[str, float], clock_mhz: float = CARD_MHZ) -> LinkDirection:
    streams = {one.name: one for one in THERE if one.name in carried}
    return LinkDirection("fpga0>fpga1", LINK_GBPS, 1.0, clock_mhz, streams, carried)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("odds", [128, 256])
def test_a_full_link_carries_what_is_worked_out(bench: Bench, count: int, odds: int) -> None:
    """All but the wide stream keep their rates, and with what is left to that one the link is just full.

    At half their rates the narrow ones send words that are not full, fewer than may be: the link carries a little more.
    """
    carried = rates(bench, count, latency=300, odds_link=LINK_ODDS, odds_in=odds)
    for one in THERE[1:count]:
        assert carried[one.name] == pytest.approx(one.bits * CARD_MHZ * odds / 256e3, rel=0.03)
    assert LINK_GBPS * 0.99 < direction(carried).needed_gbps < LINK_GBPS * 1.02
    assert max(map(direction(carried).slower, carried)) < 1.02
    assert direction({**carried, "wide": carried["wide"] * 1.03}).slower("wide") > 1.01


@pytest.mark.slow
def test_a_kernel_carries_512_bits_of_a_stream_a_cycle(bench: Bench) -> None:
    """2,048 bits at 100 MHz are twice what a link carries, and a kernel takes half of that."""
    (found,) = rates(bench, 1, latency=30, half0=5000, half1=5000).values()
    most = direction({"wide": 60.0}, clock_mhz=100)
    assert found == pytest.approx(most.most_gbps("wide")["kernel"], rel=0.01)
    assert (most.slower("wide"), len([*most.limits()])) == (60 / 51.2, 1)
    assert "link kernels carry 51.2 of a stream" in next(most.limits())


@pytest.mark.slow
def test_few_credits_are_a_lower_rate(bench: Bench) -> None:
    """1,024 words, of which 8 are not counted on, in a round trip of 5 us each way; headers may come sooner."""
    (found,) = rates(bench, 1, latency=1500, odds_link=LINK_ODDS).values()
    far = replace(direction({"wide": 80.0}), latency_us=5.0)
    assert 1 <= found / far.most_gbps("wide")["credits"] < 1.1
    assert "1,016 words for which there is room" in next(far.limits())


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cards with a cable of 12 Gb/s, which four streams fill with their headers, not by their bits alone."""
    folder = tmp_path_factory.mktemp("slow")
    text = (asset_folder("platforms") / "boards" / "alveo-u250.yaml").read_text()
    for old, new in (("name: alveo-u250", "name: slow-u250"), ("  gbps: 100\n", "  gbps: 12\n")):
        assert old in text
        text = text.replace(old, new)
    (folder / "slow-u250.yaml").write_text(text)
    board = str(folder / "slow-u250.yaml")
    return branches(folder, board, fpgas=2, cap={**DEFAULT_CAP, "LUT": 0.009})


@pytest.fixture(scope="module")
def plan(slow: Path) -> Plan:
    return read_plan(slow / "plan.json")


def test_a_link_that_limits_is_named_with_what_it_carries_and_what_is_needed(slow: Path, plan: Plan) -> None:
    (part,) = plan.phases[0].networks
    (told,) = (one for one in plan.warnings if "limits the rate" in one)
    assert part.estimates.throughput is not None
    kept = part.estimates.throughput.interval_cycles
    assert kept is not None
    assert kept > part.interval_cycles
    assert told.startswith("link fpga0>fpga1 limits the rate: its 4 streams need 12.")
    assert f"and it carries 12; a frame takes {kept} cycles or more, not {part.interval_cycles}" in told
    assert all(name in told for name in over_links(plan))
    report = (slow / "report.txt").read_text()
    assert f"one every {kept} cycles" in report
    assert "since link fpga0>fpga1 takes as long for each frame" in report
    assert "limited by  link fpga0>fpga1" in report.partition("\n\n")[0]
    (load,) = (one for one in plan.phases[0].partition.loads if one.name == "fpga0>fpga1")
    assert load.use < load.capacity
    assert not ff.check(slow).violations


@pytest.mark.slow
def test_kernels_carry_the_planned_rate_and_not_that_of_the_engines(
    slow: Path, plan: Plan, tmp_path_factory: pytest.TempPathFactory
) -> None:
    parts = of_parts(slow, plan, tmp_path_factory.mktemp("parts"))
    (part,) = plan.phases[0].networks
    assert part.estimates.throughput is not None
    kept = part.estimates.throughput.interval_cycles or 0
    words = {c.name: c.words_per_frame for c in plan.phases[0].channels if c.name in over_links(plan)}
    paces = {name: round(256 * count / kept) for name, count in words.items()}
    bench = pipeline(parts, plan, tmp_path_factory.mktemp("cards"), paces)
    clock = {"half0": 2000, "half1": 2000}
    assert plan.summary.clock_mhz == 250

    def frames(odds: int) -> list[float]:
        """Return the frames of each stream in the interval that is planned; the cable takes 1.5% more than its odds."""
        settings = {"latency": 300, "odds_link": 20, "most": 1 << 30, "odds_in": odds, **clock}
        early, late = (bench.run(until=end, **settings) for end in (20_000, 180_000))
        counts = [late[f"got_own_{at}_1"] - early[f"got_own_{at}_1"] for at in range(1, 5)]
        assert (late["words_there"] - early["words_there"]) * 512 / 160e3 == pytest.approx(12 * 1.015, rel=0.002)
        return [count / words[name] / 40_000 * kept for name, count in zip(sorted(words), counts, strict=True)]

    assert min(frames(256)) > 0.99
    faster = frames(round(256 * kept / part.interval_cycles))
    assert max(faster) > 1.045
    assert min(faster) < 1.035


@pytest.mark.parametrize(
    "spoil",
    [
        lambda plan, estimates: estimates["throughput"].update(interval_cycles=190, full_rate_cycles=190),
        lambda plan, estimates: plan.update(warnings=[w for w in plan["warnings"] if "limits the rate" not in w]),
        lambda plan, estimates: plan["warnings"].append("link fpga1>fpga0 limits the rate: so it does"),
    ],
)
def test_the_judge_derives_what_links_carry(slow: Path, tmp_path: Path, spoil: Callable[[Any, Any], object]) -> None:
    copy = shutil.copytree(slow, tmp_path / "out")
    plan = json.loads((copy / "plan.json").read_text())
    spoil(plan, plan["phases"][0]["networks"][0]["estimates"])
    (copy / "plan.json").write_text(json.dumps(plan))
    assert "faster-than-link" in {found.name for found in ff.check(copy).violations}
