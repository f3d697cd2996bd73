"""Real FINN graphs: three stages of one build and two that FINN+ made; graphs/ holds them without weights and paths."""

import contextlib
import gzip
from collections import Counter
from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.backends.finn.folding.cost_table import CostTable, given_folding_groups
from floorflow.backends.finn.read.dataflow import Source, read_source
from floorflow.errors import InputError
from floorflow.technology import technology_of

HERE = Path(__file__).parents[1] / "graphs"
PART = technology_of("xczu7ev-ffvc1156-2-e")
ESTIMATED = ("cnv_2w2a", "rn18", "metafi_3_fifos")
"""Graphs whose `cycles_estimate` is of the folding that they carry."""
STAGES = ("metafi_1_partition", "metafi_2_folding", "metafi_3_fifos")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


def content(name: str) -> bytes:
    return gzip.decompress((HERE / f"{name}.onnx.gz").read_bytes())


def source_of(name: str, folder: Path) -> Source:
    path = folder / f"{name}.onnx"
    path.write_bytes(content(name))
    return read_source(path)


@pytest.mark.parametrize(
    ("name", "layers", "parameters", "macs", "weight_bits", "activation_bits"),
    [
        ("cnv_2w2a", 9, 1_542_848, 59_461_376, {2: 9}, {8: 1, 2: 8}),
        ("rn18", 21, 11_164_352, 555_422_720, {8: 2, 4: 19}, {8: 2, 4: 19}),
        ("metafi_1_partition", 32, 696_376, 1_442_136_632, {4: 32}, {4: 19, 5: 13}),
        ("metafi_2_folding", 32, 696_376, 1_442_136_632, {4: 32}, {4: 19, 5: 13}),
        ("metafi_3_fifos", 32, 696_376, 1_442_136_632, {3: 32}, {4: 19, 5: 13}),
    ],
)
def test_layers_parameters_macs_and_bits_are_those_of_the_build(
    name: str,
    layers: int,
    parameters: int,
    macs: int,
    weight_bits: dict[int, int],
    activation_bits: dict[int, int],
    folder: Path,
) -> None:
    network = source_of(name, folder).network
    assert (len(network.layers), network.macs) == (layers, macs)
    assert sum(network.weights(layer).elements for layer in network.layers) == parameters
    assert Counter(network.weights(layer).datatype.bits for layer in network.layers) == weight_bits
    assert Counter(network.tensor(layer.inputs[0]).datatype.bits for layer in network.layers) == activation_bits


@pytest.mark.parametrize("name", ESTIMATED)
def test_kept_foldings_have_the_cycles_that_finn_wrote_into_the_graph(name: str, folder: Path) -> None:
    expected = {
        node.name: attribute.i
        for node in onnx.ModelProto.FromString(content(name)).graph.node
        for attribute in node.attribute
        if attribute.name == "cycles_estimate"
    }
    groups = given_folding_groups(source_of(name, folder).lower(PART), CostTable(PART, "finn"))
    assert {group.engines[0]: int(group.cycles[0]) for group in groups} == {
        group.engines[0]: expected[group.engines[0]] for group in groups
    }
    assert len(groups) == {"cnv_2w2a": 21, "rn18": 106}.get(name, 143)


def test_a_folding_is_kept_from_the_stage_that_applied_it_on(folder: Path) -> None:
    """Nodes are numbered anew when FIFOs come in, so that only the numbers of each are compared."""
    early, late = (
        Counter((group.rows[0][0].folding.get("PE"), int(group.cycles[0])) for group in groups)
        for groups in (
            given_folding_groups(source_of(name, folder).lower(PART), CostTable(PART, "finn")) for name in STAGES[1:]
        )
    )
    assert early == late


def test_every_stage_of_a_build_has_the_same_engines_and_streams(folder: Path) -> None:
    stages = [source_of(name, folder).lower(PART) for name in STAGES]
    kinds = [[engine.kind for engine in dataflow.engines] for dataflow in stages]
    assert kinds[0] == kinds[1]
    assert Counter(kinds[2]) == Counter(kinds[0])
    shapes = [Counter((s.elements, s.last_dimension, s.element_bits) for s in d.streams) for d in stages]
    assert shapes[0] == shapes[1] == shapes[2]


def test_only_what_finn_has_yet_to_decide_is_noted(folder: Path) -> None:
    notes = [source_of(name, folder).lower(PART).notes for name in STAGES]
    assert [len(found) for found in notes] == [1, 0, 0]


def test_fifo_depths_of_the_build_are_read(folder: Path) -> None:
    """The build has 289 FIFOs, pieces of split ones and both sides of 81 converters, on its 156 streams."""
    streams = source_of("metafi_3_fifos", folder).lower(PART).streams
    assert len(streams) == 156
    assert all(stream.fifo_bits for stream in streams)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_damaged_graphs_end_in_engines_or_an_input_error(folder: Path, damage: list[tuple[float, int]]) -> None:
    data = bytearray(content("cnv_2w2a"))
    for position, byte in damage:
        data[int(position * (len(data) - 1))] = byte
    path = folder / "damaged.onnx"
    path.write_bytes(bytes(data))
    with contextlib.suppress(InputError):
        assert read_source(path).lower(PART)
