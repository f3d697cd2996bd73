"""Plan networks together on one and two cards, and one after another, and print a table.

    python benchmarks/several.py [SET ...] [--cards 1 2] [--rows FILE] [--out FILE.md]

Together: what ``floorflow plan A B C`` does. One after another: the first network takes what it wants, its target or,
without one, all that it can have; it keeps that interval, is placed anew with each that follows, and the next gets what
is left. Finished rows are kept in the JSON lines file ``--rows`` and are not run again. Every plan made together is
written to a temporary folder and judged by `check`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import floorflow as ff
from floorflow.errors import Refused, required
from floorflow.request import Request
from floorflow.search.candidate.preparing import read
from floorflow.search.candidate.progress import SILENT
from floorflow.search.many.several import Networks, networks_of
from floorflow.search.policy.relaxation import RELAXATIONS, searched_under
from floorflow.several import SeveralRequest, network_name

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
BOARD = "alveo-u250"
Row = dict[str, Any]


@dataclass(frozen=True)
class Set:
    """Networks with their targets in frames a second, None where none is asked for, and other options."""

    rates: Mapping[str, float | None]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def models(self) -> list[Path]:
        """The networks' files."""
        return [EXAMPLES / f"{name}.onnx" for name in self.rates]

    @property
    def fps(self) -> dict[str, float]:
        """The targets that there are."""
        return {name: rate for name, rate in self.rates.items() if rate is not None}


SCARCE = {"LUT": 0.18, "DSP": 0.35}
"""Caps of a card that has other work, too."""
SETS = {
    "light": Set({"cnv_2w2a": 10_000, "mobilenet_v1_w4a4": 2_500, "tfc_1w1a": 100_000}),
    "scarce": Set({"mobilenet_v1_w4a4": 4_500, "cnv_2w2a": 30_000, "tfc_1w1a": 1_000_000}, {"cap": SCARCE}),
}


def together(asked: Set, cards: int) -> Row:
    """Plan the networks of a set together."""
    began = time.perf_counter()
    plan = ff.plan(asked.models, BOARD, fpgas=cards, fps=asked.fps or None, plots=False, **asked.options)
    seconds = time.perf_counter() - began
    targets = plan.plan.targets
    if targets is None:
        raise ValueError("a plan of several networks has targets")
    with tempfile.TemporaryDirectory() as folder:
        plan.save(Path(folder) / "out")
        found = len(ff.check(Path(folder) / "out").violations)
    fps = {row["network"]: row["fps"] for row in plan.summary["networks"]}
    share = {row.network: row.share for row in targets.networks}
    alone = {row.network: plan.plan.options.clock_mhz * 1e6 / row.alone_cycles for row in targets.networks}
    fullness = plan.plan.summary.fullness
    return {
        "fps": fps,
        "share": share,
        "alone": alone,
        "least_bound": 1 / (targets.stretch.bound or 1),
        "fullness": None if fullness is None else fullness.share,
        "violations": found,
        "seconds": round(seconds),
    }


def one_after_another(asked: Set, cards: int) -> Row:
    """Plan the networks of a set in their order, each with what those before it leave."""
    began = time.perf_counter()
    each = tuple(
        Request(path, BOARD, fpgas=cards, fps=asked.rates[path.stem], **asked.options) for path in asked.models
    )
    request = SeveralRequest(tuple(network_name(path) for path in asked.models), each)
    networks = required(networks_of(request, [read(one) for one in each], cards))
    kept: list[int] = []
    for count in range(1, len(each) + 1):
        interval = _next(networks, kept, count)
        if interval is None:
            break
        kept.append(interval)
    clock_hz = networks.own[0].platform.clock_mhz * 1e6
    pairs = list(zip(networks.targets, [*kept, *[None] * (len(each) - len(kept))], strict=True))
    return {
        "fps": {t.network: clock_hz / cycles if cycles else 0.0 for t, cycles in pairs},
        "share": {t.network: float(t.share(cycles)) if cycles else 0.0 for t, cycles in pairs},
        "seconds": round(time.perf_counter() - began),
    }


def _next(networks: Networks, kept: Sequence[int], count: int) -> int | None:
    """Return the interval of the last of so many networks, beside those that keep theirs; None: nothing is left."""
    some = replace(networks, own=networks.own[:count], priced=networks.priced[:count], targets=networks.targets[:count])
    scaled = [False] * (count - 1) + [True]
    context = some.context([*kept, None], scaled, "throughput")
    result = context if isinstance(context, Refused) else searched_under(SILENT, RELAXATIONS[1:])(context)
    if isinstance(context, Refused) or isinstance(result, Refused):
        if result.interrupted:
            required(result)
        return None
    if context.together is None:
        raise ValueError("networks are together")
    return [part.interval_cycles for part in context.together.parts(result.candidate.folded)][-1]


def table(rows: Mapping[str, Row]) -> Iterator[str]:
    """Yield a Markdown table of finished rows."""
    yield "| set, cards | network | target | bound alone | together | one after another |"
    yield "|---|---|--:|--:|--:|--:|"
    for key, row in rows.items():
        name, _, cards = key.partition(" x")
        joint, after = row["together"], row["after"]
        for network, rate in SETS[name].rates.items():
            asked = "" if rate is None else f"{rate:,.0f}"
            cells = [f"{found['fps'][network]:,.0f} ({found['share'][network]:.0%})" for found in (joint, after)]
            yield f"| {name}, {cards} | {network} | {asked} | {joint['alone'][network]:,.0f} | {' | '.join(cells)} |"
        least = [f"{min(found['share'].values()):.1%}" for found in (joint, after)]
        told = f"bound {joint['least_bound']:.1%}; check: {joint['violations']} violations"
        yield f"| | least share | | {told} | {least[0]} | {least[1]} |"
        yield f"| | seconds | | fullest {joint['fullness']:.0%} of its cap | {joint['seconds']} | {after['seconds']} |"


def main(arguments: Sequence[str]) -> None:
    """Run what is asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--cards", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(arguments)
    rows: dict[str, Row] = {}
    if asked.rows is not None and asked.rows.exists():
        rows = {row.pop("key"): row for row in map(json.loads, asked.rows.read_text().splitlines())}
    for name in asked.sets:
        for cards in asked.cards:
            key = f"{name} x{cards}"
            if key in rows:
                continue
            rows[key] = {"together": together(SETS[name], cards), "after": one_after_another(SETS[name], cards)}
            if asked.rows is not None:
                with asked.rows.open("a") as file:
                    file.write(json.dumps({"key": key, **rows[key]}) + "\n")
    text = "\n".join(table(rows)) + "\n"
    sys.stdout.write(text)
    if asked.out is not None:
        asked.out.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
