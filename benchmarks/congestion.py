"""What each term of placement's objective changes on real problems: wires, the routing map, the longest streams.

    python -m benchmarks.congestion [--clock 250] [NAME ...]

The problems are those of `benchmarks/data/placement`. Each is placed for the wires alone, with the reach, and with all
three terms, as `floorflow plan` does unless told otherwise. All seconds are the processor's.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.placement_cases import cases
from floorflow.hardware.reach import reach_tiles
from floorflow.placement import PlacementProblem, PlacementSolution, Weights, place
from floorflow.placement.objective import Objective
from floorflow.stats import PlaceWeights

USUAL = Weights(**PlaceWeights().as_dict())
WEIGHTS = {
    "wires": Weights(USUAL.wire, 0.0, 0.0),
    "and reach": Weights(USUAL.wire, USUAL.reach, 0.0),
    "and congestion": USUAL,
}


@dataclass(frozen=True)
class Found:
    """What one placement is like: streams beyond their reach, all and those inside an SLR, and the longest."""

    solution: PlacementSolution
    seconds: float
    beyond: int
    inside: int
    longest: float

    @classmethod
    def of(cls, problem: PlacementProblem) -> Found:
        """Place a problem."""
        started = time.process_time()
        answer = place(problem)
        seconds = time.process_time() - started
        assert isinstance(answer, PlacementSolution), answer
        objective = Objective.of(problem)
        ways = objective.ways
        assert ways is not None
        places, (first, second) = objective.places(problem, answer.regions), objective.nets.ends
        longest = ways.longest(places[first], places[second])
        beyond = int(ways.streams @ (longest > ways.reach + 1e-6))
        return cls(answer, seconds, beyond, ways.beyond(longest), float(longest.max(initial=0.0)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--clock", type=float, default=250.0, help="MHz")
    chosen = parser.parse_args()
    print("| problem | terms | HPWL | beyond reach (in an SLR) | longest | peak | of capacity | mean | excess | s |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, problem in cases():
        if chosen.names and name not in chosen.names:
            continue
        rows = tuple(slr.top + 0.5 for slr in problem.device.slrs[:-1])
        asked = replace(problem, reach_tiles=reach_tiles(chosen.clock), boundary_rows=rows)
        alone = 0.0
        for told, weights in WEIGHTS.items():
            found = Found.of(replace(asked, weights=weights))
            alone = alone or found.solution.hpwl
            print(_row(name, told, found, alone), flush=True)


def _row(name: str, told: str, found: Found, alone: float) -> str:
    """Return a line of the table; the share of capacity is that of the fullest bin that has any."""
    hpwl, routing = found.solution.hpwl, found.solution.routing
    has = routing.capacity > 0
    more = "" if hpwl == alone else f" ({hpwl / alone - 1:+.1%})"
    share = float(np.max(routing.demand[has] / routing.capacity[has]))
    return (
        f"| {name} | {told} | {hpwl:,.0f}{more} | {found.beyond} ({found.inside}) | {found.longest:,.0f} | "
        f"{routing.peak:,.0f} | {share:.0%} | {routing.mean:,.1f} | {routing.excess:,.0f} | {found.seconds:.1f} |"
    )


if __name__ == "__main__":
    main()
