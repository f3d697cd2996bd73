"""Time the folding problems of all contiguous segments of networks, shared with the whole against made from nothing.

    python benchmarks/segments.py [MODELS...] [--generated 300] [--platform alveo-u250] [--most 300]
    python benchmarks/segments.py --cuts MODEL:PLATFORM:FPGAS ...

MODELS are files (default: the examples); ``--generated`` adds a chain of so many engines. `whole` is the time for the
problem of the whole network from nothing: foldings enumerated and priced, those that fit no SLR dropped, streams
priced. `alone` is the same for a segment's part of the network, `shared` what the segment costs once the whole is
known: both are the mean over the segments, at most so many, spread evenly. `folded` is the share of the segments that
the table had to fold to know which meet one interval in one SLR. Times are of this process, in milliseconds.

``--cuts``: the shortest interval by the sums of slots, before deep FIFOs, links and placement: `bound` by folding the
whole on the summed limits, `cut` of contiguous cuts (exact); with seconds of this process and foldings.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from folding import generated

from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.folding.legal_foldings import forget_options
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.channels import StreamPrices, couplings
from floorflow.dataflow.model import Dataflow
from floorflow.errors import required
from floorflow.folding import FeasibilityOracle, FoldingInfeasible, FoldingProblem, fitting
from floorflow.hardware import Platform, load_platform
from floorflow.request import Request
from floorflow.search.candidate.context import largest_pblocks, slot_limits
from floorflow.search.candidate.preparing import prepare, read, settled
from floorflow.segments import CutFound, Cuts, Segment, Segments, Space, SpaceTable, parts_of

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
Answer = TypeVar("Answer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--generated", type=int, help="engines of a generated chain of convolutions")
    parser.add_argument("--platform", default="alveo-u250")
    parser.add_argument("--most", type=int, default=300, help="segments of a network")
    parser.add_argument("--cuts", nargs="+", metavar="MODEL:PLATFORM:FPGAS", help="time cuts instead")
    chosen = parser.parse_args()
    if chosen.cuts:
        print("| network | platform | FPGAs | parts | bound | cut | s | foldings |")
        print("|---|---|---|---|---|---|---|---|")
        for case in chosen.cuts:
            print("| " + " | ".join(cut_row(*case.rsplit(":", 2))) + " |", flush=True)
        return
    platform = load_platform(chosen.platform)
    technology = platform.fpgas[0].device.technology
    models = chosen.models or ([] if chosen.generated else sorted(EXAMPLES.glob("*.onnx")))
    networks = [read_source(model).lower(technology) for model in models]
    networks += [generated(chosen.generated)] if chosen.generated else []
    print("| network | engines | segments | whole | alone | shared | shared / alone | folded |")
    print("|---|---|---|---|---|---|---|---|")
    for dataflow in networks:
        print("| " + " | ".join(row(dataflow, platform, chosen.most)) + " |", flush=True)


def row(dataflow: Dataflow, platform: Platform, most: int) -> list[str]:
    """Time one network."""
    request = Request(EXAMPLES / "any.onnx", platform.name)
    costs = CostTable(platform.fpgas[0].device.technology)
    space = first_slot(platform, request)
    groups, whole_ms = timed(lambda: from_nothing(dataflow, costs, space)[0])
    segments = Segments(dataflow, costs.groups(dataflow), StreamPrices(costs).couplings)
    required(segments.whole.problem(space))
    some = spread([(a, b) for b in range(len(groups)) for a in range(b + 1)], most)
    shared_ms = timed(lambda: [required(segments.between(*ends).problem(space)) for ends in some])[1] / len(some)
    parts = [segments.between(*ends) for ends in some]
    alone_ms = sum(timed(lambda: from_nothing(part.dataflow, costs, space))[1] for part in parts) / len(some)  # noqa: B023
    numbers = [f"{whole_ms:.1f}", f"{alone_ms:.2f}", f"{shared_ms:.3f}", f"{shared_ms / alone_ms:.1%}"]
    counts = [str(len(dataflow.engines)), str(len(some))]
    return [dataflow.name, *counts, *numbers, f"{share_folded(parts, segments, space):.0%}"]


def cut_row(model: str, board: str, fpgas: str) -> list[str]:
    """Time the cuts of one network on one platform."""
    request = settled(Request(model=Path(model), platform=board, fpgas=int(fpgas)))
    context = prepare(read(request), request, int(fpgas))
    dataflow, problem, intervals = context.dataflow, context.problem, context.problem.intervals()
    bound = FeasibilityOracle(problem).shortest(lambda answer: not isinstance(answer, FoldingInfeasible))
    if bound is None:
        return [dataflow.name, board, fpgas, "-", "none", *"---"]
    segments = Segments(
        dataflow,
        problem.groups,
        StreamPrices(context.costs).couplings,
        parts_of(dataflow, problem.groups),
        problem.memo,
    )
    spaces, table = [Space(limit, context.platform.silicon) for limit in context.limits.values()], SpaceTable()
    cuts = Cuts(segments, spaces, table)
    found, cut_ms = timed(lambda: cuts.shortest(intervals, intervals.index(bound)))
    return [
        *(dataflow.name, board, fpgas, str(len(segments.order)), f"{bound:,}"),
        *(
            f"{found.interval_cycles:,}" if isinstance(found, CutFound) else "none",
            f"{cut_ms / 1e3:.1f}",
            str(table.times_folded),
        ),
    ]


def first_slot(platform: Platform, request: Request) -> Space:
    """Return the space of the platform's first slot."""
    slot = platform.slots[0].name
    limit = slot_limits(platform, request)[slot]
    places = tuple((slot, limit.least(room)) for room in largest_pblocks(platform, request)[slot])
    return Space(limit, platform.silicon, places)


def from_nothing(dataflow: Dataflow, costs: CostTable, space: Space) -> tuple[object, ...]:
    """Return the groups and the folding problem of a network of which nothing is known."""
    forget_options()
    groups = tuple(required(fitting(group, space.places)) for group in costs.groups(dataflow))
    return groups, FoldingProblem(groups, space.budget, space.silicon, couplings(dataflow, groups, costs))


def timed(work: Callable[[], Answer]) -> tuple[Answer, float]:
    """Return an answer and the milliseconds of this process."""
    start = time.process_time()
    return work(), (time.process_time() - start) * 1e3


def spread(items: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Return at most so many items, spread evenly."""
    return [items[position * len(items) // most] for position in range(most)] if len(items) > most else list(items)


def share_folded(parts: Sequence[Segment], segments: Segments, space: Space) -> float:
    """Return the share of segments that had to be folded to know whether they meet an interval in the space."""
    table = SpaceTable()
    for part in parts:
        table.feasible(part, space, int(max(segments.groups, key=lambda g: g.cycles.min()).cycles.min()) * 4)
    return table.times_folded / len(parts)


if __name__ == "__main__":
    main()
