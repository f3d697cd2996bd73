"""The command line: parse, call, print. Data goes to standard output, all talk to standard error.

Exit codes: 0 done; 1 ``check`` found violations; 2 bad input or usage; 3 proven infeasible; 4 a tool failed or is
missing, or standard output cannot be written; 5 limit reached without a plan; 70 internal error; interrupted, which
says what was written: 130 by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from floorflow import __version__
from floorflow.cli.builds import audit, bind, calibrate
from floorflow.cli.check import check
from floorflow.cli.chunks import chunks
from floorflow.cli.inspect import inspect
from floorflow.cli.plan import EXAMPLES, plan
from floorflow.cli.platforms import EXAMPLES as OWN_BOARD
from floorflow.cli.platforms import platforms
from floorflow.cli.signals import exit_code, was_ended
from floorflow.cli.standard_streams import standard_streams
from floorflow.cli.studies import compare, cost, pareto

EXIT_CODES = """
Exit codes: 0 done, 1 check found violations, 2 bad input, 3 proven infeasible, 4 a tool is missing or standard output
cannot be written, 5 limit reached without a plan, 70 internal error. Ended by a signal: 130 by Ctrl-C, 143 by SIGTERM,
129 by SIGHUP; a plan known by then is written.
"""

_INTERNAL = 70

app = typer.Typer(
    name="floorflow",
    help="From a quantised network to a legal multi-die FPGA floorplan, with a proven distance from optimal.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command(epilog=EXAMPLES)(plan)
for command in (inspect, check, bind, cost, compare, chunks, pareto, calibrate, audit):
    app.command()(command)
app.command(epilog=OWN_BOARD)(platforms)


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
