"""Hold what bargains promise against what planning them gives.

    python benchmarks/bargains.py [--only cnv]

Each row is a bargain of an example and the plan that its own option `--fps` makes: the share of the cap where it is
fullest, the largest engine and the wire length, promised and real; real figures are read off the plan itself. Wire
length is promised by `--bargains plan` alone. Where a bargain is no other than the plan, the plan's figures are its
promise.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from runs import markdown

from floorflow import flow
from floorflow.facts import Plan
from floorflow.facts.extras import BargainEntry, BargainsEntry, FiguresEntry
from floorflow.request import Request
from floorflow.search.candidate.progress import SILENT

EXAMPLES = Path(__file__).parents[1] / "examples"
PLANS = (
    ("cnv_2w2a", "zcu104", "fold"),
    ("cnv_2w2a", "zcu104", "plan"),
    ("mobilenet_v1_w4a4", "zcu104", "fold"),
    ("tfc_1w1a", "pynq-z1", "plan"),
)
WITHIN = 0.05
"""How far off a promise may be."""


@dataclass(frozen=True)
class Real:
    """The figures of a plan that was made."""

    cycles: int
    share: float
    resource: str
    amount: int
    """Of the engine that takes the largest share of its slot's LUTs or DSPs."""
    engine_resource: str
    hpwl: float


@cache
def planned(name: str, board: str, fps: float) -> Real:
    """Plan an example at a rate."""
    request = Request(EXAMPLES / f"{name}.onnx", board, plots=False, fps=fps, bargains="none")
    return real_of(flow.plan(request).plan)


def real_of(plan: Plan) -> Real:
    full, phase = plan.summary.fullness, plan.only_phase
    if full is None:
        raise ValueError("the plan uses nothing")
    have = {slot.name: slot.available.model_dump() for slot in plan.platform.slots}
    shares = [
        (entry.resources.model_dump()[r] / have[phase.slot_of[engine]][r], entry.resources.model_dump()[r], r)
        for engine, entry in phase.engines.items()
        for r in ("LUT", "DSP")
    ]
    _, amount, resource = max(shares)
    hpwl = sum(held.hpwl for held in phase.floorplan.values())
    return Real(plan.networks[0].search.interval_cycles, full.share, full.resource, amount, resource, hpwl)


def rows(name: str, board: str, way: str) -> Iterator[tuple[list[str], bool]]:
    """Plan an example, and each of its bargains for real; with each row whether what it promised held."""
    request = Request(EXAMPLES / f"{name}.onnx", board, plots=False, bargains=way)
    made = flow.plan(request)
    extras = None if made.extras is None else made.extras(SILENT)
    found = None if extras is None else extras.bargains
    if found is None or found.beside:
        raise ValueError("no bargains, or not with --fps alone")
    for row in found.rows:
        start = [name, board, way, f"{row.less:.0%}", f"{row.fps:.12g}"]
        if row.interval_cycles is None:
            yield [*start, "none found", *[""] * 4], False
            continue
        real = planned(name, board, row.fps)
        told, off = compared(found, row, real)
        yield [*start, f"{row.interval_cycles:,} / {real.cycles:,}", *told], off <= WITHIN


def compared(found: BargainsEntry, row: BargainEntry, real: Real) -> tuple[list[str], float]:
    """Return what was promised and is, and the largest distance."""
    said: FiguresEntry = row.figures or found.now
    amount = real.amount if real.engine_resource == said.engine_resource else 0
    pairs = [(float(row.interval_cycles or 0), float(real.cycles)), (said.share, real.share), (said.amount, amount)]
    if found.planned and said.hpwl is not None:
        pairs.append((said.hpwl, real.hpwl))
    worst = max(abs(a / b - 1) if b else float(a != b) for a, b in pairs)
    wires = f"{said.hpwl:,.0f} / {real.hpwl:,.0f}" if found.planned and said.hpwl is not None else ""
    share = f"{said.share:.1%} {said.resource} / {real.share:.1%} {real.resource}"
    engine = f"{said.amount:,} {said.engine_resource} / {real.amount:,} {real.engine_resource}"
    about = "" if row.figures else " (as the plan)"
    return [share + about, engine, wires, f"{worst:.1%}"], worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="examples whose name begins so")
    only = parser.parse_args().only
    headings = ["example", "board", "way", "less", "--fps", "cycles: said / real", "fullest", "largest engine"]
    found = [row for plan in PLANS if plan[0].startswith(only) for row in rows(*plan)]
    print(markdown([*headings, "wire length", "off by at most"], [told for told, _ in found]))
    networks = {told[0] for told, held in found if held}
    print(f"{sum(held for _, held in found)} of {len(found)} held within {WITHIN:.0%}, of {len(networks)} networks")


if __name__ == "__main__":
    main()
