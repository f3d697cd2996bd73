"""The table of the hardware scheduler as files: JSON for people and tools, CSV for its memory."""

from __future__ import annotations

import json
from collections.abc import Iterator

from floorflow.schedule.bandwidth.problem import BandwidthProblem, BandwidthSchedule
from floorflow.schedule.bandwidth.slots import BURST_BEATS, SlotEntry, SlotTable

TABLE_SCHEMA = "mcnn-hs/1"
COLUMNS = ("network", "run", "subgraph", "start_us", "end_us", "bytes", "slots", "first_byte")


def table_files(problem: BandwidthProblem, schedule: BandwidthSchedule, table: SlotTable) -> dict[str, str]:
    """Return the files by name."""
    rows = list(_rows(problem, schedule, table))
    content = {
        "schema": TABLE_SCHEMA,
        "networks": [network.name for network in problem.networks],
        "repetitions": [network.repetitions for network in problem.networks],
        "bandwidth_gbs": problem.bandwidth_gbs,
        "burst_beats": BURST_BEATS,
        "slots_total": table.slots_total,
        "period_us": round(table.period_us, 6),
        "entries": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
    }
    lines = [",".join(COLUMNS), *(",".join(map(str, row)) for row in rows)]
    return {
        "mcnn_hs.json": json.dumps(content, indent=1) + "\n",
        "mcnn_hs.csv": "\n".join(lines) + "\n",
    }


def _rows(problem: BandwidthProblem, schedule: BandwidthSchedule, table: SlotTable) -> Iterator[tuple[object, ...]]:
    """Yield rows in the order of `COLUMNS`; ``first_byte``: of the subgraph's own, where its transfer is resumed."""
    moved: dict[tuple[int, int], float] = {}
    for entry in table.entries:
        network = problem.networks[entry.network]
        done = moved.get((entry.network, entry.run), 0.0)
        moved[entry.network, entry.run] = done + entry.traffic_bytes
        yield network.name, entry.run, _subgraph(problem, schedule, entry), *_numbers(entry), round(done)


def _subgraph(problem: BandwidthProblem, schedule: BandwidthSchedule, entry: SlotEntry) -> str:
    subgraphs = problem.networks[entry.network].subgraphs
    return subgraphs[(schedule.first[entry.network] + entry.run) % len(subgraphs)].name


def _numbers(entry: SlotEntry) -> tuple[float, float, int, int]:
    return round(entry.start_us, 6), round(entry.end_us, 6), round(entry.traffic_bytes), entry.slots
