"""Place real problems again after one module grew by 20%: how many of the others stay, and how long the wires are.

    python -m benchmarks.stability [--every N] [NAME ...]

Of each problem of `benchmarks/data/placement` `auto` makes the first placement; each module (or every N-th) grows in
turn, in what it needs and in what its pblock must hold. The modules are then placed again with the first placement as
``previous``, and from scratch. Where the grown one cannot be placed at all beside the others, that is told. Seconds are
the processor's, of the placement near the previous one alone: `place` takes those from scratch in addition. *possible*
is proven: no more of the others can stay within the limit of the wires, in rectangles of the aspect that the placement
from scratch needed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from benchmarks.placement_cases import cases
from floorflow.hardware import Rect
from floorflow.placement import PlacementFailure, PlacementProblem, PlacementSolution, place, stayed
from floorflow.placement.bounds.wires import need_of
from floorflow.placement.fixed import whole_slots, without
from floorflow.placement.problem import LIMITS
from floorflow.placement.staying import place_near
from floorflow.resources import Resources

GROWTH = 1.2
MOST = 0.8
"""Share of the others that is to stay."""
HEAD = """\
| problem | modules | grown | no room | stay: least | median | possible: least | median | < 80% | of these proven | \
wires: median | most | from scratch | s: median | most |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"""


@dataclass(frozen=True)
class Row:
    """Of one module that grew: share of the others that stay, wires against scratch, seconds; ``near``: not scratch.

    ``possible``: the share of the others than which no more can stay.
    """

    module: str
    stay: float
    possible: float
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
        # A module that needs all of its slot is no matter of choice.
        asked = without(larger, whole_slots(larger))
        scratch = place(asked)
        yield name if isinstance(scratch, PlacementFailure) else _row(asked, previous, name, scratch)


def _row(problem: PlacementProblem, previous: Mapping[str, Rect], name: str, scratch: PlacementSolution) -> Row:
    started = time.process_time()
    asked = replace(problem, previous=previous)
    near, most = place_near(asked, LIMITS[asked.effort], 0, scratch)
    seconds = time.process_time() - started
    found = near or scratch
    others = [other for other in stayed(previous, found) if other != name]
    count = max(sum(module.name != name for module in problem.modules), 1)
    longer = found.hpwl / scratch.hpwl - 1
    return Row(name, len(others) / count, min(most, count) / count, longer, seconds, near is not None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    chosen = parser.parse_args()
    print(HEAD)
    for name, problem in cases():
        if not chosen.names or name in chosen.names:
            print(line(name, problem, list(rows(problem, chosen.every))), flush=True)


def line(name: str, problem: PlacementProblem, found: Sequence[Row | str]) -> str:
    """Return the row of a table that rows of one problem make."""
    told = [row for row in found if isinstance(row, Row)]
    stay, possible, longer = zip(*((row.stay, row.possible, row.longer) for row in told), strict=True)
    few = [row for row in told if row.stay < MOST]
    return (
        f"| {name} | {len(problem.modules)} | {len(told)} | {len(found) - len(told)} | {min(stay):.0%} | "
        f"{statistics.median(stay):.0%} | {min(possible):.0%} | {statistics.median(possible):.0%} | {len(few)} | "
        f"{sum(row.possible < MOST for row in few)} | {statistics.median(longer):+.1%} | {max(longer):+.1%} | "
        f"{sum(not row.near for row in told)} | {statistics.median(row.seconds for row in told):.1f} | "
        f"{max(row.seconds for row in told):.1f} |"
    )


if __name__ == "__main__":
    main()
