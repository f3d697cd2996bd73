"""The commands that read what was built: audit, bind and calibrate; `cli` registers them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from floorflow import api
from floorflow.api import RESOURCE_NAMES, InputError, some
from floorflow.cli.console import paper, plain, print_json, talk
from floorflow.cli.fitting_table import FittingTable
from floorflow.cli.options import OUTPUT, DebugFlag, ForceFlag, JsonFlag, OutIfAny, OutOption, asks_for
from floorflow.cli.progress import progress_shown
from floorflow.cli.terminal import errors_to_exit_codes, save_whole

BUILD = "Folder that FINN, FINN+ or hls4ml wrote (an output_dir), or the files of one."
NoPlotsFlag = Annotated[bool, typer.Option("--no-plots", help="Draw no pictures.", rich_help_panel=OUTPUT)]


@asks_for(
    "clock_mhz",
    "costs",
    "finn",
    "vivado",
    defaults={"finn": None},
    clock_mhz="Clock in MHz, instead of the build's.",
    finn="Which FINN's engines they are; the build's own if it tells.",
    vivado="The Vivado that built it; the build's own if it tells.",
)
def audit(
    asked: Mapping[str, Any],
    build: Annotated[Path, typer.Argument(metavar="BUILD", help=BUILD)],
    platform: Annotated[
        str | None,
        typer.Option("--platform", "-p", help="Board, YAML file of one, or part; the build's own if it tells."),
    ] = None,
    out: OutIfAny = None,
    no_plots: NoPlotsFlag = False,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Compare a build with what floorflow says of the same design: every node, FIFOs, rates, clock."""
    with errors_to_exit_codes(debug=debug):
        if out is not None:
            if api.resolved(out) == api.resolved(build):
                raise InputError(f"{out}: holds the build", hint="choose another folder for --out")
            api.require_free(out, force=force)
        with progress_shown(quiet=as_json) as tell:
            found = api.audit(build, platform, plots=not no_plots, progress=tell, **asked)
        if out is not None:
            found.save(out, force=force, command=sys.argv)
        if as_json:
            print_json(found.as_dict())
            return
        sys.stdout.write(found.text)
        if out is not None:
            talk.print(f"written to {plain(str(out))}")


def calibrate(
    reports: Annotated[Path, typer.Option(help="Folder with the reports of its build, or a build folder of FINN's.")],
    out: OutOption,
    plan_folder: Annotated[
        Path | None,
        typer.Argument(metavar="OUT", help="Folder that plan wrote; without it the build's own graph is planned."),
    ] = None,
    model: Annotated[Path | None, typer.Option(help="The model, if it was moved.")] = None,
    folding: Annotated[Path | None, typer.Option(help="The folding file, if it was moved.")] = None,
    platform: Annotated[
        Path | None,
        typer.Option("--platform", "-p", help="Your board's file, if it was moved; without a plan the board."),
    ] = None,
    keep_folding: Annotated[
        bool, typer.Option("--keep-folding", help="Keep the folding that was built; place it anew.")
    ] = False,
    no_plots: NoPlotsFlag = False,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Measured beats estimated: read the reports of a build, and plan again with what they say."""
    with errors_to_exit_codes(debug=debug):
        if plan_folder is not None and api.resolved(out) == api.resolved(plan_folder):
            raise InputError(f"{out}: holds the plan that was built", hint="choose another folder for --out")
        api.require_free(out, force=force, later=api.LATER)
        options = {"model": model, "folding": folding, "platform": platform, "keep_folding": keep_folding}
        with progress_shown(quiet=as_json) as told:
            found, made = _calibrated(plan_folder, reports, told, plots=not no_plots, **options)

            def tell() -> None:
                if as_json:
                    print_json(found.as_dict())
                    sys.stdout.flush()
                    return
                console = paper()
                for table in (*calibration_tables(found.as_dict()), f"written to {plain(str(out))}"):
                    console.print(table)

            ending = save_whole(made, out, force=force, progress=told, tell=tell)
        ending.tell(quiet=as_json)


def _calibrated(
    folder: Path | None, reports: Path, tell: api.Callback | None, **options: Any
) -> tuple[api.Calibration, api.Plan]:
    """Return what was measured and the plan, or what there was of it when a signal came."""
    try:
        found = api.calibrate(folder, reports, progress=tell, **options)
    except api.InterruptedCalibration as interrupted:
        return interrupted.calibration, interrupted.plan
    return found, found.plan


def calibration_tables(data: Mapping[str, Any]) -> list[Table | str]:
    """Return tables by kind and by module and the lists behind them; ``data`` is what calibration.json holds."""
    kinds = [(name, entry) for name, entry in data["kinds"].items() if entry["measured_engines"]]
    modules = [(entry["module"], entry) for entry in data["modules"]]
    count, of = len(data["engines"]), len(data["engines"]) + len(data["unmatched"]["plan"])
    return [
        _table(f"{data['network']}: {count} of {of} engines measured, by kind", "kind", kinds),
        *(escape(line) for line in _factors(data["kinds"])),
        _table("by module", "module", modules),
        *(escape(line) for line in (*_left(data), *_timing(data), *_changed(data))),
    ]


def _table(title: str, first: str, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> Table:
    """Return a row an entry; each resource as estimate > measured, LUT and FF with their ratio."""
    power = any(entry["milliwatts"] is not None for _, entry in entries)
    numbers = ("measured", *RESOURCE_NAMES, *(["mW"] if power else []))
    table = FittingTable(escape(title), names=[first], numbers=numbers)
    for name, entry in entries:
        cells = [_cell(entry, resource) for resource in RESOURCE_NAMES]
        watts = [] if not power else ["" if entry["milliwatts"] is None else f"{entry['milliwatts']:,.0f}"]
        table.add_row(escape(name), f"{entry['measured_engines']} of {entry['engines']}", *cells, *watts)
    return table


def _cell(entry: Mapping[str, Any], resource: str) -> str:
    before, after, ratio = (entry[key][resource] for key in ("estimate", "measured", "ratio"))
    if not before and not after:
        return ""
    factor = f" x{ratio:.2f}" if ratio is not None and ratio != 1 and resource in {"LUT", "FF"} else ""
    return f"{before:,} > {after:,}{factor}"


def _factors(kinds: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for kind, entry in kinds.items():
        known = [f"{name} x{factor:.2f}" for name, factor in entry["factors"].items() if factor is not None]
        if known:
            yield f"estimates of other foldings of {kind}: {', '.join(known)}"


def _timing(data: Mapping[str, Any]) -> Iterator[str]:
    """Tell the achieved clock, what that makes of the rate, and where paths fail."""
    timing = data["timing"]
    if timing is None:
        return
    if timing["achieved_mhz"] is not None:
        yield (
            f"clock: {timing['achieved_mhz']:,.1f} MHz achieved of {timing['planned_mhz']:,.1f} ({timing['file']}): "
            f"{timing['fps_achieved']:,.0f} frames/s for {timing['fps_planned']:,.0f} planned"
        )
    for kind in ("module", "stream"):
        counts = timing[f"failing_by_{kind}"]
        if counts:
            yield f"failing paths by {kind}: {_some([f'{name} {count}' for name, count in counts.items()])}"
    if timing["failing_paths"] and not timing["failing_by_module"]:
        yield "failing paths are not mapped: their cells are not the plan's; calibrate the folder that bind wrote"


def _left(data: Mapping[str, Any]) -> Iterator[str]:
    """Tell what is unmatched on both sides."""
    left = data["unmatched"]
    yield f"in the plan, not measured: {_some(left['plan'])}"
    rows = [f"{row['instance']} ({row['file']})" for row in left["reports"]]
    yield f"in the reports, not in the plan: {_some(rows)}"
    for cause in dict.fromkeys(match["cause"] for match in left["doubts"]):
        alike = [match for match in left["doubts"] if match["cause"] == cause]
        yield f"not used, {cause}: {_some([match['name'] for match in alike])}"
        yield f"    {alike[0]['name']}: {alike[0]['reason']}"
    planned = data["streams"]["planned"]
    for kind, rows in data["streams"]["measured"].items():
        own = planned["fifos" if "FIFO" in kind else "converters"]
        yield (
            f"without names in a plan: {rows['count']} {kind} with {rows['resources']['LUT']:,} LUT; "
            f"the plan has {own['count']} with {own['resources']['LUT']:,}"
        )
    if data["aside"]:
        yield f"files left aside: {_some(data['aside'])}"


def _some(names: Sequence[str]) -> str:
    return some(names) or "nothing"


def _changed(data: Mapping[str, Any]) -> Iterator[str]:
    """Tell what the new plan does otherwise."""
    before, after = data["before"], data["after"]
    if before is None:
        yield f"interval {after['interval_cycles']:,} cycles ({after['fps']:,.1f} frames/s)"
        for slot, use in sorted(after["utilisation"].items()):
            yield f"{slot}  {', '.join(f'{name} {share:.0%}' for name, share in use.items() if share) or 'empty'}"
        return
    rate = f"{before['fps']:,.1f} > {after['fps']:,.1f} frames/s"
    yield f"interval {before['interval_cycles']:,} > {after['interval_cycles']:,} cycles ({rate})"
    yield f"folded anew: {_some(data['changes']['refolded'])}; in another slot: {_some(data['changes']['moved'])}"
    for slot in sorted(before["utilisation"].keys() | after["utilisation"].keys()):
        was, now = before["utilisation"].get(slot, {}), after["utilisation"].get(slot, {})
        used = [n for n in RESOURCE_NAMES if was.get(n, 0) or now.get(n, 0)]
        shares = ", ".join(f"{name} {was.get(name, 0):.0%} > {now.get(name, 0):.0%}" for name in used)
        yield f"{slot}  {shares or 'empty'}"


FINN_BUILD = "FINN's output_dir, its folder of kernels (kernel_partitions), or the graph behind a stitched IP."


def bind(
    plan: Annotated[Path, typer.Argument(metavar="OUT", help="Folder that plan wrote.")],
    build: Annotated[Path, typer.Option("--build", help=FINN_BUILD)],
    out: OutOption,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Bind a plan's constraints to the cells of a build of it; exit 2 if it cannot be told which is which."""
    with errors_to_exit_codes(debug=debug):
        if api.resolved(out) in (api.resolved(plan), api.resolved(build)):
            raise InputError(f"{out}: holds the plan or the build", hint="choose another folder for --out")
        api.require_free(out, force=force)
        found = api.bind(plan, build)
        found.save(out, force=force)  # run.json keeps the plan's own command line, which tells where its model is
        if as_json:
            print_json(found.as_dict())
            return
        for engine, node in found.renamed:
            sys.stdout.write(f"renamed: {engine} is {node}\n")
        for note in found.notes:
            sys.stdout.write(f"note: {note}\n")
        sys.stdout.write(f"bound: {len(found.cells):,} engines, {len(found.renamed):,} renamed\n")
        talk.print(f"written to {plain(str(out))}")
