"""What the host needs to run phases in regions: ``chunks.json``, with who writes and reads which bytes, and the script.

All areas lie in one piece of memory. Two that are in use at the same step share no byte. A buffer has the area that its
writer fills, in use from the step that writes it to the last that reads it, the host's inputs from the first step on
and its outputs to the last. Words begin at whole bytes, so that a reader of words of another width finds other bytes
than its writer left: the host packs them anew, just before, into an area of the reader's own.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorflow.emit.buffers import rows
from floorflow.emit.dfx import configurations
from floorflow.facts import Plan
from floorflow.facts.schedule import ScheduleEntry

SCHEMA = "floorflow-chunks/1"
ALIGNED_BYTES = 4096
"""Where buffers begin: at a page, as DMA engines and caches like it."""
HOST = "host:"
Layout = tuple[int, int]
"""Bits of a word, and words of a frame."""


@dataclass(frozen=True)
class Use:
    """An area: its bytes, and the first and last step at which it is in use.

    ``packed_from`` is the buffer that the host packs anew into it, None where a phase or the host itself writes it.
    """

    name: str
    size: int
    first: int
    last: int
    width_bits: int = 8
    words_per_frame: int = 0
    packed_from: str | None = None


def chunk_files(plan: Plan) -> dict[str, str]:
    """Return the host's script and its data, nothing for a plan without regions or a schedule."""
    if plan.reconfigurable is None or plan.schedule is None:
        return {}
    text = json.dumps(_content(plan, plan.schedule), indent=2, sort_keys=True) + "\n"
    script = (Path(__file__).parent / "host" / "run_chunks.py").read_text(encoding="utf-8")
    return {"host/chunks.json": text, "host/run_chunks.py": script}


def _content(plan: Plan, schedule: ScheduleEntry) -> dict[str, Any]:
    stored = _stored(plan, schedule)
    steps = [_step(plan, schedule, number, stored) for number in range(len(plan.phases))]
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
                "width_bits": use.width_bits,
                "words_per_frame": use.words_per_frame,
                "packed_from": use.packed_from,
                "written_by": _phases(steps, "stores", use.name) or ["host"],
                "read_by": _phases(steps, "loads", use.name) or ["host"],
                "first_step": use.first,
                "last_step": use.last,
            }
            for use in uses
        ],
        "memory_bytes": max((places[use.name] + use.size for use in uses), default=0),
    }


def _step(plan: Plan, schedule: ScheduleEntry, number: int, stored: Mapping[str, Layout]) -> dict[str, Any]:
    phase = plan.phases[number]
    told = [*rows(plan, phase, schedule)]
    return {
        "phase": phase.name,
        "region": phase.region,
        "loads_after": phase.loads_after,
        "bitstream": f"{phase.name}.bit",
        "loads": [_end(row, stored) for side, row in told if side == "source"],
        "stores": [_end(row, stored) for side, row in told if side == "target"],
    }


def _end(row: dict[str, Any], stored: Mapping[str, Layout]) -> dict[str, Any]:
    """Return one end of a step in memory, with the area that it is in."""
    name, layout = row["buffer"], (row["width_bits"], row["words_per_frame"])
    area = name if stored.get(name, layout) == layout else f"{name} in {layout[0]} bits"
    kept = {key: row[key] for key in ("buffer", "channel", "width_bits", "words_per_frame")}
    return kept | {"area": area, "bytes": row["bytes_per_batch"]}


def _stored(plan: Plan, schedule: ScheduleEntry) -> dict[str, Layout]:
    """Return how buffers are left by who writes them."""
    return {
        row["buffer"]: (row["width_bits"], row["words_per_frame"])
        for phase in plan.phases
        for side, row in rows(plan, phase, schedule)
        if side == "target"
    }


def _phases(steps: Sequence[dict[str, Any]], side: str, area: str) -> list[str]:
    return [step["phase"] for step in steps if any(row["area"] == area for row in step[side])]


def _uses(steps: Sequence[dict[str, Any]]) -> list[Use]:
    """Return all areas, in the order of their names."""
    held: dict[str, dict[str, Any]] = {}
    at: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        for row in (*step["loads"], *step["stores"]):
            held.setdefault(row["area"], row)
            for name in {row["area"], row["buffer"]}:
                at.setdefault(name, []).append(number)
    for name, numbers in at.items():
        if name.startswith(f"{HOST}in"):
            numbers.append(0)
        elif name.startswith(f"{HOST}out"):
            numbers.append(len(steps) - 1)
    return [
        Use(
            name=name,
            size=row["bytes"],
            first=min(at[name]),
            last=max(at[name]),
            width_bits=row["width_bits"],
            words_per_frame=row["words_per_frame"],
            packed_from=row["buffer"] if row["buffer"] != name else None,
        )
        for name, row in sorted(held.items())
    ]


def offsets(uses: Sequence[Use]) -> dict[str, int]:
    """Return where areas begin: the largest first, each at the lowest page that is free while it is in use."""
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
