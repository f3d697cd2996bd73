"""What timing a build reached: frames/s at the achieved clock, and failing paths by stream and module of the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorflow.backends.vivado.timing import AchievedClock, FailingPath, read_clock, read_paths
from floorflow.errors import InputError
from floorflow.facts import PhaseEntry, Plan
from floorflow.reading import exists, files_below, is_file, read_json, read_text

_SUFFIXES = (".rpt", ".txt", ".log", ".info")
_LARGEST_BYTES = 64 * 2**20
_MOST_PATHS = 200


@dataclass(frozen=True)
class Timing:
    """The clock that counts (that of the xclbin, else of the worst timing summary) and the paths that fail."""

    clock: AchievedClock | None
    paths: tuple[FailingPath, ...]
    cells: Mapping[str, str]
    """What each cell of the bound plan is: an engine or a stream; empty if it is not bound."""

    def as_dict(self, plan: Plan) -> dict[str, Any] | None:
        """Return it as plain data beside the plan that was built; None if no report told of timing."""
        if self.clock is None and not self.paths:
            return None
        (network,) = plan.summary.networks
        achieved = None if self.clock is None else self.clock.achieved_mhz
        planned = plan.options.clock_mhz
        # Slack that is left makes no frames: the clock is what was asked for.
        usable = None if achieved is None else min(achieved, (self.clock and self.clock.asked_mhz) or achieved)
        paths = [self._path(path, plan.only_phase) for path in self.paths[:_MOST_PATHS]]
        return {
            "file": self.clock.file if self.clock else None,
            "planned_mhz": planned,
            "achieved_mhz": achieved,
            "slack_ns": self.clock.slack_ns if self.clock else None,
            "fps_planned": network.fps,
            "fps_achieved": None if usable is None else round(network.fps * usable / planned, 3),
            "failing_paths": paths,
            "failing_by_module": dict(Counter(module for path in paths for module in path["modules"]).most_common()),
            "failing_by_stream": dict(Counter(stream for path in paths for stream in path["streams"]).most_common()),
        }

    def _path(self, path: FailingPath, phase: PhaseEntry) -> dict[str, Any]:
        ends = [self._owner(pin) for pin in (path.source, path.destination)]
        channels = {channel.name: channel for channel in phase.channels}
        home = {engine: module.name for module in phase.modules for engine in module.engines}
        streams = [end for end in ends if end in channels]
        pair = (ends[0], ends[1])
        streams += [c.name for c in phase.channels if (c.source, c.target) in (pair, pair[::-1]) and ends[0] != ends[1]]
        modules = [home.get(end) or (channels[end].fifo_module if end in channels else None) for end in ends if end]
        return {
            "slack_ns": path.slack_ns,
            "source": path.source,
            "destination": path.destination,
            "ends": ends,
            "streams": list(dict.fromkeys(streams)),
            "modules": list(dict.fromkeys(module for module in modules if module)),
        }

    def _owner(self, pin: str) -> str | None:
        """Return the engine or stream whose cell holds a pin; None for what is not the plan's, such as a shell."""
        parts = pin.split("/")
        for depth in range(len(parts), 0, -1):
            found = self.cells.get("/".join(parts[:depth]))
            if found is not None:
                return found
        return None


NO_TIMING = Timing(None, (), {})
"""No report told of timing."""


def read_timing(reports: Path, out: Path | None) -> Timing:
    """Read what the reports of a build tell of timing; ``out`` is the plan's folder, whose bound.json tells cells."""
    clocks: list[AchievedClock] = []
    paths: list[FailingPath] = []
    files = [reports] if is_file(reports) else files_below(reports)
    for file in files:
        if file.suffix.lower() not in _SUFFIXES or file.stat().st_size > _LARGEST_BYTES:
            continue
        text = read_text(file, "report", "make it readable, or take it out of the folder", replace=True)
        clock = read_clock(text, file.name if is_file(reports) else file.relative_to(reports).as_posix())
        clocks += [clock] if clock else []
        paths += read_paths(text)
    kernel = [clock for clock in clocks if clock.asked_mhz is None]
    worst = min(kernel or clocks, key=lambda clock: clock.achieved_mhz, default=None)
    unique = sorted(set(paths), key=lambda path: (path.slack_ns, path.source, path.destination))
    return Timing(worst, tuple(unique), _cells(out))


def _cells(out: Path | None) -> dict[str, str]:
    file = None if out is None else out / "bound.json"
    if file is None or not exists(file):
        return {}
    told = read_json(file, "plan", "bind the plan again")
    if not isinstance(told, dict) or not all(isinstance(told.get(key, {}), dict) for key in ("cells", "channels")):
        raise InputError(f"{file}: is no table of cells", hint="bind the plan again")
    engines = {str(cell): str(engine) for engine, cell in told.get("cells", {}).items()}
    return {str(cell): str(stream) for cell, stream in told.get("channels", {}).items()} | engines
