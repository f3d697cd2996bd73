"""FIFO depths that FINN's automatic sizing is foreseen to set, what they cost, and the plans that assume them."""

import json
from functools import partial
from pathlib import Path

import pytest

from floorflow import api
from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.kinds.fifo import tool_fifo
from floorflow.backends.finn.kinds.kind import CostModel
from floorflow.backends.finn.names import FINN_VERSIONS, FinnVersion
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.tool_depths import block_depth, searched_depth, simulated_depth, split, tool_depths
from floorflow.channels import PartialPlacement, choices_of, connect
from floorflow.dataflow.model import Dataflow, FoldedDataflow, Stream
from floorflow.rates import rate_problem, size
from floorflow.resources import total
from floorflow.technology import technology_of
from tests.plans import TFC
from tests.rates.test_patterns import engine, residual
from tests.rates.test_simulated_builds import BUILDS, read

PYNQ = technology_of("xc7z020clg400-1")
priced = partial(tool_fifo, technology=PYNQ, model="calibrated")


def chain(slow_pe: int) -> FoldedDataflow:
    """Two matrix units of 36 pixels: the first ends a pixel in a cycle, the second takes 32 / PE."""
    pixels = {"numInputVectors": (1, 6, 6), "noActivation": 0, "mem_mode": "internal_decoupled"}
    types = {"inputDataType": "UINT4", "weightDataType": "INT4", "outputDataType": "UINT4", "accDataType": "INT16"}
    fast = engine("fast", "MVAU_rtl", {**pixels, **types, "MW": 8, "MH": 8}, {"PE": 8, "SIMD": 8})
    slow = engine("slow", "MVAU_rtl", {**pixels, **types, "MW": 8, "MH": 32}, {"PE": slow_pe, "SIMD": 8})
    streams = (
        Stream("host:in0", 0, "fast", 0, 288, 8, 4),
        Stream("fast", 0, "slow", 0, 288, 8, 4),
        Stream("slow", 0, "host:out0", 0, 1152, 32, 4),
    )
    return FoldedDataflow(Dataflow("net", (fast[0], slow[0]), streams), {"fast": fast[1], "slow": slow[1]})


def depths_of(folded: FoldedDataflow, finn: FinnVersion) -> tuple[dict[str, int], dict[str, int]]:
    """Return the depths that the full rate needs and those that FINN is foreseen to set."""
    needed = dict(size(rate_problem(folded, known=BACKEND)).depths)
    return needed, dict(tool_depths(folded, needed, finn, BACKEND))


def test_before_a_slow_engine_main_stores_nearly_a_frame_that_the_rate_does_not_need() -> None:
    before = "fast.0->slow.0"
    needed, main = depths_of(chain(1), "main")
    assert needed[before] == 2
    assert main[before] == 36  # the whole frame lies there
    assert depths_of(chain(32), "main")[1][before] == 2
    assert depths_of(chain(1), "dev")[1][before] > needed[before]
    assert depths_of(chain(1), "plus")[1][before] == 32


@pytest.mark.parametrize("finn", FINN_VERSIONS)
def test_no_fifo_is_foreseen_below_what_the_full_rate_needs_nor_above_a_frame_or_a_step(finn: FinnVersion) -> None:
    for folded in (chain(1), chain(4), residual()):
        needed, foreseen = depths_of(folded, finn)
        problem = rate_problem(folded, known=BACKEND)
        assert foreseen.keys() == needed.keys()
        for fifo in problem.fifos:
            frame = problem.writes(fifo).words
            assert needed[fifo.name] <= foreseen[fifo.name] <= max(frame, 32, block_depth(frame, fifo.width_bits))
        assert depths_of(folded, finn)[1] == foreseen


@pytest.mark.parametrize("path", BUILDS, ids=lambda path: path.stem)
def test_the_depths_of_builds_by_others_are_foreseen(path: Path) -> None:
    # FINN+ of August 2026 sized as FINN dev does today: frames of the simulation come at the estimated interval.
    build = read(path)
    needed, foreseen = depths_of(build.folded, "dev")
    assert foreseen == {name: max(words, needed[name]) for name, words in build.fifo_words.items()}


def test_depths_are_rounded_and_split_as_finn_main_does() -> None:
    # Recorded answers of optimize_depth and get_fifo_split_configs, Xilinx/finn 39f0c9a.
    seen = {0: 2, 2: 2, 3: 32, 32: 32, 33: 33, 257: 257, 3072: 3072}
    assert {words: simulated_depth(words) for words in seen} == seen
    pieces = {
        256: (256,),
        257: (256, 1),
        1000: (512, 256, 232),
        8196: (8192, 4),
        32768: (32768,),
        52900: (32768, 16384, 2048, 1024, 512, 164),
    }
    assert {words: split(words) for words in pieces} == pieces


def test_finn_plus_lowers_fifos_in_steps_of_their_memory() -> None:
    # Recorded answers of FINN+ 1.6.1; tests/tools_finn/test_fifos.py asks it itself.
    assert searched_depth(20, 20, 8) == 32
    assert searched_depth(137, 37, 36) == 160
    assert searched_depth(1686, 265, 24) == 512
    assert searched_depth(326, 12, 8) == 2048


def test_prices_are_of_the_memory_that_finns_sizing_takes() -> None:
    assert priced(8, 33).style == "auto"
    assert priced(72, 256) == priced(72, 256, finn="dev")
    assert (priced(72, 256).style, priced(72, 256).resources.bram18) == ("srl", 0)
    # Vivado counted 12 and 4 block RAMs of 18 Kbit for 1,024 words of 216 and 72 bits (FINN v0.10).
    assert (priced(216, 900).style, priced(216, 900).resources.bram18) == ("block", 12)
    assert priced(72, 652).resources.bram18 == 4
    # At the network's input 3,072 words of 8 bits took 888 LUT and no block RAM.
    first = priced(8, 3072, at_end=True)
    assert first.resources.bram18 == 0
    assert first.resources.lut == pytest.approx(888, rel=0.1)
    uram = technology_of("xcu250-figd2104-2L-e")
    assert tool_fifo(64, 9000, uram, "calibrated").resources.uram == 0
    assert tool_fifo(64, 9000, uram, "calibrated", "plus").resources.uram > 0


@pytest.mark.parametrize("model", ["calibrated", "estimated"])
def test_a_fifo_of_a_graph_is_priced_in_the_memory_that_its_finn_builds(model: CostModel) -> None:
    main = CostTable(technology_of("xczu7ev-ffvc1156-2-e"), model)
    # metafi's FIFOs of AMD's in `auto` took 1 to 4 RAMB18 and no UltraRAM, on a part that has some.
    amd = main.built_fifo(4, 8192, "vivado auto")
    assert (amd.bram18, amd.uram) == (4, 0)
    assert main.built_fifo(72, 8192, "vivado ultra").uram > 0
    # cnv5's first FIFO, of FINN's own RTL, took 888 LUT and no block RAM, whatever its ram_style says.
    for style in ("auto", "block", "ultra"):
        own = main.built_fifo(8, 3072, style)
        assert own.lut == pytest.approx(888, rel=0.1)
        assert (own.bram18, own.uram) == (0, 0)
    plus = CostTable(main.technology, model, finn="plus")
    assert plus.built_fifo(64, 9000, "auto") == plus.fifo_choices(64, 9000)[0].resources
    literal = CostTable(main.technology, "finn")
    assert literal.built_fifo(4, 8192, "vivado block").bram18 > literal.built_fifo(4, 8192, "vivado auto").bram18 == 0


def test_beyond_what_amds_fifo_holds_the_pieces_are_paid() -> None:
    whole = priced(8, 52900).resources
    prices = CostTable(PYNQ, tool_sizes_fifos=True)
    assert whole == prices.fifo_resources(8, 52900)
    assert whole.bram18 >= total(priced(8, words).resources for words in split(52900)[:3]).bram18 > 0


def test_channels_are_as_deep_and_as_dear_as_foreseen_and_their_band_is_wide() -> None:
    folded = chain(1)
    own, finns = CostTable(PYNQ), CostTable(PYNQ, tool_sizes_fifos=True)
    needed = size(rate_problem(folded, known=BACKEND)).depths
    least = finns.tool_depths(folded, needed, BACKEND)
    together = dict.fromkeys(("fast", "slow", "host:in0", "host:out0"), "module")
    (channel,) = (
        c for c in connect(folded, finns, PartialPlacement(together, {}, least)) if c.name == "fast.0->slow.0"
    )
    assert channel.fifo_depth_words == least[channel.name] == 36
    assert channel.fifo_resources == priced(32, 36).resources
    low, high = finns.band("StreamingFIFO_rtl", "LUT")
    assert low <= 0.5 < 2.0 <= high
    assert finns.band("MVAU_hls", "LUT") == own.band("MVAU_hls", "LUT")


def test_the_option_is_told_and_the_build_lets_finn_size(tmp_path: Path) -> None:
    asked = {"platform": "pynq-z2", "effort": "fast", "granularity": "slot", "plots": False, "fps": 1000}
    plans = {sizing: api.plan(TFC, **asked, fifo_sizing=sizing) for sizing in ("floorflow", "finn")}
    for sizing, plan in plans.items():
        folder = tmp_path / sizing
        plan.save(folder)
        assert api.check(folder)
        assert json.loads((folder / "plan.json").read_text())["options"]["backend_options"]["fifo_sizing"] == sizing
        script = (folder / "finn" / "build.py").read_text()
        assert f"auto_fifo_depths={sizing == 'finn'}" in script
        assert f"auto_fifo_depths={sizing == 'finn'}" in (folder / "report.txt").read_text()
        assert (folder / "finn" / "fifo_config.json").exists() == (sizing == "floorflow")
        told = "--fifo-sizing finn" in (folder / "report.txt").read_text()
        assert told == (sizing == "finn")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (FinnOptions(), "floorflow's depths"),
        (FinnOptions(fifo_sizing="finn"), "foreseen"),
        (FinnOptions(costs="finn"), "FINN's own costs"),
    ],
)
def test_whose_depths_are_planned_is_told(options: FinnOptions, words: str) -> None:
    assert words in options.fifos_told(knows_depths=True)
    assert ("auto_fifo_depths=False" in options.fifos_told(knows_depths=True)) == (words == "floorflow's depths")
    assert "auto_fifo_depths=True" in options.fifos_told(knows_depths=False)


def test_a_fifo_where_a_segment_was_cut_is_priced_as_one_inside_the_network() -> None:
    prices = CostTable(PYNQ, tool_sizes_fifos=True)
    stream = Stream("fast", 0, "slow", 0, 288, 8, 4)
    at_cut, first = stream.cut({"fast"}), Stream("host:in0", 0, "fast", 0, 288, 8, 4)
    assert at_cut.to_outside
    assert choices_of(at_cut, 8, 3072, prices) == choices_of(stream, 8, 3072, prices) == prices.fifo_choices(8, 3072)
    assert choices_of(first, 8, 3072, prices) == prices.end_fifo_choices(8, 3072) != prices.fifo_choices(8, 3072)
