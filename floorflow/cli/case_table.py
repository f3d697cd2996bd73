"""Scheduling methods on a case as a table for a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.markup import escape
from rich.table import Table

from floorflow.cli.fitting_table import FittingTable


def case_table(comparison: Mapping[str, Any]) -> Table:
    """Return one row a method: its cost, its bound, its partitions."""
    numbers = ("us", "running", "bound", "gap", "partitions", "seconds")
    table = FittingTable(escape(comparison["case"]), names=["method"], numbers=numbers, prose=["status"])
    for entry in comparison["results"]:
        table.add_row(*_cells(entry))
    return table


def _cells(entry: Mapping[str, Any]) -> list[str]:
    amounts = ["" if entry[key] is None else f"{entry[key]:,.2f}" for key in ("us", "run_us", "bound_us")]
    gap = "" if entry["gap"] is None else f"{entry['gap']:.2%}"
    partitions = "" if entry["us"] is None else str(len(entry["cuts"]) + 1)
    status = entry["status"] + (f": {entry['reason']}" if entry["reason"] else "")
    return [entry["method"], *amounts, gap, partitions, f"{entry['seconds']:.2f}", escape(status)]
