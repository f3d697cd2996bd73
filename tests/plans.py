"""The whole plans that tests share: each is made once a session. A new one takes the place of another."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from floorflow.placement.problem import LIMITS
from floorflow.request import Request

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
CNV = EXAMPLES / "cnv_2w2a.onnx"
TFC = EXAMPLES / "tfc_1w1a.onnx"
FREE: Mapping[str, Any] = {"max_products": "none", "max_engine_share": "none"}
"""Options under which single engines are as large as they may be, for tests of something else."""
FAST: Mapping[str, Any] = {"effort": "fast", "plots": False}
MOST_PLANS = 25

PLANS = {
    "CNV over several SLRs, with engines as large as they may be": Request(
        CNV, "alveo-u250", runtime_weights="always", **FREE, **FAST
    ),
    "CNV on a card as the command line plans it": Request(CNV, "alveo-u250", plots=False),
    "CNV on a card in soft pblocks": Request(CNV, "alveo-u250", constraint_style="soft", **FAST),
    "CNV on a card by SLRs": Request(CNV, "alveo-u250", constraint_style="slr", **FAST),
    "CNV on a Zynq": Request(CNV, "pynq-z1", constraint_style="hard", **FAST),
    "CNV on a Kintex": Request(CNV, "xcku5p", **FAST),
    "CNV on a Kintex without constraints": Request(CNV, "xcku5p", constraint_style="none", **FAST),
    "CNV stitched over several SLRs": Request(CNV, "xcu250", flow="stitch", clock_mhz=400, cap={"LUT": 0.12}, **FAST),
    "TFC stitched on three cards": Request(TFC, "xcku5p", flow="stitch", fpgas=3, **FAST),
    "TFC on a Zynq as the command line plans it": Request(TFC, "pynq-z1", plots=False),
    "TFC on a Zynq": Request(TFC, "pynq-z1", **FAST),
    "TFC on a Zynq and what less rate would free": Request(TFC, "pynq-z1", bargains="fold", **FAST),
    "TFC on a Kintex": Request(TFC, "xcku5p", **FAST),
    "TFC on an MPSoC": Request(TFC, "zcu104", plots=False),
    "TFC on a card, pblocks by fills": Request(TFC, "alveo-u250", confidence="none", **FAST),
    "TFC on a card, pblocks by confidence": Request(TFC, "alveo-u250", confidence=0.9, **FAST),
}
"""Requests for examples, by what is planned; beside them are three of branches (conftest)."""
assert len(PLANS) + 3 <= MOST_PLANS

SHORT = {"repaired_starts": 1, "tight_rounds": 1, "every_rounds": 1, "complete_limit": 0, "complete_modules": 0}
SHORT |= {"searched_modules": 0, "ordered_modules": 0}
"""What placing may take where nobody asks how short the wires are: it is most of a small plan's time."""
_PLACING = dict(LIMITS)


@contextmanager
def placing(**limits: Any) -> Iterator[None]:
    """Let the placer do as much as its limits say but for these."""
    with patch.dict(LIMITS, {effort: replace(_PLACING[effort], **limits) for effort in ("fast", "default")}):
        yield
