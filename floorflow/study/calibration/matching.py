"""Which rows of reports are which engines of a plan; strict, so that a match that is not sure is rejected and listed.

FINN's cells are called ``StreamingDataflowPartition_1_MVAU_hls_0``, inside a cell of their partition, or plain
``MVAU_hls_0`` in a stitched design. A name is compared as a whole, never by its start.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from floorflow.backends.finn.export import floorplans, local_names, networks_in
from floorflow.errors import some
from floorflow.resources import ZERO, Resources, total
from floorflow.schema import Plan
from floorflow.study.calibration.numbering import interchangeable
from floorflow.study.reports import POWER, SYNTHESIS, Report, Row

_PARTITION = re.compile(r"StreamingDataflowPartition_(\d+)")
_IN_PARTITION = re.compile(r"StreamingDataflowPartition_(\d+)_(.+)")
_BLOCK_DESIGN = re.compile(r"finn_design_(.+)_0")
"""Vivado's name of a node's module in FINN's block design: that of a design that was synthesised alone."""
_COPY = re.compile(r"(.+)__xdcDup__\d+")
_STREAM = re.compile(r"(Streaming(?:FIFO|DataWidthConverter)(?:_rtl|_hls)?)_\d+(?:_\d+)?")
_DESIGN = "(top)"
"""FINN's name of the whole design, and what a row of it counts for here."""
Claim = tuple[Report, Row]


@dataclass(frozen=True)
class Measurement:
    """What reports say of one engine; ``files`` all agree."""

    instance: str
    files: tuple[str, ...]
    resources: Resources | None = None
    milliwatts: float | None = None


@dataclass(frozen=True)
class RejectedMatch:
    """A name, of an engine or of a partition, whose rows are not used, and why; ``cause`` is alike for like reasons."""

    name: str
    cause: str
    reason: str


@dataclass(frozen=True)
class StreamRows:
    """FIFOs or width converters of a build; a plan has no names for them."""

    count: int = 0
    resources: Resources = ZERO


@dataclass(frozen=True)
class Matches:
    """Rows by engine and kind of evidence, and what is left on both sides; ``unmatched`` are ``(file, instance)``."""

    rows: Mapping[str, Mapping[str, Measurement]]
    rejected: tuple[RejectedMatch, ...]
    unmatched: tuple[tuple[str, str, Resources | None], ...]
    streams: Mapping[str, StreamRows]
    designs: Mapping[str, Resources]

    def of(self, evidence: str) -> dict[str, Measurement]:
        """Return one kind of evidence by engine."""
        return {name: by_evidence[evidence] for name, by_evidence in self.rows.items() if evidence in by_evidence}


@dataclass(frozen=True)
class Names:
    """What engines may be called in reports: by the plan's names, and by partition and FINN's name in it."""

    engines: frozenset[str]
    local: Mapping[tuple[int, str], str]
    kinds: frozenset[str]
    ids: Mapping[str, int]
    """Partition of every engine."""

    @property
    def partitions(self) -> set[int]:
        """The partitions of the plan's floorplan.json."""
        return {number for number, _ in self.local}


def names_of(plan: Plan) -> Names:
    """Return the names of a plan's engines, as its finn/floorplan.json makes FINN number them."""
    one = networks_in(plan, 0)[0]
    places = floorplans(plan, 0)[one.network.name]
    ids = {name: entry["partition_id"] for name, entry in places.items()}
    local = {(ids[name], own): name for name, own in local_names(one, ids).items()}
    return Names(frozenset(ids), local, frozenset(engine.kind for engine in one.engines), ids)


def node_of(path: Sequence[str]) -> tuple[int | None, str]:
    """Return the partition that a path lies in, None if it names none, and FINN's name of its last cell."""
    name = path[-1].strip().lstrip("\\")
    copy = _COPY.fullmatch(name)
    name = copy[1] if copy else name
    inside = _IN_PARTITION.fullmatch(name)
    if inside:
        return int(inside[1]), inside[2]
    block = _BLOCK_DESIGN.fullmatch(name)
    above = [match for match in map(_PARTITION.fullmatch, path[:-1]) if match]
    return int(above[-1][1]) if above else None, block[1] if block else name


@dataclass
class _Matcher:
    names: Names
    whole: bool
    """Whether the one partition of the reports is the whole network, so that its names are the plan's."""
    claims: dict[str, dict[str, list[Claim]]] = field(default_factory=dict)
    streams: dict[str, dict[tuple[int | None, str], Resources]] = field(default_factory=dict)
    designs: dict[str, Resources] = field(default_factory=dict)
    unmatched: list[tuple[str, str, Resources | None]] = field(default_factory=list)

    def engine(self, path: Sequence[str]) -> str | None:
        """Return the engine that a row is of."""
        partition, node = node_of(path)
        if partition is None or self.whole:
            return node if node in self.names.engines else None
        return self.names.local.get((partition, node))

    def take(self, report: Report) -> None:
        """Sort the rows of a report: engines, streams, the design as a whole, and the topmost of all others."""
        known: dict[tuple[str, ...], str | None] = {}
        parents: set[tuple[str, ...]] = set()
        for row in report.rows:
            known[row.path] = self._place(report, row, known)
            if known[row.path] not in {None, _DESIGN}:
                parents |= {row.path[:depth] for depth in range(1, len(row.path))}
        left: set[tuple[str, ...]] = set()
        for row in report.rows:
            above = [row.path[:depth] for depth in range(1, len(row.path))]
            inside = any(known.get(path) not in {None, _DESIGN} or path in left for path in above)
            if known[row.path] is None and not inside and row.path not in parents and not row.is_empty:
                left.add(row.path)
                self.unmatched.append((report.file, row.instance, row.resources))

    def _place(self, report: Report, row: Row, known: Mapping[tuple[str, ...], str | None]) -> str | None:
        """Return what a row counts for: an engine, a stream or the design; None for neither."""
        if any(known.get(row.path[:depth]) not in {None, _DESIGN} for depth in range(1, len(row.path))):
            return None
        engine = self.engine(row.path)
        if engine is not None:
            self.claims.setdefault(engine, {}).setdefault(report.evidence, []).append((report, row))
            return engine
        partition, node = node_of(row.path)
        stream = _STREAM.fullmatch(node)
        if stream:
            if report.evidence == SYNTHESIS and row.resources is not None:
                self.streams.setdefault(stream[1], {})[partition, node] = row.resources
            return stream[1]
        if report.evidence == SYNTHESIS and _is_design(report, row):
            self.designs[report.file] = row.resources or ZERO
            return _DESIGN
        return None


def match(plan: Plan, reports: Iterable[Report]) -> Matches:
    """Give every engine the rows that are surely its own."""
    names, reports = names_of(plan), tuple(reports)
    seen = _partitions(names, reports)
    whole = len(seen) == 1 and (len(names.partitions) == 1 or _covers(names, reports))
    rejected: list[RejectedMatch] = []
    if len(seen) > 1 and len(names.partitions) == 1:
        listed = ", ".join(str(number) for number in sorted(seen))
        reason = f"the plan has one partition, the reports {len(seen)}; FINN numbers nodes anew in each"
        rejected.append(RejectedMatch(f"StreamingDataflowPartition {listed}", "other partitions than planned", reason))
        names = replace(names, local={})
    matcher = _Matcher(names, whole)
    for report in reports:
        matcher.take(report)
    rows = _rows(matcher, interchangeable(plan, None if whole else names.ids), rejected)
    streams = {kind: StreamRows(len(cells), total(cells.values())) for kind, cells in sorted(matcher.streams.items())}
    return Matches(rows, tuple(rejected), tuple(matcher.unmatched), streams, matcher.designs)


def _rows(
    matcher: _Matcher, rivals: Mapping[str, Sequence[str]], rejected: list[RejectedMatch]
) -> dict[str, dict[str, Measurement]]:
    """Return the measurement of every claim that is sure; add the others to ``rejected``."""
    rows: dict[str, dict[str, Measurement]] = {}
    for engine, claimed in sorted(matcher.claims.items()):
        for evidence, claims in sorted(claimed.items()):
            settled = _settled(engine, claims, rivals.get(engine, ()))
            if isinstance(settled, RejectedMatch):
                rejected.append(settled)
            else:
                rows.setdefault(engine, {})[evidence] = settled
    return rows


def _is_design(report: Report, row: Row) -> bool:
    """Whether a row is the whole design: FINN says so, and in Vivado's reports it is the only one at the top."""
    if row.path == (_DESIGN,):
        return True
    return len(row.path) == 1 and all(other.path[0] == row.path[0] for other in report.rows)


def _partitions(names: Names, reports: Iterable[Report]) -> set[int]:
    """Return the partitions in which reports have nodes of the plan's kinds; those of DMA engines have none."""
    partitions = set()
    for report in reports:
        for row in report.rows:
            partition, node = node_of(row.path)
            if partition is not None and node.rpartition("_")[0] in names.kinds:
                partitions.add(partition)
    return partitions


def _covers(names: Names, reports: Iterable[Report]) -> bool:
    """Whether reports have a node of every engine's own name, as a build without floorplan.json has."""
    nodes = {node for report in reports for partition, node in map(node_of, _paths(report)) if partition is not None}
    return names.engines <= nodes


def _paths(report: Report) -> list[tuple[str, ...]]:
    return [row.path for row in report.rows]


def _settled(engine: str, claims: Sequence[Claim], rivals: Sequence[str]) -> Measurement | RejectedMatch:
    """Return what the reports of the latest design state agree on, or why nothing is sure."""
    if rivals and any(node_of(row.path)[0] is not None for _, row in claims):
        others = some(rivals)
        reason = f"FINN numbers a partition's nodes anew, and {others} on a parallel branch may be it"
        return RejectedMatch(engine, "number not sure", reason)
    latest = max(report.rank for report, _ in claims)
    held = [(report, row) for report, row in claims if report.rank == latest]
    values = {(row.resources, row.milliwatts) for _, row in held}
    if len(values) > 1:
        places = some(f"{report.file}: {row.instance}" for report, row in held)
        return RejectedMatch(engine, "different rows", f"{len(values)} different rows: {places}")
    report, row = held[0]
    files = tuple(dict.fromkeys(report.file for report, _ in held))
    if report.evidence == SYNTHESIS and row.resources == ZERO:
        reason = f"{report.file}: {row.instance} uses nothing: dissolved or removed by Vivado?"
        return RejectedMatch(engine, "uses nothing", reason)
    power = row.milliwatts if report.evidence == POWER else None
    return Measurement(row.instance, files, row.resources, power)
