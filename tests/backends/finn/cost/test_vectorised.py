"""Foldings priced in columns are those that their units have alone, and the front of columns is the front."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.backends.finn.cost.memory import (
    block_ram18,
    ceiling,
    finn_depthwise_bram18,
    finn_weight_bram18,
    first_of,
    in_formulas,
    least,
    most,
    where,
    whole,
)
from floorflow.backends.finn.folding.legal_foldings import Port, Ports, front, legal_options
from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS, Choice, divisors, priced
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.dataflow.options import OptionTable
from floorflow.errors import InputError
from floorflow.technology import Technology

PARTS = (
    Technology("7series", "DSP48E1", has_uram=False),
    Technology("ultrascale+", "DSP48E2", has_uram=True),
    Technology("versal", "DSP58", has_uram=True),
)
CHOICES = st.builds(
    Choice,
    st.sampled_from(PARTS),
    st.sampled_from(["finn", "estimated", "calibrated"]),
    st.booleans(),
    st.sampled_from(["main", "dev", "plus"]),
)
TYPES = {
    "inputDataType": st.sampled_from(["BIPOLAR", "INT4", "UINT2", "UINT8"]),
    "weightDataType": st.sampled_from(["BIPOLAR", "INT2", "INT4", "INT8"]),
    "outputDataType": st.sampled_from(["BIPOLAR", "UINT4", "INT14"]),
}
STYLES = {
    "mem_mode": st.sampled_from(["internal_embedded", "internal_decoupled", "external"]),
    "ram_style": st.sampled_from(["auto", "block", "distributed", "ultra"]),
    "resType": st.sampled_from(["auto", "dsp"]),
    "ram_style_thresholds": st.sampled_from(["auto", "block", "distributed"]),
    "runtime_writeable_weights": st.integers(0, 1),
    "mlo_max_iter": st.sampled_from([0, 2]),
}
WEIGHTED = {**TYPES, "accDataType": st.sampled_from(["INT10", "INT32"]), "noActivation": st.integers(0, 1)}
MATRICES = st.fixed_dictionaries(
    {
        "MW": st.sampled_from([1, 6, 27, 576, 4608]),
        "MH": st.sampled_from([1, 10, 64]),
        "numInputVectors": st.just((1, 5, 5)),
        **WEIGHTED,
    },
    optional=STYLES,
)
DEPTHWISE = st.fixed_dictionaries(
    {
        "Channels": st.sampled_from([1, 12, 960]),
        "Kernel": st.sampled_from([(3, 3), (1, 5)]),
        "Dim": st.just((6, 6)),
        **WEIGHTED,
    },
    optional=STYLES,
)
WINDOWS = st.fixed_dictionaries(
    {
        "IFMChannels": st.sampled_from([1, 6, 96, 2048]),
        "inputDataType": TYPES["inputDataType"],
        "IFMDim": st.sampled_from([(9, 9), (7, 224), (1, 64), (64, 1)]),
        "OFMDim": st.just((3, 3)),
        "ConvKernelDim": st.sampled_from([(1, 1), (3, 3), (1, 3), (3, 1)]),
        "Stride": st.sampled_from([(1, 1), (2, 2)]),
        "Dilation": st.sampled_from([(1, 1), (1, 2)]),
        "depthwise": st.integers(0, 1),
    },
    optional={"parallel_window": st.integers(0, 1), "ram_style": STYLES["ram_style"]},
)
ENGINES = st.one_of(
    st.tuples(st.sampled_from(["MVAU_hls", "MVAU_rtl"]), MATRICES),
    st.tuples(st.sampled_from(["VVAU_hls", "VVAU_rtl"]), DEPTHWISE),
    st.tuples(st.just("ConvolutionInputGenerator_rtl"), WINDOWS),
)


@given(ENGINES, CHOICES)
def test_columns_hold_what_each_unit_says_alone(engine: tuple[str, dict[str, object]], choice: Choice) -> None:
    kind, attributes = kind_of(engine[0]), engine[1]
    try:
        found = legal_options(kind, attributes, choice)
    except InputError:
        return
    for option in found[:: 1 + len(found) // 40]:
        unit = kind.unit({**attributes, **option.folding}, choice.finn)
        assert option.resources == priced(unit, choice.technology, choice.model)
        widths = unit.input_widths_bits, unit.output_widths_bits
        assert (option.cycles, option.input_widths_bits, option.output_widths_bits) == (unit.cycles, *widths)
        assert max(*widths[0], *widths[1]) <= MAX_STREAM_BITS
    assert len({tuple(sorted(option.folding.items())) for option in found}) == len(found)


@pytest.mark.parametrize("kind", ["MVAU_hls", "MVAU_rtl"])
def test_every_size_whose_words_fit_is_offered(kind: str) -> None:
    types = {"inputDataType": "UINT8", "weightDataType": "INT8", "outputDataType": "INT32"}
    layer = {"MW": 4608, "MH": 512, "noActivation": 1, **types}
    found = legal_options(kind_of(kind), layer, Choice(PARTS[1], "estimated"))
    sizes = {(option.folding["PE"], option.folding["SIMD"]) for option in found}
    hls = kind == "MVAU_hls"
    assert sizes == {
        (pe, simd)
        for pe, simd in product(divisors(512), divisors(4608))
        if 32 * pe <= 8191 and 8 * simd <= 8191 and not (hls and (simd < 4.5 or not fits(pe, simd, 4608 * 512)))
    }


def fits(pe: int, simd: int, weights: int) -> bool:
    """Whether HLS can express words of all lanes, or the words are few enough for tables of one PE."""
    return 8 * pe * simd <= 8191 or (weights // (pe * simd) <= 128 and 8 * simd <= 8191)


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3, st.integers(0, 9)), max_size=40))
def test_the_front_holds_what_nothing_of_its_class_equals_or_beats(rows: list[tuple[int, ...]]) -> None:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    kept = front(columns[:1], columns[1:3], lambda row: (rows[row][3], row))

    def beats(one: int, other: int) -> bool:
        a, b = rows[one], rows[other]
        if a[0] != b[0] or one == other:
            return False
        return (a[1] <= b[1] and a[2] <= b[2]) and (a[1:3] != b[1:3] or (a[3], one) < (b[3], other))

    everything = range(len(rows))
    assert set(kept.tolist()) == {row for row in everything if not any(beats(other, row) for other in everything)}


NUMBERS = st.lists(st.integers(1, 40_000), min_size=1, max_size=8)


@given(NUMBERS, st.integers(1, 40_000))
def test_formulas_of_columns_are_those_of_integers(numbers: list[int], other: int) -> None:
    column = in_formulas(np.array(numbers, dtype=np.int64))

    def all_of(amount: int) -> list[int]:
        cases = [(amount > 100, amount // 3), (amount == other, 5)]
        parts = [where(amount > other, amount, other), first_of(cases, 0), least(amount, other, 3 * amount)]
        parts += [most(amount, other), whole(amount / 7), ceiling(amount / 7 - 3)]
        parts += [count(amount, other) for count in (block_ram18, finn_weight_bram18, finn_depthwise_bram18)]
        return [*parts, *(count(other % 50 + 1, amount) for count in (block_ram18, finn_weight_bram18))]

    alone = [all_of(number) for number in numbers]
    assert np.array([np.broadcast_to(part, len(numbers)) for part in all_of(column)]).T.tolist() == alone
    assert {type(part) for parts in alone for part in parts} == {int}


@given(st.integers(1, 100_000))
def test_divisors_are_all_and_ascend(number: int) -> None:
    assert divisors(number) == tuple(n for n in range(1, number + 1) if number % n == 0)


def test_ports_take_words_of_whole_elements_that_divide_the_last_dimension() -> None:
    assert Port(4, 6).takes(np.array([2, 4, 6, 8, 12, 16, 24, 48])).tolist() == [
        *(False, True, False, True, True, False, True, False)
    ]


def test_ports_mark_options_by_each_of_their_streams() -> None:
    types = {"inputDataType": "UINT4", "weightDataType": "INT2", "outputDataType": "UINT4"}
    layer = {"MW": 12, "MH": 8, "noActivation": 0, **types}
    every = legal_options(kind_of("MVAU_hls"), layer, Choice(PARTS[1], "estimated"))
    ports = Ports((Port(4, 4),), (Port(4, 2),))
    taken: OptionTable = every.take(ports.taken(every))
    assert {(option.folding["SIMD"], option.folding["PE"]) for option in taken} == set(product((1, 2, 4), (1, 2)))
    assert all(ports.take(option) == (option in list(taken)) for option in every[::5])
