"""Place real problems with `auto` and `greedy`, and beside them with a compiled annealer that is no part of floorflow.

    python -m benchmarks.placement [--seconds 60] [--seeds 2] [NAME ...]

The problems are those of `benchmarks/data/placement` (`placement_cases.py` made them of plans). Both sides minimise the
wirelength alone, over the same legal rectangles: of the aspects that `auto` names. `annealer.c` is compiled by gcc to
a temporary folder and starts from what `greedy` found; its best of all seeds, each with so many seconds, stands in the
table. All seconds are the processor's. The last bound is the one of effort `best`, which looks at full slots too.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.placement_cases import cases
from floorflow.hardware.geometry import Rect
from floorflow.placement import PlacementProblem, PlacementSolution, Region, hpwl_of, place
from floorflow.placement.bounds.wires import legal_rectangles, needs_of
from floorflow.placement.construction.several_ways import Construction, construct_layouts
from floorflow.placement.layout import net_arrays
from floorflow.placement.preparing import PreparedProblem, full_slots_bound, prepare
from floorflow.placement.problem import LIMITS
from floorflow.placement.rectangles.candidate_rectangles import aspect_of, slot_grid

LEAST = 3
"""Modules of the smallest problem in the table."""
SOURCE = Path(__file__).with_name("annealer.c")


@dataclass(frozen=True)
class Annealed:
    """What the annealer found: its wirelength (infinite if nothing) and the boxes (n, 4)."""

    hpwl: float
    boxes: np.ndarray
    moves: int


@cache
def annealer() -> Path:
    """Compile the annealer."""
    program = Path(tempfile.mkdtemp()) / "annealer"
    gcc = shutil.which("gcc")
    assert gcc, "gcc is needed to compile the annealer"
    subprocess.run([gcc, "-O3", "-march=native", "-o", str(program), str(SOURCE), "-lm"], check=True)
    return program


def anneal(
    problem: PlacementProblem, aspects: Sequence[float | None], seconds: float, seed: int, start: PlacementSolution
) -> Annealed:
    """Run the annealer on a problem with the aspects (by module) that rectangles may have, from a layout on."""
    text = "\n".join(_input(problem, aspects, seconds, seed, start.regions))
    done = subprocess.run([str(annealer())], input=text, capture_output=True, text=True, check=False)
    if done.returncode == 3:
        return Annealed(float("inf"), np.zeros((0, 4)), 0)
    done.check_returncode()
    twice, *rows, moves = done.stdout.split("\n")[:-1]
    boxes = np.array([[int(side) for side in row.split()] for row in rows])
    return Annealed(int(twice) / 2, boxes, int(moves))


def _input(
    problem: PlacementProblem,
    aspects: Sequence[float | None],
    seconds: float,
    seed: int,
    regions: Mapping[str, Region],
) -> Iterator[str]:
    device, nets = problem.device, net_arrays(problem)
    slots = [slot.name for slot in problem.slots]
    grids = {slot.name: slot_grid(device, slot, every_span=True) for slot in problem.slots}
    yield f"{seconds} {seed} {len(problem.modules)} {len(nets.pins)} {len(nets.end_bits)} {device.row_step}"
    for module, need, aspect in zip(problem.modules, needs_of(problem), aspects, strict=True):
        legal = legal_rectangles(grids[module.slot], need, aspect)
        grid = legal.grid
        first, last = int(grid.spans[:, 0].min()), int(grid.spans[:, 1].max())
        steps = (last + 1 - first) // device.row_step
        yield f"{slots.index(module.slot)} {steps} {len(grid.lefts)} {first}"
        yield " ".join(map(str, grid.lefts.tolist()))
        rights = grid.rights[np.minimum(np.searchsorted(grid.rights, legal.low), len(grid.rights) - 1)]
        allowed = legal.allowed & (rights <= legal.high)
        table = np.full((steps, steps, len(grid.lefts), 2), -1, dtype=np.int64)
        bottoms, tops = (grid.spans[:, 0] - first) // device.row_step, (grid.spans[:, 1] - first) // device.row_step
        table[bottoms, tops] = np.where(allowed[:, :, None], np.stack((rights, legal.high), axis=2), -1)
        upper = table[np.triu_indices(steps)]
        yield "\n".join(" ".join(map(str, row)) for row in upper.reshape(len(upper), -1).tolist())
    yield f"{len(device.right_edges)} " + " ".join(map(str, sorted(map(int, device.right_edges))))
    yield from (f"{x} {y}" for x, y in nets.pins.tolist())
    yield from (f"{a} {b} {w}" for (a, b), w in zip(nets.ends.T.tolist(), nets.end_bits.tolist(), strict=True))
    yield from (" ".join(map(str, regions[module.name][0].as_tuple())) for module in problem.modules)


def constructed(problem: PlacementProblem) -> Construction:
    """Return the first layouts of `auto`, which say what aspects it takes."""
    limits = LIMITS[problem.effort]
    prepared = prepare(problem, limits, "auto")
    assert isinstance(prepared, PreparedProblem)
    return construct_layouts(problem, prepared.rects, limits, np.random.default_rng(0))


def aspects_of(problem: PlacementProblem, built: Construction) -> list[float | None]:
    """Return the largest aspect of each module's rectangle that `auto` takes."""
    least = [float(aspect_of(candidates.rects).max()) for candidates in built.space.candidates]
    pairs = zip(built.aspects, least, strict=True)
    return [most if aspect is None and problem.max_aspect else aspect for aspect, most in pairs]


def thorough_bound(problem: PlacementProblem, built: Construction) -> float:
    """Return the bound over full slots that effort `best` has of layouts of these aspects; 0 of few modules."""
    prepared = prepare(problem, LIMITS["best"], "auto")
    assert isinstance(prepared, PreparedProblem)
    return full_slots_bound(prepared, built.aspects)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=2)
    chosen = parser.parse_args()
    names = "problem|modules|auto|s|over annealer|greedy|auto less|s|annealer|bound|auto / bound|best bound"
    print(f"| {' | '.join(names.split('|'))} |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    rows = []
    for name, problem in cases():
        if name in chosen.names or (not chosen.names and len(problem.modules) >= LEAST):
            rows.append(row(name, problem, chosen.seconds, chosen.seeds))
    print(
        f"\nmost over the annealer {_told(max(r[0] for r in rows), '+.2%')}; "
        f"auto less than greedy in the geometric mean {1 - statistics.geometric_mean(r[1] for r in rows):.1%}; "
        f"median of auto / bound {statistics.median(r[2] for r in rows):.2f}"
    )


def row(name: str, problem: PlacementProblem, seconds: float, seeds: int) -> tuple[float, float, float]:
    """Print one line; return auto / annealer - 1, auto / greedy and auto / bound."""
    found, auto_s = timed(problem, "auto")
    greedy, greedy_s = timed(problem, "greedy")
    built = constructed(problem)
    aspects = aspects_of(problem, built)
    runs = [anneal(problem, aspects, seconds, seed, greedy) for seed in range(1, seeds + 1)] if seconds else []
    for run in runs:
        if len(run.boxes):
            regions = {m.name: (Rect(*b),) for m, b in zip(problem.modules, run.boxes.tolist(), strict=True)}
            assert hpwl_of(regions, problem.wires) == run.hpwl
    best = min((run.hpwl for run in runs), default=float("nan"))
    bound = found.stats.bound or 0.0
    over, less, ratio = found.hpwl / best - 1, found.hpwl / greedy.hpwl, found.hpwl / max(bound, 1.0)
    print(
        f"| {name} | {len(problem.modules)} | {found.hpwl:,.0f} | {auto_s:.1f} | {_told(over, '+.2%')} | "
        f"{greedy.hpwl:,.0f} | {1 - less:.1%} | {greedy_s:.1f} | {_told(best, ',.0f')} | "
        f"{bound:,.0f} | {ratio:.2f} | {max(bound, thorough_bound(problem, built)):,.0f} |",
        flush=True,
    )
    return over, less, ratio


def _told(number: float, form: str) -> str:
    """Return a number, or that there is none: the annealer was not asked."""
    return "-" if math.isnan(number) else format(number, form)


def timed(problem: PlacementProblem, method: str) -> tuple[PlacementSolution, float]:
    """Place a problem; return the answer and the seconds of this process."""
    started = time.process_time()
    answer = place(problem, method)
    seconds = time.process_time() - started
    assert isinstance(answer, PlacementSolution), answer
    return answer, seconds


if __name__ == "__main__":
    main()
