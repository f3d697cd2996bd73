"""f-CNN^x' part of the judge: engines from their layers and foldings, in whole numbers, and the files beside the plan.

Source: the integer form of eq. 1 and 2 of the paper: ``f ceil(N_out/N_PE) ceil(K^2/N_op) h w + (K-1) w_in + 64`` cycles
of a tile of f input maps; bytes in 16-bit words, partial sums in 32 bits, times a factor of 1.3 that is assumed.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from floorflow.verify.back_end import Files, Row
from floorflow.verify.layered import CELLS_FINDINGS, LayeredJudge, Network, Problem, Told, port
from floorflow.verify.phase_records import PhaseRecord
from floorflow.verify.plan_records import MemoryScheduleRecord
from floorflow.verify.violations import same

WORD_BITS, BEAT_BYTES = 16, 8
SIZES = ("maps_in", "rows_in", "columns_in", "kernel", "maps_out", "rows_out", "columns_out")
MAY_BE_ZERO = ("relu", "pool_kernel", "pool_rows", "pool_columns")
BANKS = (1, 2, 4)
BLOCK_WORDS, FIFO_BLOCKS, DEPTH = 1024, 8, 64
FACTOR = Fraction(13, 10)
LUT, DSP_LUT, FF, DSP_FF = 8_000, 130, 10_000, 200
_ROUNDING = 1e-6
JSON, CSV = "fcnnx/mcnn_hs.json", "fcnnx/mcnn_hs.csv"
COLUMNS = ("network", "run", "subgraph", "start_us", "end_us", "bytes", "slots", "first_byte")
NUMBERS = ("run", "start_us", "end_us", "bytes", "slots", "first_byte")
_CLOSE = 2e-6
"""Of a file's six digits behind the point."""
Layer = Mapping[str, Any]


class Fcnnx(LayeredJudge):
    """The part for f-CNN^x; its plans have a schedule of the external memory."""

    folder, title = "fcnnx", "f-CNN^x"
    kinds = ("ConvEngine",)
    choices: Mapping[str, tuple[str, ...]] = {"weights": ("overlapped", "serial")}
    findings: Mapping[str, str] = {
        **CELLS_FINDINGS,
        "scheduler-table-differs": "mcnn_hs.json or mcnn_hs.csv is not the plan's schedule of the memory",
        "engine-file-differs": "engine.json is not the plan's engine of the network",
    }
    shares_memory = True

    def malformed(self, entry: Told) -> str:
        """Return what is wrong with bits, layers or the sizes of these."""
        bits = [entry[name] for name in ("weight_bits", "input_bits", "output_bits")]
        own = f"has {bits} bits, words have {WORD_BITS}" if bits != [WORD_BITS] * 3 else ""
        return wrong_layers(entry["attributes"]) or own

    def illegal(self, row: Row, context: Told) -> Iterator[str]:  # noqa: ARG002
        """Yield what is wrong with a folding."""
        wrong = wrong_folding(layers(row["entry"]["attributes"]), row["folding"]["attributes"])
        if wrong:
            yield wrong

    def facts(self, row: Row, context: Told) -> Told:
        """Return cycles, ports and least resources."""
        own, folding = layers(row["entry"]["attributes"]), row["folding"]["attributes"]
        serial = context["options"].get("weights") == "serial"
        cycles = sum(tile.port_cycles(serial=serial) for tile in tiles(own, folding))
        first, last = own[0], own[-1]
        rows, columns = ("pool_rows", "pool_columns") if last["pool_kernel"] else ("rows_out", "columns_out")
        return {
            "cycles": ceil(float(cycles) - _ROUNDING),
            "inputs": [_beats(first["maps_in"] * first["rows_in"] * first["columns_in"])],
            "outputs": [_beats(last["maps_out"] * last[rows] * last[columns])],
            "least_resources": resources(own, folding),
        }

    def subgraphs(self, row: Row, clock_mhz: float, context: Told) -> list[tuple[str, float, float]]:
        """Return an engine's subgraphs in order: name, least time in us, bytes."""
        serial = context["options"].get("weights") == "serial"
        return [
            (tile.name, float(tile.port_cycles(serial=serial)) / clock_mhz, float(tile.weight_bytes + tile.map_bytes))
            for tile in tiles(layers(row["entry"]["attributes"]), row["folding"]["attributes"])
        ]

    def joined(self, source: Row, target: Row, context: Told) -> dict[str, Any]:  # noqa: ARG002
        """Return that no stream joins two engines: each works from memory."""
        return {"objections": [("channel-astray", "a stream joins two engines, which work from memory alone")]}

    def converter(self, narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
        """Return that there is none: all streams are beats of the memory."""
        return "", [f"{narrow_bits} and {wide_bits} bits: all streams have {8 * BEAT_BYTES}"]

    def files(
        self, plan: Told, phase: PhaseRecord, folder: Files, context: Told
    ) -> tuple[list[Problem], dict[str, str]]:
        """Judge besides each network's files the scheduler's table."""
        problems, cells = super().files(plan, phase, folder, context)
        if plan.get("memory_schedule") is not None:
            problems += _wrong_table(plan["memory_schedule"], folder)
        return problems, cells

    def network_files(self, network: Network) -> Iterator[Problem]:
        """Yield where a network's engine.json is not its engine."""
        shared = network.plan.get("memory_schedule") or {"networks": ()}
        names = {each["network"]: [part["name"] for part in each["subgraphs"]] for each in shared["networks"]}
        content, where = network.json("engine.json")
        if content is None:
            return
        for row in network.rows.values():
            wanted = {
                "network": row["network"],
                "clock_mhz": network.plan["options"]["clock_mhz"],
                "folding": row["folding"]["attributes"],
                "layers": row["entry"]["attributes"],
                "subgraphs": names.get(row["network"], []),
            }
            for key in sorted({*wanted} | {*content}):
                if content.get(key) != wanted.get(key):
                    yield "engine-file-differs", where, f"{key} is {content.get(key)!r:.60}, not the plan's"


@dataclass(frozen=True, slots=True)
class Tile:
    """A subgraph: name, cycles of its work alone, bytes of its weights, and of its feature maps."""

    name: str
    cycles: int
    weight_bytes: Fraction
    map_bytes: Fraction

    def port_cycles(self, *, serial: bool) -> Fraction:
        """Return the cycles with the port of eight bytes a cycle; ``serial``: weights come first."""
        weights, maps = self.weight_bytes / BEAT_BYTES, self.map_bytes / BEAT_BYTES
        return max(Fraction(self.cycles), maps) + weights if serial else max(Fraction(self.cycles), maps + weights)


def layers(attributes: Told) -> list[Layer]:
    """Return the layers, one mapping each, of attributes that `wrong_layers` finds nothing wrong with."""
    names = ("layers", *SIZES, *MAY_BE_ZERO)
    return [dict(zip(names, row, strict=True)) for row in zip(*(attributes[name] for name in names), strict=True)]


def wrong_layers(attributes: Told) -> str:
    """Return what is wrong with an engine's attributes, or nothing."""
    names = attributes.get("layers")
    if not isinstance(names, list) or not names or len({*names}) < len(names):
        return "layers is no list of distinct names"
    for key in (*SIZES, *MAY_BE_ZERO):
        values, least = attributes.get(key), 0 if key in MAY_BE_ZERO else 1
        if not isinstance(values, list) or len(values) != len(names):
            return f"{key} has no value for each of {len(names)} layers"
        wrong = [v for v in values if not isinstance(v, int) or isinstance(v, bool) or v < least]
        if wrong:
            return f"{key} holds {wrong[0]!r:.60}, expected integers of {least} or more"
    chain = zip(attributes["maps_out"], attributes["maps_in"][1:], strict=False)
    broken = next((number for number, (out, into) in enumerate(chain, 1) if out != into), None)
    return "" if broken is None else f"layer {names[broken]} does not take the maps of the one before it"


def wrong_folding(own: list[Layer], folding: Told) -> str:
    """Return what is wrong with a folding, or nothing."""
    if {*folding} != {"N_PE", "N_op", "banks"}:
        return f"has {sorted(folding)}, expected N_PE, N_op and banks"
    mosts = {"N_PE": max(each["maps_out"] for each in own), "N_op": max(each["kernel"] ** 2 for each in own)}
    for name, most in mosts.items():
        value = folding[name]
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            return f"{name} is {value!r:.60}, expected 1 to {most}"
    if folding["banks"] not in BANKS or isinstance(folding["banks"], bool):
        return f"banks is {folding['banks']!r:.60}, expected 1, 2 or 4"
    short = next((each["layers"] for each in own if not tile_maps(each, folding)), None)
    return f"the weights of one input map of {short} do not fit its memories" if short is not None else ""


def tile_maps(layer: Layer, folding: Told) -> int:
    """Return f_in: input maps whose weights lie on chip, evened over the tiles; 0 if there is no room for one."""
    words = BLOCK_WORDS * folding["N_PE"] * folding["N_op"] * folding["banks"]
    most = min(words // (layer["maps_out"] * layer["kernel"] ** 2), layer["maps_in"])
    return -(-layer["maps_in"] // -(-layer["maps_in"] // most)) if most else 0


def tiles(own: list[Layer], folding: Told) -> Iterator[Tile]:
    """Yield the subgraphs in order: one for each tile of input maps of each layer."""
    for layer in own:
        left, number = layer["maps_in"], 0
        while left:
            maps = min(tile_maps(layer, folding), left)
            left -= maps
            yield _tile(layer, folding, maps, number, is_last=not left)
            number += 1


def _tile(layer: Layer, folding: Told, maps: int, number: int, *, is_last: bool) -> Tile:
    pixels, window = layer["rows_out"] * layer["columns_out"], layer["kernel"] ** 2
    pooled = layer["pool_rows"] * layer["pool_columns"]
    steps = maps * -(-window // folding["N_op"]) * pixels
    # A pool has comparators enough, at most one for each value of its window.
    steps = max(steps, pooled if is_last and layer["pool_kernel"] else 0)
    fill = (layer["kernel"] - 1) * layer["columns_in"] + DEPTH
    cycles = -(-layer["maps_out"] // folding["N_PE"]) * steps + fill
    sums = 4 * layer["maps_out"] * pixels
    results = layer["maps_out"] * (pooled if layer["pool_kernel"] else pixels)
    moved = 2 * maps * layer["rows_in"] * layer["columns_in"]
    moved += (2 * results if is_last else sums) + (sums if number else 0)
    weights = 2 * maps * layer["maps_out"] * window
    return Tile(f"{layer['layers']}.{number}", cycles, FACTOR * weights, FACTOR * moved)


def resources(own: list[Layer], folding: Told) -> dict[str, int]:
    """Return what the engine takes: multipliers with their memories, rows of the largest window, FIFOs, logic."""
    multipliers = folding["N_PE"] * folding["N_op"]
    rows = max((each["kernel"] - 1) * each["columns_in"] * tile_maps(each, folding) for each in own)
    return {
        "DSP": multipliers,
        "BRAM18": multipliers * folding["banks"] + 2 * -(-rows // BLOCK_WORDS) + FIFO_BLOCKS,
        "LUT": LUT + DSP_LUT * multipliers,
        "FF": FF + DSP_FF * multipliers,
    }


def _beats(words: int) -> dict[str, Any]:
    beats = -(-words * WORD_BITS // (8 * BEAT_BYTES))
    return port(1, 8 * BEAT_BYTES, beats, beats)


def _wrong_table(shared: MemoryScheduleRecord, folder: Files) -> Iterator[Problem]:
    name, rows = "scheduler-table-differs", list(_rows(shared))
    content, text = folder.json(JSON), folder.text(CSV)
    if content is not None:
        yield from _unlike(content.get("entries"), rows, folder.path(JSON))
        head = {
            "schema": "mcnn-hs/1",
            "networks": [each["network"] for each in shared["networks"]],
            "repetitions": [each["repetitions"] for each in shared["networks"]],
            "bandwidth_gbs": shared["bandwidth_gbs"],
            "burst_beats": shared["burst_beats"],
            "slots_total": shared["slots_total"],
            "period_us": shared["period_us"],
        }
        for key, value in head.items():
            if not same(content.get(key), value):
                yield name, folder.path(JSON), f"{key} is {content.get(key)!r:.60}, planned {value}"
    if text is not None:
        yield from _unlike([_numbered(row) for row in csv.DictReader(io.StringIO(text))], rows, folder.path(CSV))


def _rows(shared: MemoryScheduleRecord) -> Iterator[dict[str, Any]]:
    """Yield what the table must hold; a transfer that is resumed begins at the byte where it was left."""
    moved: dict[tuple[str, int], float] = {}
    for entry in shared["transfers"]:
        done = moved.get((entry["network"], entry["run"]), 0.0)
        moved[entry["network"], entry["run"]] = done + entry["traffic_bytes"]
        yield {**entry, "bytes": entry["traffic_bytes"], "first_byte": done}


def _numbered(row: Told) -> dict[str, Any]:
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
    for number, (told, row) in enumerate(zip(entries, rows, strict=True)):
        entry = told if isinstance(told, dict) else {}
        wrong = next((key for key in COLUMNS if not _alike(entry.get(key), row, key)), "")
        if wrong:
            yield name, where, f"entry {number}: {wrong} is {entry.get(wrong)!r:.60}, planned {row[wrong]}"


def _alike(stated: object, row: Told, key: str) -> bool:
    if key not in NUMBERS:
        return bool(stated == row[key])
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return False
    off = 0.5 + _CLOSE if key in ("bytes", "first_byte") else _CLOSE
    return bool(abs(stated - row[key]) <= off)


judge = Fcnnx()
