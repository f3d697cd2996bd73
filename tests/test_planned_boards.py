"""CNV is planned on every board that ships, legally by the judge, and its channel of memory is paid for."""

from __future__ import annotations

import json

import pytest

import floorflow as ff
from floorflow.assets import shipped
from tests.conftest import CNV

QUICK = ("alveo-u50", "kv260")
"""One with HBM and one without a shell, in each run; the others on request."""
DDR, HBM = {"LUT": 33256, "FF": 44889, "BRAM18": 199, "URAM": 0, "DSP": 3}, {"LUT": 15718, "FF": 28293, "BRAM18": 8}
CHANNELS = {
    "alveo-u200": {},
    "alveo-u250": {"DDR[0] controller": DDR},
    "alveo-u280": {"HBM[0] controller": HBM},
    "alveo-u50": {"HBM[0] controller": HBM},
    "alveo-u55c": {"HBM[0] controller": HBM},
    "aws-f1": {},
    "aws-f2": {"HBM[0] controller": HBM},
    "vcu118": {"DDR4_C1 controller": DDR},
}
"""What the first channel takes: nothing where the shell has its controller."""


@pytest.mark.parametrize(
    "board", [board if board in QUICK else pytest.param(board, marks=pytest.mark.slow) for board in shipped("boards")]
)
def test_cnv_is_planned_legally(board: str) -> None:
    plan = ff.plan(CNV, board, effort="fast")
    verdict = ff.check(plan)
    assert verdict.legal, verdict.violations
    controllers = {
        item["name"]: {name: amount for name, amount in item["resources"].items() if amount}
        for item in json.loads(plan.files["plan.json"])["platform"]["infrastructure"]
        if item["name"].endswith("controller")
    }
    expected = CHANNELS.get(board, {})
    assert controllers == {key: {k: n for k, n in amounts.items() if n} for key, amounts in expected.items()}
