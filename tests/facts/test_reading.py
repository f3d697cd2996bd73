"""Reading plan.json: what is written is read back, plans of version 1 and broken ones are refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from floorflow.errors import InputError
from floorflow.facts import read_plan
from floorflow.facts.channel import End, end_of
from floorflow.facts.values import PlainName


def test_a_plan_is_read_back_as_it_was_written(cnv_on_pynq: Path) -> None:
    text = (cnv_on_pynq / "plan.json").read_text()
    assert read_plan(cnv_on_pynq / "plan.json").to_json() == text


def test_schema_and_summary_stand_first_and_all_else_in_order(cnv_on_pynq: Path) -> None:
    plan = json.loads((cnv_on_pynq / "plan.json").read_text())
    keys = list(plan)
    assert keys[:2] == ["schema", "summary"]
    assert keys[2:] == sorted(keys[2:])
    assert list(plan["phases"][0]) == sorted(plan["phases"][0])


def test_a_plan_of_version_1_is_refused_with_what_made_it_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"schema": "floorflow-plan/1", "version": "0.1.0", "phases": []}))
    with pytest.raises(InputError) as refused:
        read_plan(path)
    assert "floorflow-plan/1, written by floorflow 0.1.0; this floorflow reads floorflow-plan/2" in str(refused.value)
    assert "plan again" in refused.value.hint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "the file: Invalid JSON"),
        ("[]", "the file: "),
        ("{}", "summary: Field required"),
        ('{"schema": "floorflow-plan/2", "phases": {}}', "summary: Field required"),
        ("[" * 100_000, "the file: "),
    ],
)
def test_what_is_no_plan_is_refused_by_its_first_wrong_field(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_plan(path)


@pytest.mark.parametrize(("of", "message"), [("phases", "phases: "), ("networks", "networks: ")])
def test_a_plan_without_a_network_or_a_phase_is_refused(
    of: str, message: str, cnv_on_pynq: Path, tmp_path: Path
) -> None:
    plan = json.loads((cnv_on_pynq / "plan.json").read_text())
    plan[of] = []
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    with pytest.raises(InputError, match=message):
        read_plan(path)


@pytest.mark.parametrize("name", ["camera", "v2.0", "...", "..a", ".a", "-", "a..b"])
def test_plain_names_can_be_those_of_folders(name: str) -> None:
    assert TypeAdapter(PlainName).validate_python(name) == name


@pytest.mark.parametrize("name", [".", "..", "", "a/b", "a b"])
def test_names_of_this_folder_and_the_one_above_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(PlainName).validate_python(name)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("MVAU_hls_0", End("", None, "", "MVAU_hls_0")),
        ("net.a/MVAU_hls_0", End("net.a", None, "", "MVAU_hls_0")),
        ("host:in0", End("", "host", "", "in0")),
        ("net-1/host:out3", End("net-1", "host", "", "out3")),
        ("net/memory:skip", End("net", "memory", "", "skip")),
        ("phase:p1/tracks", End("", "phase", "p1", "tracks")),
        ("net/phase:p1/tracks", End("net", "phase", "p1", "tracks")),
    ],
)
def test_ends_of_channels_are_taken_apart(text: str, end: Any) -> None:
    assert end_of(text) == end


def test_other_ends_are_refused() -> None:
    with pytest.raises(ValueError, match="expected an engine"):
        end_of("net/cloud:in0")
