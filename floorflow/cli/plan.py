"""``floorflow plan``."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from floorflow.cli.ending import carried_out, exit_interrupted, written
from floorflow.cli.options import FIELDS, DebugFlag, ForceFlag, JsonFlag, OutOption, QuietFlag, asks_for
from floorflow.cli.progress import progress_shown
from floorflow.cli.terminal import errors_to_exit_codes, plain, run_record, talk
from floorflow.output import require_free, write
from floorflow.request import Request

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

floorflow plan model.onnx -p u250 --folding folding_config.json -o out
  keep a folding, place it
"""


@asks_for(*FIELDS)
def plan(
    asked: Mapping[str, Any],
    out: OutOption,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
    debug: DebugFlag = False,
) -> None:
    """Plan a network on a platform: folding, partition, pblocks, files and pictures."""
    with errors_to_exit_codes(debug=debug):
        started = time.perf_counter()
        require_free(out, force=force)
        request = Request(**asked)
        request.require_files()
        # What the board refuses is seen before solvers are imported.
        from floorflow.search.asked import platform_of, settled

        platform_of(settled(request))
        from floorflow import flow
        from floorflow.cli.tables import summary

        with progress_shown(quiet=quiet or as_json) as progress:
            outcome = flow.plan(request, progress)
            with progress.stage("writing"):
                late = carried_out(lambda: write(out, outcome.files, run_record(started), force=force))
        try:
            if as_json:
                sys.stdout.write(outcome.plan.to_json())
            if not quiet:
                talk.print(plain(f"{summary(outcome.plan)}\n{written(out, outcome.files)}"))
        except KeyboardInterrupt:
            late = True
        if outcome.plan.interrupted:
            exit_interrupted(f"the best legal plan known by then is written to {out}, without pictures")
        if late:
            exit_interrupted(f"the plan was finished and is written to {out}")
