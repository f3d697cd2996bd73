"""From a model and a platform to a plan."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack, cast

from floorflow.api.asking import asked, asked_of_several, rates_of_one, require_platform, shares_memory
from floorflow.api.clock import time_limit
from floorflow.api.command import command_line, command_line_of_several
from floorflow.api.events import Callback, told_to
from floorflow.api.models import AnyModel
from floorflow.api.options import PlanOptions, with_options
from floorflow.api.results import Interrupted, Plan, plan_of
from floorflow.api.targets import Platform
from floorflow.errors import InputError
from floorflow.importing import whole_imports


@with_options(PlanOptions)
def plan(
    model: AnyModel | Sequence[AnyModel],
    platform: str | Path | Platform,
    *,
    progress: Callback | None = None,
    **options: Unpack[PlanOptions],
) -> Plan:
    """Plan a network on a platform: folding, partition, pblocks, and the files for other tools. Nothing is written.

    ``model``: a path, an ``onnx.ModelProto``, or what `read` returned; several of these, in a list, share the platform,
    each at a rate of its own: ``fps={"camera": 25, "radar": 100}``. ``platform``: a name, a path, or what
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
    models = cast("Sequence[AnyModel]", model if isinstance(model, list | tuple) else [model])
    if len(models) != 1 or shares_memory(options):
        return _plan_several(models, platform, options, progress, started)
    (one,) = models
    request, source = asked(one, platform, rates_of_one(one, options))
    require_platform(request)
    with whole_imports():
        from floorflow import flow

    with time_limit(request.time_limit, started) as clock:
        outcome = flow.plan(request, told_to(progress), source=source, searched=clock.stop)
    words = command_line("plan", request)
    made = plan_of(outcome, words, plots=request.plots, started=started, timed_out=clock.is_over)
    if made.interrupted and not made.timed_out:
        raise Interrupted(made)
    return made


def _plan_several(
    models: Sequence[AnyModel],
    platform: str | Path | Platform,
    options: Mapping[str, Any],
    progress: Callback | None,
    started: float,
) -> Plan:
    """Plan several networks on a platform together."""
    if not models:
        raise InputError("no model was given", hint="give a path, an onnx.ModelProto or what floorflow.read returned")
    request, sources = asked_of_several(models, platform, options)
    require_platform(request.shared)
    with whole_imports():
        from floorflow import flow

    with time_limit(request.shared.time_limit, started) as clock:
        outcome = flow.plan_several(request, told_to(progress), sources=sources, searched=clock.stop)
    words = command_line_of_several("plan", request)
    made = plan_of(outcome, words, plots=request.shared.plots, started=started, timed_out=clock.is_over)
    if made.interrupted and not made.timed_out:
        raise Interrupted(made)
    return made
