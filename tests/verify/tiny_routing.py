"""The routing map of a plan made by hand, tile by tile."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from floorflow.hardware.reach import Way, comfortable_tiles
from floorflow.verify.hardware.geometry import Device

Point = tuple[float, float]
LONG_WIRES = {"xc7": (44, 66)}
"""Along a row and up; on other dies 96 and 192."""
OFFERED: dict[str, Counter[tuple[int, int]]] = {}
"""What the bins of a die offer, by its part: counted once."""


def routing_map(die: Device, wires: Sequence[tuple[int, Point, Point]]) -> dict[str, Any]:
    """Return the map of wires with width and ends."""
    across, up = -(-die.columns // 15), -(-die.rows // 15)
    carried: Counter[tuple[int, int]] = Counter()
    for bits, first, second in wires:
        length = sum(abs(a - b) for a, b in zip(first, second, strict=True))
        columns, rows = (_share_of_bins(a, b) for a, b in zip(first, second, strict=True))
        for x, share in columns.items():
            for y, other in rows.items():
                carried[x, y] += bits * length * share * other
    part = die.raw["part"]
    if part not in OFFERED:
        OFFERED[part] = _offered(die)
    offered = OFFERED[part]
    places = sorted(carried.items(), key=lambda each: each[0][::-1])
    (x, y), peak = max(places, key=lambda each: round(each[1], 6), default=((0, 0), 0.0))
    return {
        "unit": "bit-tiles",
        "bin_columns": 15,
        "bin_rows": 15,
        "capacity": max(offered.values()),
        "peak": peak,
        "peak_at": {
            "left": 15 * x,
            "bottom": 15 * y,
            "right": min(15 * x + 14, die.columns - 1),
            "top": min(15 * y + 14, die.rows - 1),
        },
        "mean": sum(carried.values()) / (across * up),
        "over": sum(carried[place] > offered[place] for place in carried),
        "demand": [" ".join(str(round(carried[x, y])) for x in range(across)) for y in range(up)],
    }


def terms_of(die: Device, wires: Sequence[tuple[int, Point, Point]], clock_mhz: float) -> dict[str, float]:
    """Return the terms of the objective, with registers at every SLR boundary."""
    # A hand-made plan has few wires: none of its bins is crowded.
    assert routing_map(die, wires)["over"] == 0
    edges = [die.slr_rows(number)[1] + 0.5 for number in range(len(die.raw["slrs"]))]
    length, late, reach = 0.0, 0.0, comfortable_tiles(clock_mhz)
    for bits, first, second in wires:
        low, high = sorted((first[1], second[1]))
        way = Way.between(first, second, [edge for edge in edges if low < edge < high])
        length += max(64, bits) * way.tiles
        late += 512 * max(0.0, way.longest_tiles - reach) ** 2 / reach
    return {"wire": length, "reach": late, "congestion": 0.0}


def _share_of_bins(one: float, other: float) -> Counter[int]:
    """Return the share of an interval, half a tile longer at both ends, in each bin: quarters of tiles are counted."""
    low, high = min(one, other) - 0.5, max(one, other) + 0.5
    quarters = round(4 * (high - low))
    places = [low + (k + 0.5) / 4 for k in range(quarters)]
    shares: Counter[int] = Counter()
    for place in places:
        shares[int((place + 0.5) // 15)] += 1
    return Counter({bin_: count / quarters for bin_, count in shares.items()})


def _offered(die: Device) -> Counter[tuple[int, int]]:
    along, up = LONG_WIRES.get(die.raw["part"][:3], (96, 192))
    offered: Counter[tuple[int, int]] = Counter()
    kinds = {entry["kind"] for entry in die.raw["legend"].values()}
    own = ("interconnect",) if "interconnect" in kinds else ("clb", "dsp", "bram", "uram")
    for row in range(die.rows):
        region = row // die.region_rows
        tiles = [die.legend_at(column, region)["kind"] in own for column in range(die.columns)]
        for left in range(0, die.columns, 15):
            inside = tiles[left : left + 15]
            if any(inside):
                offered[left // 15, row // 15] += (along * len(inside) + up * sum(inside)) / 2
    return offered
