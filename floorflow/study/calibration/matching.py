"""Which rows of reports are which engines of a plan; a match that is not sure is rejected and listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from floorflow.backends.backend import Backend
from floorflow.backends.instances import Instances, RejectedMatch
from floorflow.backends.reports import POWER, SYNTHESIS, Report, Row
from floorflow.errors import some
from floorflow.facts import Plan
from floorflow.resources import ZERO, Resources, total

_DESIGN = "(design)"
"""What a row of the whole design counts for."""
Claim = tuple[Report, Row]


@dataclass(frozen=True)
class Measurement:
    """What reports say of one engine; ``files`` all agree."""

    instance: str
    files: tuple[str, ...]
    resources: Resources | None = None
    milliwatts: float | None = None


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


@dataclass
class _Matcher:
    instances: Instances
    claims: dict[str, dict[str, list[Claim]]] = field(default_factory=dict)
    streams: dict[str, dict[str, Resources]] = field(default_factory=dict)
    designs: dict[str, Resources] = field(default_factory=dict)
    unmatched: list[tuple[str, str, Resources | None]] = field(default_factory=list)

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
        engine = self.instances.engine(row.path)
        if engine is not None:
            self.claims.setdefault(engine, {}).setdefault(report.evidence, []).append((report, row))
            return engine
        stream = self.instances.stream(row.path)
        if stream is not None:
            kind, name = stream
            if report.evidence == SYNTHESIS and row.resources is not None:
                self.streams.setdefault(kind, {})[name] = row.resources
            return kind
        if report.evidence == SYNTHESIS and (self.instances.is_design(row.path) or _is_top(report, row)):
            self.designs[report.file] = row.resources or ZERO
            return _DESIGN
        return None


def match(plan: Plan, reports: Iterable[Report], backend: Backend) -> Matches:
    """Give every engine the rows that are surely its own, by what its back end says of their names."""
    reports = tuple(reports)
    instances = backend.instances(plan, 0, reports)
    matcher = _Matcher(instances)
    for report in reports:
        matcher.take(report)
    rejected = list(instances.rejected)
    rows: dict[str, dict[str, Measurement]] = {}
    for engine, claimed in sorted(matcher.claims.items()):
        for evidence, claims in sorted(claimed.items()):
            settled = _settled(engine, claims, matcher.instances)
            if isinstance(settled, RejectedMatch):
                rejected.append(settled)
            else:
                rows.setdefault(engine, {})[evidence] = settled
    streams = {kind: StreamRows(len(cells), total(cells.values())) for kind, cells in sorted(matcher.streams.items())}
    return Matches(rows, tuple(rejected), tuple(matcher.unmatched), streams, matcher.designs)


def _is_top(report: Report, row: Row) -> bool:
    """Whether a row is the whole design: the only one at the top."""
    return len(row.path) == 1 and all(other.path[0] == row.path[0] for other in report.rows)


def _settled(engine: str, claims: Sequence[Claim], instances: Instances) -> Measurement | RejectedMatch:
    """Return what the reports of the latest design state agree on, or why nothing is sure."""
    doubt = next(filter(None, (instances.doubt(engine, row.path) for _, row in claims)), None)
    if doubt is not None:
        return doubt
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
