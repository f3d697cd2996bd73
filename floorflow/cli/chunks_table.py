"""Chunks over areas, and a case's rows, as tables for a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from floorflow.cli.fitting_table import FittingTable

_NUMBERS = ("area", "static ms", "paper", "dynamic ms", "chunks", "compute ms", "loads ms", "hidden", "gap")
_CASE_NUMBERS = ("area", "static ms", "dynamic ms", "chunks", "compute ms", "loads ms", "seconds")


def chunks_table(content: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row an area; what the paper prints of it stands beside."""
    title = f"{content['network']} on {content['platform']}, costs {content['costs']}, {content['batch']:,} images"
    table = FittingTable(escape(title), numbers=_NUMBERS, prose=["status"], caption=_paper_says(content["paper"]))
    printed = (content["paper"] or {}).get("static_ms", {})
    beside = {float(area): ms for area, ms in printed.items()}
    for row in rows:
        times = (_number(row.get(key)) for key in ("dynamic_ms",))
        parts = (_number(row.get(key)) for key in ("run_ms", "load_ms", "hidden_load_ms"))
        table.add_row(
            f"{row['area']:.3g}",
            _number(row.get("static_ms")),
            _number(beside.get(row["area"])),
            *times,
            str(row.get("chunks", "")),
            *parts,
            "" if row.get("gap") is None else f"{row['gap']:.2%}",
            row["status"],
        )
    return table


def _paper_says(paper: Mapping[str, Any] | None) -> str | None:
    if paper is None:
        return None
    static, dynamic = paper["static_infeasible_below"], paper["dynamic_feasible_down_to"]
    return f"paper: stock {paper['stock_ms']} ms; static from about {static:.0%}, dynamic down to {dynamic:.0%}"


def chunk_case_table(answered: Mapping[str, Any]) -> Table:
    """Return one row a row of the case."""
    table = FittingTable(
        escape(answered["case"]), names=["net", "model", "rule"], numbers=_CASE_NUMBERS, prose=["status"]
    )
    for row in answered["expected"]:
        static, dynamic = row["static"], row["dynamic"]
        rule = row["rule"] + (", system" if row["infra"] else "")
        parts = (_number(dynamic.get(key)) for key in ("T_inf_ms", "T_rec_ms"))
        times = _number(static.get("T_ms")), _number(dynamic.get("T_ms")), str(dynamic.get("n", ""))
        seconds = f"{static['time'] + dynamic['time']:.2f}"
        table.add_row(row["net"], row["model"], rule, f"{row['sigma']:.3g}", *times, *parts, seconds, dynamic["status"])
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.3f}"
