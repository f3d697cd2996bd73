"""The command for chunks swapped by partial reconfiguration; `cli` registers it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from floorflow import api
from floorflow.api import AREAS, CHUNK_METHODS, SIZE_STEP, Infeasible, InputError, LimitReached
from floorflow.cli.console import paper, print_json
from floorflow.cli.fitting_table import FittingTable
from floorflow.cli.options import PROBLEM, DebugFlag, ForceFlag, JsonFlag, OutIfAny, asks_for
from floorflow.cli.progress import progress_shown
from floorflow.cli.standard_streams import native_output_as_talk
from floorflow.cli.terminal import errors_to_exit_codes

OWN_PROBLEM = tuple(name for name in PROBLEM if name != "fpgas")
"""Fields of the request that state the engines and the board."""


class Foldings(Enum):
    """Which foldings a layer may have."""

    powers = "powers"
    all = "all"


@asks_for(*OWN_PROBLEM, defaults={"model": None, "platform": None}, cap="Share of the board, before the area.")
def chunks(
    asked: Mapping[str, Any],
    case: Annotated[
        Path | None, typer.Option(help="Layers, models and rows as JSON (docs/chunks.md), instead of a model.")
    ] = None,
    area: Annotated[str, typer.Option(help="Shares of the board: first:last:step, or with commas.")] = AREAS,
    batch: Annotated[int, typer.Option(min=1, help="Images that run through a chunk before the next.")] = 256,
    regions: Annotated[int, typer.Option(min=1, max=4, help="Regions: one loads while another runs.")] = 1,
    sizes: Annotated[
        str, typer.Option(help="Sizes of the regions: equal, free, or parts of the area with commas.")
    ] = "equal",
    size_step: Annotated[str, typer.Option(help="Step of free sizes, a share of the board.")] = SIZE_STEP,
    foldings: Annotated[
        Foldings, typer.Option(help="Powers of two up to 64, as the paper has it, or all legal ones.")
    ] = Foldings.all,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(CHUNK_METHODS)}.")] = "exact",
    memory_gbs: Annotated[
        float | None, typer.Option(help="GB/s of the memory between chunks; its traffic is free unless told.")
    ] = None,
    spill: Annotated[
        bool, typer.Option("--spill", help="Cut residual blocks too; all live streams are spilled.")
    ] = False,
    out: OutIfAny = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Cut a network into chunks that partial reconfiguration swaps: time against area, static and dynamic."""
    if case is None and not {"model", "platform"} <= set(asked):
        raise typer.BadParameter("MODEL and --platform are expected, or --case FILE.")
    with errors_to_exit_codes(debug=debug):
        if case is not None:
            if asked or out is not None:
                raise InputError(
                    "--case states the whole problem", hint="leave out the model and its options, and --out"
                )
            with native_output_as_talk():
                answered = api.chunk_case(case, method=method)
            print_json(answered) if as_json else paper().print(chunk_case_table(answered))
            return
        if out is not None:
            api.require_free(out, force=force)
        own: dict[str, Any] = {"area": area, "batch": batch, "regions": regions, "sizes": sizes, "size_step": size_step}
        more: dict[str, Any] = {"foldings": foldings.value, "method": method, "memory_gbs": memory_gbs, "spill": spill}
        with progress_shown(quiet=as_json) as tell, native_output_as_talk():
            found = api.chunks(**asked, **own, **more, progress=tell)
        if out is not None:
            found.save(out, force=force, command=sys.argv)
        print_json(found.as_dict()) if as_json else paper().print(chunks_table(found.as_dict(), found.rows))
        _require_some(found.as_dict())


def _require_some(content: Mapping[str, Any]) -> None:
    """End with 3, or 5 where that is not proven, if there is no design at any area; what was found is printed."""
    designs = [point["dynamic"] for point in content["points"]]
    if all(design["ms"] is None for design in designs):
        largest = max(content["points"], key=lambda point: point["area"])
        told = f"no area fits; at {largest['area']:.3g}: {largest['dynamic']['reason']}"
        proven = all(design["status"] == "infeasible" for design in designs)
        raise Infeasible(told, "give more area") if proven else LimitReached(told, "try --foldings powers")


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
