"""Copies of a network: planned, placed in each of their places, told with their rates, and judged."""

import json
import random
import re
import subprocess
import sys
from collections import Counter
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import onnx
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import floorflow as ff
from floorflow.facts import Plan, figures
from floorflow.hardware import Platform, free_supply, load_platform
from floorflow.hardware.areas import with_keep_outs
from floorflow.hardware.copies import Place, divisions
from floorflow.verify import check
from tests.built_kernels import built
from tests.plans import CNV, EXAMPLES, FAST, TFC
from tests.random_models import random_small
from tests.vitis_config import Card, Way, problems

CARD = "alveo-u250"


def kernels(plan: Plan) -> list[Any]:
    """Return of each copy its foldings, and its streams with FIFOs and slices."""
    (phase,) = plan.phases
    found = []
    for part in phase.networks:
        prefix = f"{part.network}/"
        folded = {name.removeprefix(prefix): dict(own.attributes) for name, own in part.folding.engines.items()}
        own = [channel for channel in phase.channels if channel.source.startswith(prefix)]
        fifos = [(c.fifo_depth, c.fifo_style, c.converter, c.slices, c.width_bits) for c in own]
        found.append((folded, fifos))
    return found


def is_legal(made: ff.Plan, folder: Path) -> bool:
    made.save(folder)
    return check(folder) == []


def card_of(count: int) -> Card:
    """Return a U250 with a network's kernels, one behind another between its DMA engines."""
    ways: list[dict[str, Way]] = [{"s_axis_0": "in", "m_axis_0": "out"} for _ in range(count)]
    ways[0] = {"m_axi_gmem0": "memory", "m_axis_0": "out"}
    ways[-1] = {"m_axi_gmem0": "memory", "s_axis_0": "in"}
    return Card({f"StreamingDataflowPartition_{number}": ports for number, ports in enumerate(ways)}, {"DDR": 4}, 4, 2)


def of_finn(count: int) -> str:
    """Return what FINN's own VitisLink writes of such kernels."""
    units = ["idma0", *(f"StreamingDataflowPartition_{number}" for number in range(1, count - 1)), "odma0"]
    lines = [f"nk=StreamingDataflowPartition_{number}:1:{unit}" for number, unit in enumerate(units)]
    lines += [f"stream_connect={a}.m_axis_0:{b}.s_axis_0" for a, b in pairwise(units)]
    return "\n".join(["[connectivity]", *lines, ""])


def config(made: ff.Plan) -> str:
    return made.files["vitis/floorflow.cfg"].decode()


@pytest.mark.slow
def test_four_cnv_on_a_card_have_four_times_the_rate_and_cross_nothing(tmp_path: Path) -> None:
    one, four = ff.plan(CNV, CARD, **FAST), ff.plan(CNV, CARD, replicas=4, **FAST)
    own = four.plan.replicas
    assert own is not None
    fps = one.plan.summary.networks[0].fps
    assert own.fps == pytest.approx(4 * fps)
    assert own.bound_fps == pytest.approx(4 * one.plan.phases[0].networks[0].estimates.fps)
    assert [copy.memory for copy in own.placed] == ["DDR[0]", "DDR[1]", "DDR[2]", "DDR[3]"]
    assert [copy.slot for copy in own.placed] == [f"fpga0.SLR{k}" for k in range(4)]
    assert four.plan.only_phase.partition.crossings == []
    first, *others = kernels(four.plan)
    assert all(other == first for other in others)
    assert "4 copies, 141,602 frames/s" in str(four).splitlines()[0]
    assert "4 copies: 141,602 frames/s together, 35,400 each" in figures(four.plan)[0]
    assert four.plan.unbuilt == []
    assert is_legal(four, tmp_path / "out")
    assert problems(config(four), card_of(3)) == []
    assert Counter(re.findall(r":SLR(\d)$", config(four), re.M)) == dict.fromkeys("0123", 3)
    assert told_by_host(tmp_path / "out") == "141,603 frames/s planned"
    assert "--replicas 4 may give 4 times the frames/s, 141,602: an estimate" in one.spare
    assert four.spare == ""


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> tuple[ff.Plan, Path]:
    """Return eight copies, and the folder in which they are kept for whoever asks again."""
    cache = tmp_path_factory.mktemp("eight")
    return ff.plan(TFC, CARD, replicas=8, cache=cache, **FAST), cache


def test_eight_tfc_share_slrs_in_bands(eight: tuple[ff.Plan, Path], tmp_path: Path) -> None:
    made, _ = eight
    own = made.plan.replicas
    assert own is not None
    assert own.fps == pytest.approx(8 * made.plan.summary.networks[0].fps)
    assert sorted(copy.slot for copy in own.placed) == [f"fpga0.SLR{k // 2}" for k in range(8)]
    assert f"8 copies, {int(own.fps):,} frames/s" in str(made).splitlines()[0]
    assert is_legal(made, tmp_path / "out")
    assert problems(config(made), card_of(3)) == []
    lines = config(made).splitlines()
    assert sum(line.startswith("nk=") and ":8:" in line for line in lines) == 3
    assert sum(line.startswith("slr=") for line in lines) == 24
    assert told_by_host(tmp_path / "out") == f"{own.fps:,.0f} frames/s planned"
    assert any(line.startswith("copies at DDR[0] read and write") for line in made.warnings)


def told_by_host(folder: Path) -> str:
    """Return the rate that the host's script says it expects of all copies."""
    command = [sys.executable, "-I", "-S", str(folder / "host" / "run.py"), "--dry-run"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (found,) = re.findall(r"dealt round \d+ copies .*: ([\d,]+ frames/s planned)", said)
    return str(found)


@pytest.mark.slow
def test_two_mobilenets_on_two_cards_are_one_on_each(tmp_path: Path) -> None:
    asked = {"replicas": 2, "fpgas": 2, **FAST}
    made = ff.plan(EXAMPLES / "mobilenet_v1_w4a4.onnx", CARD, **asked)
    own = made.plan.replicas
    assert own is not None
    assert (own.copies, own.cards, len(own.placed), len(made.plan.platform.fpgas)) == (2, 2, 1, 1)
    assert own.fps == pytest.approx(2 * made.plan.summary.networks[0].fps)
    assert made.plan.options.fpgas == 2
    assert f"2 copies on 2 cards, {int(own.fps):,} frames/s" in str(made).splitlines()[0]
    assert is_legal(made, tmp_path / "out")
    # FINN's own configuration links one copy, ours stands beside it, and each card is loaded with what comes of both.
    kernels = len(built(made.plan))
    assert kernels > 3
    assert problems(of_finn(kernels) + config(made), card_of(kernels)) == []
    host = json.loads((tmp_path / "out" / "host" / "host.json").read_text())
    assert [(card["name"], card["bitstream"]) for card in host["cards"]] == [
        ("fpga0", "finn-accel.xclbin"),
        ("fpga1", "finn-accel.xclbin"),
    ]
    assert "relink.sh" not in host["linked_by"]
    assert [copy["input"] for copy in host["copies"]] == [["fpga0", "idma0"], ["fpga1", "idma0"]]
    assert told_by_host(tmp_path / "out") == f"{own.fps:,.0f} frames/s planned"


def test_more_cards_are_taken_where_one_has_no_place(tmp_path: Path) -> None:
    made = ff.plan(TFC, "pynq-z1", replicas=4, fpgas="auto", max_fpgas=4, **FAST)
    own = made.plan.replicas
    assert own is not None
    assert (own.copies, own.cards, len(own.placed)) == (4, 2, 2)
    assert any("4 copies on 1 card" in warning for warning in made.warnings)
    assert is_legal(made, tmp_path / "out")
    with pytest.raises(ff.LimitReached, match="places for 3 copies") as refused:
        ff.plan(TFC, "pynq-z1", replicas=4, **FAST)
    assert "--fpgas auto" in refused.value.hint


def test_cards_of_copies_need_no_links_and_a_loaded_plan_has_the_same_platform(
    eight: tuple[ff.Plan, Path], tmp_path: Path
) -> None:
    made = ff.plan(TFC, "pynq-z1", replicas=2, fpgas=2, **FAST)
    assert made.plan.replicas is not None
    assert (made.plan.replicas.cards, len(made.plan.networks)) == (2, 1)
    first, cache = eight
    first.save(tmp_path / "out")
    again = ff.plan(TFC, CARD, replicas=8, cache=cache, **FAST)
    assert again.files == first.files
    loaded = ff.load(tmp_path / "out")
    slots = [made._platform().slots for made in (first, again, loaded)]
    assert slots[0] == slots[1] == slots[2]


def test_auto_takes_the_number_with_the_highest_rate_and_for_a_rate_the_fewest(tmp_path: Path) -> None:
    most = ff.plan(TFC, "zcu104", replicas="auto", cap={"LUT": 0.2}, **FAST)
    own = most.plan.replicas
    assert own is not None
    assert own.copies == len(most.plan.networks) > 1
    fewer = ff.plan(TFC, "zcu104", replicas=own.copies - 1, cap={"LUT": 0.2}, **FAST).plan
    found = fewer.replicas.fps if fewer.replicas is not None else fewer.summary.networks[0].fps
    assert found <= own.fps
    asked = ff.plan(TFC, "zcu104", replicas="auto", fps=0.9 * own.fps, cap={"LUT": 0.2}, **FAST)
    assert asked.plan.replicas is not None
    engines = asked.plan.replicas.copies * asked.plan.phases[0].networks[0].estimates.fps
    assert engines >= 0.9 * own.fps
    assert asked.plan.options.fps == 0.9 * own.fps
    assert asked.plan.replicas.copies <= own.copies
    assert is_legal(asked, tmp_path / "out")


def test_one_copy_is_the_network_alone() -> None:
    alone, one = ff.plan(TFC, "pynq-z1", **FAST), ff.plan(TFC, "pynq-z1", replicas=1, **FAST)
    assert one.plan.replicas is None
    assert alone.plan.phases == one.plan.phases


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "latency"},
        {"reconfigure": "full"},
        {"host_port": "DDR[1]"},
        {"keep_out": (), "fix_pblock": {"MVAU_hls_0": "SLICE_X0Y0:SLICE_X9Y9"}},
    ],
)
def test_what_is_of_a_network_alone_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ff.InputError, match="--replicas 2"):
        ff.plan(TFC, CARD, replicas=2, **options, **FAST)


@pytest.mark.parametrize("count", [0, "two", True, 1.5])
def test_no_number_of_copies_is_refused(count: Any) -> None:
    with pytest.raises(ff.InputError, match="expected auto or a number of 1 and more"):
        ff.plan(TFC, CARD, replicas=count)


@pytest.mark.joint
@pytest.mark.parametrize(
    "board", [*(pytest.param(b, marks=pytest.mark.slow) for b in (CARD, "alveo-u280", "xcku5p")), "alveo-u50", "zcu104"]
)
def test_places_do_not_overlap(board: str) -> None:
    (fpga,) = load_platform(board).fpgas
    for division in divisions(fpga):
        own = [prepare_at(board, place).fpgas[0] for place in division]
        assert len(division) == len({place.keep_out for place in division})
        for number, slot in enumerate(fpga.slots):
            parts = [free_supply(fpga.device, one.slots[number]) for one in own]
            assert sum(part.lut for part in parts) <= slot.capacity.lut
            assert all(part.lut == 0 for part, p in zip(parts, division, strict=True) if slot.name not in p.slots)
            assert all(part.lut > 0 for part, p in zip(parts, division, strict=True) if slot.name in p.slots)


def prepare_at(board: str, place: Place) -> Platform:
    return with_keep_outs(load_platform(board, host_port=place.memory), place.keep_out)


BOARDS = st.sampled_from([CARD, "alveo-u280", "zcu104", "pynq-z1", "xcku5p"])


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**4), BOARDS, st.integers(2, 4), st.sampled_from([0.7, 0.2, 0.05, 0.02]))
def test_copies_fit_wherever_one_fits_each_place(
    tmp_path_factory: pytest.TempPathFactory, seed: int, board: str, count: int, cap: float
) -> None:
    copies_fit(tmp_path_factory.mktemp("copies"), seed, board, count, cap)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "count", "cap"), [(3156, 4, 0.01), (4372, 3, 0.02)])
def test_a_stream_for_whose_slices_one_copy_has_no_room_has_none_in_any(
    seed: int, count: int, cap: float, tmp_path: Path
) -> None:
    copies_fit(tmp_path, seed, "alveo-u280", count, cap)
    plan = json.loads((tmp_path / "out" / "plan.json").read_text())
    streams = [c for c in plan["phases"][0]["channels"] if c["slices_left_out"]]
    assert {c["slices"] for c in streams} == {0}
    assert len(streams) % count == 0
    assert streams


def copies_fit(folder: Path, seed: int, board: str, count: int, cap: float) -> None:
    model = folder / "model.onnx"
    onnx.save(random_small(seed), model)
    asked: dict[str, Any] = {"cap": {"LUT": cap}, "seed": random.Random(seed).randrange(9), **FAST}
    try:
        made = ff.plan(model, board, replicas=count, **asked)
    except ff.InputError:  # some random models have no engines
        with pytest.raises(ff.InputError):
            ff.plan(model, board, **asked)
        reject()
    except (ff.Infeasible, ff.LimitReached):
        for way in divisions(load_platform(board).fpgas[0]):
            alone = (fits(model, board, place, asked) for place in way)
            assert len(way) < count or len(list(islice(filter(None, alone), count))) < count, way
        return
    first, *others = kernels(made.plan)
    assert len(others) == count - 1
    assert all(other == first for other in others)
    assert is_legal(made, folder / "out")


def fits(model: Path, board: str, place: Place, asked: dict[str, Any]) -> bool:
    """Whether the network alone has a plan in a place."""
    try:
        ff.plan(model, board, host_port=place.memory, keep_out=place.keep_out, **asked)
    except (ff.Infeasible, ff.LimitReached):
        return False
    return True
