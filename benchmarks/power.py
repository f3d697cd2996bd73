"""Print published builds' watts beside the estimate of floorflow/facts/power.py, and what a fit without each would say.

    python -m benchmarks.power

`benchmarks/data/power.json` has the builds, with a source each. A fit is of five figures in use and of what each board
draws at rest beside leakage, none below 0, by least squares of relative errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from floorflow.facts.power import BAND, FIGURES
from floorflow.resources import RESOURCE_NAMES

FILE = Path(__file__).parent / "data" / "power.json"
OWN = FIGURES["ultrascale+"]
BOARDS = ("rfsoc", "u55c", "zu3")
"""Groups of builds on a board; in the other there is nothing but a die."""
ROUNDS, USED = 3_000, len(RESOURCE_NAMES)


@dataclass(frozen=True)
class Build:
    """A published build: its watts, and what they are watts of; ``held_out`` of every fit."""

    name: str
    group: str
    clock_mhz: float
    resources: Mapping[str, int]
    watts: float
    die_lut: int
    base_w: float
    held_out: bool

    @property
    def leakage_w(self) -> float:
        return OWN.leakage_nw_per_lut * self.die_lut / 1e9

    @property
    def dynamic_w(self) -> float:
        """What the plan's figures say of what is used."""
        in_use = sum(OWN.dynamic_nw_per_mhz[name] * amount for name, amount in self.resources.items())
        return self.clock_mhz * in_use / 1e9

    @property
    def likely_w(self) -> float:
        return self.leakage_w + self.base_w + self.dynamic_w

    @property
    def of_likely(self) -> float:
        return self.watts / self.likely_w


@cache
def contents() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def builds() -> tuple[Build, ...]:
    groups = contents()["groups"]
    return tuple(
        Build(
            **{key: row[key] for key in ("name", "group", "clock_mhz", "resources", "watts")},
            **{key: groups[row["group"]][key] for key in ("die_lut", "base_w")},
            held_out=row.get("held_out", False),
        )
        for row in contents()["builds"]
    )


def in_band(watts: float, likely_w: float) -> bool:
    return likely_w / BAND <= watts <= likely_w * BAND


def _terms(build: Build) -> np.ndarray[Any, np.dtype[np.float64]]:
    used = [build.clock_mhz * build.resources.get(name, 0) / 1e9 for name in RESOURCE_NAMES]
    return np.array([*used, *(float(build.group == board) for board in BOARDS)])


def fit(known: Sequence[Build]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return nanowatts a MHz of each resource, then watts of each board; one by one until all stand still."""
    rows = np.array([_terms(build) / build.watts for build in known])
    left = np.array([1 - build.leakage_w / build.watts for build in known])
    found = np.array([*OWN.dynamic_nw_per_mhz.values(), 1.0, 30.0, 3.0])
    square = (rows**2).sum(axis=0)
    for _ in range(ROUNDS):
        for n in np.flatnonzero(square):
            off = left - rows @ found
            found[n] = max(0.0, found[n] + rows[:, n] @ off / square[n])
    return found


def told(build: Build, found: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    return float(build.leakage_w + _terms(build) @ found)


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(f"| {' | '.join(header)} |\n|---|" + "--:|" * (len(header) - 1))
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")


def main() -> None:
    every = builds()
    known = [build for build in every if not build.held_out]
    print("## Figures\n")
    whole = fit(known)
    names = [*(f"{name}, nW a MHz" for name in RESOURCE_NAMES), *(f"{board} at rest, W" for board in BOARDS)]
    groups = contents()["groups"]
    own = [*OWN.dynamic_nw_per_mhz.values(), *(groups[board]["base_w"] for board in BOARDS)]
    _table(("", "fitted", "taken"), ((n, f"{a:,.3g}", f"{b:,g}") for n, a, b in zip(names, whole, own, strict=True)))
    print("\n## Builds\n")
    alone = {build.name: told(build, fit([one for one in known if one is not build])) for build in every}
    header = ("build", "group", "MHz", "W", "estimate: at rest + in use", "W / estimate", "of a fit without it")
    _table(header, (_row(build, alone[build.name]) for build in every))
    print("\n## A group by the figures of the others: what is used, W\n")
    away = {group: fit([build for build in known if build.group != group]) for group in groups}
    by_others = [(build, float(_terms(build)[:USED] @ away[build.group][:USED])) for build in known]
    rest = [build.leakage_w + build.base_w for build, _ in by_others]
    rows = [
        (b.name, b.group, f"{b.watts - own_rest:.2f}", f"{used:.2f}", f"{b.watts / (own_rest + used):.2f}")
        for (b, used), own_rest in zip(by_others, rest, strict=True)
    ]
    _table(("build", "group", "its W less those at rest", "estimate", "all its W / estimate"), rows)
    print("\n## Within the band\n")
    counts = {
        "of the figures that are taken": [in_band(build.watts, build.likely_w) for build in every],
        "of a fit without the build": [in_band(build.watts, alone[build.name]) for build in known],
        "of a fit without its group": [
            in_band(b.watts, r + used) for (b, used), r in zip(by_others, rest, strict=True)
        ],
        "of what is drawn at rest, nothing in use": [in_band(b.watts, b.leakage_w + b.base_w) for b in every],
    }
    _table(("estimate", "builds within"), ((name, f"{sum(each)} of {len(each)}") for name, each in counts.items()))


def _row(build: Build, alone: float) -> tuple[str, ...]:
    name = f"{build.name}{' (of no fit)' if build.held_out else ''}"
    parts = f"{build.leakage_w + build.base_w:.2f} + {build.dynamic_w:.2f}"
    watts = f"{build.clock_mhz:g}", f"{build.watts:.2f}"
    return name, build.group, *watts, parts, f"{build.of_likely:.2f}", f"{build.watts / alone:.2f}"


if __name__ == "__main__":
    main()
