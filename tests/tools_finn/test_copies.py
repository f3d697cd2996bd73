"""FINN+'s own object of a v++ configuration takes the connections of copies, and refuses those of absent units."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import floorflow as ff
from tests.plans import FAST, TFC
from tests.tools import its_own_bytecode, need_finn_plus

pytestmark = pytest.mark.tools
ASK = """
import json, sys
from pathlib import Path
from finn.transformation.fpgadataflow.vitis_linking_configuration import VitisLinkConfiguration
own = VitisLinkConfiguration(Path(sys.argv[2]) / "config.txt", 250, "2", "platform")
for line in Path(sys.argv[1]).read_text().splitlines():
    key, _, value = line.partition("=")
    left, _, right = value.partition(":")
    if key == "nk":
        count, _, names = right.partition(":")
        units = names.split(".")
        assert len(units) == int(count)
        for unit in units:
            own.add_cu(left, unit)
    if key == "stream_connect":
        own.add_sc(left, right)
own._get_kerneldefs = lambda: {}
errors = own.get_config_validation_errors(silent_warnings=True)
print("ANSWER", json.dumps([str(error) for error in errors or []]))
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", ""),
        ("stream_connect=idma_0_0.m_axis_0", "stream_connect=idma_9_0.m_axis_0", "idma_9_0"),
        (":odma_0_1.s_axis_0", ":odma_0_7.s_axis_0", "odma_0_7"),
    ],
)
def test_every_stream_joins_units_that_there_are(old: str, new: str, said: str, tmp_path: Path) -> None:
    made = ff.plan(TFC, "alveo-u250", replicas=2, finn="plus", **FAST)
    text = made.files["vitis/floorflow.cfg"].decode()
    assert old in text
    config = tmp_path / "floorflow.cfg"
    config.write_text(text.replace(old, new) if old else text)
    command = [str(need_finn_plus()), "-c", ASK, str(config), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=its_own_bytecode())
    told = [line.removeprefix("ANSWER ") for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    assert told, done.stderr
    errors = json.loads(told[0])
    assert bool(errors) == bool(said)
    assert all(said in error for error in errors)
