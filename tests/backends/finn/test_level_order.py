"""Lowered engines stand and are numbered as qonnx's SortGraph leaves FINN's."""

from __future__ import annotations

from pathlib import Path

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.dataflow.model import is_outside
from floorflow.technology import technology_of

EXAMPLES = Path(__file__).parents[3] / "examples"
ALVEO = technology_of("xcu250-figd2104-2L-e")


def test_engines_of_parallel_branches_stand_level_by_level() -> None:
    dataflow = read_source(EXAMPLES / "resnet50_w1a2.onnx").lower(ALVEO)
    before: dict[str, list[str]] = {engine.name: [] for engine in dataflow.engines}
    for stream in dataflow.streams:
        if not is_outside(stream.source) and not is_outside(stream.target):
            before[stream.target].append(stream.source)
    level: dict[str, int] = {}
    for name, sources in before.items():
        level[name] = 1 + max((level[source] for source in sources), default=-1)
    levels = list(level.values())
    assert levels == sorted(levels)
    assert max(levels) + 1 < len(levels)


def test_engines_are_numbered_in_that_order() -> None:
    dataflow = read_source(EXAMPLES / "resnet50_w1a2.onnx").lower(ALVEO)
    for kind in {engine.kind for engine in dataflow.engines}:
        numbers = [int(e.name.rpartition("_")[2]) for e in dataflow.engines if e.kind == kind]
        assert numbers == list(range(len(numbers)))


def test_a_projection_stands_directly_behind_the_first_convolution_of_its_branch() -> None:
    """Of FINN's ResNet-50 graph (finn-examples): the first block's two 1x1 convolutions are MVAU 1 and 2."""
    dataflow = read_source(EXAMPLES / "resnet50_w1a2.onnx").lower(ALVEO)
    units = [engine for engine in dataflow.engines if engine.kind.startswith("MVAU")]
    sizes = [(engine.attributes["MW"], engine.attributes["MH"]) for engine in units[1:3]]
    assert sorted(map(str, sizes)) == ["(64, 256)", "(64, 64)"]
