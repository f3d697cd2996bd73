"""FINN's own answers, row by row: not one may differ."""

import gzip
import json
from pathlib import Path

import pytest

from floorflow.backends.finn.fifo import fifo_estimate
from floorflow.backends.finn.registry import KINDS, estimate
from floorflow.technology import Technology

VECTORS = Path(__file__).parent / "vectors"
FAMILIES = (
    Technology("7series", "DSP48E1", has_uram=False),
    Technology("ultrascale+", "DSP48E2", has_uram=True),
    Technology("versal", "DSP58", has_uram=True),
)


def lines(name: str) -> list[list]:
    with gzip.open(VECTORS / name, "rt") as file:
        return [json.loads(line) for line in file]


ROWS = lines("main.jsonl.gz")


@pytest.mark.parametrize("op_type", sorted(KINDS))
def test_every_row_of_finn_main_is_met(op_type: str) -> None:
    rows = [row for row in ROWS if row[0] == op_type]
    assert len(rows) == 100
    for _, attributes, cycles, lut, bram, uram, dsp, inside, outside in rows:
        frozen = {name: tuple(value) if isinstance(value, list) else value for name, value in attributes.items()}
        for technology, blocks in zip(FAMILIES, dsp, strict=True):
            found = estimate(op_type, frozen, technology)
            assert (found.cycles, found.lut, found.bram_18k, found.uram, found.dsp) == (
                *(cycles, lut, bram, uram),
                blocks,
            ), attributes
            assert inside in {None, found.in_width_bits}, attributes
            assert outside in {None, found.out_width_bits}, attributes


def test_every_fifo_row_of_finn_plus_is_met() -> None:
    rows = lines("fifo_plus.jsonl.gz")
    assert len(rows) > 2500
    for depth, width, requested, versal, *expected in rows:
        found = fifo_estimate(width, depth, requested, versal=versal)
        assert [found.style, found.lut, found.bram18, found.uram] == expected, (depth, width, requested, versal)
