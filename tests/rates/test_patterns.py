from functools import partial
from itertools import product

import pytest

from floorflow import rates
from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.kinds.window import WindowUnit
from floorflow.backends.finn.rates.patterns import actor_of, sliding_window
from floorflow.backends.finn.rates.start_up import HLS_RESTART_CYCLES, stages
from floorflow.dataflow.model import Attributes, Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.errors import InputError
from floorflow.rates import LinkPace, RouteDelay, size
from floorflow.rates.pipeline import converted
from floorflow.resources import ZERO
from tests.rates.graphs import moves
from tests.rates.stepping import simulate, words_at_steps
from tests.rates.window_stepping import step_window

rate_problem = partial(rates.rate_problem, known=BACKEND)


WINDOW: Attributes = {
    "IFMChannels": 4, "IFMDim": (8, 8), "OFMDim": (6, 6), "ConvKernelDim": (3, 3), "Stride": (1, 1),
    "Dilation": (1, 1), "inputDataType": "UINT4", "depthwise": 0,
}  # fmt: skip
MATRIX: Attributes = {
    "MW": 36, "MH": 8, "inputDataType": "UINT4", "weightDataType": "INT4", "outputDataType": "UINT4",
    "accDataType": "INT16", "numInputVectors": (1, 6, 6), "noActivation": 0, "mem_mode": "internal_decoupled",
}  # fmt: skip
FREE = Option({}, 1, ZERO, (4,), (4,))
ADD: Attributes = {"NumChannels": 4, "inputDataType": "UINT4", "numInputVectors": (1, 6, 6)}


def engine(name: str, kind: str, attributes: Attributes, folding: Attributes) -> tuple[Engine, Option]:
    unit = kind_of(kind).unit({**attributes, **folding})
    option = Option(folding, unit.cycles, ZERO, unit.input_widths_bits, unit.output_widths_bits)
    return Engine(name, kind, name, attributes, 4, 4, 4), option


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("depthwise", [0, 1])
def test_a_window_takes_about_finns_cycles_and_moves_every_word(stride: int, dilation: int, depthwise: int) -> None:
    size_in, size_out = 12, (12 - 2 * dilation - 1) // stride + 1
    attributes = WINDOW | {
        "IFMDim": (size_in, size_in), "OFMDim": (size_out, size_out), "Stride": (stride, stride),
        "Dilation": (dilation, dilation), "depthwise": depthwise,
    }  # fmt: skip
    node, option = engine("swg", "ConvolutionInputGenerator_rtl", attributes, {"SIMD": 2})
    actor = actor_of(node, option, (size_in**2 * 2,), (size_out**2 * 18,))
    assert (actor.reads[0].words, actor.writes[0].words) == (size_in**2 * 2, size_out**2 * 18)
    assert actor.cycles == pytest.approx(option.cycles, rel=0.12)


def windows() -> list[tuple[tuple[int, int], tuple[int, int], int, int, int]]:
    """Image, kernel, stride, dilation and SIMD of windows that fit."""
    images, kernels = ((6, 6), (10, 14), (12, 12), (16, 1)), ((1, 1), (2, 2), (3, 1), (3, 3), (5, 3))
    return [
        row
        for row in product(images, kernels, (1, 2), (1, 2), (1, 4))
        if all(size >= max(row[3] * (k - 1) + 1, row[2]) for size, k in zip(*row[:2], strict=True))
    ]


@pytest.mark.parametrize(("image", "kernel", "stride", "dilation", "simd"), windows())
def test_a_window_moves_its_words_when_finns_rtl_does(
    image: tuple[int, int], kernel: tuple[int, int], stride: int, dilation: int, simd: int
) -> None:
    output = [(size - dilation * (k - 1) - 1) // stride + 1 for size, k in zip(image, kernel, strict=True)]
    attributes = WINDOW | {
        "IFMDim": image, "OFMDim": tuple(output), "ConvKernelDim": kernel, "Stride": (stride, stride),
        "Dilation": (dilation, dilation), "SIMD": simd,
    }  # fmt: skip
    unit = kind_of("ConvolutionInputGenerator_rtl").unit(attributes)
    assert isinstance(unit, WindowUnit)
    actor, seen = sliding_window("swg", unit), step_window(unit)
    assert seen.period - 2 <= actor.cycles <= seen.period
    written = words_at_steps(actor, actor.writes[0])
    last = max(step for step, words in enumerate(written) if words)
    registers = stages(Engine("swg", "ConvolutionInputGenerator_rtl", "swg", attributes, 4, 4, 4), FREE)
    assert last + registers == seen.last_word


def test_the_first_window_sends_each_of_its_rows_as_it_comes_in() -> None:
    node, option = engine("swg", "ConvolutionInputGenerator_rtl", WINDOW, {"SIMD": 4})
    actor = actor_of(node, option, (64,), (324,))
    read, written = (words_at_steps(actor, port) for port in (actor.reads[0], actor.writes[0]))
    assert read[:19] == [1] * 19
    assert [step for step, words in enumerate(written[:20]) if words] == [0, 1, 2, 8, 9, 10, 16, 17, 18, 19]


def test_a_matrix_unit_reads_in_the_first_fold_and_writes_after_each() -> None:
    node, option = engine("mvau", "MVAU_hls", MATRIX, {"PE": 4, "SIMD": 12})
    actor = actor_of(node, option, (108,), (72,))
    assert actor.cycles == option.cycles + HLS_RESTART_CYCLES
    assert words_at_steps(actor, actor.reads[0])[:7] == [1, 1, 1, 0, 0, 0, 1]
    assert words_at_steps(actor, actor.writes[0])[:7] == [0, 0, 1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("kind", "attributes", "folding", "words"),
    [
        ("FMPadding_rtl", {"ImgDim": (5, 7), "Padding": (1, 2, 0, 3), "NumChannels": 4, "inputDataType": "UINT4"},
         {"SIMD": 2}, (70, 144)),
        ("FMPadding_Pixel_hls", {"ImgDim": (3, 4), "Stride": (2, 3), "NumChannels": 2, "inputDataType": "UINT4"},
         {"SIMD": 1}, (24, 100)),
        ("StreamingMaxPool_hls", {"ImgDim": (6, 6), "PoolDim": (2, 2), "NumChannels": 3, "dataType": "UINT4"},
         {}, (36, 9)),
        ("StreamingMaxPool_hls", {"ImgDim": (1, 8), "PoolDim": (1, 2), "NumChannels": 4, "dataType": "UINT4",
                                  "CeilMode": 0}, {"PE": 2}, (16, 8)),
        ("GlobalAccPool_hls", {"NumChannels": 6, "inputDataType": "UINT4", "numInputVectors": (1, 3, 3)},
         {"PE": 2}, (27, 3)),
        ("Pool_hls", {"Channels": 4, "KernelSize": (2, 2), "OutImgDims": (3, 3), "InputDataType": "UINT4",
                      "OutputDataType": "UINT4", "AccumBits": 0, "Function": "MaxPool"}, {"PE": 2}, (72, 18)),
        ("UpsampleNearestNeighbour_hls", {"IFMDim": 3, "OFMDim": 6, "NumChannels": 2, "inputDataType": "UINT4",
                                          "numInputVectors": 1}, {}, (9, 36)),
        ("LabelSelect_hls", {"Labels": 10, "K": 1, "inputDataType": "UINT4", "outputDataType": "UINT8"},
         {"PE": 2}, (5, 1)),
        ("Reshape_rtl", {"inp_shape": (1, 4, 6), "out_shape": (1, 24), "dtype": "UINT4"}, {"PE": 3}, (8, 8)),
        ("Thresholding_rtl", {"NumChannels": 4, "numSteps": 3, "inputDataType": "INT8", "weightDataType": "INT8",
                              "outputDataType": "UINT2", "numInputVectors": (1, 3, 3)}, {"PE": 2}, (18, 18)),
    ],
)  # fmt: skip
def test_patterns_take_finns_cycles(
    kind: str, attributes: Attributes, folding: Attributes, words: tuple[int, int]
) -> None:
    node, option = engine("node", kind, attributes, folding)
    actor = actor_of(node, option, words[:1], words[1:])
    assert actor.cycles == option.cycles + (HLS_RESTART_CYCLES if kind.endswith("_hls") else 0)
    assert (actor.reads[0].words, actor.writes[0].words) == words
    for port in (*actor.reads, *actor.writes):
        assert sum(words_at_steps(actor, port)) == port.words


def test_a_concatenation_takes_its_inputs_in_turn() -> None:
    attributes: Attributes = {"ChannelsPerStream": (2, 4), "inputDataType": "UINT4", "numInputVectors": (1, 2)}
    node, option = engine("cat", "StreamingConcat_hls", attributes, {"SIMD": 2})
    actor = actor_of(node, option, (2, 4), (6,))
    read = [words_at_steps(actor, port)[:-HLS_RESTART_CYCLES] for port in actor.reads]
    assert read == [[1, 0, 0, 1, 0, 0], [0, 1, 1, 0, 1, 1]]


@pytest.mark.parametrize(
    ("direction", "stream", "memory", "words"),
    [("in", 8, 64, (3, 24)), ("out", 8, 64, (24, 3)), ("in", 64, 64, (5, 5)), ("in", 24, 32, (6, 8))],
)
def test_a_dma_moves_a_word_of_its_narrower_side_every_cycle(
    direction: str, stream: int, memory: int, words: tuple[int, int]
) -> None:
    attributes: Attributes = {"direction": direction, "streamWidth": stream, "intfWidth": memory}
    node, option = engine("dma", "IODMA_hls", attributes, {})
    actor = actor_of(node, option, words[:1], words[1:])
    assert actor.cycles == max(words)
    read, written = (words_at_steps(actor, port) for port in (actor.reads[0], actor.writes[0]))
    assert (sum(read), sum(written)) == words
    # No word leaves before what it is made of has come.
    assert all(sum(written[:step]) * words[0] <= sum(read[:step]) * words[1] for step in range(actor.cycles + 1))


@pytest.mark.parametrize(
    ("kind", "attributes", "folding", "registers"),
    [
        ("Thresholding_rtl", {"numSteps": 1}, {"PE": 1}, 4),
        ("Thresholding_rtl", {"numSteps": 255}, {"PE": 1}, 18),
        ("Thresholding_rtl", {"numSteps": 255, "deep_pipeline": 0}, {"PE": 1}, 10),
        ("MVAU_rtl", {"MW": 8, "MH": 8}, {"PE": 8, "SIMD": 4}, 8),
        ("MVAU_rtl", {"MW": 8, "MH": 8}, {"PE": 4, "SIMD": 1}, 9),
        ("ConvolutionInputGenerator_rtl", {}, {"SIMD": 1, "parallel_window": 0}, 2),
        ("MVAU_hls", {"MW": 8, "MH": 8}, {"PE": 8, "SIMD": 4}, 4),
        ("LabelSelect_hls", {}, {"PE": 1}, 4),
        ("LabelSelect_hls", {}, {"PE": 5}, 7),
        ("Reshape_rtl", {}, {"PE": 1}, 0),
        ("FMPadding_rtl", {}, {"SIMD": 1}, 1),
    ],
)
def test_a_word_passes_the_registers_of_its_kind(
    kind: str, attributes: Attributes, folding: Attributes, registers: int
) -> None:
    assert stages(Engine("x", kind, "x", attributes, 4, 4, 4), Option(folding, 1, ZERO, (4,), (4,))) == registers


def test_an_unknown_kind_is_refused() -> None:
    node = Engine("x", "Shuffle_hls", "x", {}, 0, 4, 4)
    with pytest.raises(InputError, match="when Shuffle_hls reads and writes is unknown"):
        actor_of(node, Option({}, 1, ZERO, (4,), (4,)), (1,), (1,))


def test_a_converter_hands_on_full_words_and_takes_them_when_first_needed() -> None:
    narrow = moves([(6, 1, 2), (6, 0, 1)])
    up, down = (converted(narrow, 2, 8, written=written) for written in (True, False))
    assert up.counts.tolist() == [1, 2]
    assert (up.first[0], up.first[1], up.stride[1]) == (7, 1, 4)
    assert down.counts.tolist() == [2, 1]
    assert (down.first[0], down.stride[0], down.first[1]) == (1, 8, 2)


def residual() -> FoldedDataflow:
    """Duplicate, then padding, window and matrix unit on one branch and nothing on the other, then an addition."""
    nodes = [
        engine("dup", "DuplicateStreams_hls", ADD, {"PE": 2}),
        engine("pad", "FMPadding_rtl", {"ImgDim": (6, 6), "Padding": (1, 1, 1, 1), "NumChannels": 4,
                                        "inputDataType": "UINT4"}, {"SIMD": 1}),
        engine("swg", "ConvolutionInputGenerator_rtl", WINDOW, {"SIMD": 2}),
        engine("mvau", "MVAU_hls", MATRIX | {"MH": 4}, {"PE": 1, "SIMD": 6}),
        engine("add", "AddStreams_hls", ADD, {"PE": 1}),
    ]  # fmt: skip
    streams = (
        Stream("host:in0", 0, "dup", 0, 144, 4, 4),
        Stream("dup", 0, "pad", 0, 144, 4, 4),
        Stream("pad", 0, "swg", 0, 256, 4, 4),
        Stream("swg", 0, "mvau", 0, 1296, 36, 4),
        Stream("mvau", 0, "add", 0, 144, 4, 4),
        Stream("dup", 1, "add", 1, 144, 4, 4),
        Stream("add", 0, "host:out0", 0, 144, 4, 5),
    )
    return FoldedDataflow(Dataflow("net", tuple(n for n, _ in nodes), streams), {n.name: o for n, o in nodes})


def test_the_skip_branch_of_a_residual_block_holds_what_its_window_delays() -> None:
    problem = rate_problem(residual(), bursts=None).single_steps()
    sized = size(problem, most_bursts=100_000)
    assert sized.depths["dup.1->add.1"] == 20
    assert simulate(problem, sized.depths).interval_cycles == sized.interval_cycles
    less = {**sized.depths, "dup.1->add.1": 19}
    assert simulate(problem, less).interval_cycles > sized.interval_cycles


def test_a_window_before_a_unit_without_spare_cycles_needs_its_first_rows_ready() -> None:
    problem = rate_problem(residual(), bursts=None).single_steps()
    busy, spare = (size(problem, interval, most_bursts=100_000).depths["pad.0->swg.0"] for interval in (870, 950))
    assert busy > 16
    assert spare < 8


def test_bursts_of_a_network_keep_the_rate_of_its_single_words() -> None:
    problem = rate_problem(residual())
    sized = size(problem, most_bursts=0)
    assert simulate(problem.single_steps(), sized.depths).interval_cycles == sized.interval_cycles


def test_registers_on_the_way_deepen_the_fifo() -> None:
    name = "host:in0.0->dup.0"
    far = rate_problem(residual(), {name: RouteDelay(50, 50)})
    assert size(far).depths[name] > size(rate_problem(residual())).depths[name]


@pytest.mark.parametrize(("frame_cycles", "room", "interval"), [(1500, 512, 1500), (500, 512, 870), (500, 4, 1836)])
def test_a_slow_link_sets_the_interval_by_its_pace_or_its_credits(frame_cycles: int, room: int, interval: int) -> None:
    """Of the 72 words of a frame 4 pass in a round trip, there and back 50 cycles and one; engines take 870 cycles."""
    name = "host:in0.0->dup.0"
    problem = rate_problem(residual(), {name: RouteDelay(59, 59, LinkPace(frame_cycles, room, 50, 9))})
    sized = size(problem, most_bursts=100_000)
    assert sized.interval_cycles == interval
    assert sized.depths[f"{name} behind a link"] == room
    assert simulate(problem.single_steps(), sized.depths).interval_cycles == interval
