"""Wire length from middle to middle beside that from port to port, for placements of real problems.

    python -m benchmarks.ports [--effort fast] [NAME ...]

The problems are those of `benchmarks/data/placement`, placed by `auto`. `longest` are the columns and rows of the
longest stream, `crowded` the modules whose ports need more pins a row than a CLB has flip-flops. What lies between a
module's port and its logic counts in neither.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence

from benchmarks.placement_cases import cases
from floorflow.hardware.geometry import bounding_box
from floorflow.placement import Pin, PlacementSolution, place
from floorflow.placement.ports import PINS_PER_ROW, PortStream, end_point, length_of, place_ports, points_of
from floorflow.placement.problem import point_of


def rows(names: Sequence[str], effort: str) -> Iterator[tuple[str, int, int, float, float, float, float, int]]:
    """Yield name, modules, streams, both lengths, both longest streams, and crowded modules of each problem."""
    for name, problem in cases(effort):
        solution = place(problem) if not names or name in names else None
        if not isinstance(solution, PlacementSolution):
            continue
        boxes = {module: bounding_box(region) for module, region in solution.regions.items()}
        streams = [PortStream(str(n), w.source, w.target, w.width_bits) for n, w in enumerate(problem.wires)]
        ports = place_ports(boxes, streams)
        points = points_of(boxes, ports)
        between = [(point_of(s.source, solution.regions), point_of(s.target, solution.regions)) for s in streams]
        at_edges = [(end_point(s, "out", boxes, points), end_point(s, "in", boxes, points)) for s in streams]
        crowded = sum(own.pins_per_row > PINS_PER_ROW for own in ports.values())
        length = length_of(boxes, streams, ports)
        longest = max(map(_tiles, between)), max(map(_tiles, at_edges))
        yield name, len(boxes), len(streams), solution.hpwl, length, *longest, crowded


def _tiles(ends: tuple[Pin, Pin]) -> float:
    a, b = ends
    return (abs(a.x2 - b.x2) + abs(a.y2 - b.y2)) / 2


def main() -> None:
    """Print a row for each problem, and the geometric mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--effort", default="fast")
    given = parser.parse_args()
    print("| problem | modules | streams | middles | ports | share | longest, middles | longest, ports | crowded |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    shares = []
    for name, modules, streams, middles, ports, far, far_ports, crowded in rows(given.names, given.effort):
        shares.append(ports / middles)
        told = f"{middles:,.0f} | {ports:,.0f} | {shares[-1]:.0%} | {far:.0f} | {far_ports:.0f} | {crowded}"
        print(f"| {name} | {modules} | {streams} | {told} |", flush=True)
    mean = math.exp(sum(map(math.log, shares)) / len(shares))
    print(f"\nports over middles, geometric mean of {len(shares)}: {mean:.0%}")


if __name__ == "__main__":
    main()
