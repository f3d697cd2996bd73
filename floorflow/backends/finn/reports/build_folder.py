"""A FINN or FINN+ build folder as it is: the graph as built, every node with its row, and FINN's own figures.

The folder is an ``output_dir`` (``report/``, ``intermediate_models/``, ...) or one that somebody copied its files to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from floorflow.backends.builds import Build, BuildFile, BuiltClock, BuiltNode
from floorflow.backends.finn.reports import build_files, build_target, estimates, performance, synthesis
from floorflow.backends.finn.reports.built_graph import BuiltGraph, chosen_graph, nodes_of
from floorflow.backends.finn.reports.node_rows import matched, numbered_as_built
from floorflow.backends.reports import Row
from floorflow.reading import read_bytes, read_text

DESIGN = "(top)"
"""FINN's name of the whole design."""
_MISSING = {
    "synthesis": "what was built (post_synth_resources.json) is not there: resources cannot be compared",
    "cycles": "estimate_layer_cycles.json is not there: FINN's cycles of single nodes are not known",
    "performance": "estimate_network_performance.json is not there: FINN's own interval and latency are not known",
    "simulation": "rtlsim_performance.json is not there: nothing was simulated that rates could be compared with",
    "timing": "no timing report (post_route_timing.rpt, ooc_synth_and_timing.json): slack and Fmax are not known",
}


@dataclass(frozen=True)
class _Files:
    """The files of a folder, read when they are asked for."""

    folder: Path

    @cached_property
    def all(self) -> list[Path]:
        return build_files.all_files(self.folder)

    @cached_property
    def by_role(self) -> Mapping[str, build_files.FoundFile]:
        return build_files.files_by_role(self.folder, self.all)

    def name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def text(self, role: str) -> str | None:
        """Return the text of the file of a role; None if there is none."""
        found = self.by_role.get(role)
        if found is None:
            return None
        return read_text(found.path, "report", "make it readable", replace=True)

    def figures(self, role: str) -> dict[str, Any]:
        """Return the JSON object of a role; empty if there is none."""
        text = self.text(role)
        return {} if text is None else performance.figures(text, self.name(self.by_role[role].path))

    def told(self, graph: BuiltGraph) -> dict[str, BuildFile]:
        """Return every file that was used, by its role."""
        found = {role: self._used(each.path, each.others) for role, each in self.by_role.items()}
        return {"graph": self._used(graph.path, graph.others), **found}

    def _used(self, path: Path, others: Iterable[Path]) -> BuildFile:
        digest = hashlib.sha256(read_bytes(path, "model", "make it readable")).hexdigest()
        return BuildFile(self.name(path), digest, tuple(self.name(other) for other in others))


def read_build(folder: Path) -> Build:
    """Read a build folder.

    Raises
    ------
    InputError
        If it holds no graph of a build, or a report in it is malformed; names what was looked for, or file and line.

    """
    files = _Files(folder)
    graph = chosen_graph(folder, files.all)
    rows = _rows(files)
    known, notes = numbered_as_built(_with_estimates(nodes_of(graph), files), rows)
    nodes, unmatched = matched(known, rows)
    return _with_figures(
        Build(
            graph.source,
            files.told(graph),
            nodes,
            whole=next((row.resources for row in rows if row.path == (DESIGN,)), None),
            unmatched=tuple(row for row in unmatched if row.path != (DESIGN,)),
            missing=tuple(_missing(files, graph)),
            notes=notes,
        ),
        files,
    )


def _rows(files: _Files) -> tuple[Row, ...]:
    text = files.text("synthesis")
    return () if text is None else synthesis.read(text, files.name(files.by_role["synthesis"].path)).rows


def _missing(files: _Files, graph: BuiltGraph) -> Iterable[str]:
    has_timing = {"timing", "out of context"} & files.by_role.keys()
    yield from (
        text for role, text in _MISSING.items() if role not in files.by_role and not (role == "timing" and has_timing)
    )
    if not graph.has_fifos:
        yield "the graph is of a step before FIFOs were inserted: their depths and their prices as built are not known"


def _with_estimates(nodes: Sequence[BuiltNode], files: _Files) -> tuple[BuiltNode, ...]:
    """Add what FINN's formulas say of each node, which they know by its name in the graph."""
    text = files.text("estimates")
    rows = (
        () if text is None else estimates.read(text, files.name(files.by_role["estimates"].path), estimates.FINN).rows
    )
    estimated = {row.path[-1]: row.resources for row in rows}
    cycles = performance.layer_cycles(files.figures("cycles"))
    return tuple(
        replace(node, tool_estimate=estimated.get(node.name), tool_cycles=cycles.get(node.name)) for node in nodes
    )


def _with_figures(build: Build, files: _Files) -> Build:
    """Add what is known of the whole: rates, clock, part."""
    network, simulated = files.figures("performance"), files.figures("simulation")
    interval = performance.number(network, "max_cycles") or max((n.tool_cycles or 0 for n in build.nodes), default=0)
    latency = performance.number(network, "critical_path_cycles")
    settings = _settings(files)
    board, part = build_target.board_in(settings)
    if not part:
        board, part = build_target.handed_off(files.text("hardware handoff") or "")
    return replace(
        build,
        tool_interval_cycles=round(interval) or None,
        tool_latency_cycles=None if latency is None else round(latency),
        simulation=performance.simulation_of(simulated) if simulated else None,
        clock=_clock(files, settings, simulated),
        board=board,
        part=part,
    )


def _settings(files: _Files) -> dict[str, Any]:
    text = files.text("build settings")
    return {} if text is None else build_target.settings(text, files.by_role["build settings"].path.name)


def _clock(files: _Files, settings: Mapping[str, Any], simulated: Mapping[str, Any]) -> BuiltClock:
    """Return the clock: slack from the routed design before that of out-of-context synthesis."""
    timing = files.text("timing")
    held = BuiltClock() if timing is None else performance.routed_clock(timing)
    if held.worst_slack_ns is None:
        held = performance.out_of_context_clock(files.figures("out of context"))
    asked = build_target.asked_clock_mhz(settings) or performance.simulated_clock_mhz(simulated) or held.asked_mhz
    return BuiltClock(None if asked is None else round(asked, 6), held.worst_slack_ns)
