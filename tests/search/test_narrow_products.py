"""Products of two bits are formed in LUT where every slot has enough of it, in DSP blocks where it has not."""

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.model import Engine
from floorflow.errors import required
from floorflow.request import Request
from floorflow.search.candidate.preparing import prepare
from floorflow.search.interval import narrow_products
from floorflow.search.interval.least_full import crossings_of
from floorflow.search.interval.search import search
from tests.conftest import Planned
from tests.plans import CNV, PLANS
from tests.search.test_search import fits, placed_by


def dsp_blocks(plan: Mapping[str, Any]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the DSP blocks of engines with operands of two bits at most, and of those with wider ones."""
    engines, folded = plan["networks"][0]["engines"], plan["phases"][0]["networks"][0]["folding"]["engines"]
    blocks = {name: entry["resources"]["DSP"] for name, entry in folded.items() if entry["resources"]["DSP"]}
    narrow = {e["name"] for e in engines if max(e["weight_bits"], e["input_bits"]) <= 2}
    return {n: b for n, b in blocks.items() if n in narrow}, {n: b for n, b in blocks.items() if n not in narrow}


def fullest_lut(plan: Mapping[str, Any]) -> float:
    return max(float(slot["LUT"]) for slot in plan["phases"][0]["partition"]["utilisation"].values())


def read(out: Path) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads((out / "plan.json").read_text())
    return plan


def test_where_lut_is_plentiful_no_product_of_two_bits_takes_dsp_blocks(planned: Planned) -> None:
    plan = read(planned(PLANS["CNV on a card in soft pblocks"]))
    narrow, wide = dsp_blocks(plan)
    assert not narrow
    assert wide, "products of eight bits stay where they are"
    assert fullest_lut(plan) <= 0.5


def test_where_lut_is_above_half_dsp_blocks_spare_it(planned: Planned) -> None:
    plan = read(planned(PLANS["CNV on a Kintex"]))
    assert dsp_blocks(plan)[0]
    assert fullest_lut(plan) > 0.5


def test_it_costs_neither_rate_nor_crossings(monkeypatch: pytest.MonkeyPatch) -> None:
    context = placed_by(fits, prepare(read_source(CNV), Request(CNV, "alveo-u250", effort="fast", plots=False), 1))

    def found(enough: Fraction) -> tuple[int, tuple[int, int, int], list[Engine]]:
        monkeypatch.setattr(narrow_products, "ENOUGH_LUT", enough)
        candidate = required(search(context)).candidate
        options = candidate.folded.options
        narrow = [e for e in candidate.folded.dataflow.engines if e.operand_bits <= 2 and options[e.name].resources.dsp]
        return candidate.interval_cycles, crossings_of(candidate), narrow

    plentiful, scarce = found(Fraction(1, 2)), found(Fraction(0))
    assert plentiful[:2] == scarce[:2]
    assert not plentiful[2]
    assert scarce[2]
