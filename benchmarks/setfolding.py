"""Hold floorflow's folding against FINN's SetFolding and against foldings made by hand, and print Markdown tables.

    python -m benchmarks.setfolding [--costs finn|estimated|...] [--networks cnv-w1a1 ...]

The factor is the recorded folding's scarcity over that of floorflow's at the same interval, above 1 where floorflow
saves; scarcity is LUT, BRAM18, URAM and DSP over what the board's part holds, summed. Nothing bounds the resources.

With ``finn``, FINN's own estimates price both sides and memories stay as FINN or the hand left them. With any other
cost model both sides have its prices, and floorflow is free to choose memories and multipliers too. Each factor is
given for engines alone and with width converters counted on both sides (with FIFOs as well in floorflow's own models).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from statistics import median

from floorflow.backends.finn.kinds.kind import CostModel
from floorflow.folding import FoldingSolution
from floorflow.resources import Resources
from tests.study.recorded import Recorded, RecordedNetwork, recorded_networks
from tests.study.reference import POSSIBLE, Reference, reference_of

VARIANTS = ("stock", "fmpad", "fmpad+le")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costs", default="finn")
    parser.add_argument("--networks", nargs="+", default=list(recorded_networks()))
    chosen = parser.parse_args()
    networks = {name: recorded_networks()[name] for name in chosen.networks}
    second = "with converters" if chosen.costs == "finn" else "with converters and FIFOs"
    print(f"## SetFolding, costs {chosen.costs}\n")
    head("network", "board", "variant", "mvau_wwidth_max", "legal rows", "intervals", "factor engines: min", "median",
         "max", f"{second}: min", "median", "max", "worse", "not reached", "seconds")  # fmt: skip
    for name, network in networks.items():
        for line in set_folding_lines(name, network, chosen.costs):
            print("| " + " | ".join(line) + " |", flush=True)
    print(f"\n## Foldings made by hand, costs {chosen.costs}\n")
    head("network", "board", "cycles", "by hand: LUT/BRAM18/URAM/DSP", "floorflow at the same cycles", "factor",
         f"factor {second}", "floorflow's cycles at no more scarcity", "what is possible")  # fmt: skip
    for name, network in networks.items():
        for row in network.rows:
            if row.by_hand:
                print("| " + " | ".join(hand_line(name, network, row, chosen.costs)) + " |", flush=True)


def head(*names: str) -> None:
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names))


def counted_second(costs: CostModel) -> str:
    return "converters" if costs == "finn" else "streams"


def set_folding_lines(name: str, network: RecordedNetwork, costs: CostModel) -> Iterator[list[str]]:
    sweep = [row for row in network.rows if not row.by_hand]
    references = [
        reference_of(network.dataflow, sweep[0], costs, counted) for counted in ("engines", counted_second(costs))
    ]
    for variant in VARIANTS:
        for limit in sorted({row.weight_bits_limit for row in sweep}):
            started = time.perf_counter()
            rows = [r for r in sweep if (r.made_by, r.weight_bits_limit) == (variant, limit) and r.legal]
            pairs = [[factor(reference, row) for reference in references] for row in rows]
            # What floorflow cannot reach, or cannot price.
            reached = [pair for pair in pairs if None not in pair]
            spread = [text for i in (0, 1) for text in spread_of([pair[i] for pair in reached])]
            worse = sum(min(pair) < 1 - 1e-9 for pair in reached)
            counts = [str(len(rows)), str(len({row.cycles for row in rows}))]
            verdict = [str(worse), str(len(pairs) - len(reached)), f"{time.perf_counter() - started:.1f}"]
            yield [name, sweep[0].board, variant, str(limit), *counts, *spread, *verdict]


def spread_of(factors: list[float]) -> list[str]:
    return [f"{value:.3f}" for value in (min(factors), median(factors), max(factors))] if factors else ["", "", ""]


def factor(reference: Reference, row: Recorded) -> float | None:
    """Return by how much the recorded folding is scarcer than the least scarce one at its interval."""
    least, use = reference.least(row.cycles), recorded_use(reference, row)
    return None if least is None or use is None else reference.scarcity(use) / reference.scarcity(least.resources)


def recorded_use(reference: Reference, row: Recorded) -> Resources | None:
    """Return what the recorded folding uses: as FINN recorded it, or by another cost model."""
    if reference.model == "finn":
        return row.total if reference.counted == "engines" else row.converted
    priced = reference.priced(row)
    return priced.resources if isinstance(priced, FoldingSolution) else None


def hand_line(name: str, network: RecordedNetwork, row: Recorded, costs: CostModel) -> list[str]:
    references = [reference_of(network.dataflow, row, costs, counted) for counted in ("engines", counted_second(costs))]
    use, least = recorded_use(references[0], row), references[0].least(row.cycles)
    if use is None or least is None:
        return [
            name,
            row.made_by,
            f"{row.cycles:,}",
            "cannot be priced" if use is None else amounts(use),
            "none",
            *[""] * 4,
        ]
    factors = [factor(reference, row) for reference in references]
    return [
        name, row.made_by, f"{row.cycles:,}", amounts(use), amounts(least.resources),
        *("?" if value is None else f"{value:.3f}" for value in factors),
        f"{references[0].shortest_within(references[0].scarcity(use)):,}",
        possible(name, row, least.resources) if costs == "finn" else "",
    ]  # fmt: skip


def possible(name: str, row: Recorded, least: Resources) -> str:
    """Compare with what another program found to be possible."""
    if (name, row.made_by, row.cycles) not in POSSIBLE:
        return ""
    best, cycles = POSSIBLE[name, row.made_by, row.cycles]
    lut, _, bram, uram, dsp = least.as_tuple()
    verdict = "reached" if (lut, bram, uram, dsp) == best else "/".join(map(str, best))
    return f"{verdict}, {cycles:,} cycles"


def amounts(use: Resources) -> str:
    return f"{use.lut}/{use.bram18}/{use.uram}/{use.dsp}"


if __name__ == "__main__":
    main()
