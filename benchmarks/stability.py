"""Place real problems again after one module grew by 20%: how many of the others stay, and how long the wires are.

    python -m benchmarks.stability [--every N] [NAME ...]

Of each problem of `benchmarks/data/placement` `auto` makes the first placement; each module (or every N-th) grows in
turn, in what it needs and in what its pblock must hold. The modules are then placed again with the first placement as
``previous``, and from scratch. Where the grown one cannot be placed at all beside the others, that is told. Seconds are
the processor's, of the placement near the previous one alone: `place` takes those from scratch in addition.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

from benchmarks.placement_cases import cases
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution, place, stayed
from floorflow.placement.bounds.wires import need_of
from floorflow.placement.effort import LIMITS
from floorflow.placement.staying import place_near
from floorflow.resources import Resources

GROWTH = 1.2


@dataclass(frozen=True)
class Row:
    """Of one module that grew: share of the others that stay, wires against scratch, seconds; ``near``: not scratch."""

    module: str
    stay: float
    longer: float
    seconds: float
    near: bool


def grown(problem: PlacementProblem, module: int, factor: float = GROWTH) -> PlacementProblem:
    """Return the problem with one module that needs more."""
    modules = list(problem.modules)
    one = modules[module]
    demand, supply = (_times(amount, factor) for amount in (one.demand, Resources(*need_of(problem, one).tolist())))
    modules[module] = replace(one, demand=demand, supply=supply)
    return replace(problem, modules=tuple(modules))


def _times(amount: Resources, factor: float) -> Resources:
    return Resources(*(ceil(have * factor - 1e-9) for have in amount.as_tuple()))


def rows(problem: PlacementProblem, every: int = 1) -> Iterator[Row | str]:
    """Yield a row for each module that grows, or its name where there is no placement then."""
    first = place(problem)
    assert isinstance(first, PlacementSolution), first
    previous = {name: region[0] for name, region in first.regions.items() if len(region) == 1}
    for module in range(0, len(problem.modules), every):
        larger, name = grown(problem, module), problem.modules[module].name
        scratch = place(larger)
        if isinstance(scratch, PlacementFailure):
            yield name
            continue
        started = time.process_time()
        asked = replace(larger, previous=previous)
        near = place_near(asked, LIMITS[asked.effort], 0, scratch)
        seconds = time.process_time() - started
        found = near or scratch
        others = [other for other in stayed(previous, found) if other != name]
        share = len(others) / max(len(problem.modules) - 1, 1)
        yield Row(name, share, found.hpwl / scratch.hpwl - 1, seconds, near is not None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    chosen = parser.parse_args()
    print("| problem | modules | grown | no room | stay: least | median | wires: median | most | from scratch | s |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, problem in cases():
        if chosen.names and name not in chosen.names:
            continue
        found = list(rows(problem, chosen.every))
        told = [row for row in found if isinstance(row, Row)]
        stay, longer = [row.stay for row in told], [row.longer for row in told]
        print(
            f"| {name} | {len(problem.modules)} | {len(told)} | {len(found) - len(told)} | {min(stay):.0%} | "
            f"{statistics.median(stay):.0%} | {statistics.median(longer):+.1%} | {max(longer):+.1%} | "
            f"{sum(not row.near for row in told)} | {statistics.median(row.seconds for row in told):.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
