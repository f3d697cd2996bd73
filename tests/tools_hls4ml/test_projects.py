"""The project that hls4ml itself writes is read as it is: layers, sizes, reuse factors and widths are its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from floorflow.backends.hls4ml.costs import Hls4mlCosts
from floorflow.backends.hls4ml.given import PROJECT_FILE, read_config
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.hls4ml.project import Hls4mlProject, project_options, read_project, recognises
from tests.backends.layered_plans import model_of
from tests.tools import its_own_bytecode, need_hls4ml

pytestmark = pytest.mark.tools
SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[3])
import hls4ml
from build_models import prepared
model = prepared(sys.argv[1])
config = hls4ml.utils.config_from_onnx_model(
    model, granularity="name", backend="Vivado", default_precision="fixed<12,6>", default_reuse_factor=4
)
config["Model"]["Strategy"] = "Resource"
made = hls4ml.converters.convert_from_onnx_model(
    model, hls_config=config, output_dir=sys.argv[2], backend="Vivado", io_type="io_stream", part="xc7z020clg400-1"
)
made.write()
layers = []
for layer in made.get_layers():
    if layer.class_name in ("Dense", "Conv2D"):
        held = layer.get_weights("weight"), layer.get_input_variable(), layer.get_output_variable()
        bits = [variable.type.precision.width for variable in held]
        layers.append([layer.name, layer.get_attr("reuse_factor"), *bits])
with open(sys.argv[2] + "/answer.json", "w") as file:
    json.dump(layers, file)
"""


def test_layers_are_hls4mls_own(tmp_path: Path) -> None:
    python, out = need_hls4ml(), tmp_path / "project"
    words = [str(model_of(tmp_path, "mpcnn")), str(out), str(Path(__file__).parent)]
    ran = subprocess.run(
        [python, "-c", SCRIPT, *words], capture_output=True, text=True, check=False, env=its_own_bytecode()
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    said = json.loads((out / "answer.json").read_text())
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
