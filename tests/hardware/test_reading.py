"""A platform file that is no platform file is refused with a message, whatever is in it."""

from pathlib import Path

import pytest

from floorflow.assets import asset_folder
from floorflow.errors import PlatformError
from floorflow.hardware import load_platform
from floorflow.verify.files import Folder
from floorflow.verify.violations import Findings


def bomb(line: str) -> str:
    """Return aliases of aliases: nine to the eleventh values, or merged keys."""
    rows = [f"b{n}: &a{n} " + line.replace("ALL", ",".join([f"*a{n - 1}"] * 9)) for n in range(1, 12)]
    return "\n".join(["a: &a0 {x: 1}", *rows])


HOSTILE = {
    "a mapping without end": "{a: " * 30_000,
    "lists in lists": "- " * 30_000,
    "closed lists in lists": "[" * 5_000 + "]" * 5_000,
    "aliases": bomb("[ALL]"),
    "merged mappings": bomb("{<<: [ALL]}"),
    "a number of 100,000 digits": "schema: " + "9" * 100_000,
    "a key twice": "schema: 1\nschema: 2",
    "a call": "!!python/object/apply:os.system [ls]",
    "NUL": "a: \0",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_yaml_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"
    path.write_text(text)
    with pytest.raises(PlatformError, match=r"board\.yaml: .*(not valid YAML|schema)"):
        load_platform(str(path))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_check_reports_hostile_yaml(text: str, tmp_path: Path) -> None:
    (tmp_path / "board.yaml").write_text(text)
    findings = Findings()
    assert Folder(tmp_path).yaml("board.yaml", findings) is None
    assert [violation.name for violation in findings.violations] == ["file-corrupt"]


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9")
    with pytest.raises(PlatformError, match="cannot be read"):
        load_platform(str(tmp_path / "latin.yaml"))


def test_aliases_in_reason_may_stand() -> None:
    from floorflow.hardware.reading import _require_plain

    _require_plain("a: &x {b: 1, c: [1, 2, 3]}\nd: [*x, *x]\ne: {<<: *x}")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("  name: xilinx_u250", '  name: "a b"\n  # xilinx_u250', "shell.name"),
        ("  name: xilinx_u250", '  name: "x\\n[advanced]"\n  # xilinx_u250', "shell.name"),
        ("part: xcu250-figd2104-2L-e", "part: xcu250-f\u00efgd2104-2L-e", "part"),
        ("  hierarchy: ", '  hierarchy: "{x}"\n  # ', "shell.hierarchy"),
    ],
)
def test_texts_that_reach_scripts_have_a_grammar(old: str, new: str, field: str, tmp_path: Path) -> None:
    text = (asset_folder("platforms") / "boards" / "alveo-u250.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("name: alveo-u250", "name: mine").replace(old, new), encoding="utf-8")
    with pytest.raises(PlatformError, match=rf"mine\.yaml: {field}: String should match pattern"):
        load_platform(str(path))
