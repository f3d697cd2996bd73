"""The terms of placement's objective and the routing map, from wires and the die's file (docs/plan.md, *floorplan*)."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import floor

from floorflow.verify.facts import PhaseFacts, stream_wires
from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.geometry import Device
from floorflow.verify.phase_records import RoutingMapRecord
from floorflow.verify.plan_records import OptionsRecord
from floorflow.verify.records import TERMS
from floorflow.verify.rules.ports import Wire, wire_weight
from floorflow.verify.rules.slices import COMFORTABLE, TILES_AND_MHZ
from floorflow.verify.violations import Findings

STREAM_BITS = 512
"""Bits of wire that a stream beyond its reach counts for."""
BIN_TILES = 15
"""Columns and rows of a bin."""
FREE_SHARE = 0.5
"""Share of long wires that streams may take."""
LONG_WIRES, LONG_WIRES_7 = (96, 192), (44, 66)
"""Long wires along a row and over a tile's top; of 7 series."""
UNIT = "bit-tiles"
NEAR = 1e-6
"""Share by which two sums differ by rounding."""

_SEVEN = re.compile(r"x[acq]7[aksvz]")
_KINDS = ("clb", "dsp", "bram", "uram")

Bins = list[list[float]]
"""A number for each bin: rows of bins from the lowest up, each from left to right."""


def check_objective(
    phase: PhaseFacts, board: Board, fpga: str, *, wires: Sequence[Wire], options: OptionsRecord
) -> None:
    """Check wirelength, weights, terms and routing map of an FPGA's floorplan."""
    floorplan, where = phase.raw["floorplan"][fpga], f"{phase.where}.floorplan.{fpga}"
    length = sum(wire_weight(wire.width_bits) * wire.tiles for wire in wires)
    phase.expect("wrong-hpwl", where, "hpwl", floorplan["hpwl"], length)
    for name in TERMS:
        weight = options["place_weights"][name]
        phase.expect("wrong-weights", f"{where}.weights", name, floorplan["weights"][name], weight)
    offered, carried = capacity(board.device), demand(board.device, wires)
    excess = sum(max(0.0, d - c) for ds, cs in zip(carried, offered, strict=True) for d, c in zip(ds, cs, strict=True))
    registered = phase.register_stages.get(fpga, 0) > 0
    late = penalty(board.device, wires, phase.clock_mhz, registered=registered) if phase.clock_mhz else 0.0
    for name, derived in zip(TERMS, (length, late, excess), strict=True):
        phase.expect("wrong-terms", f"{where}.terms", name, floorplan["terms"][name], derived)
    stated, where = floorplan["congestion"], f"{where}.congestion"
    _check_figures(stated, carried, offered, where, phase.findings)
    _check_peak(stated, _with_wires(carried, offered), board.device, where, phase.findings)
    _check_bins(stated, carried, where, phase.findings)


def wires_between_halves(device: Device, row: int) -> int:
    """Return the long wires over the top of a row that streams may take, at interconnect or what stands for it."""
    kinds = [device.legend_at(column, row // device.region_rows)["kind"] for column in range(device.columns)]
    shown = any(kind == "interconnect" for kind in kinds)
    tiles = sum(kind == "interconnect" if shown else kind in _KINDS for kind in kinds)
    along = (LONG_WIRES_7 if _SEVEN.match(device.raw["part"]) else LONG_WIRES)[1]
    return int(along * tiles * FREE_SHARE)


def _check_figures(stated: RoutingMapRecord, carried: Bins, offered: Bins, where: str, findings: Findings) -> None:
    derived = {
        "unit": UNIT,
        "bin_columns": BIN_TILES,
        "bin_rows": BIN_TILES,
        "capacity": max(map(max, offered)),
        "peak": max(map(max, _with_wires(carried, offered))),
        "mean": sum(map(sum, carried)) / (len(carried) * len(carried[0])),
        "over": sum(d > c > 0 for ds, cs in zip(carried, offered, strict=True) for d, c in zip(ds, cs, strict=True)),
    }
    findings.compare("wrong-routing-map", where, stated, derived)


def _with_wires(carried: Bins, offered: Bins) -> Bins:
    """Return what bins carry that have wires; what is asked of a processor's bins goes around them."""
    return [[d if c > 0 else 0.0 for d, c in zip(ds, cs, strict=True)] for ds, cs in zip(carried, offered, strict=True)]


def _check_peak(stated: RoutingMapRecord, carried: Bins, device: Device, where: str, findings: Findings) -> None:
    peak, at = max(map(max, carried)), tuple(stated["peak_at"][side] for side in ("left", "bottom", "right", "top"))
    row, column = at[1] // BIN_TILES, at[0] // BIN_TILES
    inside = row < len(carried) and column < len(carried[0])
    if not inside or at != _sides(column, row, device) or carried[row][column] < peak * (1 - NEAR) - NEAR:
        findings.add("wrong-routing-map", where, f"peak_at is {at}, no bin with the peak of {peak:g}")


def _check_bins(stated: RoutingMapRecord, carried: Bins, where: str, findings: Findings) -> None:
    """Check the map itself, which is in whole numbers."""
    rows = [[int(number) for number in text.split()] for text in stated["demand"]]
    if [len(row) for row in rows] != [len(row) for row in carried]:
        findings.add("wrong-routing-map", where, f"demand is not of {len(carried)} rows of {len(carried[0])} bins")
        return
    for number, (told, found) in enumerate(zip(rows, carried, strict=True)):
        for one, other in zip(told, found, strict=True):
            if abs(one - other) > 0.5 + NEAR * max(1.0, other):
                findings.add("wrong-routing-map", where, f"demand in row {number} is {one}, derived {other:g}")
                return


def _sides(column: int, row: int, device: Device) -> tuple[int, int, int, int]:
    left, bottom = column * BIN_TILES, row * BIN_TILES
    return left, bottom, min(left + BIN_TILES, device.columns) - 1, min(bottom + BIN_TILES, device.rows) - 1


def capacity(device: Device) -> Bins:
    """Return what each bin offers, row of clock regions by row."""
    along, up = LONG_WIRES_7 if _SEVEN.match(device.raw["part"].lower()) else LONG_WIRES
    kinds = [
        [device.legend_at(column, region)["kind"] for column in range(device.columns)]
        for region in range(device.rows // device.region_rows)
    ]
    shown = any("interconnect" in row for row in kinds)
    offered = [[0.0] * -(-device.columns // BIN_TILES) for _ in range(-(-device.rows // BIN_TILES))]
    for region, row in enumerate(kinds):
        tiles = [kind == "interconnect" if shown else kind in _KINDS for kind in row]
        for column in range(0, device.columns, BIN_TILES):
            inside = tiles[column : column + BIN_TILES]
            wires = along * len(inside) + up * sum(inside) if any(inside) else 0
            for low, high in _cut(region * device.region_rows, (region + 1) * device.region_rows):
                offered[low // BIN_TILES][column // BIN_TILES] += FREE_SHARE * wires * (high - low)
    return offered


def _cut(low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield the pieces of rows ``low..high - 1`` that lie in one bin each."""
    edges = [low, *range((low // BIN_TILES + 1) * BIN_TILES, high, BIN_TILES), high]
    yield from pairwise(edges)


def demand(device: Device, wires: Sequence[Wire]) -> Bins:
    """Return what each bin carries: of each stream its wires times its length, by the share of its box in the bin."""
    carried = [[0.0] * -(-device.columns // BIN_TILES) for _ in range(-(-device.rows // BIN_TILES))]
    for wire in wires:
        ends = (device.columns, device.rows)
        sides = [_shares(one, other, end) for one, other, end in zip(wire.first, wire.second, ends, strict=True)]
        for (column, across), (row, up) in product(*sides):
            carried[row][column] += stream_wires(wire.width_bits) * wire.tiles * across * up
    return carried


def _shares(one: float, other: float, end: int) -> list[tuple[int, float]]:
    """Return bins and the share of them in what lies between two places, half a tile beyond both included."""
    low, high = min(one, other), max(one, other) + 1  # tile k from k to k + 1
    found = []
    for bin_ in range(floor(low / BIN_TILES), floor(high / BIN_TILES) + 1):
        first, last = max(low, bin_ * BIN_TILES), min(high, (bin_ + 1) * BIN_TILES, end)
        if last > first:
            found.append((bin_, (last - first) / (high - low)))
    return found


def penalty(device: Device, wires: Sequence[Wire], clock_mhz: float, *, registered: bool) -> float:
    """Return what streams cost that should have slices; ``registered``: they have registers at SLR boundaries."""
    reach, total = COMFORTABLE * TILES_AND_MHZ / clock_mhz, 0.0
    tops = [device.slr_rows(number)[1] for number in range(len(device.raw["slrs"]))]
    for wire in wires:
        low, high = sorted((wire.first[1], wire.second[1]))
        stops = [low, *(top + 0.5 for top in tops if registered and low < top + 0.5 < high), high]
        rows = [after - before for before, after in pairwise(stops)]
        way = wire.tiles if len(rows) == 1 else max(*rows, wire.tiles / len(rows))
        if wire.width_bits and way > reach:
            total += STREAM_BITS * (way - reach) ** 2 / reach
    return total
