"""What the report says of FINN: its cost models, its limits, its attributes, and what to try next with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from floorflow.backends.finn.export import folding_file
from floorflow.backends.finn.options import FinnOptions
from floorflow.errors import some
from floorflow.facts import EngineEntry, Plan
from floorflow.resources import Resources

FIFO_DEPTHS = "FINN: inFIFODepths"
"""Where the depths of FIFOs are given."""
START_UPS = "windows and HLS start anew"
"""What lengthens the interval where FIFOs are small."""
FOLDING_LIMIT = "exceed FINN's widest stream"
"""What may stop a wider folding beside the slots."""
_COSTS = {
    "calibrated": "floorflow's estimates, fitted to real builds (docs/cost-model.md)",
    "estimated": "floorflow's estimates from structure (docs/cost-model.md)",
    "finn": "FINN's own estimates",
    "samo": "the estimators of SAMO's fork of FINN, in which some hardware costs nothing (docs/samo-backends.md)",
}


def cost_model(plan: Plan) -> str:
    """Return what the resources of the plan are."""
    asked = plan.options.backend_options
    return _COSTS[asked.costs] if isinstance(asked, FinnOptions) else "estimates"


def faster_by_hand(engines: Sequence[EngineEntry]) -> str:
    """Return what would shorten engines that are folded as wide as can be; empty if nothing is known to."""
    sizes = [str(engine.attributes.get("IFMDim", "")) for engine in engines]
    return f"a smaller feature map than {some(sorted(set(sizes)))}" if all(sizes) else ""


def next_step(plan: Plan, phase: int, folder: Path) -> str:
    """Return how FINN builds each network in a phase, whose files lie in ``folder``."""
    plus = isinstance(plan.options.backend_options, FinnOptions) and plan.options.backend_options.finn == "plus"
    files = [folder / Path(folding_file(plan, part.network)).parent for part in plan.phases[phase].networks]
    names = ", ".join(str(file / ("build.yaml" if plus else "build.py")) for file in files)
    tool = "FINN+" if plus else "FINN"
    if len(plan.platform.fpgas) > 1:
        folders = ", ".join(map(str, dict.fromkeys(file.parent if len(files) > 1 else file for file in files)))
        return f"{tool}: {folders} is for reading: folding, FIFO depths and places; no build of it ends"
    if len(files) > 1 or plan.reconfigurable is not None:
        return f"{tool}: {names}; {'each ends' if len(files) > 1 else 'it ends'} at a stitched IP"
    ends = " ends at a stitched IP" if plan.unbuilt else ""
    return f"{tool}: {names}{ends}; after a build of your own: floorflow bind"


def steps(plan: Plan, phase: int, free: Resources) -> Iterator[str]:
    """Yield what to try next in a phase; ``free`` is what its design leaves of all limits."""
    folded = plan.phases[phase].engines
    names = [name for name, entry in folded.items() if entry.attributes.get("runtime_writeable_weights")]
    if names:
        uram = sum(folded[name].resources.URAM for name in names)
        asked = plan.options.backend_options
        free_to_choose = isinstance(asked, FinnOptions) and asked.runtime_weights == "always"
        elsewhere = (
            f"; --runtime-weights never puts them elsewhere ({max(0, free.bram18):,} BRAM18 are free below the limits)"
        )
        yield (
            f"before the first frame software writes the weights of {', '.join(names)} over AXI-lite ({uram:,} URAM)"
            f"{elsewhere if free_to_choose else ''}"
        )
