"""From a model and a platform to a plan."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from floorflow.api.asking import asked, require_platform
from floorflow.api.command import command_line
from floorflow.api.events import Callback, told_to
from floorflow.api.models import AnyModel
from floorflow.api.options import PlanOptions, with_options
from floorflow.api.results import Interrupted, Plan, encoded
from floorflow.api.targets import Platform
from floorflow.importing import whole_imports

if TYPE_CHECKING:
    from floorflow.record import Outcome
    from floorflow.request import Request


@with_options(PlanOptions)
def plan(
    model: AnyModel,
    platform: str | Path | Platform,
    *,
    progress: Callback | None = None,
    **options: Unpack[PlanOptions],
) -> Plan:
    """Plan a network on a platform: folding, partition, pblocks, and the files for other tools. Nothing is written.

    ``model``: a path, an ``onnx.ModelProto``, or what `read` returned. ``platform``: a name, a path, or what
    `platform` returned. ``options`` have the names, limits and defaults of the command line (``floorflow plan
    --help``): ``fps=1000``, ``cap={"LUT": 0.6}``, ``runtime_weights="never"``. ``progress`` is called with an `Event`
    for each thing that happens.

    Raises
    ------
    InputError
        If a model, a platform or an option is not what was expected.
    Infeasible
        If it is proven that there is no such plan; ``refusals`` say what is short, where, and by how much.
    LimitReached
        If none was found, though none is proven impossible.
    Interrupted
        On Ctrl-C, with the best legal plan known by then; a plain KeyboardInterrupt if there is none.

    """
    started = time.perf_counter()
    request, source = asked(model, platform, options)
    require_platform(request)
    with whole_imports():
        from floorflow import flow

    outcome = flow.plan(request, told_to(progress), source=source)
    made = plan_of(outcome, request, started)
    if made.interrupted:
        raise Interrupted(made)
    return made


def plan_of(outcome: Outcome, request: Request, started: float) -> Plan:
    """Return what a run of the flow came to."""
    return Plan(
        outcome.plan,
        encoded(outcome.files),
        lambda: outcome.platform,
        command=command_line("plan", request),
        seconds=time.perf_counter() - started,
        plots=request.plots,
    )
