"""A calibration as plain data: calibration.json and ``--json``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from floorflow.backends.reports import POWER, SYNTHESIS
from floorflow.dataflow.measured import CORRECTED
from floorflow.facts import FoldedEntry, PhaseEntry, Plan
from floorflow.resources import RESOURCE_NAMES, Resources, total
from floorflow.study.calibration.calibrate import Calibration, power_milliwatts

SCHEMA = "floorflow-calibration/1"
FILE = "calibration.json"


def as_dict(calibration: Calibration) -> dict[str, Any]:
    """Return everything that a calibration found: no wall times, no host paths."""
    matches, folder = calibration.matches, calibration.folder
    return {
        "schema": SCHEMA,
        "network": calibration.first.only_network.name,
        "reports": [
            {
                "file": r.file,
                "format": r.format,
                "state": r.state,
                "rows": len(r.rows),
                "sha256": folder.digests[r.file],
            }
            for r in folder.reports
        ],
        "aside": list(folder.aside),
        "engines": {name: _engine(calibration, name) for name in sorted(calibration.measured.engines)},
        "modules": modules(calibration),
        "kinds": kinds(calibration),
        "unmatched": {
            "reports": [
                {"file": file, "instance": instance, "resources": None if use is None else use.as_dict()}
                for file, instance, use in matches.unmatched
            ],
            "plan": calibration.unmeasured,
            "doubts": [{"name": d.name, "cause": d.cause, "reason": d.reason} for d in calibration.rejected],
        },
        "streams": _streams(calibration),
        "timing": calibration.timing.as_dict(calibration.first),
        "designs": {file: use.as_dict() for file, use in sorted(matches.designs.items())},
        "before": None if calibration.before is None else _outline(calibration.before),
        "after": _outline(calibration.after.plan),
        "changes": changes(calibration.first, calibration.after.plan),
    }


def text(calibration: Calibration) -> str:
    """Return calibration.json's text."""
    return json.dumps(as_dict(calibration), indent=2, sort_keys=True, allow_nan=False) + "\n"


def _engine(calibration: Calibration, name: str) -> dict[str, Any]:
    measured, estimate = calibration.measured.engines[name].resources, calibration.estimates[name]
    rows = calibration.matches.rows[name]
    others = {evidence: row.resources for evidence, row in rows.items() if evidence not in {SYNTHESIS, POWER}}
    return {
        "kind": calibration.kinds[name],
        "estimate": estimate.as_dict(),
        "measured": measured.as_dict(),
        "ratio": ratios(estimate, measured),
        "instance": rows[SYNTHESIS].instance,
        "files": list(rows[SYNTHESIS].files),
        "milliwatts": power_milliwatts(calibration).get(name),
        "other_estimates": {evidence: use.as_dict() for evidence, use in others.items() if use is not None},
    }


def ratios(estimate: Resources, measured: Resources) -> dict[str, float | None]:
    """Return measured over estimated of each resource; None where nothing was estimated."""
    pairs = zip(RESOURCE_NAMES, estimate.as_tuple(), measured.as_tuple(), strict=True)
    return {name: round(after / before, 4) if before else None for name, before, after in pairs}


def modules(calibration: Calibration) -> list[dict[str, Any]]:
    """Return the old plan's modules, else the new one's, that hold measured engines: what these use, and should."""
    entries = []
    for module in calibration.first.only_phase.modules:
        known = [name for name in module.engines if name in calibration.measured.engines]
        if known:
            entry = _sums(calibration, known)
            entries.append(
                {"module": module.name, "measured_engines": len(known), "engines": len(module.engines)} | entry
            )
    return entries


def kinds(calibration: Calibration) -> dict[str, dict[str, Any]]:
    """Return by op type: engines measured, sums, and the factors that correct estimates of the kind."""
    by_kind = {}
    for kind in sorted(set(calibration.kinds.values())):
        names = [name for name, own in calibration.kinds.items() if own == kind]
        known = [name for name in names if name in calibration.measured.engines]
        factors = calibration.measured.factors.get(kind, {})
        entry = {"engines": len(names), "measured_engines": len(known)}
        by_kind[kind] = entry | _sums(calibration, known) | {"factors": {name: factors.get(name) for name in CORRECTED}}
    return by_kind


def _sums(calibration: Calibration, names: Sequence[str]) -> dict[str, Any]:
    estimate = total(calibration.estimates[name] for name in names)
    measured = total(calibration.measured.engines[name].resources for name in names)
    sums = {"estimate": estimate.as_dict(), "measured": measured.as_dict(), "ratio": ratios(estimate, measured)}
    power = power_milliwatts(calibration)
    listed = [power[name] for name in names if name in power]
    return sums | {"milliwatts": round(sum(listed), 3) if listed else None}


def _streams(calibration: Calibration) -> dict[str, Any]:
    """Return FIFOs and converters of the build beside the plan's; they have no names in common."""
    channels = calibration.first.only_phase.channels
    fifos = total(Resources.from_dict(c.fifo_resources.model_dump()) for c in channels)
    converters = [c for c in channels if c.converter]
    use = total(Resources.from_dict(c.converter_resources.model_dump()) for c in converters)
    return {
        "measured": {
            kind: {"count": rows.count, "resources": rows.resources.as_dict()}
            for kind, rows in calibration.matches.streams.items()
        },
        "planned": {
            "fifos": {"count": len(channels), "resources": fifos.as_dict()},
            "converters": {"count": len(converters), "resources": use.as_dict()},
        },
    }


def _outline(plan: Plan) -> dict[str, Any]:
    phase, (network,) = plan.only_phase, plan.summary.networks
    return {
        "interval_cycles": network.interval_cycles,
        "fps": network.fps,
        "fpgas": len(plan.platform.fpgas),
        "modules": len(phase.modules),
        "engines": _engine_use(phase).as_dict(),
        "utilisation": phase.partition.utilisation,
    }


def _engine_use(phase: PhaseEntry) -> Resources:
    return total(Resources.from_dict(entry.resources.model_dump()) for entry in phase.engines.values())


def changes(before: Plan, after: Plan) -> dict[str, list[str]]:
    """Return the engines that are folded anew, and those that lie in another slot."""
    old, new = before.only_phase, after.only_phase
    was, now = old.slot_of, new.slot_of
    folded, refolded = old.engines, new.engines
    return {
        "refolded": [name for name in folded if _differ(folded[name], refolded[name])],
        "moved": [name for name in was if was[name] != now[name]],
    }


def _differ(one: FoldedEntry, other: FoldedEntry) -> bool:
    """Whether two foldings differ; a style that one of them leaves to the engine does not count."""
    old, new = one.attributes, other.attributes
    return any(old[name] != new[name] for name in old.keys() & new.keys())
