"""What starting anew each frame adds to the initiation interval; FINN's cycles of an engine leave it out.

* A window's buffer holds no more than one window's span. The first window of the next frame waits for pixels at the
  pace of the engines before it, while the engine behind finishes its last vector and then stands still. On CNV with
  2 bits that is 13% (docs/cost-model.md).
* An MVAU_hls restarts its pipeline: 6 cycles, in three builds of small networks.

FIFOs are taken as small. ``floorflow.rates`` steps through the patterns themselves and is exact, but slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from floorflow.backends.finn.kinds.kind import Unit
from floorflow.backends.finn.kinds.matrix_vector import MatrixVectorUnit
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.kinds.window import WindowUnit
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import FoldedDataflow

HLS_RESTART_CYCLES = 6


@dataclass(frozen=True, slots=True)
class Pace:
    """How an engine moves.

    ``first_window``: the share of a frame that a sliding window needs before its first output, else 0. ``slack``:
    cycles that the engine still works on its last input after it has taken it. ``restart``: cycles lost each frame.
    """

    cycles: int
    first_window: float = 0.0
    slack: float = 0.0
    restart: int = 0


def pace_of(unit: Unit) -> Pace:
    """Return an engine's pace; an MVAU uses a vector for several folds after it has taken it."""
    if isinstance(unit, WindowUnit):
        return Pace(unit.cycles, first_window=unit.first_window_share)
    if isinstance(unit, MatrixVectorUnit):
        slack = unit.cycles / unit.pixels - unit.width / unit.part.simd
        return Pace(unit.cycles, slack=slack, restart=HLS_RESTART_CYCLES if unit.hls else 0)
    return Pace(unit.cycles)


def expected_cycles(paces: Mapping[str, Pace], inputs: Mapping[str, Sequence[str]]) -> int:
    """Return the interval in cycles; ``inputs`` names the engines before each, and engines stand in stream order."""
    since_window: dict[str, int] = {}
    wait: dict[str, float] = {}
    interval = 0.0
    for name, own in paces.items():
        before = max((since_window[other] for other in inputs.get(name, ())), default=0)
        stall = max((wait.get(other, 0.0) for other in inputs.get(name, ())), default=0.0)
        interval = max(interval, own.cycles + own.restart + max(0.0, stall - own.slack))
        since_window[name] = own.cycles if own.first_window else max(own.cycles, before)
        if own.first_window:
            wait[name] = own.first_window * before
    return round(interval)


def expected_interval(folded: FoldedDataflow, finn: FinnVersion = "main") -> int:
    """Return the interval in cycles of a folded network."""
    engines = {engine.name: engine for engine in folded.dataflow.engines}
    inputs: dict[str, list[str]] = {name: [] for name in engines}
    for source, target in folded.dataflow.engine_pairs:
        inputs[target].append(source)
    units = {
        name: kind_of(engine.kind).unit({**engine.attributes, **folded.options[name].folding}, finn)
        for name, engine in engines.items()
    }
    return expected_cycles({name: pace_of(unit) for name, unit in units.items()}, inputs)
