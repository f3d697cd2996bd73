"""A board's file made from its part alone, and KV260, which was made so and then edited."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from floorflow.assets import PARTS, asset_folder
from floorflow.errors import PlatformError
from floorflow.hardware import load_platform, new_board

KV260 = "xck26-sfvc784-2LV-c"
EDITS = """\
cell_pattern: "top_i/StreamingDataflowPartition_{partition}/inst/StreamingDataflowPartition_{partition}_{engine}"
shell: none
infrastructure:
  - {name: processor_interface, slr: SLR0, per: every, resources: {LUT: 5337, FF: 7329}}
  - {name: input_dma, slr: SLR0, per: every, resources: {LUT: 1589, FF: 2024, BRAM18: 1}}
  - {name: output_dma, slr: SLR0, per: every, resources: {LUT: 1265, FF: 1784, BRAM18: 1}}
reconfiguration: {kind: partial, ms: 33.3}
memory_gbps: 153.6
power: {base_w: 3.1}
"""
"""What was changed in KV260's file, as platforms/README.md tells it."""


def shipped(name: str) -> dict[str, Any]:
    path = asset_folder("platforms") / "boards" / f"{name}.yaml"
    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def test_the_new_file_with_the_edits_is_the_shipped_one_where_both_state_a_fact() -> None:
    made, edits, kv260 = yaml.safe_load(new_board("kv260", KV260)), yaml.safe_load(EDITS), shipped("kv260")
    assert {*edits} <= {*kv260}
    assert made.pop("assumed") == ["clock_mhz", "host_port", "cell_pattern"]
    edited = made | edits
    assert edited == {name: value for name, value in kv260.items() if name != "evidence"}


def test_the_edits_are_those_that_the_documents_tell() -> None:
    told = (asset_folder("platforms") / "README.md").read_text(encoding="utf-8")
    assert all(line in told for line in EDITS.splitlines())


@pytest.mark.parametrize("part", PARTS)
def test_a_new_file_can_be_planned_on_as_it_is(part: str, tmp_path: Path) -> None:
    text = new_board("mine", part)
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    platform = load_platform(tmp_path / "mine.yaml")
    assert platform.fpgas[0].board.part.startswith(part)
    assert max(map(len, text.splitlines())) <= 130


def test_what_it_holds_as_comments_is_a_board_when_they_are_taken_off(tmp_path: Path) -> None:
    lines = new_board("mine", KV260).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("# infrastructure:"))
    taken = [line.removeprefix("# ") if 0 <= number - start <= 3 else line for number, line in enumerate(lines)]
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(taken).replace("# reconfiguration:", "reconfiguration:"), encoding="utf-8")
    board = load_platform(path).fpgas[0].board
    assert [item.name for item in board.infrastructure] == ["processor_interface", "input_dma", "output_dma"]
    assert board.unstated == ("shell",)


@pytest.mark.parametrize(
    ("name", "part", "complaint"),
    [
        ("mine", "xczu4ev", "part 'xczu4ev': its die is not known"),
        ("my board", KV260, "board 'my board': expected small letters"),
        ("../x", KV260, "board '../x': expected small letters"),
    ],
)
def test_what_cannot_be_made_is_refused(name: str, part: str, complaint: str) -> None:
    with pytest.raises(PlatformError, match=complaint) as caught:
        new_board(name, part)
    assert caught.value.hint
