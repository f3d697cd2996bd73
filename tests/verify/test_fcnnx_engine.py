"""The judge's engine of f-CNN^x is that of the back end, on random layers and foldings."""

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorflow.backends.fcnnx.engine import ConvLayer, Pipeline, Pool
from floorflow.verify.layered.fcnnx import resources, tiles, wrong_folding

SIZE = st.integers(1, 40)


@st.composite
def layers(draw: st.DrawFn) -> ConvLayer:
    shape = [draw(SIZE) for _ in range(3)] + [draw(st.sampled_from((1, 3, 5, 7)))] + [draw(SIZE) for _ in range(3)]
    pool = draw(st.one_of(st.none(), st.builds(Pool, st.integers(1, 9), SIZE, SIZE)))
    return ConvLayer(f"c{draw(st.integers(0, 999))}", *shape, has_relu=draw(st.booleans()), pool=pool)


def as_judged(layer: ConvLayer) -> dict[str, Any]:
    pool = layer.pool or Pool(0, 0, 0)
    own = {key: value for key, value in asdict(layer).items() if key not in ("name", "has_relu", "pool")}
    pooled = {"pool_kernel": pool.kernel, "pool_rows": pool.rows_out, "pool_columns": pool.columns_out}
    return {**own, **pooled, "layers": layer.name, "relu": int(layer.has_relu)}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(layers(), min_size=1, max_size=3),
    st.integers(1, 40),
    st.integers(1, 49),
    st.sampled_from((1, 2, 4)),
    st.booleans(),
)
def test_subgraphs_and_resources_agree(own: list[ConvLayer], n_pe: int, n_op: int, banks: int, serial: bool) -> None:
    engine = Pipeline(n_pe, n_op, banks, 150.0, serial_weights=serial)
    folding, judged = {"N_PE": n_pe, "N_op": n_op, "banks": banks}, [as_judged(layer) for layer in own]
    if not engine.fits(tuple(own)):
        assert wrong_folding(judged, folding)
        return
    wide = n_pe > max(layer.maps_out for layer in own) or n_op > max(layer.kernel**2 for layer in own)
    assert bool(wrong_folding(judged, folding)) == wide
    found = list(tiles(judged, folding))
    theirs = engine.subgraphs(tuple(own))
    assert [tile.name for tile in found] == [subgraph.name for subgraph in theirs]
    times = [float(tile.port_cycles(serial=serial)) / 150.0 for tile in found]
    assert times == pytest.approx([subgraph.latency_us for subgraph in theirs], rel=1e-12)
    moved = [float(tile.weight_bytes + tile.map_bytes) for tile in found]
    assert moved == pytest.approx([subgraph.traffic_bytes for subgraph in theirs], rel=1e-12)
    use = engine.resources(tuple(own)).as_dict()
    assert {name: use[name] for name in ("DSP", "BRAM18", "LUT", "FF")} == resources(judged, folding)
