"""Hold what bargains promise against what planning them gives.

    python benchmarks/bargains.py [--only cnv]

Each row is a bargain of an example and the plan that its own option `--fps` makes: the share of the fullest resource,
the largest engine and the wire length, promised and real. Wire length is promised by `--bargains plan` alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from runs import markdown

from floorflow import flow
from floorflow.request import Request
from floorflow.schema import FiguresEntry, Plan

EXAMPLES = Path(__file__).parents[1] / "examples"
PLANS = (
    ("cnv_2w2a", "zcu104", "fold"),
    ("cnv_2w2a", "zcu104", "plan"),
    ("mobilenet_v1_w4a4", "zcu104", "fold"),
    ("tfc_1w1a", "pynq-z1", "plan"),
)


def figures_now(plan: Plan) -> FiguresEntry:
    found = plan.networks[0].search.bargains
    if found is None:
        raise ValueError("the plan has no bargains")
    return found.now


def rows(name: str, board: str, way: str) -> Iterator[list[str]]:
    """Plan an example, and each of its bargains for real."""
    model = EXAMPLES / f"{name}.onnx"
    found = flow.plan(Request(model, board, plots=False, bargains=way)).plan.networks[0].search.bargains
    for row in found.rows if found is not None else ():
        start = [name, board, way, f"{row.less:.0%}", f"{row.fps:.10g}"]
        if row.figures is None:
            yield [*start, "the same" if row.interval_cycles else "none found", *[""] * 4]
            continue
        plan = flow.plan(Request(model, board, plots=False, fps=row.fps)).plan
        said, real = row.figures, figures_now(plan)
        cycles = plan.summary.networks[0].interval_cycles
        yield [*start, f"{row.interval_cycles:,} / {cycles:,}", *compared(said, real)]


def compared(said: FiguresEntry, real: FiguresEntry) -> list[str]:
    """Return what was promised and is, and the largest distance."""
    pairs = [(said.share, real.share), (float(said.amount), float(real.amount))]
    if said.hpwl is not None and real.hpwl is not None:
        pairs.append((said.hpwl, real.hpwl))
    worst = max(abs(a / b - 1) if b else float(a != b) for a, b in pairs)
    wires = "" if said.hpwl is None else f"{said.hpwl:,.0f} / {real.hpwl:,.0f}"
    share = f"{said.share:.2%} {said.resource} / {real.share:.2%} {real.resource}"
    engine = f"{said.amount:,} {said.engine_resource} / {real.amount:,} {real.engine_resource}"
    return [share, engine, wires, f"{worst:.1%}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="examples whose name begins so")
    only = parser.parse_args().only
    headings = ["example", "board", "way", "less", "--fps", "cycles: said / real", "fullest", "largest engine"]
    found = [row for plan in PLANS if plan[0].startswith(only) for row in rows(*plan)]
    print(markdown([*headings, "wire length", "off by at most"], found))


if __name__ == "__main__":
    main()
