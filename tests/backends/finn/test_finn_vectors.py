"""FINN's own answers, row by row: not one may differ."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from floorflow.backends.finn.kinds.fifo import fifo_estimate
from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.names import FinnVersion, technology_for
from floorflow.errors import InputError
from floorflow.technology import technology_of
from tests.backends.finn.estimates import FinnEstimate, estimate

VECTORS = Path(__file__).parent / "vectors"
PARTS = ("xc7z020clg400-1", "xczu7ev-ffvc1156-2-e", "xcvc1902-vsva2197-2MP-e-S")
ULTRASCALE = 1


def lines(name: str) -> list[list]:
    with gzip.open(VECTORS / name, "rt") as file:
        return [json.loads(line) for line in file]


ROWS = lines("answers.jsonl.gz")
NETWORKS = lines("networks.jsonl.gz")


def frozen(attributes: dict) -> dict:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in attributes.items()}


def numbers(found: FinnEstimate) -> tuple:
    return found.cycles, found.lut, found.bram_18k, found.uram, found.dsp, found.in_width_bits, found.out_width_bits


@pytest.mark.parametrize("finn", ["main", "dev", "plus"])
def test_every_answer_is_met_on_every_family(finn: FinnVersion) -> None:
    rows = [row[1:] for row in ROWS if finn in row[0]]
    assert len(rows) > 2500
    for op_type, attributes, cycles, lut, bram, uram, dsp, inside, outside in rows:
        for family, (part, blocks) in enumerate(zip(PARTS, dsp, strict=True)):
            found = numbers(estimate(op_type, frozen(attributes), technology_for(part, finn), finn))
            if family == ULTRASCALE:
                assert found == (cycles, lut, bram, uram, blocks, inside, outside), (op_type, attributes)
            assert found[4] == blocks, (op_type, attributes, part)


def test_every_kind_of_every_finn_has_rows() -> None:
    counts = Counter((finn, row[1]) for row in ROWS for finn in row[0])
    missing = [(finn, name) for name, kind in KINDS.items() for finn in kind.versions if not counts[finn, name]]
    assert missing == []
    assert min(counts["main", name] for name in ("MVAU_hls", "VVAU_rtl", "StreamingFIFO_rtl")) >= 100


def test_floorflows_own_model_prices_every_kind_of_every_finn() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for finns, op_type, attributes, *_ in ROWS:
        seen[finns[0], op_type] += 1
        if seen[finns[0], op_type] > 5 or attributes.get("inWidth", 0) == attributes.get("outWidth", 1):
            continue
        unit = KINDS[op_type].unit(frozen(attributes), finns[0])
        for part in PARTS:
            priced = unit.own_resources(technology_of(part))
            # A change of shape is only wires.
            assert (priced.lut > 0) == (op_type != "Reshape_rtl"), (op_type, attributes)
            assert (priced.ff > 0) == (op_type != "Reshape_rtl"), (op_type, attributes)
            assert all(isinstance(amount, int) for amount in priced.as_tuple())


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network[0])
def test_every_engine_of_every_network_costs_what_finn_says_at_every_recorded_folding(network: list) -> None:
    _, engines, foldings = network
    assert len(foldings) > 20
    for part, folding, slowest, totals, each in foldings:
        technology = technology_for(part, "main")
        found = [
            numbers(estimate(op_type, frozen({**attributes, **folding.get(name, {})}), technology))[:5]
            for name, op_type, attributes in engines
        ]
        assert max(row[0] for row in found) == slowest
        assert [sum(row[column] for row in found) for column in range(1, 5)] == totals
        assert each is None or [list(row) for row in found] == each


def test_every_fifo_row_of_finn_plus_is_met() -> None:
    rows = lines("fifo_plus.jsonl.gz")
    assert len(rows) > 2500
    for depth, width, requested, versal, *expected in rows:
        found = fifo_estimate(width, depth, requested, versal=versal)
        assert [found.style, found.lut, found.bram18, found.uram] == expected, (depth, width, requested, versal)
        attributes = {"depth": depth, "folded_shape": (1, width), "dataType": "BINARY", "ram_style": requested}
        priced = estimate("StreamingFIFO_rtl", attributes, technology_for(PARTS[2 if versal else 1], "plus"), "plus")
        assert [priced.lut, priced.bram_18k, priced.uram] == expected[1:]


@pytest.mark.parametrize(
    ("op_type", "finn"), [("AddStreams_hls", "plus"), ("ElementwiseAdd_hls", "main"), ("Reshape_rtl", "dev")]
)
def test_a_kind_that_a_finn_lacks_is_refused_and_says_who_has_it(op_type: str, finn: FinnVersion) -> None:
    with pytest.raises(InputError, match=rf"has no {op_type}") as caught:
        estimate(op_type, {}, technology_for(PARTS[1], finn), finn)
    assert "FINN" in caught.value.hint


@pytest.mark.parametrize(
    ("part", "finn", "block"),
    [
        ("xcv80-lsva4737-2MHP-e-S", "main", "DSP48E2"),
        ("xcv80-lsva4737-2MHP-e-S", "dev", "DSP58"),
        ("xcvh1582-vsva3697-2MP-e-S", "plus", "DSP48E2"),
        ("xqvc1902-vsrd1760-1MM-e-S", "main", "DSP58"),
        ("xck26-sfvc784-2LV-c", "main", "DSP48E2"),
        ("xc7a100tcsg324-1", "dev", "DSP48E1"),
    ],
)
def test_families_are_those_that_finn_tells_from_a_name(part: str, finn: FinnVersion, block: str) -> None:
    assert technology_for(part, finn).dsp_block == block
