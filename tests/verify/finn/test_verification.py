"""Vectors of a build are judged by the frames of the plan; the emitted builds by mutants (mutants.yaml, copies)."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from floorflow.verify.finn.verification import vector_faults
from tests.conftest import Planned
from tests.plans import PLANS

FRAMES = 3


def told_of(planned: Path, build: Path) -> list[str]:
    plan = json.loads((planned / "plan.json").read_text())
    rows: dict[str, Any] = {engine["name"]: {"entry": engine} for engine in plan["networks"][0]["engines"]}
    return list(vector_faults(build, plan["phases"][0]["channels"], rows))


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """Return a build of TFC that verified, which takes the largest of ten scores on the host."""
    np.save(tmp_path / "floorflow_input.npy", np.zeros((FRAMES, 1, 28, 28), np.float32))
    np.save(tmp_path / "floorflow_expected.npy", np.zeros((FRAMES, 1), np.float32))
    (tmp_path / "verification_output").mkdir()
    return tmp_path


@pytest.mark.parametrize("shape", [(FRAMES, 1), (FRAMES, 10), (FRAMES, 1, 10)])
def test_frames_of_the_plan_are_taken(shape: tuple[int, ...], build: Path, planned: Planned) -> None:
    np.save(build / "floorflow_expected.npy", np.zeros(shape))
    assert told_of(planned(PLANS["TFC on a Zynq"]), build) == []


def test_a_build_that_verified_nothing_has_none(tmp_path: Path, planned: Planned) -> None:
    assert told_of(planned(PLANS["TFC on a Zynq"]), tmp_path) == []


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("floorflow_input.npy", None, "No such file"),
        ("floorflow_expected.npy", None, "No such file"),
        ("floorflow_input.npy", b"PK\x03\x04 an archive", "it is no .npy file"),
        ("floorflow_input.npy", (FRAMES, 1, 28, 27), "756 values a frame, the plan's input has 784"),
        ("floorflow_input.npy", (FRAMES - 1, 784), "there are 2 inputs and 3 expected outputs"),
        ("floorflow_expected.npy", (FRAMES, 11), "11 values a frame, the plan's output has 10"),
        ("floorflow_expected.npy", (0, 1), "there are 3 inputs and 0 expected outputs"),
        ("floorflow_expected.npy", (), "there are 3 inputs and 0 expected outputs"),
    ],
)
def test_other_vectors_are_found(
    file: str, content: bytes | tuple[int, ...] | None, told: str, build: Path, planned: Planned
) -> None:
    if isinstance(content, tuple):
        np.save(build / file, np.zeros(content))
    elif content is None:
        (build / file).unlink()
    else:
        (build / file).write_bytes(content)
    assert any(told in fault for fault in told_of(planned(PLANS["TFC on a Zynq"]), build))
