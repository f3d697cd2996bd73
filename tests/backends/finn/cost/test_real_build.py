"""The estimated model stays near a real build: post-synthesis resources of 222 instances, Vivado 2022.2."""

import gzip
import json
from pathlib import Path
from statistics import median

import pytest

from floorflow.backends.finn.cost.memory import block_ram18, finn_weight_bram18
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.resources import Resources
from floorflow.technology import technology_of

PART = technology_of("xczu7ev-ffvc1156-2-e")
BUILT_AS = {"MVAU_hls": {"resType": "dsp", "ram_style_thresholds": "distributed"}}
"""What Vivado made of ``auto``."""


def instances() -> list[tuple[str, dict, Resources]]:
    with gzip.open(Path(__file__).parents[1] / "vectors" / "metafi.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    return [
        (kind, {**attributes, **BUILT_AS.get(kind, {})}, Resources(lut, ff, bram18, 0, dsp))
        for kind, attributes, lut, ff, bram18, dsp in rows
    ]


FINN = {"MVAU_hls": "plus"}
"""Whose engine was built, where its price depends on that."""
INSTANCES = instances()
KINDS = sorted({kind for kind, *_ in INSTANCES})


def pairs(op_type: str) -> list[tuple[Resources, Resources]]:
    return [
        (measured, kind_of(op_type).unit(attributes, FINN.get(op_type, "main")).own_resources(PART))
        for kind, attributes, measured in INSTANCES
        if kind == op_type
    ]


@pytest.mark.parametrize("op_type", [kind for kind in KINDS if kind != "Thresholding_rtl"])
def test_sums_and_medians_of_logic_are_within_a_tenth(op_type: str) -> None:
    found = pairs(op_type)
    for name in ("lut", "ff"):
        measured = [getattr(real, name) for real, _ in found]
        modelled = [getattr(own, name) for _, own in found]
        assert sum(modelled) == pytest.approx(sum(measured), rel=0.1)
        assert 0.9 <= median(a / b for a, b in zip(measured, modelled, strict=True)) <= 1.1


def test_thresholds_are_an_upper_bound() -> None:
    assert all(own.lut >= real.lut for real, own in pairs("Thresholding_rtl"))


def test_matrix_units_are_close_one_by_one() -> None:
    found = pairs("MVAU_hls")
    assert len(found) == 32
    assert all(0.8 <= real.lut / own.lut <= 1.2 for real, own in found)
    assert sum(own.bram18 for _, own in found) == pytest.approx(sum(real.bram18 for real, _ in found), rel=0.02)
    assert sum(own.dsp for _, own in found) == pytest.approx(sum(real.dsp for real, _ in found), rel=0.06)


def test_block_ram_is_counted_better_than_finn_does() -> None:
    errors = {"own": 0, "finn": 0}
    for kind, attributes, measured in INSTANCES:
        if kind == "MVAU_hls":
            lanes = attributes["PE"] * attributes["SIMD"]
            depth = attributes["MW"] * attributes["MH"] // lanes
            if depth >= 512:
                errors["own"] += abs(block_ram18(3 * lanes, depth) - measured.bram18)
                errors["finn"] += abs(finn_weight_bram18(3 * lanes, depth) - measured.bram18)
    assert errors == {"own": 10, "finn": 27}
