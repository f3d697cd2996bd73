"""A comparison as a table for a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Any

from rich.markup import escape
from rich.table import Table

from floorflow.api import RESOURCE_NAMES
from floorflow.cli.fitting_table import FittingTable

Content = Mapping[str, Any]
"""A comparison, or one of its methods, as compare.json holds it."""

_NUMBERS = ("interval", "of bound", "frames/s", *RESOURCE_NAMES, "with streams", "scarcity", "gap", "seconds")


def comparison_table(comparison: Content) -> Table:
    """Return one row a method: resources of the engines, and LUTs and BRAMs with converters and FIFOs."""
    table = FittingTable(_title(comparison), names=["method"], numbers=_NUMBERS, prose=["verdict"])
    for entry in comparison["methods"]:
        table.add_row(*_cells(entry))
    return table


def _title(c: Content) -> str:
    wanted, bound_cycles = c["requested_cycles"], c["bound_cycles"]
    aim = "highest rate within the budget" if wanted is None else f"at most {wanted:,} cycles"
    bound = "" if bound_cycles is None else f"; no folding is faster than {bound_cycles:,} cycles"
    joint_bound = c["joint_bound_cycles"]
    bound += "" if joint_bound is None else f", no plan than {joint_bound:,}"
    return escape(f"{c['network']} on {c['platform']}, costs {c['costs']}, {c['clock_mhz']:g} MHz: {aim}{bound}")


def _cells(entry: Content) -> list[str]:
    seconds = f"{entry['seconds']:.2f}"
    if entry["interval_cycles"] is None:
        return [entry["method"], *[""] * (len(_NUMBERS) - 1), seconds, escape(entry["verdict"])]
    over, gap, use = entry["interval_over_bound"], entry["gap"], entry["resources"]
    return [
        entry["method"],
        f"{entry['interval_cycles']:,}",
        f"{over:.2f}x" if over else "",
        f"{floor(entry['frames_per_s']):,}",
        *(f"{entry['engines'][name]:,}" for name in RESOURCE_NAMES),
        f"LUT {use['LUT']:,}, BRAM18 {use['BRAM18']:,}",
        f"{entry['scarcity']:.4f}",
        "?" if gap is None else f"{gap:.2%}",
        seconds,
        escape(entry["verdict"]),
    ]
