"""How far a stream reaches in a cycle: the rule of the report beside every public number of a wire's delay.

    python benchmarks/route_delays.py

Prints a row for each net of public timing reports (benchmarks/data/route_delays.json), with its distance in columns
and rows of the die; a line through them, each net told by a line that saw none of its source; and what else is known.
The rule, `floorflow.hardware.reach.REACH_TILES_MHZ`, is a rule of thumb for a period and not a model of a net.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from floorflow.hardware import Device, read_device
from floorflow.hardware.reach import REACH_TILES_MHZ

ROOT = Path(__file__).resolve().parents[1]
REGISTERS_NS = 0.10
"""Clock to output and setup of two flip-flops: 0.08 to 0.10 less 0.03 in the same reports."""
UNCERTAINTY_NS = 0.035
FPT19 = {"base_ps": 43.0, "row_ps": 3.6, "column_ps": 3.5, "extra_ps": 2.3, "block_ram": 16, "longest_rows": 12}
"""A wire between two switches: base + length x ps + extra x ps for what stands between CLB columns (Maidee et al., FPT
2019, as asked about in the RapidWright group); RapidWright's longest vertical wire is 12 rows."""
AUTOBRIDGE_MHZ, SLOT_ROWS = 297.0, 240
"""Mean of 43 designs with registers on each stream between slots of half an SLR of a U250 or U280 (FPGA 2021)."""
LAGUNA_MHZ = 700.0
"""RapidWright's SLR bridge: above 700 MHz, near 750, from Laguna register to Laguna register."""
WITHOUT_LAGUNA_NS = 3.06
"""Register to register over one SLR boundary of an xcvu47p without them: 0.08 ns logic, 2.99 ns net, Vivado's estimate
after optimisation of placement in builds of FireSim on AWS F2."""


@dataclass(frozen=True)
class Net:
    """A net of a public report: its distance in tiles, and its delay."""

    die: str
    source: str
    target: str
    fanout: int
    state: str
    ns: float
    origin: str
    columns: int
    rows: int

    @property
    def tiles(self) -> int:
        """Columns and rows between both ends."""
        return self.columns + self.rows


@dataclass(frozen=True)
class Line:
    """A net's delay as a constant and a part for each tile."""

    constant_ns: float
    tile_ns: float

    def ns(self, tiles: float) -> float:
        """Return the delay of a net of so many tiles."""
        return self.constant_ns + self.tile_ns * tiles

    def reach(self, period_ns: float) -> float:
        """Return how many tiles lie between two registers in one period."""
        return (period_ns - REGISTERS_NS - UNCERTAINTY_NS - self.constant_ns) / self.tile_ns


def read_nets() -> tuple[Net, ...]:
    """Return the nets of the data file, with their distances on the dies' files."""
    rows = json.loads((ROOT / "benchmarks" / "data" / "route_delays.json").read_text(encoding="utf-8"))
    dies = {name: _die(name) for name in {row["die"] for row in rows}}
    nets = []
    for row in rows:
        (x, y), (other_x, other_y) = (place(dies[row["die"]], row[end]) for end in ("source", "target"))
        facts = (row["fanout"], row["state"], row["ns"], row["from"])
        nets.append(Net(row["die"], row["source"], row["target"], *facts, abs(x - other_x), abs(y - other_y)))
    return tuple(nets)


def _die(name: str) -> Device:
    path = ROOT / "platforms" / "devices" / f"{name}.yaml"
    return read_device(path.read_text(encoding="utf-8"), path.name)


def place(die: Device, site: str) -> tuple[int, int]:
    """Return physical column and CLB row of a SLICE, or of the middle of a RAMB36."""
    kind, x, y = re.fullmatch(r"(SLICE|RAMB36)_X(\d+)Y(\d+)", site).groups()  # type: ignore[union-attr]
    column = die.site_types[kind].columns[int(x)]
    return column, int(y) if kind == "SLICE" else int(y) * 5 + 2


def fitted(nets: Sequence[Net]) -> Line:
    """Return the line with the least sum of squared relative errors."""
    weights = np.array([1 / net.ns for net in nets])
    terms = np.array([[1.0, net.tiles] for net in nets]) * weights[:, None]
    (constant, slope), *_ = np.linalg.lstsq(terms, np.ones(len(nets)), rcond=None)
    return Line(float(constant), float(slope))


def factor(told: float, is_: float) -> float:
    """Return by which factor two numbers differ, at least 1."""
    return max(told / is_, is_ / told)


def unseen(nets: Sequence[Net]) -> list[float]:
    """Return by which factor each net is off when told by a line that all other nets make."""
    return [factor(fitted([other for other in nets if other is not net]).ns(net.tiles), net.ns) for net in nets]


def rule_ns(tiles: float) -> float:
    """Return the period at which the rule calls a stream comfortable."""
    return tiles * 1e3 / REACH_TILES_MHZ


def beside(nets: Sequence[Net], line: Line) -> list[tuple[str, str, str, str]]:
    """Return what else is known, with what the line and the rule say: what, public, line, rule."""
    wire = FPT19["longest_rows"]
    public = (FPT19["base_ps"] + FPT19["row_ps"] * wire) / wire
    period = 1e3 / AUTOBRIDGE_MHZ
    longest = max(nets, key=lambda net: net.tiles)
    return [
        ("one row of a long wire, ps (FPT 2019)", f"{public:.1f}", f"{line.tile_ns * 1e3:.1f}", f"{rule_ns(1e3):.1f}"),
        (
            f"period over {SLOT_ROWS} rows, ns (AutoBridge closes at {AUTOBRIDGE_MHZ:g} MHz)",
            f"at most {period:.2f}",
            f"{line.ns(SLOT_ROWS) + REGISTERS_NS + UNCERTAINTY_NS:.2f}",
            f"{rule_ns(SLOT_ROWS):.2f}",
        ),
        ("SLR boundary between Laguna registers, ns", f"at most {1e3 / LAGUNA_MHZ:.2f}", "-", "a register each side"),
        ("SLR boundary without, ns", f"{WITHOUT_LAGUNA_NS:.2f}, distance unknown", "-", "not planned"),
        (
            f"longest net at hand, {longest.tiles} tiles, ns",
            f"{longest.ns:.2f}",
            f"{line.ns(longest.tiles):.2f}",
            f"{rule_ns(longest.tiles):.2f} (a whole period)",
        ),
    ]


def main() -> None:
    """Print the tables."""
    nets = read_nets()
    line, off = fitted(nets), unseen(nets)
    print("| die | from | to | columns | rows | loads | net | ns | told unseen | factor |")
    print("|---|---|---|--:|--:|--:|---|--:|--:|--:|")
    for net, wrong in zip(nets, off, strict=True):
        told = fitted([other for other in nets if other is not net]).ns(net.tiles)
        cells = (net.die, net.source, net.target, net.columns, net.rows, net.fanout, net.state, net.ns)
        print("| " + " | ".join(map(str, cells)) + f" | {told:.2f} | {wrong:.2f} |")
    print(f"\nline of {len(nets)} nets: {line.constant_ns:.2f} ns + {line.tile_ns * 1e3:.1f} ps a tile; off unseen by")
    nine, most = sorted(off)[int(0.9 * len(off))], max(off)
    print(f"a factor of {median(off):.2f} in the median, {nine:.2f} for nine in ten, {most:.2f} at most")
    for mhz in (200, 250, 300):
        print(f"at {mhz} MHz: {line.reach(1e3 / mhz):.0f} tiles by the line, {REACH_TILES_MHZ / mhz:.0f} by the rule")
    print("\n| what | public | line | rule |\n|---|--:|--:|--:|")
    for row in beside(nets, line):
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
