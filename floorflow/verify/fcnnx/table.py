"""The files for f-CNN^x' hardware beside the plan: each engine's parameters, and the scheduler's table twice."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from floorflow.verify.judge import Files
from floorflow.verify.violations import same

FINDINGS = {
    "scheduler-table-differs": "mcnn_hs.json or mcnn_hs.csv is not the plan's schedule of the memory",
    "engine-file-differs": "engine.json is not the plan's engine of the network",
}
JSON, CSV = "fcnnx/mcnn_hs.json", "fcnnx/mcnn_hs.csv"
COLUMNS = ("network", "run", "subgraph", "start_us", "end_us", "bytes", "slots", "first_byte")
NUMBERS = ("run", "start_us", "end_us", "bytes", "slots", "first_byte")
_CLOSE = 2e-6
"""Of a file's six digits behind the point."""

Problem = tuple[str, str, str]


def check_engine_files(plan: Mapping[str, Any], folder: Files, context: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield where a network's engine.json is not its engine."""
    shared = plan.get("memory_schedule") or {"networks": ()}
    names = {each["network"]: [part["name"] for part in each["subgraphs"]] for each in shared["networks"]}
    for row in context["engines"].values():
        place = f"fcnnx/{row['network']}" if context["several_networks"] else "fcnnx"
        content, where = folder.json(f"{place}/engine.json"), folder.path(f"{place}/engine.json")
        wanted = {
            "network": row["network"],
            "clock_mhz": plan["options"]["clock_mhz"],
            "folding": row["folding"]["attributes"],
            "layers": row["entry"]["attributes"],
            "subgraphs": names.get(row["network"], []),
        }
        if content is not None:
            for key in sorted({*wanted} | {*content}):
                if content.get(key) != wanted.get(key):
                    yield "engine-file-differs", where, f"{key} is {content.get(key)!r:.60}, not the plan's"


def check_table(shared: Mapping[str, Any], folder: Files) -> Iterator[Problem]:
    """Yield where the two forms of the table are not the plan's transfers."""
    rows = list(_rows(shared))
    content, text = folder.json(JSON), folder.text(CSV)
    if content is not None:
        yield from _unlike(content.get("entries"), rows, folder.path(JSON))
        head = {
            "schema": "mcnn-hs/1",
            "networks": [each["network"] for each in shared["networks"]],
            "repetitions": [each["repetitions"] for each in shared["networks"]],
            **{key: shared[key] for key in ("bandwidth_gbs", "burst_beats", "slots_total", "period_us")},
        }
        for key, value in head.items():
            if not same(content.get(key), value):
                yield (
                    "scheduler-table-differs",
                    folder.path(JSON),
                    f"{key} is {content.get(key)!r:.60}, planned {value}",
                )
    if text is not None:
        yield from _unlike([_numbered(row) for row in csv.DictReader(io.StringIO(text))], rows, folder.path(CSV))


def _rows(shared: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what the table must hold; a transfer that is resumed begins at the byte where it was left."""
    moved: dict[tuple[str, int], float] = {}
    for entry in shared["transfers"]:
        done = moved.get((entry["network"], entry["run"]), 0.0)
        moved[entry["network"], entry["run"]] = done + entry["traffic_bytes"]
        yield {
            **{key: entry[key] for key in ("network", "run", "subgraph", "start_us", "end_us", "slots")},
            "bytes": entry["traffic_bytes"],
            "first_byte": done,
        }


def _numbered(row: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = dict(row)
    for key in NUMBERS:
        try:
            found[key] = float(row[key])
        except (KeyError, TypeError, ValueError):
            found[key] = None
    return found


def _unlike(entries: object, rows: list[dict[str, Any]], where: str) -> Iterator[Problem]:
    name = "scheduler-table-differs"
    if not isinstance(entries, list) or len(entries) != len(rows):
        count = len(entries) if isinstance(entries, list) else "no"
        yield name, where, f"has {count} entries, the plan {len(rows)}"
        return
    for number, (entry, row) in enumerate(zip(entries, rows, strict=True)):
        wrong = next(
            (key for key in COLUMNS if not isinstance(entry, dict) or not _alike(entry.get(key), row, key)), ""
        )
        if wrong:
            stated = entry.get(wrong) if isinstance(entry, dict) else entry
            yield name, where, f"entry {number}: {wrong} is {stated!r:.60}, planned {row[wrong]}"


def _alike(stated: object, row: Mapping[str, Any], key: str) -> bool:
    if key not in NUMBERS:
        return bool(stated == row[key])
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return False
    off = 0.5 + _CLOSE if key in ("bytes", "first_byte") else _CLOSE
    return bool(abs(stated - row[key]) <= off)
