"""Plan models on boards by default and again with --fps at the rate of that plan, and compare the two.

    python benchmarks/same_rate.py [MODELS] [--effort fast] [--only cnv]

MODELS is a folder of further models (default: ../shared/models) beside the examples. Columns: interval in cycles,
the fullest slot's share of its limit and the cost of crossings, by default and with --fps; whether the second is
fuller or costs more; the rule of evenness that took the plan and the least full design beside it; CPU seconds of both.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runs import markdown

from floorflow import flow
from floorflow.facts import Plan
from floorflow.request import Request
from floorflow.search.policy.other_requests import DIGITS, rounded_down

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SMALL = ("pynq-z1", "zcu104", "xcku5p", "alveo-u250")
PAIRS = (
    *((model, board) for model in ("tfc_1w1a.onnx", "cnvw1a1.onnx", "cnv_2w2a.onnx") for board in SMALL),
    *(("zoo/lenet.onnx", board) for board in SMALL[1:]),
    *(("zoo/cnv.onnx", board) for board in SMALL[1:]),
    *(("brevitas_LFC_1W1A.light.onnx", board) for board in SMALL[1:]),
    *(("mobilenet_v1_w4a4.onnx", board) for board in ("zcu104", "alveo-u250", "alveo-u280")),
    *(("squeezenet_w4a4.light.qonnx.onnx", board) for board in ("alveo-u250", "alveo-u280")),
    *(("resnet18_w3a3.light.qonnx.onnx", board) for board in ("alveo-u250", "alveo-u280")),
    ("cnvw1a1.onnx", "alveo-u280"),
    ("cnv_2w2a.onnx", "alveo-u280"),
)
HEADINGS = ("model", "board", "interval", "fullest: default", "--fps", "crossings: default", "--fps", "worse", "rule")


@dataclass(frozen=True)
class Figures:
    """What is compared of a plan, and what it took."""

    plan: Plan
    seconds: float

    @property
    def interval(self) -> int:
        return self.plan.networks[0].search.interval_cycles

    @property
    def fullest(self) -> float:
        full = self.plan.summary.fullness
        return 0.0 if full is None else full.share

    @property
    def cost(self) -> int:
        return self.plan.only_phase.partition.cost


def planned(request: Request) -> Figures:
    start = time.process_time()
    return Figures(flow.plan(request).plan, time.process_time() - start)


def row(request: Request) -> tuple[list[str], bool]:
    """Plan twice; return the cells, and whether the second plan is worse."""
    first = planned(request)
    fps = rounded_down(first.plan.options.clock_mhz * 1e6 / first.interval, DIGITS[0])
    second = planned(request.changed(fps=fps))
    worse = second.fullest > first.fullest or second.cost > first.cost
    even = first.plan.only_phase.partition.evenness
    rule = "one slot" if even is None else even.rule
    least = "" if even is None else f"{even.rows[0].fullness.objective:.0%} at {even.rows[0].crossings.objective:,.0f}"
    intervals = dict.fromkeys(f"{each.interval:,}" for each in (first, second))
    shares, costs = (
        [f"{each.fullest:.1%}" for each in (first, second)],
        [f"{each.cost:,}" for each in (first, second)],
    )
    cells = [" / ".join(intervals), *shares, *costs, "yes" if worse else "no", rule, least]
    return [*cells, f"{first.seconds:.0f} / {second.seconds:.0f}"], worse


def rows(folder: Path, effort: str, only: str) -> Iterator[tuple[list[str], bool]]:
    for model, board in PAIRS:
        path = EXAMPLES / model if (EXAMPLES / model).exists() else folder / model
        if only in model:
            cells, worse = row(Request(path, board, plots=False, bargains="none", effort=effort))
            yield [path.name.split(".")[0], board, *cells], worse
            print(path.name, board, *cells, sep="; ", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="?", type=Path, default=EXAMPLES.parents[1] / "shared" / "models")
    parser.add_argument("--effort", default="fast")
    parser.add_argument("--only", default="", help="models whose name holds this")
    chosen = parser.parse_args()
    found = list(rows(chosen.models, chosen.effort, chosen.only))
    print(markdown([*HEADINGS, "least full found", "CPU s"], [cells for cells, _ in found]))
    print(f"{sum(worse for _, worse in found)} of {len(found)} are fuller or cost more in crossings")


if __name__ == "__main__":
    main()
