"""BNN-PYNQ's networks among the examples: layer dimensions and stock foldings of the paper's data file."""

import json

import pytest

import floorflow as ff
from tests.plans import ROOT

CASE = json.loads((ROOT / "examples" / "seyoum_case.json").read_text())


@pytest.mark.parametrize("net", ["CNVW1A1", "CNVW2A2"])
def test_layers_and_stock_foldings_are_those_of_the_data_file(net: str) -> None:
    engines = ff.inspect(ROOT / "examples" / f"{net.lower()}.onnx", "pynq-z1").as_dict()["engines"]
    windows = [one["attributes"] for one in engines if one["kind"].startswith("ConvolutionInputGenerator")]
    products = [one for one in engines if one["kind"].startswith("MVAU")]
    convs = [layer for layer in CASE["layers"] if layer["type"] == "conv"]
    for ours, layer in zip(windows, convs, strict=True):
        sides = ours["IFMDim"], ours["OFMDim"], ours["ConvKernelDim"]
        assert sides == tuple([layer[name]] * 2 for name in ("IFM", "OFM", "K"))
        assert ours["IFMChannels"] == layer["IC"]
    stock = json.loads((ROOT / "examples" / f"{net.lower()}_stock.json").read_text())
    for one, layer in zip(products, CASE["layers"], strict=True):
        assert (one["attributes"]["MW"], one["attributes"]["MH"]) == (layer["MW"], layer["MH"])
        assert [stock[one["name"]][name] for name in ("PE", "SIMD")] == layer["stock"][net]
