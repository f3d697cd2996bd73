"""f-CNN^x' part of the judge: every number anew from the engines' attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from floorflow.verify.cells_file import FINDINGS as CELLS_FINDINGS
from floorflow.verify.cells_file import check_cells_file
from floorflow.verify.fcnnx.engine import BEAT_BYTES, illegal, layers, malformed, resources, tiles
from floorflow.verify.fcnnx.table import FINDINGS as TABLE_FINDINGS
from floorflow.verify.fcnnx.table import check_engine_files, check_table
from floorflow.verify.judge import Files, Row
from floorflow.verify.plain_fifos import check_plain_fifo

findings: Mapping[str, str] = {**CELLS_FINDINGS, **TABLE_FINDINGS}
names_are_read = True
shares_memory = True
"""Plans have a schedule of the external memory."""

KIND, WORD_BITS = "ConvEngine", 16
_ROUNDING = 1e-6


def option_objections(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with f-CNN^x' own options of a plan."""
    if options.get("weights") not in ("overlapped", "serial"):
        yield f"weights is {options.get('weights')!r:.60}, expected overlapped or serial"


def may_cost_nothing(options: Mapping[str, Any]) -> bool:  # noqa: ARG001
    """Return False: nothing is free."""
    return False


def engine(row: Row, context: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what follows from an engine's layers and folding; None for a kind that is none."""
    entry, folding = row["entry"], row["folding"]["attributes"]
    if entry["kind"] != KIND:
        return None
    wrong = malformed(entry["attributes"])
    bits = [entry[name] for name in ("weight_bits", "input_bits", "output_bits")]
    if wrong or bits != [WORD_BITS] * 3:
        return {"objections": [("engine-malformed", wrong or f"has {bits} bits, words have {WORD_BITS}")]}
    own = layers(entry["attributes"])
    wrong = illegal(own, folding)
    if wrong:
        return {"objections": [("illegal-folding", wrong)]}
    serial = context["options"].get("weights") == "serial"
    cycles = sum(tile.port_cycles(serial=serial) for tile in tiles(own, folding))
    first, last = own[0], own[-1]
    pixels = [last["pool_rows"] * last["pool_columns"], last["rows_out"] * last["columns_out"]]
    written = last["maps_out"] * pixels[0 if last["pool_kernel"] else 1]
    return {
        "objections": [],
        "cycles": ceil(float(cycles) - _ROUNDING),
        "inputs": [_port(first["maps_in"] * first["rows_in"] * first["columns_in"])],
        "outputs": [_port(written)],
        "least_resources": resources(own, folding),
    }


def _port(words: int) -> dict[str, Any]:
    beats = -(-words * WORD_BITS // (8 * BEAT_BYTES))
    return {
        "parallel": 1,
        "element_bits": 8 * BEAT_BYTES,
        "elements": beats,
        "last_dimension": beats,
        "type": None,
    }


def subgraphs(row: Row, clock_mhz: float, context: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """Return an engine's subgraphs in order: name, least time in us, bytes."""
    own, folding = layers(row["entry"]["attributes"]), row["folding"]["attributes"]
    serial = context["options"].get("weights") == "serial"
    return [
        (tile.name, float(tile.port_cycles(serial=serial)) / clock_mhz, float(tile.weight_bytes + tile.map_bytes))
        for tile in tiles(own, folding)
    ]


def joined(source: Row, target: Row, context: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Return that no stream joins two engines: each works from memory."""
    return {"objections": [("channel-astray", "a stream joins two engines, which work from memory alone")]}


def converter(narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
    """Return that there is none: all streams are beats of the memory."""
    return "", [f"{narrow_bits} and {wide_bits} bits: all streams have {8 * BEAT_BYTES}"]


def fifo(channel: Mapping[str, Any], part: str, context: Mapping[str, Any]) -> Iterator[str]:  # noqa: ARG001
    """Return what is wrong with a FIFO: a style, or too little room for its words."""
    return check_plain_fifo(channel, "f-CNN^x")


def files(
    plan: Mapping[str, Any], phase: Mapping[str, Any], folder: Files, context: Mapping[str, Any]
) -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """Judge the engines' parameters, the scheduler's table and the table of cells; the user tells cells' names."""
    problems = list(check_cells_file(phase, folder, "fcnnx"))
    problems += check_engine_files(plan, folder, context)
    if plan.get("memory_schedule") is not None:
        problems += check_table(plan["memory_schedule"], folder)
    return problems, {}


def reads_memory(row: Row) -> bool:  # noqa: ARG001
    """Return True: a cell's ports are its FIFOs' and memories', which the plan has no names for."""
    return True
