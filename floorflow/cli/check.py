"""``floorflow check``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from floorflow import api
from floorflow.cli.console import print_json
from floorflow.cli.options import OUTPUT, DebugFlag, JsonFlag
from floorflow.cli.terminal import errors_to_exit_codes

_FILES = "XDC files and scripts"
_ENDS = (".xdc", ".tcl")
_TOLD = {
    "legal": "legal",
    "violations": "violations",
    "incomplete": "no error in what was judged; what not-evaluated names was not",
    "nothing judged": "no pblock was read, so that nothing was judged",
}


def check(
    out: Annotated[
        list[Path],
        typer.Argument(
            metavar="OUT|FILE...", help="Folder that plan wrote, or XDC files and Tcl scripts with pblocks."
        ),
    ],
    build: Annotated[Path | None, typer.Option("--build", help="FINN's output_dir that OUT is bound to.")] = None,
    part: Annotated[
        str | None, typer.Option("--part", help="Part or die that the files are for.", rich_help_panel=_FILES)
    ] = None,
    board: Annotated[
        str | None, typer.Option("--board", help="Board whose shell they are judged by.", rich_help_panel=_FILES)
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            help="What report_utilization -hierarchical wrote, text or XML: how full pblocks are.",
            rich_help_panel=_FILES,
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", help="Draw the die with pblocks and findings (.png, .svg).", rich_help_panel=OUTPUT),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the picture that is there.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Check a plan and its files, or anybody's floorplan, independently; exit 1 if anything is wrong."""
    with errors_to_exit_codes(debug=debug):
        of_files = any(path.suffix.lower() in _ENDS and not api.is_folder(path) for path in out) or bool(part or board)
        if of_files:
            _require(build is None, "--build is for a plan's folder", "leave it out")
            if picture is not None:
                api.require_picture_file(picture, force=force)
            legal = _check_files(out, part, board, report, picture, force=force, as_json=as_json)
        else:
            _require(len(out) == 1, "several folders are given", "check one at a time")
            _require(report is None, "--report is for XDC files", "give FILE.xdc --part PART, or leave it out")
            _require(picture is None, "--picture is for XDC files", "a plan's pictures are in OUT/plots")
            legal = _check_plan(out[0], build, as_json=as_json)
        if not legal:
            raise typer.Exit(1)


def _require(holds: bool, message: str, hint: str) -> None:
    if not holds:
        raise api.InputError(message, hint=hint)


def _check_plan(out: Path, build: Path | None, *, as_json: bool) -> bool:
    verdict = api.check(out, build=build)
    if as_json:
        print_json(verdict.as_dict())
    else:
        _print_verdict(out, verdict)
    return verdict.legal


def _check_files(
    files: Sequence[Path],
    part: str | None,
    board: str | None,
    report: Path | None,
    picture: Path | None,
    *,
    force: bool,
    as_json: bool,
) -> bool:
    verdict = api.check_floorplan(files, part=part, board=board, report=report)
    if picture is not None:
        verdict.picture.save(picture, force=force)
    if as_json:
        print_json(verdict.as_dict())
    else:
        _print_floorplan(", ".join(map(str, files)), verdict)
    return bool(verdict)


def _print_verdict(out: Path, verdict: api.Verdict) -> None:
    for v in verdict.violations:
        sys.stdout.write(f"{v.name}: {v.where}: {v.message}\n")
    counted = ", ".join(f"{count:,} {_named(kind, count)}" for kind, count in verdict.checked.items())
    sys.stdout.write(f"checked: {counted or 'no more than plan.json, which cannot be read as a plan'}\n")
    count = len(verdict.violations)
    told = f"{count:,} violation{'s' if count > 1 else ''}" if count else "legal"
    sys.stdout.write(f"{out}: {told}\n")


def _print_floorplan(files: str, verdict: api.FloorplanVerdict) -> None:
    for f in verdict.findings:
        of = f" {f.pblock}:" if f.pblock else ""
        sys.stdout.write(f"{f.file}:{f.line}: {f.severity}: {f.name}:{of} {f.found}\n")
        sys.stdout.write(f"    expected: {f.expected}; {f.todo}\n")
    told = verdict.as_dict()
    for name, count in told["not_listed"].items():
        sys.stdout.write(f"and {count:,} more of {name}\n")
    for row in verdict.pblocks:
        if row["needs"] is not None:
            sys.stdout.write(f"{row['name']}: {_fill(row['needs'], row['holds'])}\n")
    counted = ", ".join(f"{count:,} {_named(kind, count)}" for kind, count in verdict.checked.items())
    shell = f"shell {verdict.shell}" if verdict.shell else "no shell"
    sys.stdout.write(f"checked: {counted}; {told['device']}, {shell}\n")
    sys.stdout.write(f"{files}: {_TOLD[verdict.verdict]}\n")


def _fill(needs: Mapping[str, int], holds: Mapping[str, int]) -> str:
    shares = [f"{name} {needed:,} of {holds[name]:,}" for name, needed in needs.items() if needed]
    return ", ".join(shares) or "its cells need nothing that is counted"


def _named(kind: str, count: int) -> str:
    """Return a kind of things as a word, in the singular for one."""
    words = kind.replace("_", " ").replace("fpga", "FPGA")
    return words.removesuffix("s") if count == 1 else words
