"""The commands that price, compare and draw fronts; `cli` registers them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from math import floor
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from floorflow import api
from floorflow.api import INSPECTED_PART, RESOURCE_NAMES, InputError
from floorflow.cli.console import complain, paper, print_json
from floorflow.cli.fitting_table import FittingTable
from floorflow.cli.options import OUTPUT, PROBLEM, DebugFlag, ForceFlag, JsonFlag, OutIfAny, asks_for
from floorflow.cli.progress import progress_shown
from floorflow.cli.standard_streams import reader_is_gone
from floorflow.cli.terminal import errors_to_exit_codes


@asks_for(
    "backend",
    "backend_options",
    "costs",
    "finn",
    "vivado",
    defaults={"costs": "finn"},
    backend="Tool whose engines they are.",
    costs="Cost model; finn gives FINN's own numbers.",
    finn="Which FINN, unless a line says it.",
)
def cost(
    asked: Mapping[str, Any],
    file: Annotated[Path, typer.Argument(help="JSON lines, for FINN with op_type and attrs, or - for standard input.")],
    part: Annotated[str, typer.Option(help="Part, unless a line says it.")] = INSPECTED_PART,
    debug: DebugFlag = False,
) -> None:
    """Tell cycles, resources and stream widths of single engines, one a line; exit 2 if a line is bad."""
    with errors_to_exit_codes(debug=debug):
        failed = False
        for answer in api.cost(api.lines_of(file), **asked, part=part):
            failed = failed or "error" in answer
            sys.stdout.write(json.dumps(answer) + "\n")
            if reader_is_gone():
                break
        if failed:
            complain("a line could not be priced", "see the field error in the output", debug=False)
            raise typer.Exit(2)


def _names(text: str) -> list[str]:
    """Return the names in a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _require_free(out: Path | None, *, force: bool) -> None:
    if out is not None:
        api.require_free(out, force=force)


def _finish(
    found: api.Study,
    table: Callable[[Mapping[str, Any]], RenderableType],
    out: Path | None,
    *,
    force: bool,
    as_json: bool,
    foldings: bool = False,
) -> None:
    """Save a study if there is a folder for it, and print it for a machine or for a person."""
    if out is not None:
        found.save(out, force=force, foldings=foldings, command=sys.argv)
    if as_json:
        print_json(found.as_dict())
    else:
        paper().print(table(found.as_dict()))


SUMMED = "Number of FPGAs whose limits are summed."


@asks_for(
    *PROBLEM, "fps", "objective", "reconfigure", "batch", defaults={"model": None, "platform": None}, fpgas=SUMMED
)
def compare(
    asked: Mapping[str, Any],
    methods: Annotated[
        str,
        typer.Option(
            help=f"Comma-separated: {', '.join(api.known_methods('fold_method'))}; all but brute unless told. "
            f"With --case or --reconfigure: {', '.join(api.CASE_METHODS)}; exact, rule and annealing unless told.",
        ),
    ] = "",
    case: Annotated[
        Path | None, typer.Option(help="An option table with platform and objective, as JSON, instead of a model.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(min=0, max=1000, help="Balance cpsat's neighbouring layers to this ratio.")
    ] = None,
    out: OutIfAny = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Fold by several methods, side by side: rate, resources, gap to the proven bound, time."""
    if case is None:
        _require_model_and_platform(asked)
    with errors_to_exit_codes(debug=debug):
        if case is not None:
            _refuse_besides_case(asked, out, epsilon)
            on_case = api.compare_case(case, methods=_names(methods), seed=asked.get("seed", 0)).as_dict()
            print_json(on_case) if as_json else paper().print(case_table(on_case))
            return
        if asked.get("reconfigure", "none") != "none":
            _refuse_besides_time(out, epsilon, asked)
            with progress_shown(quiet=as_json) as tell:
                in_time = api.compare_reconfigured(**asked, methods=_names(methods), progress=tell).as_dict()
            print_json(in_time) if as_json else paper().print(case_table(in_time))
            return
        _require_free(out, force=force)
        with progress_shown(quiet=as_json) as tell:
            found = api.compare(**asked, methods=_names(methods), epsilon=epsilon, progress=tell)
        _finish(found, comparison_table, out, force=force, as_json=as_json)


def _require_model_and_platform(asked: Mapping[str, Any]) -> None:
    """Ask for what a comparison without a case needs, as typer asks for it."""
    if "model" not in asked:
        raise typer.BadParameter("Missing argument 'MODEL', or --case FILE.")
    if "platform" not in asked:
        raise typer.BadParameter("Missing option '--platform' / '-p'.")


def _refuse_besides_time(out: Path | None, epsilon: float | None, asked: Mapping[str, Any]) -> None:
    """Refuse what a comparison of partitions in time does not have."""
    for name, value in (("--out", out), ("--epsilon", epsilon), ("--fps", asked.get("fps"))):
        if value is not None:
            raise InputError(f"{name}: compare --reconfigure has no such option", hint="leave it out")


def _refuse_besides_case(asked: Mapping[str, Any], out: Path | None, epsilon: float | None) -> None:
    """Refuse what says something of a problem that the case states already."""
    given = [name for name in asked if name != "seed"]
    given += [name for name, value in (("out", out), ("epsilon", epsilon)) if value is not None]
    if given:
        hint = "leave it out, or give a model and a platform without --case"
        raise InputError(f"--case states the whole problem, and {given[0]} was given too", hint=hint)


@asks_for(*PROBLEM, fpgas=SUMMED)
def pareto(
    asked: Mapping[str, Any],
    resources: Annotated[
        str | None, typer.Option(help="Comma-separated, such as LUT,BRAM18; all the board has unless told.")
    ] = None,
    points: Annotated[
        int, typer.Option(min=api.FEWEST_POINTS, max=api.MOST_POINTS, help="Intervals of each front.")
    ] = api.POINTS,
    out: OutIfAny = None,
    foldings: Annotated[
        bool,
        typer.Option(
            "--foldings", help="With --out: each point's folding, for plan --folding.", rich_help_panel=OUTPUT
        ),
    ] = False,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Tell what a frame rate costs: the least of each resource, and the least scarcity, by interval."""
    with errors_to_exit_codes(debug=debug):
        _require_free(out, force=force)
        if foldings and out is None:
            raise InputError("--foldings: there is no folder to write them to", hint="add --out")
        with progress_shown(quiet=as_json) as tell:
            found = api.pareto(**asked, resources=_names(resources or ""), points=points, progress=tell)
        _finish(found, pareto_table, out, force=force, as_json=as_json, foldings=foldings)


def case_table(comparison: Mapping[str, Any]) -> Table:
    """Return one row a method: its cost, its bound, its partitions."""
    numbers = ("us", "running", "bound", "gap", "partitions", "seconds")
    table = FittingTable(escape(comparison["case"]), names=["method"], numbers=numbers, prose=["status"])
    for entry in comparison["results"]:
        table.add_row(*_case_cells(entry))
    return table


def _case_cells(entry: Mapping[str, Any]) -> list[str]:
    amounts = ["" if entry[key] is None else f"{entry[key]:,.2f}" for key in ("us", "run_us", "bound_us")]
    gap = "" if entry["gap"] is None else f"{entry['gap']:.2%}"
    partitions = "" if entry["us"] is None else str(len(entry["cuts"]) + 1)
    status = entry["status"] + (f": {entry['reason']}" if entry["reason"] else "")
    return [entry["method"], *amounts, gap, partitions, f"{entry['seconds']:.2f}", escape(status)]


Content = Mapping[str, Any]
"""A comparison or fronts, or a part of one, as compare.json and pareto.json hold them."""
_SCARCITY = "scarcity"
"""The one objective that is no resource."""


def pareto_table(pareto: Content) -> Table:
    """Return one row an interval and one column a front; what is not proven stands with its bound."""
    fronts = pareto["fronts"]
    numbers = ("interval", "frames/s", *(front["objective"] for front in fronts))
    table = FittingTable(_title(pareto), numbers=numbers, caption=_caption(fronts))
    for points in zip(*(front["points"] for front in fronts), strict=True):
        cells = (_cell(front["objective"], point, pareto) for front, point in zip(fronts, points, strict=True))
        table.add_row(f"{points[0]['interval_cycles']:,}", _rate(points[0]["frames_per_s"]), *cells)
    return table


def _title(pareto: Content) -> str:
    board = pareto["platform"] if pareto["fpgas"] == 1 else f"{pareto['fpgas']} x {pareto['platform']}"
    return escape(
        f"{pareto['network']} on {board}, costs {pareto['costs']}, {pareto['clock_mhz']:g} MHz: the least of each "
        f"alone, within all limits; no folding is faster than {pareto['bound_cycles']:,} cycles"
    )


def _caption(fronts: list[Content]) -> str:
    told = ["Shares are of the platform's limits; each column is a folding of its own."]
    if any(point["status"] == "feasible" for front in fronts for point in front["points"]):
        told.append("Behind >= what is proven, where that is less than what was found.")
    told.append("Seconds: " + ", ".join(f"{front['objective']} {front['seconds']:.1f}" for front in fronts) + ".")
    return escape("\n".join(told))


def _rate(frames_per_s: float) -> str:
    """Write a rate, never more than it is."""
    return f"{floor(frames_per_s + 1e-9):,}" if frames_per_s >= 100 else f"{floor(frames_per_s * 100) / 100:.2f}"


def _cell(objective: str, point: Content, pareto: Content) -> str:
    if point["value"] is None:
        return "none" if point["status"] == "infeasible" else "?"
    text = _number(objective, point["value"])
    if objective != _SCARCITY:
        limit = pareto["budget"][objective]
        text += f" {point['value'] / limit:.1%}" if limit else ""
    if point["status"] == "feasible":
        text += " (>= ?)" if point["bound"] is None else f" (>= {_number(objective, point['bound'])})"
    return text


def _number(objective: str, value: float) -> str:
    return f"{value:.4f}" if objective == _SCARCITY else f"{value:,.0f}"


_NUMBERS = ("interval", "of bound", "frames/s", *RESOURCE_NAMES, "with streams", "scarcity", "gap", "seconds")


def comparison_table(comparison: Content) -> Table:
    """Return one row a method: resources of the engines, and LUTs and BRAMs with converters and FIFOs."""
    table = FittingTable(_comparison_title(comparison), names=["method"], numbers=_NUMBERS, prose=["verdict"])
    for entry in comparison["methods"]:
        table.add_row(*_cells(entry))
    return table


def _comparison_title(c: Content) -> str:
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
