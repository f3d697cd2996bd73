"""Files for f-CNN^x' hardware: parameters of each engine, and the table of the multi-network hardware scheduler.

Source: f-CNN^x, section III-D: the scheduler serves engines in turn; in each round an engine has slots, a burst each.
No tool that reads these files is published; they hold what its hardware has to know.
"""

from collections.abc import Iterator

from floorflow.backends.layered.files import CELLS, Running, as_json, cells_file, running
from floorflow.facts import MemoryScheduleEntry, Plan, TransferEntry

CONFIG, TABLE, ROWS = "engine.json", "mcnn_hs.json", "mcnn_hs.csv"
TABLE_SCHEMA = "mcnn-hs/1"
COLUMNS = ("network", "run", "subgraph", "start_us", "end_us", "bytes", "slots", "first_byte")
_OWN = "fcnnx"
_DIGITS = 6


def files(plan: Plan, phase: int) -> dict[str, str]:
    """Return the files of a phase."""
    found = {f"{_OWN}/{CELLS}": cells_file(plan, phase)}
    for one in running(plan, phase):
        found[f"{one.folder}/{CONFIG}"] = _engine(plan, one)
    if plan.memory_schedule is not None:
        table = table_files(plan.memory_schedule)
        found |= {f"{_OWN}/{name}": text for name, text in table.items()}
    return found


def _engine(plan: Plan, one: Running) -> str:
    """Return a network's engine: its layers with the tiles of input maps that they are run in."""
    ((engine, folding),) = one.engines
    shared = plan.memory_schedule
    subgraphs = [] if shared is None else [s.name for s in shared.network(one.network.name).subgraphs]
    return as_json(
        {
            "network": one.network.name,
            "clock_mhz": plan.options.clock_mhz,
            "folding": dict(folding),
            "layers": dict(engine.attributes),
            "subgraphs": subgraphs,
        }
    )


def table_files(shared: MemoryScheduleEntry) -> dict[str, str]:
    """Return the scheduler's table by file name: JSON for people and tools, CSV for its memory."""
    rows = list(_rows(shared))
    content = {
        "schema": TABLE_SCHEMA,
        "networks": [network.network for network in shared.networks],
        "repetitions": [network.repetitions for network in shared.networks],
        "bandwidth_gbs": shared.bandwidth_gbs,
        "burst_beats": shared.burst_beats,
        "slots_total": shared.slots_total,
        "period_us": round(shared.period_us, _DIGITS),
        "entries": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
    }
    lines = [",".join(COLUMNS), *(",".join(map(str, row)) for row in rows)]
    return {TABLE: as_json(content), ROWS: "\n".join(lines) + "\n"}


def _rows(shared: MemoryScheduleEntry) -> Iterator[tuple[object, ...]]:
    """Yield rows in the order of `COLUMNS`; ``first_byte``: of the subgraph's own, where its transfer is resumed."""
    moved: dict[tuple[str, int], float] = {}
    for entry in shared.transfers:
        done = moved.get((entry.network, entry.run), 0.0)
        moved[entry.network, entry.run] = done + entry.traffic_bytes
        yield entry.network, entry.run, entry.subgraph, *_numbers(entry), round(done)


def _numbers(entry: TransferEntry) -> tuple[float, float, int, int]:
    start, end = round(entry.start_us, _DIGITS), round(entry.end_us, _DIGITS)
    return start, end, round(entry.traffic_bytes), entry.slots
