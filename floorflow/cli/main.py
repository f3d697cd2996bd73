"""The command line: parse, call, print. Data goes to standard output, all talk to standard error.

Exit codes: 0 done; 1 ``check`` found violations, or ``diff`` a requirement that does not hold; 2 bad input or usage; 3
proven infeasible; 4 a tool failed or is missing, or standard output cannot be written; 5 limit reached without a plan;
70 internal error; interrupted, which says what was written: 130 by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from floorflow import __version__
from floorflow.cli.signals import exit_code, was_ended
from floorflow.cli.standard_streams import standard_streams

EXIT_CODES = """
Exit codes: 0 done, 1 check found violations or diff a requirement that does not hold, 2 bad input, 3 proven infeasible,
4 a tool is missing or standard output cannot be written, 5 limit reached without a plan, 70 internal error. Ended by a
signal: 130 by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP; a plan known by then is written.
"""

_INTERNAL = 70

COMMANDS = {
    "plan": "Plan a network, or several, on a platform: folding, partition, pblocks, files and pictures.",
    "inspect": "Show what was read and assumed, the engines it becomes, and what their foldings range over.",
    "check": "Check a plan and its files, or anybody's floorplan, independently; exit 1 if anything is wrong.",
    "build": "Have Vivado implement a stitched plan's modules, many at once, and stitch its cards; resumes if killed.",
    "bind": "Bind a plan's constraints to the cells of a build of it; exit 2 if it cannot be told which is which.",
    "sweep": "Plan models x platforms x options of a file, each apart; one table and page of all; resumes if killed.",
    "next": "Show the way from a plan to a bitstream, command by command: its NEXT.md, as seen from here.",
    "diff": "Compare two plans: rate, room, foldings, places, options; exit 1 where --require does not hold.",
    "cost": "Tell cycles, resources and stream widths of single engines, one a line; exit 2 if a line is bad.",
    "compare": "Fold by several methods, side by side: rate, resources, gap to the proven bound, time.",
    "chunks": "Cut a network into chunks that partial reconfiguration swaps: time against area, static and dynamic.",
    "pareto": "Tell what a frame rate costs: the least of each resource, and the least scarcity, by interval.",
    "calibrate": "Measured beats estimated: read the reports of a build, and plan again with what they say.",
    "audit": "Compare a build with what floorflow says of the same design: every node, FIFOs, rates, clock.",
    "report": "Show any utilisation report of Vivado: a table, a tree of instances with its picture, a plan beside it.",
    "platforms": "List the known platforms, show, check or draw one, or begin a file of one's own.",
}
"""Commands by name, with the first line of their help, so that the help of all imports none; a test compares."""


class _Commands(TyperGroup):
    """Commands of which only that which runs is imported."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that the first word names, with what stands behind it."""
        name, known, rest = super().resolve_command(ctx, args)
        return name, known if name is None else loaded(name), rest


def loaded(name: str) -> Any:
    """Return a command with its options."""
    function, epilog = _function(name)
    alone = typer.Typer(add_completion=False)
    alone.command(name, epilog=epilog)(function)
    return get_command(alone)


def _function(name: str) -> tuple[Callable[..., None], str | None]:
    """Import a command; return its function, and the text below its help."""
    found: Callable[..., None]
    epilog: str | None = None
    if name == "plan":
        from floorflow.cli.plan import EXAMPLES, plan

        found, epilog = plan, EXAMPLES
    elif name == "platforms":
        from floorflow.cli.platforms import EXAMPLES as OWN_BOARD
        from floorflow.cli.platforms import platforms

        found, epilog = platforms, OWN_BOARD
    elif name in ("audit", "bind", "calibrate"):
        from floorflow.cli import builds

        found = getattr(builds, name)
    elif name in ("compare", "cost", "pareto"):
        from floorflow.cli import studies

        found = getattr(studies, name)
    elif name in ("build", "diff", "next", "report", "sweep"):
        found = _of_a_plan(name)
    elif name == "check":
        from floorflow.cli.check import check

        found = check
    elif name == "chunks":
        from floorflow.cli.chunks import chunks

        found = chunks
    else:
        from floorflow.cli.inspect import inspect

        found = inspect
    return found, epilog


def _of_a_plan(name: str) -> Callable[..., None]:
    """Import a command on what was planned, or built from it."""
    found: Callable[..., None]
    if name == "build":
        from floorflow.cli.build import build

        found = build
    elif name == "sweep":
        from floorflow.cli.sweep import sweep

        found = sweep
    elif name == "next":
        from floorflow.cli.next import next_

        found = next_
    elif name == "diff":
        from floorflow.cli.diff import diff

        found = diff
    else:
        from floorflow.cli.report import report

        found = report
    return found


def _is_loaded_when_it_runs() -> None:
    """Stand for a command in the list of all."""


app = typer.Typer(
    name="floorflow",
    cls=_Commands,
    help="From a quantised network to a legal multi-die FPGA floorplan, with a proven distance from optimal.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _told in COMMANDS.items():
    app.command(_name, help=_told)(_is_loaded_when_it_runs)


def main() -> None:
    """Run the command line."""
    try:
        with standard_streams():
            app()
    except KeyboardInterrupt:
        sys.exit(exit_code())
    except SystemExit as ended:
        if was_ended() and ended.code != _INTERNAL:  # a fault of ours stays one, whatever came beside
            sys.exit(exit_code())
        raise


def _print_version(value: bool) -> None:
    if value:
        sys.stdout.write(f"floorflow {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Hold options that stand before the command."""
