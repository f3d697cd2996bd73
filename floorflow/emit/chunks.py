"""What the host needs to run phases in regions: ``chunks.json``, with who writes and reads which bytes, and the script.

All buffers lie in one piece of memory. Two that are in use at the same step share no byte; a buffer is in use from the
step that writes it to the last that reads it, the host's inputs from the first step on and its outputs to the last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorflow.emit.buffers import rows
from floorflow.emit.dfx import configurations
from floorflow.schema import Plan, ScheduleEntry

SCHEMA = "floorflow-chunks/1"
ALIGNED_BYTES = 4096
"""Where buffers begin: at a page, as DMA engines and caches like it."""
HOST = "host:"


@dataclass(frozen=True)
class Use:
    """A buffer: its bytes, and the first and last step at which it is in use."""

    name: str
    size: int
    first: int
    last: int


def chunk_files(plan: Plan) -> dict[str, str]:
    """Return the host's script and its data, nothing for a plan without regions or a schedule."""
    if plan.reconfigurable is None or plan.schedule is None:
        return {}
    text = json.dumps(_content(plan, plan.schedule), indent=2, sort_keys=True) + "\n"
    script = (Path(__file__).parent / "host" / "run_chunks.py").read_text(encoding="utf-8")
    return {"host/chunks.json": text, "host/run_chunks.py": script}


def _content(plan: Plan, schedule: ScheduleEntry) -> dict[str, Any]:
    steps = [_step(plan, schedule, number) for number in range(len(plan.phases))]
    uses = _uses(steps)
    places = offsets(uses)
    reference = next(iter(configurations(plan).values()))
    return {
        "schema": SCHEMA,
        "batch": schedule.batch,
        "full": "full.bit",
        "reference": dict(reference),
        "steps": steps,
        "buffers": [
            {
                "name": use.name,
                "bytes": use.size,
                "offset": places[use.name],
                "written_by": _phase_of(steps, "stores", use.name) or ["host"],
                "read_by": _phase_of(steps, "loads", use.name) or ["host"],
                "first_step": use.first,
                "last_step": use.last,
            }
            for use in uses
        ],
        "memory_bytes": max((places[use.name] + use.size for use in uses), default=0),
    }


def _step(plan: Plan, schedule: ScheduleEntry, number: int) -> dict[str, Any]:
    phase = plan.phases[number]
    told = [*rows(plan, phase, schedule)]
    return {
        "phase": phase.name,
        "region": phase.region,
        "loads_after": phase.loads_after,
        "bitstream": f"{phase.name}.bit",
        "loads": [_end(row) for side, row in told if side == "source"],
        "stores": [_end(row) for side, row in told if side == "target"],
    }


def _end(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("buffer", "channel", "width_bits", "words_per_frame")} | {
        "bytes": row["bytes_per_batch"]
    }


def _phase_of(steps: Sequence[dict[str, Any]], side: str, name: str) -> list[str]:
    return [step["phase"] for step in steps if any(row["buffer"] == name for row in step[side])]


def _uses(steps: Sequence[dict[str, Any]]) -> list[Use]:
    """Return all buffers, in the order of their names."""
    sizes: dict[str, int] = {}
    at: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        for row in (*step["loads"], *step["stores"]):
            sizes[row["buffer"]] = row["bytes"]
            at.setdefault(row["buffer"], []).append(number)
    for name, held in at.items():
        if name.startswith(f"{HOST}in"):
            held.append(0)
        elif name.startswith(f"{HOST}out"):
            held.append(len(steps) - 1)
    return [Use(name, sizes[name], min(at[name]), max(at[name])) for name in sorted(at)]


def offsets(uses: Sequence[Use]) -> dict[str, int]:
    """Return where buffers begin: the largest first, each at the lowest page that is free while it is in use."""
    placed: list[tuple[Use, int]] = []
    for use in sorted(uses, key=lambda use: (-use.size, use.name)):
        there = sorted((begin, begin + u.size) for u, begin in placed if u.first <= use.last and use.first <= u.last)
        begin = 0
        for low, high in there:
            if begin + use.size <= low:
                break
            begin = max(begin, -(-high // ALIGNED_BYTES) * ALIGNED_BYTES)
        placed.append((use, begin))
    return {use.name: begin for use, begin in placed}
