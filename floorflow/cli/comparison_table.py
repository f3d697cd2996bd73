"""A comparison as a table for a person at a terminal, and as the files of an output folder."""

from __future__ import annotations

import json
from math import floor

from rich.markup import escape
from rich.table import Table

from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.study.comparison.compare import Comparison, Entry
from floorflow.text.table import FittingTable

_NUMBERS = ("interval", "of bound", "frames/s", *RESOURCE_NAMES, "with streams", "scarcity", "gap", "seconds")


def comparison_table(comparison: Comparison) -> Table:
    """Return one row a method: resources of the engines, and LUTs and BRAMs with converters and FIFOs."""
    table = FittingTable(_title(comparison), names=["method"], numbers=_NUMBERS, prose=["verdict"])
    for entry in comparison.entries:
        table.add_row(*_cells(entry, comparison.bound_cycles))
    return table


def _title(comparison: Comparison) -> str:
    c = comparison
    aim = "highest rate within the budget" if c.requested_cycles is None else f"at most {c.requested_cycles:,} cycles"
    bound = "" if c.bound_cycles is None else f"; no folding is faster than {c.bound_cycles:,} cycles"
    return escape(f"{c.network} on {c.platform}, costs {c.costs}, {c.clock_mhz:g} MHz: {aim}{bound}")


def _cells(entry: Entry, bound_cycles: int | None) -> list[str]:
    seconds = f"{entry.seconds:.2f}"
    if entry.engines is None or entry.resources is None or entry.scarcity is None or entry.interval_cycles is None:
        return [entry.method, *[""] * (len(_NUMBERS) - 1), seconds, escape(entry.verdict)]
    gap = "?" if entry.gap is None else f"{entry.gap:.2%}"
    return [
        entry.method,
        f"{entry.interval_cycles:,}",
        f"{entry.interval_cycles / bound_cycles:.2f}x" if bound_cycles else "",
        f"{floor(entry.frames_per_s or 0):,}",
        *(f"{amount:,}" for amount in entry.engines.as_tuple()),
        _with_streams(entry.resources),
        f"{entry.scarcity:.4f}",
        gap,
        seconds,
        escape(entry.verdict),
    ]


def _with_streams(use: Resources) -> str:
    return f"LUT {use.lut:,}, BRAM18 {use.bram18:,}"


def comparison_files(comparison: Comparison) -> dict[str, str | bytes]:
    """Return ``compare.json`` and the picture ``compare.png`` and ``.svg``; matplotlib is loaded only here."""
    from floorflow.view.pictures.comparison import comparison_chart
    from floorflow.view.pictures.files import png_bytes, svg_bytes

    content = comparison.as_dict()
    figure = comparison_chart(content)
    text = json.dumps(content, indent=2, sort_keys=True) + "\n"
    return {"compare.json": text, "compare.png": png_bytes(figure), "compare.svg": svg_bytes(figure)}
