"""``floorflow inspect``: what was read of a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from floorflow import api
from floorflow.cli.options import DebugFlag, JsonFlag, asks_for
from floorflow.cli.terminal import errors_to_exit_codes, paper, print_json


@asks_for(
    "model",
    *("platform", "backend", "backend_options", "finn", "label_select", "weight_bits", "activation_bits"),
    defaults={"platform": None},
    finn="Which FINN is to build the engines.",
    platform="Board to lower for, by its name or a part of it such as u250, or YAML file of one.",
)
def inspect(
    asked: Mapping[str, Any],
    part: Annotated[
        str | None,
        typer.Option(
            help=f"Part whose DSPs decide hls or rtl units; {api.INSPECTED_PART} if not given.", show_default=False
        ),
    ] = None,
    as_json: JsonFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Show what was read and assumed, the engines it becomes, and what their foldings range over."""
    with errors_to_exit_codes(debug=debug):
        found = api.inspect(**asked, part=part).as_dict()
        if as_json:
            print_json(found)
            return
        from floorflow.cli.inspection import print_inspection

        print_inspection(paper(), found)
