"""FINN's networks as Dataflows, with the foldings that FINN or its users gave them; see `copy_networks`."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from floorflow.backends.finn.attributes import Reader
from floorflow.dataflow.model import Attributes, Dataflow, Engine, Stream
from floorflow.resources import Resources
from floorflow.technology import Technology, technology_of

TESTS = Path(__file__).resolve().parent.parent
CHOSEN = ("PE", "SIMD", "parallel_window")

SILICON = {
    "Pynq-Z1": Resources(53_200, 106_400, 280, 0, 220),
    "Ultra96": Resources(70_560, 141_120, 432, 0, 360),
    "ZCU104": Resources(230_400, 460_800, 624, 96, 1_728),
    "U50": Resources(871_680, 1_743_360, 2_688, 640, 5_952),
    "U200": Resources(1_182_240, 2_364_480, 4_320, 960, 6_840),
    "U250": Resources(1_728_000, 3_456_000, 5_376, 1_280, 12_288),
    "U280": Resources(1_303_680, 2_607_360, 4_032, 960, 9_024),
}
"""All that the boards' parts hold."""
_BOARD_OF_PART = {"xc7z020": "Pynq-Z1", "xczu7ev": "ZCU104", "xcu250-": "U250"}


@dataclass(frozen=True)
class Recorded:
    """One folding of a network: who made it, for what target, what FINN said of it, and whether FINN can build it.

    ``made_by`` is a board (made by hand for it) or SetFolding's variant; ``total`` are FINN's own estimates, engines
    only, and ``converted`` those with width converters.
    """

    made_by: str
    weight_bits_limit: int | None
    target_cycles: int | None
    legal: bool
    part: str
    folding: Mapping[str, Attributes]
    cycles: int
    total: Resources
    converted: Resources

    @property
    def by_hand(self) -> bool:
        return self.weight_bits_limit is None

    @property
    def technology(self) -> Technology:
        return technology_of(self.part)

    @property
    def board(self) -> str:
        return self.made_by if self.by_hand else _BOARD_OF_PART[self.part[:7]]

    @property
    def silicon(self) -> Resources:
        return SILICON[self.board]

    def styled(self, dataflow: Dataflow) -> Dataflow:
        """Return the engines with the memories and multipliers that this folding gives them."""

        def styled(engine: Engine) -> Engine:
            chosen = self.folding.get(engine.name, {})
            attributes = {**engine.attributes, **{k: v for k, v in chosen.items() if k not in CHOSEN}}
            # FINN ignores what a kind does not have.
            known = {k: v for k, v in attributes.items() if k in engine.attributes or k in _STYLES}
            folding = {**engine.folding, **{k: v for k, v in chosen.items() if k in CHOSEN}}
            return replace(engine, attributes=known, folding=folding)

        return replace(dataflow, engines=tuple(styled(engine) for engine in dataflow.engines))


_STYLES = ("mem_mode", "ram_style", "ram_style_thresholds", "resType", "runtime_writeable_weights")


@dataclass(frozen=True)
class RecordedNetwork:
    """A network and its recorded foldings."""

    dataflow: Dataflow
    rows: tuple[Recorded, ...]


@cache
def recorded_networks() -> dict[str, RecordedNetwork]:
    """Return the eight networks by name."""
    engines = {line[0]: line[1:] for line in _lines(TESTS / "backends/finn/vectors/networks.jsonl.gz")}
    return {
        name: _network(name, streams, declared, rows, *engines[name])
        for name, streams, declared, rows in _lines(TESTS / "study/networks.jsonl.gz")
    }


def _lines(path: Path) -> list[list]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def _network(
    name: str, streams: list, declared: dict[str, int], rows: list, engines: list, foldings: list
) -> RecordedNetwork:
    units = tuple(_engine(*engine, declared) for engine in engines)
    ends = [unit.name for unit in units]
    joined = [
        Stream(_end(source, ends, f"in{i}"), out, _end(target, ends, f"out{i}"), port, *sizes)
        for i, (source, out, target, port, *sizes) in enumerate(streams)
    ]
    return RecordedNetwork(
        Dataflow(name, units, tuple(joined)),
        tuple(_row(row, folding) for row, folding in zip(rows, foldings, strict=True)),
    )


def _end(number: int, names: list[str], at_host: str) -> str:
    return f"host:{at_host}" if number < 0 else names[number]


def _engine(name: str, kind: str, stated: dict, declared: dict[str, int]) -> Engine:
    attributes = {key: tuple(value) if isinstance(value, list) else value for key, value in stated.items()}
    folding = {key: attributes.pop(key) for key in CHOSEN if key in attributes}
    reader = Reader(kind, attributes)
    weights = declared.get(name) or (reader.bits("weightDataType") if "weightDataType" in attributes else 0)
    return Engine(name, kind, name, attributes, weights, 0, 0, folding)


def _row(row: list, folding: list) -> Recorded:
    made_by, limit, target, legal, lut, bram18 = row
    part, chosen, cycles, (all_lut, all_bram, uram, dsp), _ = folding
    total = Resources(all_lut, 0, all_bram, uram, dsp)
    return Recorded(made_by, limit, target, legal, part, chosen, cycles, total, replace(total, lut=lut, bram18=bram18))
