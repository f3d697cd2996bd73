"""Link kernels in Verilator, under lint and counted by pyosys: what they carry, lose, tell and take."""

from pathlib import Path

import pytest

from floorflow.emit.link_kernels import link_files
from floorflow.facts.link_kernels import LinkKernel, LinkStream, cost, memory_bits, receive_words
from tests.link_kernels.building import Bench, counted, lint, pair

pytestmark = pytest.mark.tools

LINK_MHZ, CARD_MHZ = 300, 200
GBPS, PAYLOAD_GBPS = 100.0, 100.0 / 1.016
LINK_ODDS = round(256 * GBPS * 1e3 / 512 / LINK_MHZ)
"""Cycles of 256 in which a link of 100 Gb/s takes a word."""
WIDE, ODD, BIG, SMALL = 1, 2, 3, 4
"""Numbers of the streams there, by which they are held or idle."""
THERE = [
    LinkStream("wide", 512, receive_words(PAYLOAD_GBPS, 5.0)),
    LinkStream("odd", 24, 512),
    LinkStream("big", 1024, 1024),
    LinkStream("small", 8, 512),
]
BACK = [LinkStream("back", 264, 512)]
STREAMS = [*THERE, *BACK]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return pair(tmp_path_factory.mktemp("links"), THERE, BACK)


def assert_whole(found: dict[str, int], words: int, streams: list[LinkStream] = STREAMS) -> None:
    """Every word came, in order, and neither kernel nor link saw anything wrong."""
    for one in streams:
        assert (found[f"sent_{one.name}_s"], found[f"got_{one.name}_m"]) == (words, words), one.name
    assert [name for name, count in found.items() if count and name.startswith(("wrong", "lost", "unsteady"))] == []
    assert (found["status_0"], found["status_1"]) == (1, 1)


def gbps(found: dict[str, int], one: LinkStream) -> float:
    """Return at what rate a stream came."""
    cycles = found[f"last_{one.name}_m"] - found[f"first_{one.name}_m"]
    return (found[f"got_{one.name}_m"] - 1) * one.bits * CARD_MHZ / cycles / 1e3


@pytest.mark.parametrize(
    ("latency", "odds_in", "odds_out", "odds_link"),
    [pytest.param(30, 256, 256, 256, marks=pytest.mark.slow), (300, 60, 200, 120), (1500, 200, 90, 90)],
)
def test_streams_are_complete_and_in_order_under_back_pressure(
    bench: Bench, latency: int, odds_in: int, odds_out: int, odds_link: int
) -> None:
    odds = {"odds_in": odds_in, "odds_out": odds_out, "odds_link": odds_link}
    assert_whole(bench.run(until=90_000, most=2500, latency=latency, **odds), 2500)


@pytest.mark.parametrize("latency_us", [*(pytest.param(us, marks=pytest.mark.slow) for us in (0.1, 1.0)), 5.0])
def test_a_stream_has_the_whole_rate_of_a_link(bench: Bench, latency_us: float) -> None:
    alone = 1 << ODD | 1 << BIG | 1 << SMALL | 1 << 11
    latency = round(latency_us * LINK_MHZ)
    found = bench.run(until=80_000, most=12_000, latency=latency, odds_link=LINK_ODDS, idle=alone)
    assert_whole({**found}, 12_000, THERE[:1])
    assert gbps(found, THERE[0]) > 0.99 * PAYLOAD_GBPS


def test_fewer_credits_than_a_round_trip_needs_are_a_lower_rate(bench: Bench) -> None:
    """The rate is that for which 1,024 words are worked out, to a tenth: headers are as late as that at the worst."""
    alone = {"idle": 1 << WIDE | 1 << ODD | 1 << SMALL | 1 << 11, "odds_link": LINK_ODDS, "most": 1 << 20}
    early, late = (bench.run(until=end, latency=5 * LINK_MHZ, **alone)["got_big_m"] for end in (40_000, 80_000))
    rate = (late - early) * 1024 / 40e3
    assert receive_words(0.93 * rate, 5.0) == 1024
    assert receive_words(1.10 * rate, 5.0) > 1024


def test_narrow_streams_keep_their_rate_beside_wide_ones_that_fill_the_link(bench: Bench) -> None:
    found = bench.run(until=60_000, most=3000, latency=300, odds_link=LINK_ODDS)
    assert_whole(found, 3000)
    for one in (THERE[1], THERE[3]):
        assert gbps(found, one) > 0.95 * one.bits * CARD_MHZ / 1e3
    # The wide ones share what is left, word by word.
    assert gbps(found, THERE[0]) / gbps(found, THERE[2]) == pytest.approx(1, abs=0.35)


def test_a_reader_that_waits_stops_no_other_stream(bench: Bench) -> None:
    found = bench.run(until=80_000, most=4000, latency=300, held=1 << BIG)
    assert (found["got_big_m"], found["sent_big_s"] < 4000) == (0, True)
    assert_whole(found, 4000, [THERE[0], THERE[1], THERE[3], *BACK])


def test_a_link_that_stops_for_10_000_cycles_loses_nothing(bench: Bench) -> None:
    stopped = {"stop_from": 8_000, "stop_for": 10_000 * 1000 // LINK_MHZ}
    before = bench.run(until=8_000, most=3000, latency=300)
    assert 0 < before["got_wide_m"] < 3000
    assert_whole(bench.run(until=90_000, most=3000, latency=300, **stopped), 3000)


@pytest.mark.parametrize(
    "times", [pytest.param({"start0": 900}, marks=pytest.mark.slow), {"start1": 2_777}, {"start0": 50, "start1": 61}]
)
def test_cards_start_in_any_order(bench: Bench, times: dict[str, int]) -> None:
    assert_whole(bench.run(until=40_000, most=500, latency=300, **times), 500)


@pytest.mark.parametrize("again", [3_333, *(pytest.param(at, marks=pytest.mark.slow) for at in (1_001, 7_117))])
def test_a_reset_of_both_begins_anew(bench: Bench, again: int) -> None:
    assert_whole(bench.run(until=60_000, most=1500, latency=300, again_from=again, again_for=200), 1500)


def test_a_reset_of_one_card_alone_is_told(bench: Bench) -> None:
    found = bench.run(until=60_000, most=12_000, latency=300, alone_from=30_000, alone_for=200)
    assert found["status_0"] & 8
    assert found["status_1"] & 8


def test_a_flipped_bit_of_the_test_pattern_is_told_and_streams_go_on(bench: Bench) -> None:
    test = {"test_from": 5_000, "test_for": 10_000}
    whole = bench.run(until=80_000, most=3000, latency=300, **test)
    assert_whole(whole, 3000)
    assert min(whole["tested_0"], whole["tested_1"]) > 2000
    flipped = bench.run(until=80_000, most=3000, latency=300, **test, flip_from=9_003, flip_for=40)
    assert (flipped["wrong_0"], flipped["wrong_1"]) == (1, 1)
    assert (flipped["got_wide_m"], flipped["wrong_wide_m"]) == (3000, 0)


KERNELS = [
    LinkKernel("mixed", tuple(THERE), tuple(BACK)),
    LinkKernel("sender", (LinkStream("a", 512, 512),), ()),
    LinkKernel("receiver", (), (LinkStream("a", 512, 1024),)),
    LinkKernel("both", (LinkStream("a", 64, 512),), (LinkStream("b", 8, 512),)),
    LinkKernel("many", (LinkStream("a", 8, 512),) * 4, (LinkStream("b", 2048, 512), LinkStream("c", 72, 2048))),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_lint_finds_nothing(kernel: LinkKernel, tmp_path: Path) -> None:
    assert lint(tmp_path, link_files([kernel]), kernel.name) == ""


@pytest.mark.joint
@pytest.mark.parametrize(
    "kernel",
    [KERNELS[0], KERNELS[3], *(pytest.param(k, marks=pytest.mark.slow) for k in KERNELS[1:3] + KERNELS[4:])],
    ids=lambda kernel: kernel.name,
)
def test_pyosys_counts_what_a_kernel_is_said_to_take(kernel: LinkKernel, tmp_path: Path) -> None:
    flip_flops, bits = counted(link_files([kernel]), kernel.name, tmp_path)
    assert flip_flops == pytest.approx(cost(kernel).ff, rel=0.15)
    assert bits == pytest.approx(memory_bits(kernel), rel=0.15)
    # Blocks hold no less than the bits of the FIFOs to receive, and not twice as much.
    assert 1 <= cost(kernel).bram18 * 18432 / max(1, memory_bits(LinkKernel("", (), kernel.receives))) < 2 or (
        not kernel.receives
    )
