"""An engine of f-CNN^x from its layers and folding: tiles, cycles, bytes and resources, in whole numbers.

Source: the integer form of eq. 1 and 2 of the paper: ``f ceil(N_out/N_PE) ceil(K^2/N_op) h w + (K-1) w_in + 64`` cycles
of a tile of f input maps; bytes in 16-bit words, partial sums in 32 bits, times a factor of 1.3 that is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

COLUMNS = ("maps_in", "rows_in", "columns_in", "kernel", "maps_out", "rows_out", "columns_out")
MAY_BE_ZERO = ("relu", "pool_kernel", "pool_rows", "pool_columns")
BANKS = (1, 2, 4)
BLOCK_WORDS, FIFO_BLOCKS, DEPTH = 1024, 8, 64
FACTOR = Fraction(13, 10)
BEAT_BYTES = 8
LUT, DSP_LUT, FF, DSP_FF = 8_000, 130, 10_000, 200


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


Layer = Mapping[str, Any]


def layers(attributes: Mapping[str, Any]) -> list[Layer]:
    """Return the layers, one mapping each, of attributes that `malformed` finds nothing wrong with."""
    names = ("layers", *COLUMNS, *MAY_BE_ZERO)
    return [dict(zip(names, row, strict=True)) for row in zip(*(attributes[name] for name in names), strict=True)]


def malformed(attributes: Mapping[str, Any]) -> str:
    """Return what is wrong with an engine's attributes, or nothing."""
    names = attributes.get("layers")
    if not isinstance(names, list) or not names or len({*names}) < len(names):
        return "layers is no list of distinct names"
    for key in (*COLUMNS, *MAY_BE_ZERO):
        values, least = attributes.get(key), 0 if key in MAY_BE_ZERO else 1
        if not isinstance(values, list) or len(values) != len(names):
            return f"{key} has no value for each of {len(names)} layers"
        wrong = [v for v in values if not isinstance(v, int) or isinstance(v, bool) or v < least]
        if wrong:
            return f"{key} holds {wrong[0]!r:.60}, expected integers of {least} or more"
    chain = zip(attributes["maps_out"], attributes["maps_in"][1:], strict=False)
    broken = next((number for number, (out, into) in enumerate(chain, 1) if out != into), None)
    return "" if broken is None else f"layer {names[broken]} does not take the maps of the one before it"


def illegal(own: list[Layer], folding: Mapping[str, Any]) -> str:
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


def tile_maps(layer: Layer, folding: Mapping[str, int]) -> int:
    """Return f_in: input maps whose weights lie on chip, evened over the tiles; 0 if there is no room for one."""
    words = BLOCK_WORDS * folding["N_PE"] * folding["N_op"] * folding["banks"]
    most = min(words // (layer["maps_out"] * layer["kernel"] ** 2), layer["maps_in"])
    return -(-layer["maps_in"] // -(-layer["maps_in"] // most)) if most else 0


def tiles(own: list[Layer], folding: Mapping[str, int]) -> Iterator[Tile]:
    """Yield the subgraphs in order: one for each tile of input maps of each layer."""
    for layer in own:
        left, number = layer["maps_in"], 0
        while left:
            maps = min(tile_maps(layer, folding), left)
            left -= maps
            yield _tile(layer, folding, maps, number, is_last=not left)
            number += 1


def _tile(layer: Layer, folding: Mapping[str, int], maps: int, number: int, *, is_last: bool) -> Tile:
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


def resources(own: list[Layer], folding: Mapping[str, int]) -> dict[str, int]:
    """Return what the engine takes: multipliers with their memories, rows of the largest window, FIFOs, logic."""
    multipliers = folding["N_PE"] * folding["N_op"]
    rows = max((each["kernel"] - 1) * each["columns_in"] * tile_maps(each, folding) for each in own)
    return {
        "DSP": multipliers,
        "BRAM18": multipliers * folding["banks"] + 2 * -(-rows // BLOCK_WORDS) + FIFO_BLOCKS,
        "LUT": LUT + DSP_LUT * multipliers,
        "FF": FF + DSP_FF * multipliers,
    }
