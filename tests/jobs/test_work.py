"""What one job makes of Vivado's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from floorflow.jobs.work import last_step, sentence

LICENCE = "ERROR: [Common 17-345] A valid license was not found for feature 'Synthesis' and/or device 'xcku5p'."
PLACER = "ERROR: [Place 30-640] Place Check : This design requires more LUT as Logic cells than are available"
EARLIER = "ERROR: [Common 17-69] Command failed: 'place_design' failed due to earlier errors."
SAID: dict[str, tuple[str, int, str, str]] = {
    "no licence": (f"INFO: x\n{LICENCE}\n{EARLIER}\n", 1, EARLIER, "no licence: [Common 17-345] A valid license"),
    "killed": ("floorflow now: m: placement\nPhase 1 Placer\n", -9, "", "killed (signal 9)"),
    "killed, by a shell's code": ("Phase 1\n", 137, "", "killed (signal 9)"),
    "a sentence of ours": ("", 1, "floorflow: m misses its clock by 0.2 ns", "m misses its clock by 0.2 ns"),
    "a step of Vivado": (f"{PLACER}\nfloorflow failed: m: {EARLIER}\n", 1, EARLIER, "[Place 30-640] Place Check"),
    "the cause of this one, not of the next": (
        f"{PLACER}\nfloorflow failed: m: {EARLIER}\nERROR: [Route 35-1] other\n",
        1,
        EARLIER,
        "[Place 30-640] Place Check",
    ),
    "a card": ("floorflow: 7 nets of top are not routed; give room\n    while executing\n", 1, "", "7 nets of top"),
    "a sum of failures": (
        "ERROR: [Route 35-2] cause\nfloorflow: 2 modules were not made: a, b\n",
        1,
        "",
        "[Route 35-2] cause",
    ),
    "a slack beside another's licence": (
        f"{LICENCE}\n",
        1,
        "floorflow: m misses its clock by 1 ns",
        "m misses its clock",
    ),
    "silence": ("INFO: x\n", 3, "", "ended with exit code 3 and without a message"),
    "nothing made": ("INFO: x\n", 0, "", "Vivado left nothing"),
}


@pytest.mark.parametrize(("log", "code", "named", "told"), SAID.values(), ids=SAID)
def test_a_failure_is_told_in_a_sentence(log: str, code: int, named: str, told: str) -> None:
    found = sentence(log, code, named)
    assert told in found
    assert "\n" not in found


def test_the_last_step_of_a_run_is_known_from_its_log(tmp_path: Path) -> None:
    assert last_step(tmp_path) == ""
    (tmp_path / "vivado.log").write_text("floorflow now: m: synthesis\nx\nfloorflow now: m: routing\r\nPhase 3\n")
    assert last_step(tmp_path) == "m: routing"
