"""Planted mistakes in the ports of pblocks and in the Laguna columns of streams over SLR boundaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from tests.verify.planting import (
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    area_of,
    die,
    first,
    mutant,
    pblocks,
    phase_of,
    place,
)

ALONG = {"left": ("bottom", "top"), "right": ("bottom", "top"), "bottom": ("left", "right"), "top": ("left", "right")}


def port_and_box(plan: Plan) -> tuple[Plan, Plan]:
    """Return the first port of the first pblock with any, and the pblock's one rectangle."""
    block = first(b for b in pblocks(plan).values() if b["ports"] and len(b["rectangles"]) == 1)
    return block["ports"][0], block["rectangles"][0]


def crossing_of(plan: Plan) -> Plan:
    entry: Plan = first(e for f in phase_of(plan)["floorplan"].values() for e in f["sll_columns"])
    return entry


@mutant("placed-port-mismatch")
def end_of_a_stream_without_a_port(plan: Plan, files: Files) -> None:
    first(block for block in pblocks(plan).values() if block["ports"])["ports"].pop()


@mutant("placed-port-mismatch")
def end_of_a_stream_with_two_ports(plan: Plan, files: Files) -> None:
    ports = first(block for block in pblocks(plan).values() if block["ports"])["ports"]
    ports.append(dict(ports[0]))


@mutant("placed-port-mismatch")
def port_the_other_way_round(plan: Plan, files: Files) -> None:
    port, _ = port_and_box(plan)
    port["direction"] = "in" if port["direction"] == "out" else "out"


@mutant("plan-malformed")
def port_on_a_fifth_side(plan: Plan, files: Files) -> None:
    port_and_box(plan)[0]["side"] = "front"


@mutant("port-off-edge")
def port_above_its_side(plan: Plan, files: Files) -> None:
    port, box = port_and_box(plan)
    port["last"] = box[ALONG[port["side"]][1]] + 1


@mutant("port-off-edge")
def port_turned_over(plan: Plan, files: Files) -> None:
    port, box = port_and_box(plan)
    port["first"], port["last"] = (box[name] for name in reversed(ALONG[port["side"]]))


@mutant("port-off-fabric")
def port_in_the_corner_that_a_pblock_leaves_out(plan: Plan, files: Files) -> None:
    module, block = first((name, block) for name, block in pblocks(plan).items() if block["ports"])
    area = area_of(block)
    middle = (area.bottom + area.top) // 2
    place(plan, files, module, replace(area, top=middle), replace(area, left=area.right - 2, bottom=middle + 1))
    block["ports"][0].update(side="left", first=area.top, last=area.top)


@mutant("port-overlap")
def two_ports_in_one_place(plan: Plan, files: Files) -> None:
    for block in pblocks(plan).values():
        for one in block["ports"]:
            for other in block["ports"]:
                if one is not other and one["side"] == other["side"]:
                    other["first"], other["last"] = one["first"], one["last"]
                    return
    raise NotApplicable


@mutant("port-narrow")
def port_of_one_row(plan: Plan, files: Files) -> None:
    widths = {channel["name"]: channel["width_bits"] for channel in phase_of(plan)["channels"]}
    ports = (p for block in pblocks(plan).values() for p in block["ports"] if p["first"] < p["last"])
    port = first(p for p in ports if widths[p["channel"]] >= 16)
    port["last"] = port["first"]


@mutant("port-narrow")
def pins_that_are_no_flip_flops_doubled(plan: Plan, files: Files) -> None:
    first(pblocks(plan).values())["pins_per_row"] = 48


@mutant("port-turned-away")
def port_on_the_far_side(plan: Plan, files: Files) -> None:
    """Move a port between two pblocks to the side that is opposite to the one that faces the other."""
    blocks = pblocks(plan)
    for name, block in blocks.items():
        for port in block["ports"]:
            for other, there in blocks.items():
                keys = {(p["channel"], p["direction"]) for p in there["ports"]}
                if other != name and (port["channel"], {"in": "out", "out": "in"}[port["direction"]]) in keys:
                    here, beyond = area_of(block), area_of(there)
                    if beyond.left > here.right or beyond.right < here.left:
                        port["side"] = "left" if beyond.left > here.right else "right"
                        return
                    port["side"] = "bottom" if beyond.bottom > here.top else "top"
                    return
    raise NotApplicable


def along(port: Plan, box: Plan, side: str) -> float:
    """Return where a port is along a side: its middle, or its edge if it is on a side across."""
    return (port["first"] + port["last"]) / 2 if ALONG[port["side"]] == ALONG[side] else float(box[port["side"]])


def moves(plan: Plan) -> Iterator[tuple[Plan, int]]:
    """Yield ports with a step on their side that changes the length of their wire: not to the other side of its end."""
    blocks = [block for block in pblocks(plan).values() if len(block["rectangles"]) == 1]
    placed = [(port, block["rectangles"][0]) for block in blocks for port in block["ports"]]
    for (port, box), (other, there), step in product(placed, placed, (1, -1)):
        low, high = (box[name] for name in ALONG[port["side"]])
        off = along(port, box, port["side"]) - along(other, there, port["side"])
        is_inside = low <= port["first"] + step and port["last"] + step <= high
        if other is not port and other["channel"] == port["channel"] and is_inside and abs(off + step) != abs(off):
            yield port, step


@mutant("wrong-port-length")
def port_moved_and_not_its_wire(plan: Plan, files: Files) -> None:
    port, step = first(moves(plan))
    port["first"] += step
    port["last"] += step


@mutant("sll-columns-mismatch", TWO_SLRS)
def crossing_without_a_column(plan: Plan, files: Files) -> None:
    crossing_of(plan)["columns"] = []


@mutant("sll-columns-mismatch", TWO_SLRS)
def crossing_forgotten(plan: Plan, files: Files) -> None:
    first(f for f in phase_of(plan)["floorplan"].values() if f["sll_columns"])["sll_columns"].pop()


@mutant("sll-columns-mismatch", TWO_SLRS)
def wire_lost_on_the_way(plan: Plan, files: Files) -> None:
    crossing_of(plan)["columns"][0]["wires"] -= 1


@mutant("sll-columns-mismatch", TWO_SLRS)
def one_column_named_twice(plan: Plan, files: Files) -> None:
    shares = crossing_of(plan)["columns"]
    shares[0]["wires"] -= 1
    shares.append({"column": shares[0]["column"], "wires": 1})


@mutant("sll-column-unknown", TWO_SLRS)
def crossing_beside_the_laguna_column(plan: Plan, files: Files) -> None:
    crossing_of(plan)["columns"][0]["column"] += 1


@mutant("sll-column-unknown", TWO_SLRS)
def crossing_in_a_column_of_the_shell(plan: Plan, files: Files) -> None:
    entry = crossing_of(plan)
    if not entry["boundary"].endswith("SLR0-fpga0.SLR1"):
        raise NotApplicable
    entry["columns"][0]["column"] = max(die(plan, files).raw["sll"]["columns"])


@mutant("sll-column-overload", TWO_SLRS)
def more_wires_in_a_column_than_it_has(plan: Plan, files: Files) -> None:
    crossing_of(plan)["columns"][0]["wires"] += die(plan, files).raw["sll"]["wires_per_column"]
