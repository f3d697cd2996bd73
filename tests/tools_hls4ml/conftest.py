"""One run of hls4ml for all tests of a session, since its import alone takes seconds."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.backends.layered_plans import ACTIVATIONS, activation_model, model_of, plan, read
from tests.conftest import made_once
from tests.tools import its_own_bytecode, need_hls4ml

MODELS = (
    ("three_layer", ()),
    ("mpcnn", ()),
    ("mpcnn", ("strategy=resource",)),
    ("residual", ()),
    ("sequence", ()),
    ("oblong", ()),
)
OWN = (("sequence", "name", 7, "Resource"), ("jet", "model", 64, "Resource"), ("jet", "type", 3, "Latency"))
"""Configurations that hls4ml makes itself, some with reuse factors that it does not take."""
MATRICES = ((1, 1), (4, 3), (16, 64), (64, 32), (27, 64), (75, 20), (180, 300), (300, 6), (9, 128))
"""Inputs and outputs: of the zoo's layers, and small ones."""


@pytest.fixture(scope="session")
def hls4ml_says(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What hls4ml makes of plans' configurations, with these, and the reuse factors that it takes."""
    python = need_hls4ml()
    folder = made_once(tmp_path_factory, "layered", lambda folder: folder)  # that of tests/backends
    plans = [plan(folder, model, "hls4ml", *words) for model, words in MODELS]
    configs = [json.loads((out / "hls4ml" / "hls_config.json").read_text()) for out in plans]
    models = [[str(model_of(folder, model)), config] for (model, _), config in zip(MODELS, configs, strict=True)]
    own = [[str(model_of(folder, name)), *words] for name, *words in OWN]
    tried = {operator: str(activation_model(folder, operator)) for operator in ACTIVATIONS}
    apart = tmp_path_factory.mktemp("hls4ml")
    script, answer = Path(__file__).with_name("build_models.py"), apart / "answer.json"
    project = [str(model_of(folder, "mpcnn")), str(apart / "project")]
    asked = {"models": models, "matrices": MATRICES, "own": own, "tried": [*tried.values()], "project": project}
    ran = subprocess.run(
        [python, script, answer],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        env=its_own_bytecode(),
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    kinds = [[engine["kind"] for engine in read(out)["networks"][0]["engines"]] for out in plans]
    told = json.loads(answer.read_text())
    layers = {operator: told["tried"][path]["layers"] for operator, path in tried.items()}
    return {**told, "configs": configs, "kinds": kinds, "activations": layers, "folder": folder, "apart": apart}
