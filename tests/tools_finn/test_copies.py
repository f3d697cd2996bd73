"""FINN+'s own object of a v++ configuration takes the connections of copies, and refuses those of absent units."""

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
def said(file):
    own = VitisLinkConfiguration(Path(sys.argv[1]) / "config.txt", 250, "2", "platform")
    for line in file.read_text().splitlines():
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
    return [str(error) for error in own.get_config_validation_errors(silent_warnings=True) or []]
print("ANSWER", json.dumps([said(file) for file in sorted(Path(sys.argv[1]).glob("*.cfg"))]))
"""


def test_every_stream_joins_units_that_there_are(tmp_path: Path) -> None:
    made = ff.plan(TFC, "alveo-u250", replicas=2, finn="plus", **FAST)
    text = made.files["vitis/floorflow.cfg"].decode()
    (tmp_path / "0.cfg").write_text(text)
    absent = ("stream_connect=idma_9_0", ":odma_0_7")
    for number, (old, new) in enumerate(zip(("stream_connect=idma_0_0", ":odma_0_1"), absent, strict=True), 1):
        assert f"{old}." in text
        (tmp_path / f"{number}.cfg").write_text(text.replace(f"{old}.", f"{new}."))
    command = [str(need_finn_plus()), "-c", ASK, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=its_own_bytecode())
    told = [line.removeprefix("ANSWER ") for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    assert told, done.stderr
    right, *wrong = json.loads(told[0])
    assert right == []
    assert all(errors for errors in wrong)
    for errors, unit in zip(wrong, ("idma_9_0", "odma_0_7"), strict=True):
        assert all(unit in error for error in errors)
