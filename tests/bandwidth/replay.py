"""A simulation of the hardware scheduler from its emitted table; knows nothing of how schedules are made.

The memory serves engines in turn: in each of the table's entries an engine gets ``slots`` of ``slots_total`` of the
bandwidth. A subgraph works as fast as its data comes, and no faster than its engine; what its entries do not finish
goes on in later ones of its own only. Everything is read from the table and from what each subgraph needs.
"""

from dataclasses import dataclass
from typing import Any

from floorflow.bandwidth.problem import BandwidthProblem, BandwidthSchedule
from floorflow.bandwidth.slots import in_slots

Needs = dict[str, list[tuple[str, float, float]]]
"""Of each network its subgraphs in order: name, time at full speed in us, bytes."""
SMALL = 1e-6


def table_of(problem: BandwidthProblem, schedule: BandwidthSchedule) -> dict[str, Any]:
    """Return a schedule in slots as the hardware's table holds it."""
    found = in_slots(problem, schedule)
    return {
        "networks": [network.name for network in problem.networks],
        "bandwidth_gbs": problem.bandwidth_gbs,
        "slots_total": found.slots_total,
        "period_us": found.period_us,
        "entries": [
            {
                "network": problem.networks[entry.network].name,
                "run": entry.run,
                "subgraph": problem.networks[entry.network].in_order[entry.run % len(own.subgraphs)].name,
                "start_us": entry.start_us,
                "end_us": entry.end_us,
                "slots": entry.slots,
            }
            for entry in found.entries
            for own in [problem.networks[entry.network]]
        ],
    }


@dataclass(frozen=True)
class Replay:
    """What came of it: faults in words, and the frames a second of each network."""

    faults: list[str]
    frames_per_s: dict[str, float]


def replay(table: dict[str, Any], needs: Needs) -> Replay:
    """Run a table for a period."""
    faults = _overload(table)
    rates = {}
    for name in table["networks"]:
        entries = sorted((e for e in table["entries"] if e["network"] == name), key=lambda e: e["start_us"])
        frames, end = _run(name, entries, needs[name], table, faults)
        rates[name] = frames / max(end, table["period_us"]) * 1e6
    return Replay(faults, rates)


def _overload(table: dict[str, Any]) -> list[str]:
    """Look at every moment at which anything starts: whether the slots of all that runs are within a round."""
    found = []
    for moment in sorted({entry["start_us"] for entry in table["entries"]}):
        # Entries of the table are rounded to a millionth of a microsecond.
        inside = [
            e for e in table["entries"] if e["start_us"] <= moment + 2 * SMALL and e["end_us"] > moment + 2 * SMALL
        ]
        if sum(e["slots"] for e in inside) > table["slots_total"]:
            found.append(f"at {moment}: {sum(e['slots'] for e in inside)} slots of {table['slots_total']}")
        if len({e["network"] for e in inside}) < len(inside):
            found.append(f"at {moment}: an engine has two entries")
    return found


def _run(
    name: str,
    entries: list[dict[str, Any]],
    needs: list[tuple[str, float, float]],
    table: dict[str, Any],
    faults: list[str],
) -> tuple[float, float]:
    """Run one network's entries; return the inferences that were done and when the last ended."""
    names = [subgraph for subgraph, _, _ in needs]
    place, done, finished, end = names.index(entries[0]["subgraph"]), 0.0, 0, 0.0
    run = entries[0]["run"]
    bandwidth = table["bandwidth_gbs"] * 1000
    for entry in entries:
        if entry["run"] != run:
            if done < 1 - 1e-6:
                faults.append(f"{name}: run {run} of {names[place]} ends with {done:.6f} of it done")
            run, place, done, finished = entry["run"], (place + 1) % len(names), 0.0, finished + 1
        _, latency, moved = needs[place]
        if entry["subgraph"] != names[place]:
            faults.append(f"{name}: run {run} is {entry['subgraph']}, expected {names[place]}")
        speed = min(1 / latency, entry["slots"] / table["slots_total"] * bandwidth / moved)
        done += speed * (entry["end_us"] - entry["start_us"])
        end = entry["end_us"]
    if done < 1 - 1e-6:
        faults.append(f"{name}: run {run} of {names[place]} ends with {done:.6f} of it done")
    return (finished + 1) / len(names), end
