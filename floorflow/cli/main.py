"""The command line: parse, call, print. Data goes to standard output, all talk to standard error.

Exit codes: 0 done; 1 ``check`` found violations, or ``diff`` a requirement that does not hold; 2 bad input or usage; 3
proven infeasible; 4 a tool failed or is missing, or standard output cannot be written; 5 limit reached without a plan;
70 internal error; interrupted, which says what was written: 130 by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from inspect import cleandoc
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
    "draw": "Draw a picture of a plan again, in another style, by other colours, as SVG, PNG or PDF.",
    "explain": "Explain a plan: why this rate, what is short, what one step more or less gives; or one thing in it.",
    "diff": "Compare two plans: rate, room, foldings, places, options; exit 1 where --require does not hold.",
    "cost": "Tell cycles, resources and stream widths of single engines, one a line; exit 2 if a line is bad.",
    "compare": "Fold by several methods, side by side: rate, resources, gap to the proven bound, time.",
    "chunks": "Cut a network into chunks that partial reconfiguration swaps: time against area, static and dynamic.",
    "pareto": "Tell what a frame rate costs: the least of each resource, and the least scarcity, by interval.",
    "calibrate": "Measured beats estimated: read the reports of a build, and plan again with what they say.",
    "audit": "Compare a build with what floorflow says of the same design: every node, FIFOs, rates, clock.",
    "report": "Show any utilisation report of Vivado: a table, a tree of instances with its picture, a plan beside it.",
    "bug-report": "Pack a plan for whoever looks for a fault: options, versions, the plan, its check; no weights.",
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
    function, examples = _function(name)
    alone = typer.Typer(add_completion=False)
    alone.command(name, help=f"{cleandoc(function.__doc__ or '')}\n\n{examples}")(function)
    command = get_command(alone)
    if name == "plan":
        from floorflow.cli.plan import COMMON, show

        show(command, *COMMON)
    return command


def _function(name: str) -> tuple[Callable[..., None], str]:
    """Import a command; return its function, and examples of it."""
    home, function = _HOMES.get(name, (name, name))
    module = import_module(f"floorflow.cli.{home}")
    return getattr(module, function), getattr(module, "EXAMPLES", "")


_HOMES = {
    **{name: ("builds", name) for name in ("audit", "bind", "calibrate")},
    **{name: ("studies", name) for name in ("compare", "cost", "pareto")},
    "bug-report": ("bug_report", "bug_report"),
    "next": ("plans", "next_"),
    "draw": ("plans", "draw"),
}
"""Module of `floorflow.cli` and function of a command that is not called as both are."""


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
