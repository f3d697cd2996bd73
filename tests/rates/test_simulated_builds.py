"""Intervals and latencies of builds by others against FINN's RTL simulation of them (tests/rates/builds)."""

import json
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import pytest

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.rates import fifo_sizing
from floorflow.resources import ZERO

full_rate = partial(fifo_sizing.full_rate, known=BACKEND)
throughput = partial(fifo_sizing.throughput, known=BACKEND)

BUILDS = sorted((Path(__file__).parent / "builds").glob("*.json"))
BESIDE = ("StreamingFIFO", "StreamingDataWidthConverter")
LATENCY_ERROR, INTERVAL_ERROR = 0.03, 0.03


@dataclass(frozen=True)
class Build:
    """A build as folded, the depth of its FIFO by channel (the deeper one's beside a converter), what was simulated."""

    folded: FoldedDataflow
    fifo_words: dict[str, int]
    simulated: dict[str, int]
    finn_cycles: dict[str, int]


def elements(node: dict[str, Any]) -> tuple[int, int]:
    """Elements a frame before and behind an engine."""
    a = node["attributes"]
    if node["op_type"] == "Reshape_rtl":
        return prod(a["inp_shape"]), prod(a["out_shape"])
    if "MW" in a:
        return a["MW"], a["MH"]
    return a.get("NumChannels", a.get("Labels")), a.get("NumChannels", a.get("K"))


def read(path: Path) -> Build:
    data = json.loads(path.read_text())
    nodes = [node for node in data["nodes"] if not node["op_type"].startswith(BESIDE)]
    engines, options, streams, depths = [], {}, [], {}
    ends = ["host:in0", *(node["name"] for node in nodes), "host:out0"]
    for node in nodes:
        name, kind, attributes = node["name"], node["op_type"], node["attributes"]
        given = {key: tuple(value) if isinstance(value, list) else value for key, value in attributes.items()}
        unit = kind_of(kind).unit(given, "plus")
        options[name] = Option({}, unit.cycles, ZERO, unit.input_widths_bits, unit.output_widths_bits)
        engines.append(Engine(name, kind, name, given, 4, 4, 4))
    for place, (source, target) in enumerate(pairwise(ends)):
        before = place < len(nodes)
        count = elements(nodes[place])[0] if before else elements(nodes[-1])[1]
        width = options[target].input_widths_bits[0] if before else options[source].output_widths_bits[0]
        a = nodes[place]["attributes"] if before else {}
        lanes = (a.get("SIMD") or a["PE"]) if before else 1
        streams.append(Stream(source, 0, target, 0, count, count, width // lanes))
    on = 0
    for node in data["nodes"]:
        if node["op_type"].startswith("StreamingFIFO"):
            channel = streams[on].channel
            depths[channel] = max(depths.get(channel, 0), node["attributes"]["depth"])
        elif not node["op_type"].startswith(BESIDE):
            on += 1
    dataflow = Dataflow("net", tuple(engines), tuple(streams))
    return Build(FoldedDataflow(dataflow, options), depths, data["simulated"], data["finn_cycles"])


@pytest.fixture(params=BUILDS, ids=lambda path: path.stem)
def build(request: pytest.FixtureRequest) -> Build:
    return read(request.param)


def test_cycles_are_those_that_finn_told(build: Build) -> None:
    assert {name: option.cycles for name, option in build.folded.options.items()} == build.finn_cycles


def test_the_first_frame_takes_what_was_simulated(build: Build) -> None:
    found = throughput(build.folded, full_rate(build.folded).depths)
    assert found.not_analysed == ""
    assert found.first_frame_cycles == pytest.approx(build.simulated["latency_cycles"], rel=LATENCY_ERROR)


def test_fifos_as_built_have_the_simulated_latency_too(build: Build) -> None:
    found = throughput(build.folded, build.fifo_words)
    assert found.first_frame_cycles == pytest.approx(build.simulated["latency_cycles"], rel=LATENCY_ERROR)


@pytest.mark.parametrize("as_built", [False, True])
def test_the_interval_is_that_of_a_thousand_simulated_frames(as_built: bool) -> None:
    build = read(next(path for path in BUILDS if path.stem.endswith("custom_4")))
    depths = build.fifo_words if as_built else full_rate(build.folded).depths
    found = throughput(build.folded, depths)
    simulated = build.simulated["interval_cycles_of_1000_frames"]
    assert found.interval_cycles == pytest.approx(simulated, rel=INTERVAL_ERROR)
    assert build.folded.interval_cycles < 0.8 * simulated
