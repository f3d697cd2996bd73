"""Any path that a user can name ends in one sentence and exit code 2, at once; nobody but the reader opens files."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from floorflow import api, reading
from floorflow.errors import InputError
from floorflow.network import soundness
from floorflow.output import write_file
from floorflow.reading import MOST_BYTES, read_bytes, read_json, read_text
from tests.command_line import floorflow
from tests.plans import TFC
from tests.sources import texts

REPO = Path(__file__).resolve().parent.parent
OWN_FILES = {
    "api/checking_files.py": "a shipped die",
    "api/explaining.py": "the shipped glossary",
    "api/models.py": "a temporary file",
    "backends/finn/cost/calibrated.py": "shipped fitted values",
    "backends/finn/host": "runs beside the cards, where the rest of floorflow is not",
    "backends/finn/host_files.py": "a shipped script",
    "backends/finn/step_files.py": "shipped Tcl",
    "backends/finn/step": "runs inside FINN, where the rest of floorflow is not",
    "emit": "shipped Tcl and scripts",
    "hardware/new_board.py": "a shipped template",
    "hardware/resource_platforms.py": "a shipped file",
    "jobs": "files of its own, logs of its jobs, and packaged IP by its digest",
    "output": "files of its own",
    "reading.py": "the reader",
    "verify": "has a reader of its own",
    "view/page": "its own style and script",
}
"""Modules that open files, which are not the user's."""
OPENS = re.compile(
    r"(?<!reading)(?<!api)\.(read_text|read_bytes|write_text|write_bytes|open)\(|(?<![.\w])open\(|\b(onnx|np)\.load\("
)


def loop(folder: Path) -> Path:
    (folder / "loop").symlink_to("loop")
    return folder / "loop"


def folder_of_that_name(folder: Path) -> Path:
    (folder / "folder").mkdir()
    return folder / "folder"


def pipe(folder: Path) -> Path:
    os.mkfifo(folder / "pipe")
    return folder / "pipe"


def below_a_file(folder: Path) -> Path:
    (folder / "file").write_text("x")
    return folder / "file" / "x"


def odd_bytes(folder: Path) -> Path:
    path = folder / os.fsdecode(b"caf\xe9.yaml")
    path.write_text("x")
    return path


BAD: dict[str, Callable[[Path], Path]] = {
    "nothing there": lambda folder: folder / "nothing",
    "a name of 300 characters": lambda folder: folder / ("x" * 300),
    "a path of 5000 characters": lambda folder: folder / "/".join(["x" * 200] * 25),
    "a loop of links": loop,
    "behind a loop of links": lambda folder: loop(folder) / "x",
    "a folder": folder_of_that_name,
    "a named pipe": pipe,
    "a device without end": lambda _: Path("/dev/zero"),
    "below a file": below_a_file,
    "a name that is not UTF-8": odd_bytes,
    "a zero byte": lambda folder: folder / "a\0b",
}
bad_paths = pytest.mark.parametrize("make", BAD.values(), ids=BAD.keys())


@bad_paths
def test_what_is_no_file_is_refused_with_a_sentence(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    with pytest.raises(InputError) as refused:
        read_bytes(path, "report", "give a report")
    assert refused.value.hint == "give a report"
    assert str(refused.value).startswith(reading.shown(path))
    str(refused.value).encode("utf-8")


@pytest.mark.parametrize("problem", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_what_the_system_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: OSError) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise problem

    monkeypatch.setattr(reading.os, "open", refuse)
    monkeypatch.setattr(reading.os, "scandir", refuse)
    for use in (lambda: read_bytes(tmp_path / "x", "plan", ""), lambda: reading.require_folder(tmp_path, "a folder")):
        with pytest.raises(InputError, match=str(problem.strerror).lower()):
            use()


def test_a_file_above_the_limit_of_its_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large").write_bytes(b"12345")
    monkeypatch.setattr(reading, "MOST_BYTES", {**MOST_BYTES, "plan": 5, "case": 4})
    assert read_bytes(tmp_path / "large", "plan", "") == b"12345"
    with pytest.raises(InputError, match="is larger than 4 bytes"):
        read_bytes(tmp_path / "large", "case", "")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "too deep"),
        (b'{"a":' * 100_000, "too deep"),
        (b'{"PE": 1, "PE": 2}', "'PE' stands twice"),
        (b"[NaN]", "NaN is no number"),
        (b"-Infinity", "-Infinity is no number"),
        (b"9" * 5000, "no JSON"),
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff\xfe{}", "no UTF-8 text"),
    ],
)
def test_json_that_is_none_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "file.json").write_bytes(content)
    with pytest.raises(InputError, match=r"file\.json: ") as refused:
        read_json(tmp_path / "file.json", "configuration", "")
    assert told in str(refused.value)


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfx")
    assert read_text(tmp_path / "file", "case", "") == "x"


def commands(path: Path, folder: Path) -> Iterator[tuple[str | Path, ...]]:
    """Yield every command that takes the path of a file or folder, with that path there."""
    new = folder / "new"
    board = f"{path.parent}/{path.name}"
    plan = ("plan", TFC, "-p", "pynq-z1", "-o", new)
    yield ("inspect", path)
    yield ("plan", TFC, "-p", board, "-o", new)
    yield (*plan, "--folding", path)
    yield (*plan, "--link", board)
    yield ("calibrate", "--reports", path, "-o", new)
    yield ("calibrate", path, "--reports", folder, "-o", new)
    yield ("bind", path, "--build", folder, "-o", new)
    yield ("cost", path)
    yield ("chunks", "--case", path)
    yield ("compare", "--case", path)
    yield ("audit", path)
    yield ("platforms", "--check", board)


@pytest.mark.parametrize("make", [one for name, one in BAD.items() if name != "a zero byte"])
def test_every_command_refuses_such_a_path(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    for words in commands(path, tmp_path):
        ended = floorflow(*words)
        assert (ended.returncode, "internal error" in ended.stderr) == (2, False), words
        assert "hint: " in ended.stderr, words


@pytest.mark.parametrize(
    "name", ["a name of 300 characters", "a loop of links", "behind a loop of links", "below a file"]
)
def test_an_output_that_cannot_be_is_refused_before_the_work(tmp_path: Path, name: str) -> None:
    out = BAD[name](tmp_path)
    ended = floorflow("plan", TFC, "-p", "pynq-z1", "-o", out)
    assert (ended.returncode, "cannot be written" in ended.stderr) == (2, True)
    ended = floorflow("platforms", "pynq-z1", "--picture", f"{out}/x.svg")
    assert ended.returncode == 2


@pytest.mark.parametrize("force", [False, True])
def test_a_picture_is_not_put_into_a_pipe_that_nobody_reads(tmp_path: Path, force: bool) -> None:
    path = pipe(tmp_path)
    with pytest.raises(InputError, match="there is such a file already"):
        write_file(path, b"x", force=force)


def test_an_error_of_the_system_that_names_a_file_is_no_internal_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "/root/x")

    monkeypatch.setattr(api, "inspect", refuse)
    ended = floorflow("inspect", TFC)
    assert (ended.returncode, "/root/x: Permission denied" in ended.stderr) == (2, True)


def test_nobody_else_opens_a_file_of_the_user() -> None:
    found = {
        name
        for name, text in texts().items()
        if any(OPENS.search(line) for line in text.splitlines() if "def open" not in line)
    }
    mine = {name for name in found if not any(name == own or name.startswith(f"{own}/") for own in OWN_FILES)}
    assert not mine, f"{sorted(mine)} open files by themselves, not by floorflow.reading"


def test_the_table_of_limits_is_that_of_the_constants() -> None:
    text = (REPO / "docs" / "models.md").read_text(encoding="utf-8")
    table = text.split("## Limits of what is read")[1].split("\n## ")[0]
    stated = {
        name: int(number.replace(",", ""))
        for name, number in re.findall(r"^\| (.+?) \| ([\d,]+) ", table, re.MULTILINE)
    }
    sizes = {f"bytes of a {kind} file": most for kind, most in MOST_BYTES.items()}
    graph = {
        "size of one dimension, kernel, stride, dilation or pad": soundness.MOST_SIZE,
        "elements of a tensor": soundness.MOST_ELEMENTS,
        "pixels of an image": soundness.MOST_PIXELS,
        "nodes of a graph": soundness.MOST_NODES,
    }
    assert stated == {**sizes, **graph}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_locale_without_a_letter_does_not_end_a_run(tmp_path: Path, encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "floorflow", "inspect", str(tmp_path / "\u7db2.onnx")]
    ended = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (ended.returncode, b"Traceback" in ended.stderr) == (2, False)
