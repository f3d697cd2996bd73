"""Fold networks under budgets from one SLR to four cards, and print a table of optima, proofs and seconds.

    python benchmarks/folding.py [MODELS...] [--generated 1000] [--costs calibrated] [--only "2 x U250"]
                                 [--tie-break scarcity]

MODELS are files; ``--generated`` adds a chain of so many engines. Every row starts from nothing: the engines' foldings
are enumerated and priced, the shortest interval is found, and at it the least full folding and then the least scarce
one that is nearly as full (or with ``--tie-break scarcity`` the least scarce one alone), with converters and FIFOs, in
this process. `options` are the seconds of the processor for the foldings alone; they are part of `all`. Reading and
lowering the model are not counted. `fullness`: the largest share of the budget.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from floorflow.backends.backend import backend_named
from floorflow.backends.finn.folding.legal_foldings import forget_options
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.channels import couplings
from floorflow.dataflow.model import Attributes, Dataflow, Engine, Stream
from floorflow.errors import InfeasibleError, required
from floorflow.folding import FoldingProblem, FoldingSolution, fitting, fold_at_interval
from floorflow.folding.branching import TOLERANCE
from floorflow.folding.least_full import fullness, least_scarce_of_least_full
from floorflow.hardware import load_platform
from floorflow.request import Request
from floorflow.resources import total
from floorflow.search.candidate.context import largest_pblocks, slot_limits
from floorflow.study.comparison.compare import Bounds
from floorflow.technology import Technology


@dataclass(frozen=True)
class Budget:
    """A number of cards of one board, or its first slot alone."""

    name: str
    board: str
    fpgas: int = 1
    slots: int | None = None


BUDGETS = (
    Budget("1 SLR of U250", "alveo-u250", slots=1),
    Budget("U250", "alveo-u250"),
    Budget("2 x U250", "alveo-u250", 2),
    Budget("4 x U250", "alveo-u250", 4),
    Budget("3 x KU5P", "xcku5p", 3),
    Budget("ZCU104", "zcu104"),
)


CHANNELS = (32, 64, 64, 128, 96, 64, 48)
"""Channels of the layers of a generated chain, over and over."""
TYPES = {"weightDataType": "INT4", "outputDataType": "UINT4", "accDataType": "INT16"}


@dataclass(frozen=True)
class Row:
    """One network under one budget."""

    verdict: str
    interval: int | None
    bound: int | None
    fullness: float | None
    fullness_gap: float | None
    gap: float | None
    foldings: int
    options_s: float
    all_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--generated", type=int, help="engines of a generated chain of convolutions")
    parser.add_argument("--costs", default="calibrated")
    parser.add_argument("--only", help="one of the budgets")
    parser.add_argument("--tie-break", choices=("fullness", "scarcity"), default="fullness")
    chosen = parser.parse_args()
    columns = "interval | bound | fullness | gap | gap of scarcity | foldings | options s | all s"
    print(f"| network | budget | verdict | {columns} |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    rows = []
    for name, lower in networks(chosen):
        for budget in BUDGETS:
            if chosen.only in {None, budget.name}:
                request = Request(
                    Path(name), budget.board, fpgas=budget.fpgas, costs=chosen.costs, tie_break=chosen.tie_break
                )
                rows.append(fold(lower, budget, request))
                print("| " + " | ".join([name, budget.name, *cells(rows[-1])]) + " |", flush=True)
    seconds = [row.all_s for row in rows]
    open_, nearly = (sum(row.verdict == word for row in rows) for word in ("open", "within 0.001%"))
    proven = f"{len(rows) - open_ - nearly} of {len(rows)} proven, {nearly} more within 0.001%"
    within = sum(second < 2.0 for second in seconds)
    print(f"\n{proven}; median {statistics.median(seconds):.2f} s, {within} under 2 s, longest {max(seconds):.2f} s")


def networks(chosen: argparse.Namespace) -> Iterator[tuple[str, Callable[[Technology], Dataflow]]]:
    """Yield names and what lowers the network to a family of parts."""
    for model in chosen.models:
        yield model.name.split(".")[0], read_source(model).lower
    if chosen.generated:
        yield f"{chosen.generated} engines", lambda _: generated(chosen.generated)


def generated(count: int) -> Dataflow:
    """Return a chain of 4-bit 3x3 convolutions of 16x16 pixels, three engines each, with changing channels."""
    engines: list[Engine] = []
    channels = [CHANNELS[layer % len(CHANNELS)] for layer in range(count // 3 + 2)]
    for layer in range(-(-count // 3)):
        inputs, outputs = channels[layer : layer + 2]
        convolution = {"IFMChannels": inputs, "IFMDim": (18, 18), "OFMDim": (16, 16), "ConvKernelDim": (3, 3)}
        kinds: dict[str, Attributes] = {
            "FMPadding_rtl": {"ImgDim": (16, 16), "Padding": (1, 1, 1, 1), "NumChannels": inputs},
            "ConvolutionInputGenerator_rtl": {**convolution, "Stride": (1, 1), "Dilation": (1, 1)},
            "MVAU_hls": {"MW": 9 * inputs, "MH": outputs, "numInputVectors": (1, 16, 16), "noActivation": 0, **TYPES},
        }
        for kind, attributes in kinds.items():
            own = {"inputDataType": "UINT4", **attributes}
            engines.append(Engine(f"{kind}_{layer}", kind, f"Conv_{layer}", own, 4 * (kind == "MVAU_hls"), 4, 4))
    engines = engines[:count]
    ends = ["host:in0", *(engine.name for engine in engines), "host:out0"]
    sizes = [_stream(engine) for engine in engines] + [(256 * 9 * 128, 9 * 128)]
    streams = [Stream(a, 0, b, 0, *size, 4) for (a, b), size in zip(pairwise(ends), sizes, strict=True)]
    return Dataflow(f"{count} engines", tuple(engines), tuple(streams))


def _stream(engine: Engine) -> tuple[int, int]:
    """Return elements a frame and last dimension of what an engine of the chain reads."""
    a = engine.attributes
    if engine.kind == "MVAU_hls":
        return 256 * int(str(a["MW"])), int(str(a["MW"]))
    pixels, width = (256, a["NumChannels"]) if engine.kind == "FMPadding_rtl" else (324, a["IFMChannels"])
    return pixels * int(str(width)), int(str(width))


def cells(row: Row) -> list[str]:
    """Format one row."""
    shares = ["" if share is None else f"{share:.2%}" for share in (row.fullness, row.fullness_gap, row.gap)]
    numbers = ["" if n is None else f"{n:,}" for n in (row.interval, row.bound)]
    return [row.verdict, *numbers, *shares, f"{row.foldings:,}", f"{row.options_s:.2f}", f"{row.all_s:.2f}"]


def fold(lower: Callable[[Technology], Dataflow], budget: Budget, request: Request) -> Row:
    """Price and fold one network under one budget."""
    platform = load_platform(request.platform, budget.fpgas)
    technology = platform.fpgas[0].device.technology
    dataflow = lower(technology)
    slots = [slot.name for slot in platform.slots][: budget.slots]
    limits, capacities = slot_limits(platform, request), largest_pblocks(platform, request)
    places = [(slot, limits[slot].least(capacity)) for slot in slots for capacity in capacities[slot]]
    forget_options()
    start = time.process_time()
    costs = backend_named(request.backend).costs(technology, request.backend_options)
    priced = costs.groups(dataflow)
    try:
        groups = tuple(required(fitting(group, places)) for group in priced)
    except InfeasibleError:
        spent = time.process_time() - start
        return Row("an engine fits no slot", *[None] * 5, 0, spent, spent)
    options_s = time.process_time() - start
    streams = couplings(dataflow, groups, costs)
    problem = FoldingProblem(groups, total(limits[slot] for slot in slots), platform.silicon, streams)
    outcome = shortest(problem, request.tie_break)
    foldings = sum(len(group.rows) for group in groups)
    return Row(*outcome, foldings, options_s, time.process_time() - start)


def shortest(problem: FoldingProblem, tie_break: str) -> tuple[str, int | None, int | None, *tuple[float | None, ...]]:
    """Return the verdict, the shortest interval, its bound, fullness, its gap, and the gap of scarcity there."""
    bound = Bounds(problem).interval_cycles()
    if bound is None:
        return "infeasible", None, None, None, None, None
    fold_ = least_scarce_of_least_full if tie_break == "fullness" else fold_at_interval
    for interval in (cycles for cycles in problem.intervals() if cycles >= bound):
        answer = fold_(problem, interval, branch=tie_break == "scarcity")
        if isinstance(answer, FoldingSolution):
            share = float(fullness(answer.resources, problem.budget))
            full_gap = None if answer.fullness is None else answer.fullness.gap
            return verdict(answer, bound), answer.interval_cycles, bound, share, full_gap, answer.stats.gap
    return "open", None, bound, None, None, None


def verdict(answer: FoldingSolution, bound: int) -> str:
    """Say how much is proven: all, all but a hundred-thousandth of the scarcity, or less."""
    if answer.interval_cycles > bound:
        return "open"
    if answer.stats.status == "optimal":
        return "optimal"
    return "within 0.001%" if (answer.stats.gap or 0.0) <= TOLERANCE else "open"


if __name__ == "__main__":
    main()
