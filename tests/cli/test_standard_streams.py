"""What becomes of output that nobody reads, or that cannot be written."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

COMMANDS = [["platforms"], ["plan", "--help"]]
MORE = [
    pytest.param(words, marks=pytest.mark.slow)
    for words in (["platforms", "--json"], ["platforms", "zcu104"], ["--version"])
]


def ended(arguments: list[str], stdout: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "floorflow", *arguments]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.parametrize("arguments", [*COMMANDS, *MORE], ids=" ".join)
def test_a_pipe_whose_reader_left_is_no_error(arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = ended(arguments, writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [*COMMANDS, *MORE], ids=" ".join)
def test_a_full_device_is_told_and_ends_in_4(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = ended(arguments, full.fileno())
    assert done.returncode == 4
    assert done.stderr.startswith("error: standard output cannot be written: No space left on device\nhint: ")
    assert len(done.stderr.splitlines()) == 2


def test_a_bad_plan_is_told_by_the_exit_code_where_nobody_reads(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    reading, writing = os.pipe()
    os.close(reading)
    done = ended(["check", str(tmp_path)], writing)
    os.close(writing)
    assert done.returncode == 1


def feed(stream: IO[str]) -> None:
    for _ in range(1_000_000):
        stream.write('{"op_type": "StreamingFIFO_rtl", "attrs": {}}\n')


def test_pricing_ends_when_its_reader_left() -> None:
    command = [sys.executable, "-m", "floorflow", "cost", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as pricing:
        assert pricing.stdin
        assert pricing.stdout
        pricing.stdout.close()
        with pytest.raises(BrokenPipeError):
            feed(pricing.stdin)
        with suppress(BrokenPipeError):
            pricing.stdin.close()
