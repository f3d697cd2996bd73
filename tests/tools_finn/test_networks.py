"""FINN+ makes the kernels of two networks of one card, as far as Vivado, and link.sh finds them to be the plan's."""

import os
import re
import subprocess
from pathlib import Path

import pytest

import floorflow as ff
from tests.emit.test_networks import TOOL
from tests.plans import FAST
from tests.several_models import copies
from tests.tools_finn.oracle import FinnPlus

pytestmark = pytest.mark.tools


def test_kernels_of_two_networks_have_names_of_their_own_and_are_the_plans(finn_plus: FinnPlus, tmp_path: Path) -> None:
    out, models = tmp_path / "out", copies(tmp_path / "models", "left", "right")
    options = {"finn": "plus", "label_select": True, "cap": {"LUT": 0.02}}
    ff.plan(models, "alveo-u250", **options, **FAST).save(out)
    for model in models:
        folder = out / "finn" / model.stem
        answer = finn_plus.build(model, folder, folder / "build", "floorflow_kernels", network=True)
        assert answer["steps"][-2:] == ["floorflow_place", "floorflow_kernels"]
    text = (out / "vitis" / "floorflow.cfg").read_text()
    made = {path.stem for path in (out / "finn").glob("*/build/kernels/*.xo")}
    assert made == {*re.findall(r"^nk=(\w+):", text, re.M)}
    assert len(made) > 2 * 3
    (tmp_path / "bin").mkdir()
    for name, script in (("v++", TOOL), ("xclbinutil", "#!/bin/bash\n")):
        (tmp_path / "bin" / name).write_text(script)
        (tmp_path / "bin" / name).chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", str(out / "vitis" / "link.sh")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})
    assert done.returncode == 0, done.stderr
    assert "network1_StreamingDataflowPartition_0.xo" in (out / "vitis" / "link" / "asked").read_text()
