"""``floorflow plan``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from floorflow import api
from floorflow.api import OPTIONS
from floorflow.cli.console import plain, talk
from floorflow.cli.options import DebugFlag, ForceFlag, JsonFlag, OutOption, QuietFlag, asks_for
from floorflow.cli.progress import progress_shown
from floorflow.cli.terminal import errors_to_exit_codes, save_whole

EXAMPLES = """
Examples:

floorflow plan model.onnx -p alveo-u250 -o out
  the highest frame rate on one card

floorflow plan model.onnx -p u250 --fpgas auto --fps 5000 -o out
  the fewest cards for a rate, and the least resources on them

floorflow plan model.onnx -p zcu104 --objective latency -o out
  the lowest latency

floorflow plan model.onnx -p pynq-z1 --cap LUT=0.6 --cap BRAM18=0.8 -o out
  leave room for logic of your own

floorflow plan model.onnx -p u250 --replicas 4 -o out
  four equal copies on one card, at four times the rate if each SLR holds one

floorflow plan camera.onnx radar.onnx -p u250 --fps camera=500 --fps radar=2000 -o out
  several networks on one card, each at a rate of its own
"""

MORE_EXAMPLES = """
More examples:

floorflow plan model.onnx -p u250 --folding folding.json -o out
  keep a folding, place it

floorflow plan camera.onnx radar.onnx --backend fcnnx -p zc706 --fps camera=25 --fps radar=4 --memory-gbs 1.7 -o out
  several networks that share one external memory by a schedule

floorflow plan model.onnx -p samo:zc706 --reconfigure full -o out
  cut in time and fold for a device of which resources alone are known
"""

COMMON = (
    *(
        "model",
        "platform",
        "fpgas",
        "replicas",
        "clock_mhz",
        "fps",
        "objective",
        "preset",
        "cap",
        "finn",
        "label_select",
    ),
    *(
        "granularity",
        "reuse",
        "constraint_style",
        "flow",
        "effort",
        "time_limit",
        "gap",
        "start_from",
        "out",
        "force",
        "help_all",
    ),
)
"""The model, and the options that ``--help`` shows: twenty by which most plans are made."""


def show(command: Any, *names: str) -> None:
    """Have the help of a command show the options of these names alone, or all of them."""
    for parameter in command.params:
        parameter.hidden = bool(names) and parameter.name not in names


def _all_help(context: typer.Context, asked: bool) -> None:
    """Print the help with every option, and end."""
    if asked:
        show(context.command)
        context.command.epilog = MORE_EXAMPLES
        typer.echo(context.get_help())
        raise typer.Exit


AllHelpFlag = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_all_help, help="Show all options, and exit.")
]

MODELS = OPTIONS["model"].help.removesuffix(".") + "; several networks share the platform."
RATES = OPTIONS["fps"].help.removesuffix(".") + "; of one of several networks NAME=RATE, repeatable."


@asks_for(*OPTIONS, several=("model", "fps"), model=MODELS, fps=RATES)
def plan(
    asked: Mapping[str, Any],
    out: OutOption,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
    debug: DebugFlag = False,
    help_all: AllHelpFlag = False,  # noqa: ARG001 - its callback ends the command
) -> None:
    """Plan a network, or several, on a platform: folding, partition, pblocks, files and pictures."""
    with errors_to_exit_codes(debug=debug):
        api.require_free(out, force=force, later=api.LATER)
        with progress_shown(quiet=quiet or as_json) as told:
            made = _planned(asked, told)

            def tell() -> None:
                if as_json:
                    sys.stdout.write(made.main_file.decode())
                    sys.stdout.flush()
                if not quiet:
                    talk.print(plain(f"the plan is written to {out}; pictures and the rest of the report follow"))

            ending = save_whole(made, out, force=force, progress=told, tell=tell)
        ending.tell(quiet=quiet, on_output=not as_json)


def _planned(asked: Mapping[str, Any], tell: api.Callback | None) -> api.Plan | api.ResourcePlan:
    """Return the plan, or what there was of it when a signal came."""
    try:
        if api.is_resources_alone(asked["platform"]):
            return api.plan_resources(**{**asked, "model": _only(asked["model"])}, progress=tell)
        return api.plan(**asked, progress=tell)
    except (api.Interrupted, api.ResourcePlanInterrupted) as interrupted:
        return interrupted.plan


def _only(models: Sequence[str]) -> str:
    """Return the one model of a plan where nothing is placed."""
    if len(models) > 1:
        raise api.InputError(
            f"{models[1]}: nothing is placed on a platform of resources alone, and one network planned",
            hint="give one model",
        )
    return models[0]
