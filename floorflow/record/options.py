"""The request of a run in the form that plan.json holds: as it was taken, without folders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from floorflow.facts import MemoryScheduleEntry, Options, TargetsEntry
from floorflow.hardware import Platform
from floorflow.request import Request


def options_entry(
    request: Request,
    platform: Platform,
    models: Sequence[str],
    targets: TargetsEntry | None = None,
    shared: MemoryScheduleEntry | None = None,
) -> Options:
    """Return the options with what the request left open; ``models``: the file of each network, by name.

    Of several networks that were planned together ``targets`` hold the rates, of those that share the memory
    ``shared``.
    """
    return Options(
        **{name: getattr(request, name) for name in Request.model_fields}
        | {
            "models": list(models),
            "folding": request.folding and request.folding.name,
            "stay_near": request.stay_near and request.stay_near.name,
            "platform": platform.name,
            "link": _link(request, platform),
            "clock_mhz": platform.clock_mhz,
            "max_fpgas": max(request.max_fpgas, len(platform.fpgas)),
            "objective": request.goal,
        }
        | ({} if targets is None else _of_several(targets))
        | ({} if shared is None else _at_memory(shared))
    )


def _of_several(targets: TargetsEntry) -> dict[str, Any]:
    """Return the options that stand for a rate: least resources are sought only where every network meets its own."""
    met = all(row.fps is not None and row.share == 1 for row in targets.networks)
    return {
        "fps": None,
        "objective": "resources" if met else "throughput",
        "rates": {row.network: row.fps for row in targets.networks if row.fps is not None},
        "min_rate": {row.network: row.least_fps for row in targets.networks if row.least_fps is not None},
    }


def _at_memory(shared: MemoryScheduleEntry) -> dict[str, Any]:
    """Return the rates that were asked for; nothing else was sought but to come close to them, with few resources."""
    return {
        "fps": None,
        "objective": "resources",
        "rates": {row.network: row.asked_fps for row in shared.networks if row.asked_fps is not None},
        "min_rate": {row.network: row.least_fps for row in shared.networks if row.must},
    }


def _link(request: Request, platform: Platform) -> str | None:
    """Return the name, not the path, of the kind of link that was asked for."""
    link = platform.fpgas[0].board.link
    return None if request.link is None or link is None else link.kind
