"""The request of a run in the form that plan.json holds: as it was taken, without folders."""

from __future__ import annotations

from collections.abc import Sequence

from floorflow.hardware import Platform
from floorflow.request import Request
from floorflow.schema import Options


def options_entry(request: Request, platform: Platform, models: Sequence[str]) -> Options:
    """Return the options with what the request left open; ``models``: the file of each network, by name."""
    return Options(
        **{name: getattr(request, name) for name in Request.model_fields}
        | {
            "models": list(models),
            "folding": request.folding and request.folding.name,
            "platform": platform.name,
            "link": _link(request, platform),
            "clock_mhz": platform.clock_mhz,
            "max_fpgas": max(request.max_fpgas, len(platform.fpgas)),
            "objective": request.goal,
        }
    )


def _link(request: Request, platform: Platform) -> str | None:
    """Return the name, not the path, of the kind of link that was asked for."""
    link = platform.fpgas[0].board.link
    return None if request.link is None or link is None else link.kind
