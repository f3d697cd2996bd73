"""The engine of f-CNN^x: Table I from model files, the reference designs subgraph by subgraph, fronts."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples.make_zoo import SEVERAL, ZooBuilder
from floorflow.backends.fcnnx.backend import front
from floorflow.backends.fcnnx.engine import (
    ConvLayer,
    Pipeline,
    Pool,
    initiation_intervals,
    layers_of,
    subgraph_cycles,
    topology,
    workload,
)
from floorflow.errors import InputError
from floorflow.network import read
from floorflow.resources import Resources
from tests.backends.fcnnx.case import FILES, case, layers
from tests.plans import ROOT

DIFFERS = {"PilotNet": 0.0536}
"""GOp of the published network at 66x200: 13.5% below Table I, whose variant is unknown."""
ZC706 = Resources(lut=218_600, ff=437_200, bram18=1_090, dsp=900)


@pytest.mark.parametrize("make", SEVERAL)
def test_files_are_what_the_script_makes(make: Any) -> None:
    file = ROOT / "examples" / "several" / f"{make.__name__}.onnx"
    assert file.read_bytes() == make().SerializeToString(deterministic=True)


@pytest.mark.parametrize("name", FILES)
def test_operations_are_those_of_table_1(name: str) -> None:
    gop = sum(layer.operations for layer in layers(name)) / 1e9
    assert gop == pytest.approx(DIFFERS.get(name, case()["networks"][name]["table1"]["GOps"]), rel=0.01)
    assert gop == pytest.approx(case()["networks"][name]["GOps_conv_relu_pool"], rel=1e-9)


@pytest.mark.parametrize("name", FILES)
def test_layers_are_those_of_the_case(name: str) -> None:
    for mine, given in zip(layers(name), case()["networks"][name]["layers"], strict=True):
        assert (mine.maps_in, mine.rows_in, mine.columns_in, mine.kernel) == tuple(
            given[k] for k in ("ci", "h", "w", "k")
        )
        assert (mine.maps_out, mine.rows_out, mine.columns_out) == tuple(given[k] for k in ("co", "ho", "wo"))
        assert (mine.macs, mine.results) == (given["macs"], given["co"] * given["po_h"] * given["po_w"])


DESIGNS = [(key, n) for key, count in (("three", 3), ("four", 4)) for n in range(count)]


@pytest.mark.parametrize(("key", "number"), DESIGNS)
def test_reference_designs_come_out_subgraph_by_subgraph(key: str, number: int) -> None:
    given = case()["reference_designs"][key][number]
    engine, own = Pipeline(given["NPE"], given["Nop"]), layers(given["net"])
    found = engine.subgraphs(own)
    theirs = [each["name"] for each in case()["networks"][given["net"]]["layers"]]
    called = {mine.name: name for mine, name in zip(own, theirs, strict=True)}
    parts = [s.name.partition(".") for s in found]
    assert [f"{called[a]}.{b}" for a, _, b in parts] == [f"{s['layer']}.{s['tile']}" for s in given["subgraphs"]]
    assert [s.latency_us for s in found] == pytest.approx([s["L_s"] * 1e6 for s in given["subgraphs"]], rel=1e-12)
    assert [s.traffic_bytes for s in found] == pytest.approx([s["bytes"] for s in given["subgraphs"]], rel=1e-12)
    assert [engine.tile_maps(layer) for layer in own] == given["f_in"]
    use = engine.resources(own)
    assert (use.dsp, -(-use.bram18 // 2)) == (given["DSP"], given["BRAM36"])


def test_initiation_intervals_are_work_over_rates() -> None:
    layer = ConvLayer("c", 4, 8, 8, 3, 6, 8, 8, pool=Pool(2, 4, 4))
    found = initiation_intervals(workload(layer, 4, is_last=True), topology(layer, 3, 9, 1))
    convolution, pool = 4 * 2 * 64, 2 * 4 * 16
    assert found == pytest.approx(np.array([[convolution, 0], [convolution, pool], [0, pool]]))
    assert subgraph_cycles(layer, 4, 3, 9, is_last=True) == convolution + 2 * 8 + 64


def test_pools_have_comparators_enough_not_to_hold_a_tile_up() -> None:
    layer = ConvLayer("c", 1, 9, 9, 1, 6, 9, 9, pool=Pool(9, 9, 9))
    assert subgraph_cycles(layer, 1, 6, 1, is_last=True) == 81 + 64


def test_weights_that_are_loaded_first_lengthen_a_subgraph_by_their_time_at_the_port() -> None:
    layer = layers("VGG16")[-1]
    overlapped, serial = Pipeline(32, 9), Pipeline(32, 9, serial_weights=True)
    tile = overlapped.subgraphs((layer,))[1]
    weights = 1.3 * 2 * overlapped.tile_maps(layer) * layer.maps_out * 9
    maps = (tile.traffic_bytes - weights) / overlapped.port_gbs / 1000
    cycles = subgraph_cycles(layer, overlapped.tile_maps(layer), 32, 9, is_last=False) / 150
    assert serial.subgraphs((layer,))[1].latency_us == pytest.approx(
        max(cycles, maps) + weights / overlapped.port_gbs / 1000
    )


def test_no_engine_of_a_front_is_beaten_and_all_fit() -> None:
    points = front("lenet5", layers("LeNet-5"), ZC706)
    values = np.array([(p.latency_us, p.resources.dsp, p.resources.bram18, p.traffic_bytes) for p in points])
    for number, value in enumerate(values):
        others = np.delete(values, number, axis=0)
        assert not (others <= value).all(axis=1).any()
    assert all(point.resources.fits(ZC706) for point in points)


def test_a_front_holds_an_engine_as_good_as_any() -> None:
    own = layers("CIFAR-10")[:1]
    points = front("c", own, ZC706)
    for n_pe in (1, 5, 11, 32):
        for n_op in (1, 7, 13, 25):
            engine = Pipeline(n_pe, n_op).point("c", own)
            assert any(
                p.latency_us <= engine.latency_us + 1e-9
                and p.resources.dsp <= engine.resources.dsp
                and p.resources.bram18 <= engine.resources.bram18
                and p.traffic_bytes <= engine.traffic_bytes + 1e-6
                for p in points
            )


def test_no_front_where_no_engine_fits() -> None:
    assert front("vgg16", layers("VGG16"), replace(ZC706, bram18=10)) == ()


def test_a_network_with_groups_is_refused_by_name(tmp_path: Path) -> None:
    builder = ZooBuilder("grouped", (1, 4, 8, 8))
    builder.conv(4, 3, relu=True, groups=4)
    (tmp_path / "grouped.onnx").write_bytes(builder.model().SerializeToString())
    with pytest.raises(InputError, match="conv1"):
        layers_of(read(tmp_path / "grouped.onnx"))


def test_dense_layers_behind_the_feature_extractor_stay_on_the_host() -> None:
    lenet = layers_of(read(ROOT / "examples" / "zoo" / "lenet.onnx"))
    assert [layer.macs for layer in lenet] == [layer.macs for layer in layers("LeNet-5")]
