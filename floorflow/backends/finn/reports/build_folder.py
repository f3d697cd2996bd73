"""A FINN or FINN+ build folder as it is: the graph as built, every node with its row, and FINN's own figures.

The folder is an ``output_dir`` (``report/``, ``intermediate_models/``, ...) or one that somebody copied its files to.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from floorflow.backends.builds import Build, BuildFile, BuiltClock, BuiltNode
from floorflow.backends.finn.reports import build_files, build_target, node_reports
from floorflow.backends.finn.reports.build_contents import AMOUNTS, HIERARCHY, TIMING, UTILISATION
from floorflow.backends.finn.reports.build_files import BuildFiles, one_build
from floorflow.backends.finn.reports.build_target import told_options
from floorflow.backends.finn.reports.built_graph import BuiltGraph, chosen_graph, nodes_of
from floorflow.backends.finn.reports.instances import (
    DESIGN,
    matched,
    node_of,
    node_rows_of,
    numbered_as_built,
    reported_nodes,
)
from floorflow.backends.reports import Report, Row
from floorflow.backends.vivado.reports import part_of, read_vivado
from floorflow.errors import InputError, some
from floorflow.reading import read_bytes, read_text
from floorflow.resources import Resources

Parsed = TypeVar("Parsed")
_MISSING = {
    "cycles": "estimate_layer_cycles.json is not there: FINN's cycles of single nodes are not known",
    "performance": "estimate_network_performance.json is not there: FINN's own interval and latency are not known",
    "simulation": "rtlsim_performance.json is not there: nothing was simulated that rates could be compared with",
}
_NO_TIMING = "no timing report (post_route_timing.rpt, ooc_synth_and_timing.json): slack and Fmax are not known"
_NO_SLACK = " tells no slack: it is cut off, or the design has no constraints"
_NO_ROWS = "what was built (post_synth_resources.json, report_utilization -hierarchical) is not there: "
_NO_FIFOS = "the graph is of a step before FIFOs were inserted: their depths and their prices as built are not known"
_BUILT = ("synthesis", HIERARCHY, UTILISATION, "out of context", TIMING, "simulation", AMOUNTS)
"""Roles of which one must be there where no graph is."""


@dataclass(frozen=True)
class _Files:
    """The files of a build, read when they are asked for."""

    build: BuildFiles
    unread: list[str] = field(default_factory=list)
    """Why files could not be read that are damaged or of a shape that is not known."""

    def name(self, path: Path) -> str:
        return path.relative_to(self.build.folder).as_posix()

    def read(self, role: str) -> tuple[str, str]:
        """Return name and text of the file of a role that is there."""
        path = self.build.by_role[role].path
        return self.name(path), read_text(path, "report", "make it readable", replace=True)

    def parsed(self, role: str, parse: Callable[[str, str], Parsed]) -> Parsed | None:
        """Return what a reader makes of the text and the name of a role's file; None if there is none, or it fails."""
        if role not in self.build.by_role:
            return None
        name, text = self.read(role)
        try:
            return parse(text, name)
        except InputError as error:
            if str(error) not in self.unread:
                self.unread.append(str(error))
            return None

    def vivado(self, role: str) -> Report | None:
        return self.parsed(role, read_vivado)

    def figures(self, role: str) -> dict[str, Any]:
        """Return the JSON object of a role; empty if there is none."""
        return self.parsed(role, node_reports.figures) or {}

    @cached_property
    def settings(self) -> dict[str, Any]:
        return self.parsed("build settings", build_target.settings) or {}

    def told(self, graph: BuiltGraph | None) -> dict[str, BuildFile]:
        """Return every file that was used, by its role."""
        found = {role: self._used(each.path, each.others) for role, each in self.build.by_role.items()}
        return found if graph is None else {"graph": self._used(graph.path, graph.others), **found}

    def _used(self, path: Path, others: Iterable[Path]) -> BuildFile:
        digest = hashlib.sha256(read_bytes(path, "model", "make it readable")).hexdigest()
        return BuildFile(self.name(path), digest, tuple(self.name(other) for other in others))


def read_build(folder: Path) -> Build:
    """Read a build folder: its graph with what was built of it, or, without a graph, what its reports name.

    Raises InputError if it holds several builds, or none; names the builds, or what was looked for.
    """
    files, refused = _Files(one_build(folder)), list[str]()
    graph = chosen_graph(files.build, refused)
    if graph is None and not any(role in files.build.by_role for role in _BUILT):
        raise _nothing(folder, [*refused, *files.build.notes])
    rows = _rows(files)
    notes: tuple[str, ...] = ()
    if graph is None:
        nodes = reported_nodes(rows, _foldings(files))
        unmatched = tuple(row for row in rows if row.instance not in {node.instance for node in nodes})
    else:
        known, notes = numbered_as_built(nodes_of(graph), rows)
        nodes, unmatched = matched(known, rows)
        if strange := [row for row in unmatched if row.path != (DESIGN,)]:
            counted = f"{len(strange):,} of {len(rows):,} rows of the report are no node of the graph"
            notes = (*notes, f"{counted}, and count in no sum but the whole: are both of one build?")
    whole = _whole(files, rows)
    build = Build(
        None if graph is None else graph.source,
        files.told(graph),
        _with_estimates(nodes, files),
        whole=whole,
        alone=node_reports.out_of_context_use(files.figures("out of context")),
        unmatched=tuple(row for row in unmatched if row.path != (DESIGN,)),
        missing=tuple(_missing(files, graph, rows, refused)),
        notes=(*files.build.notes, *notes),
        options=told_options(files.build, graph, files.settings),
    )
    whole_build = _with_figures(build, files)
    return replace(whole_build, missing=(*whole_build.missing, *(f"not read: {text}" for text in files.unread)))


def _nothing(folder: Path, refused: Sequence[str]) -> InputError:
    looked_for = ", ".join(build_files.GRAPH_NAMES)
    why = f"; {some(refused)}" if refused else ""
    return InputError(
        f"{folder}: holds no graph of a FINN build that can be read and no report; looked for {looked_for}{why}",
        hint="give the output_dir of a build, with its intermediate_models and report folders",
    )


def _rows(files: _Files) -> tuple[Row, ...]:
    """Return what was built of every node: by FINN's own report, Vivado's with hierarchy, or any JSON there is."""
    of_finn = files.parsed("synthesis", partial(node_reports.read_nodes, role="synthesis"))
    if of_finn is not None:
        return of_finn.rows
    report = files.vivado(HIERARCHY)
    if report is not None:
        return node_rows_of(report.rows, DESIGN)
    return files.parsed(AMOUNTS, node_reports.amounts) or ()


def _whole(files: _Files, rows: Iterable[Row]) -> Resources | None:
    """Return what the design takes: as the rows sum it up, else by Vivado's utilisation of the whole."""
    top = next((row.resources for row in rows if row.path == (DESIGN,)), None)
    if top is not None or UTILISATION not in files.build.by_role:
        return top
    report = files.vivado(UTILISATION)
    return None if report is None else report.rows[0].resources


def _foldings(files: _Files) -> Mapping[str, Mapping[str, Any]]:
    held = files.parsed("folding", node_reports.nodes) or {}
    return {node: entry for node, entry in held.items() if node != "Defaults"}


def _missing(files: _Files, graph: BuiltGraph | None, rows: Sequence[Row], refused: Sequence[str]) -> Iterable[str]:
    held = files.build.by_role
    if graph is None:
        why = f" ({some(refused)})" if refused else ""
        yield f"no graph of FINN's engines is there{why}: nothing is priced, rates are not analysed"
    if not rows:
        whole = UTILISATION in held or "out of context" in held
        yield _NO_ROWS + ("resources of single nodes" if whole else "resources") + " cannot be compared"
    yield from (text for role, text in _MISSING.items() if role not in held)
    if not {TIMING, "out of context"} & held.keys():
        yield _NO_TIMING
    if graph is not None and not graph.has_fifos:
        yield _NO_FIFOS
    if graph is None and "folding" not in held:
        yield "final_hw_config.json is not there: foldings are not known"


def _with_estimates(nodes: Sequence[BuiltNode], files: _Files) -> tuple[BuiltNode, ...]:
    """Add what FINN's formulas say of each node, which they know by its name in the graph."""
    report = files.parsed("estimates", partial(node_reports.read_nodes, role="estimates"))
    estimated = {row.path[-1]: row.resources for row in (report.rows if report else ())}
    cycles = node_reports.layer_cycles(files.figures("cycles"))
    plain = {node.name: node_of((node.name,))[1] for node in nodes}
    return tuple(
        replace(node, tool_estimate=estimated.get(plain[node.name]), tool_cycles=cycles.get(plain[node.name]))
        for node in nodes
    )


def _with_figures(build: Build, files: _Files) -> Build:
    """Add what is known of the whole: rates, clock, part."""
    network, simulated = files.figures("performance"), files.figures("simulation")
    interval = node_reports.number(network, "max_cycles") or max((n.tool_cycles or 0 for n in build.nodes), default=0)
    latency = node_reports.number(network, "critical_path_cycles")
    board, part = _target(files)
    # Slack from the routed design before that of out-of-context synthesis.
    held = node_reports.routed_clock(files.read(TIMING)[1]) if TIMING in files.build.by_role else BuiltClock()
    if held.worst_slack_ns is None:
        alone = node_reports.out_of_context_clock(files.figures("out of context"))
        held = replace(alone, asked_mhz=held.asked_mhz or alone.asked_mhz)
    asked = (
        build_target.asked_clock_mhz(files.settings) or node_reports.simulated_clock_mhz(simulated) or held.asked_mhz
    )
    clock = BuiltClock(None if asked is None else round(asked, 6), held.worst_slack_ns)
    cut = TIMING in files.build.by_role and clock.worst_slack_ns is None
    return replace(
        build,
        missing=(*build.missing, f"{files.name(files.build.by_role[TIMING].path)}{_NO_SLACK}")
        if cut
        else build.missing,
        tool_interval_cycles=round(interval) or None,
        tool_latency_cycles=None if latency is None else round(latency),
        simulation=node_reports.simulation_of(simulated) if simulated else None,
        clock=clock,
        board=board,
        part=part,
    )


def _target(files: _Files) -> tuple[str, str]:
    """Return board and part: of the settings, of the hardware handoff, or the part in the head of a report."""
    board, part = build_target.board_in(files.settings)
    if not part and "hardware handoff" in files.build.by_role:
        board, part = build_target.handed_off(files.read("hardware handoff")[1])
    reports = (files.read(role)[1] for role in (UTILISATION, HIERARCHY, TIMING) if role in files.build.by_role)
    return board, part or next(filter(None, map(part_of, reports)), "")
