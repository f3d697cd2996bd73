"""Hold the prices of `floorflow explain` against plans that are made anew: signs, amounts, rates and seconds.

    python -m benchmarks.explain [--steps N] [NAME ...]

Each plan is made with effort fast. Priced are the steps of the whole and of N engines, drawn by a fixed seed, both
ways; each is then planned anew with the folding of the step, as its command says. *priced* and *anew* are by how much
the whole design's resources change. Seconds are of the price alone, the taking up of the plan counted to the first.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import floorflow as ff
from floorflow import facts, flow
from floorflow.errors import FloorflowError
from floorflow.facts.steps import Step, Way
from floorflow.resources import RESOURCE_NAMES, Resources, total
from floorflow.study.calibration.replan import Overrides, replanned_request
from floorflow.study.steps import Steps, folding_files, folding_name

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
CASES: Mapping[str, tuple[str, str, Mapping[str, object]]] = {
    "TFC on ZCU104": ("tfc_1w1a.onnx", "zcu104", {}),
    "TFC on PYNQ-Z1": ("tfc_1w1a.onnx", "pynq-z1", {}),
    "CNV on PYNQ-Z1": ("cnv_2w2a.onnx", "pynq-z1", {}),
    "CNV on U250": ("cnv_2w2a.onnx", "alveo-u250", {"max_products": "none", "max_engine_share": "none"}),
    "CNV at 3000 frames/s on ZCU104": ("cnv_2w2a.onnx", "zcu104", {"fps": 3000}),
    "MobileNet on U250": ("mobilenet_v1_w4a4.onnx", "alveo-u250", {}),
}
SHOWN = [name for name in RESOURCE_NAMES if name != "FF"]
SEED = 7
HEAD = f"""\
| plan | step | s | {" | ".join(f"{name}: priced | anew" for name in SHOWN)} | frames/s: priced | anew | |
|---|---|--:|{"--:|" * (2 * len(SHOWN) + 2)}---|"""


@dataclass(frozen=True)
class Row:
    """A step with its price and what a new plan says; ``anew`` is None where there is none, for ``why``."""

    plan: str
    name: str
    step: Step
    seconds: float
    anew: Mapping[str, int] | None
    fps: float | None
    why: str = ""
    by_fps: Mapping[str, int] | None = None
    """Of the slower whole: the change where --fps asks for its rate, and all foldings are sought anew."""

    @property
    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield each change that is priced or made: as priced, and anew."""
        for name in SHOWN:
            pair = self.step.resources[name], (self.anew or {}).get(name, 0)
            if self.anew is not None and any(pair):
                yield pair

    def __str__(self) -> str:
        cells = [
            cell
            for name in SHOWN
            for cell in (f"{self.step.resources[name]:+,}", "" if self.anew is None else f"{self.anew[name]:+,}")
        ]
        fps = "" if self.fps is None else f"{self.fps:,.0f}"
        own = [self.plan, self.name, f"{self.seconds:.2f}", *cells, f"{self.step.fps:,.0f}", fps, self.why]
        return f"| {' | '.join(own)} |"


def rows_of(name: str, out: Path, plan: facts.Plan, count: int) -> Iterator[Row]:
    """Price steps of a plan in a folder, and plan each anew."""
    before = _used(plan)
    started = time.process_time()
    steps = Steps.of(out, plan)
    ways: tuple[Way, ...] = ("faster", "slower")
    asked = [(engine, way) for engine in plan.engines for way in ways]
    random.Random(SEED).shuffle(asked)
    for engine, way in [*(("", way) for way in ways), *asked]:
        step = steps.of_engine(engine, way) if engine else steps.of_rate(way)
        seconds = time.process_time() - started
        if step is None:
            continue
        told = f"{plan.named(engine) or 'the whole'} {way}"
        try:
            made = _anew(out, plan, step)
        except FloorflowError as error:
            foreseen = f"no plan, as foreseen: {step.short[0]}" if step.short else f"no plan: {error}"[:120]
            yield Row(name, told, step, seconds, None, None, foreseen)
        else:
            change = (_used(made) - before).as_dict()
            fps = made.summary.networks[0].fps
            by_fps = _by_fps(out, plan, made, before) if told == "the whole slower" else None
            yield Row(name, told, step, seconds, change, fps, "".join(step.short[:1]), by_fps)
        count -= bool(engine)
        if not count:
            return
        started = time.process_time()


def _used(plan: facts.Plan) -> Resources:
    return total(plan.only_phase.demand(slot.name) for slot in plan.platform.slots)


def _anew(out: Path, plan: facts.Plan, step: Step) -> facts.Plan:
    with tempfile.TemporaryDirectory() as folder:
        for file, text in folding_files(plan, step).items():
            (Path(folder) / file).write_text(text, encoding="utf-8")
        folding = Path(folder) / Path(folding_name(plan) or "").name
        request = replanned_request(out, plan, Overrides(keep_folding=True, plots=False))
        return flow.plan(request.changed(folding=folding, fps=None, objective=None)).plan


def _by_fps(out: Path, plan: facts.Plan, slower: facts.Plan, before: Resources) -> dict[str, int] | None:
    """Return by how much the design changes where the rate of a slower one is asked for."""
    fps = plan.options.clock_mhz * 1e6 / slower.networks[0].search.interval_cycles
    request = replanned_request(out, plan, Overrides(plots=False)).changed(fps=fps, objective=None)
    try:
        return (_used(flow.plan(request).plan) - before).as_dict()
    except FloorflowError:
        return None


def told(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how good the prices are."""
    pairs = [pair for row in rows for pair in row.pairs]
    right = sum(priced * anew > 0 for priced, anew in pairs)
    errors = [abs(priced - anew) / abs(anew) for priced, anew in pairs if anew]
    rates = [abs(row.step.fps / row.fps - 1) for row in rows if row.fps]
    made = sum(row.anew is not None for row in rows)
    foreseen = sum(row.anew is None and bool(row.step.short) for row in rows)
    exact = sum(priced == anew for priced, anew in pairs)
    yield f"* {len(rows)} prices, {made} planned anew; {foreseen} of the {len(rows) - made} others foreseen not to fit"
    yield f"* signs right: {right} of {len(pairs)} changes ({right / len(pairs):.1%}); {exact} to the unit"
    middle, seconds = statistics.median(errors), [row.seconds for row in rows]
    yield f"* off by {middle:.1%} in the median, {max(errors):.0%} at most; rates by {max(rates):.1%} at most"
    yield f"* seconds of a price: {statistics.median(seconds):.2f} in the median, {max(seconds):.1f} at most"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="plans, all if none is given")
    parser.add_argument("--steps", type=int, default=8, help="engines of each plan whose steps are priced")
    options = parser.parse_args()
    rows: list[Row] = []
    print(HEAD)
    for name in options.names or CASES:
        model, platform, more = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            made = ff.plan(EXAMPLES / model, platform, effort="fast", plots=False, bargains="none", **more)
            made.save(out, extras=False)
            for row in rows_of(name, out, made.plan, options.steps):
                rows.append(row)
                print(row, flush=True)
    print()
    print("\n".join(told(rows)))
    print(f"\n| the whole slower | {' | '.join(f'{name}: step | --fps' for name in SHOWN)} |")
    print(f"|---|{'--:|' * len(SHOWN) * 2}")
    for row in rows:
        if row.by_fps is not None:
            cells = [f"{amounts[name]:+,}" for name in SHOWN for amounts in (row.step.resources, row.by_fps)]
            print(f"| {row.plan} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
