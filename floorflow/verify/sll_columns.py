"""Laguna columns of streams over SLR boundaries: columns that the die has and the shell leaves, with wires enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.routes import Slot
from floorflow.verify.phase_facts import PhaseFacts, stream_wires
from floorflow.verify.records import Record
from floorflow.verify.violations import Findings


def check_sll_columns(phase: PhaseFacts, board: Board, fpga: str, findings: Findings) -> None:
    """Judge in which columns the streams of one FPGA cross its SLR boundaries."""
    where = f"{phase.where}.floorplan.{fpga}.sll_columns"
    lower_of, owed = {}, {}
    for channel, (lower, upper) in _crossings(phase, fpga):
        name = f"{lower.name}-{upper.name}"
        lower_of[name], owed[channel["name"], name] = lower.slr, stream_wires(channel["width_bits"])
    entries = phase.raw["floorplan"][fpga]["sll_columns"]
    counts = Counter((entry["channel"], entry["boundary"]) for entry in entries)
    for key in sorted({*counts, *owed}):
        if counts[key] != (key in owed):
            told = f"{key[0]} over {key[1]} is listed {counts[key]} times, not {int(key in owed)}"
            findings.add("sll-columns-mismatch", where, told)
    known = [entry for entry in entries if (entry["channel"], entry["boundary"]) in owed]
    usable = {name: _usable(board, lower_of[name]) for name in {entry["boundary"] for entry in known}}
    for entry in known:
        _check_entry(entry, owed[entry["channel"], entry["boundary"]], usable[entry["boundary"]], where, findings)
    _check_use(board, known, where, findings)


def _check_entry(entry: Record, owed: int, usable: Collection[int], where: str, findings: Findings) -> None:
    """Judge that a stream crosses with all its wires, in columns that may be used."""
    columns = [share["column"] for share in entry["columns"]]
    wires = sum(share["wires"] for share in entry["columns"])
    if wires != owed or len({*columns}) < len(columns):
        told = f"{entry['channel']} has {wires} wires in columns {columns}, not {owed} in different ones"
        findings.add("sll-columns-mismatch", where, told)
    for column in columns:
        if column not in usable:
            told = f"{entry['channel']} crosses {entry['boundary']} in column {column}"
            findings.add("sll-column-unknown", where, told)


def _check_use(board: Board, entries: list[Record], where: str, findings: Findings) -> None:
    """Judge that no column has more wires at a boundary than it has there."""
    used: Counter[tuple[str, int]] = Counter()
    for entry in entries:
        for share in entry["columns"]:
            used[entry["boundary"], share["column"]] += share["wires"]
    most = board.device.raw["sll"]["wires_per_column"] if board.device.raw.get("sll") else 0
    for (boundary, column), wires in sorted(used.items()):
        if wires > most:
            findings.add("sll-column-overload", where, f"{wires} wires over {boundary} in column {column} of {most}")


def _crossings(phase: PhaseFacts, fpga: str) -> Iterator[tuple[Record, tuple[Slot, Slot]]]:
    for channel in phase.channels:
        for lower, upper in phase.boundaries(phase.route(channel) or ()):
            if lower.fpga == fpga:
                yield channel, (lower, upper)


def _usable(board: Board, lower: int) -> set[int]:
    """Return the Laguna columns at the boundary above an SLR of which the shell keeps nothing beside it.

    Where these are fewer than the wires that the board's file gives the boundary, all may be used.
    """
    sll = board.device.raw.get("sll")
    if not sll:
        return set()
    below = board.device.slr_rows(lower)[1]
    first, last = below - board.device.region_rows + 1, below + board.device.region_rows
    beside = [area for area in board.areas_beside_laguna if area.bottom <= last and area.top >= first]
    free = {k for k in sll["columns"] if not any(area.left <= k <= area.right for area in beside)}
    enough = len(free) * sll["wires_per_column"] >= list(board.sll_wires())[lower]
    return free if enough else {*sll["columns"]}
