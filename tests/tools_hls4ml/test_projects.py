"""The project that hls4ml itself writes is read as it is: layers, sizes, reuse factors and widths are its own."""

from typing import Any

import pytest

from floorflow.backends.hls4ml.costs import Hls4mlCosts
from floorflow.backends.hls4ml.given import PROJECT_FILE, read_config
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.hls4ml.project import Hls4mlProject, project_options, read_project, recognises

pytestmark = pytest.mark.tools


def test_layers_are_hls4mls_own(hls4ml_says: dict[str, Any]) -> None:
    out, said = hls4ml_says["apart"] / "project", hls4ml_says["project"]
    assert recognises(out)
    layers = [(layer, layer.engine) for layer in Hls4mlProject.of(out).layers if layer.engine is not None]
    read = [
        [layer.name, layer.reuse, engine.weight_bits, engine.input_bits, engine.output_bits]
        for layer, engine in layers
        if engine.weight_bits
    ]
    assert [engine.kind for _, engine in layers if not engine.weight_bits] == ["Pooling2D", "Pooling2D"]
    assert said
    assert read == said
    options = project_options(out, Hls4mlCosts(Hls4mlOptions()))
    assert {layer.name for layer, _ in layers} == options.keys()
    assert read_config(out / PROJECT_FILE).names  # with the model that was given as an object
    build = read_project(out)
    assert build.part == "xc7z020clg400-1"
    assert any("vivado_synth.rpt" in sentence for sentence in build.missing)
