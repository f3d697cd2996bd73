"""The host's script runs batches through regions: on a board of the test's own that is slow to load and forgets."""

import json
import runpy
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from floorflow.emit.chunks import Use, chunk_files, offsets
from floorflow.emit.host.run_chunks import Runner, main
from floorflow.facts import Plan

BATCH = 4
WORDS = {"host:in0": 6, "memory:a.0": 20, "memory:b.0": 3, "host:out0": 2}
"""Bytes a frame of each buffer as it is written."""
LAYOUTS = {"e0->memory:a.0": (4, 20), "memory:a.0->e1": (16, 5)}
"""Bits of a word and words a frame where they are not bytes: one writes 4 bits a byte, what reads takes 16 at once."""
STEPS = [("host:in0", "memory:a.0"), ("memory:a.0", "memory:b.0"), ("memory:b.0", "host:out0")]


def channel(source: str, target: str) -> Any:
    held = source if ":" in source else target
    ends = [SimpleNamespace(outside=text.partition(":")[0] if ":" in text else None) for text in (source, target)]
    name = f"{source}->{target}"
    width, words = LAYOUTS.get(name, (8, WORDS[held]))
    return SimpleNamespace(name=name, source=source, target=target, width_bits=width, words_per_frame=words, ends=ends)


def plan_of(regions: Sequence[str]) -> Plan:
    """Return three chunks after one another, in these regions."""
    phases, last = [], dict[str, str]()
    for number, (loaded, stored) in enumerate(STEPS):
        region = regions[number % len(regions)]
        channels = [channel(loaded, f"e{number}"), channel(f"e{number}", stored)]
        phases.append(
            SimpleNamespace(name=f"p{number}", region=region, loads_after=last.get(region), channels=channels)
        )
        last[region] = f"p{number}"
    held = [SimpleNamespace(name=name) for name in dict.fromkeys(regions)]
    schedule = SimpleNamespace(batch=BATCH)
    return cast(Plan, SimpleNamespace(phases=phases, schedule=schedule, reconfigurable=SimpleNamespace(regions=held)))


class Board:
    """Runs a chunk when it is waited for; what is sent to a region that is cut off or being loaded is a mistake."""

    def __init__(self, chunks: dict[str, Any]) -> None:
        self.log: list[str] = []
        self._steps = {step["phase"]: step for step in chunks["steps"]}
        self._there: dict[str, str | None] = dict(chunks["reference"])
        self._cut: set[str] = set()
        self._running: dict[str, Callable[[], None]] = {}

    def load_all(self, file: Path) -> None:
        self.log.append(f"load {file.name}")

    def load_part(self, file: Path) -> None:
        region = self._steps[file.stem]["region"]
        assert region in self._cut, "loaded while its logic could drive what stays"
        assert region not in self._running, "loaded while it runs"
        self._there[region] = file.stem
        self.log.append(f"load {file.name}" + (f" while {','.join(self._running)} runs" if self._running else ""))

    def decouple(self, region: str, value: int) -> None:
        (self._cut.add if value else self._cut.discard)(region)

    def memory(self, size: int) -> Any:
        return memoryview(bytearray(size))

    def start(self, region: str, loads: Sequence[Any], stores: Sequence[Any]) -> None:
        phase = self._there[region]
        assert region not in self._cut
        assert phase is not None

        def run() -> None:
            (loaded,), (stored,) = loads, stores
            stored[:] = computed(phase, bytes(loaded), len(stored))

        self._running[region] = run
        self.log.append(f"run {phase}")

    def wait(self, region: str) -> None:
        self._running.pop(region)()


def computed(phase: str, loaded: bytes, size: int) -> bytes:
    """Return what a chunk makes of a batch: every byte depends on all of a frame."""
    frame, made = len(loaded) // BATCH, size // BATCH
    frames = [loaded[n * frame : (n + 1) * frame] for n in range(BATCH)]
    return b"".join(bytes((sum(one) * 7 + i + int(phase[1:])) % 256 for i in range(made)) for one in frames)


def nibbles_joined(stored: bytes) -> bytes:
    """Return what the second chunk reads of the first one's bytes, of which the upper halves mean nothing."""
    pairs = zip(stored[::2], stored[1::2], strict=True)
    return bytes((low & 15) | (high & 15) << 4 for low, high in pairs)


def chunks_in(folder: Path, regions: Sequence[str]) -> dict[str, Any]:
    files = chunk_files(plan_of(regions))
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("full.bit", "p0.bit", "p1.bit", "p2.bit"):
        (folder / name).write_text("bits")
    content: dict[str, Any] = json.loads(files["host/chunks.json"])
    return content


@pytest.mark.parametrize("regions", [["r0"], ["r0", "r1"]], ids=["one region", "two regions"])
def test_batches_go_through_all_chunks(regions: list[str], tmp_path: Path) -> None:
    chunks = chunks_in(tmp_path, regions)
    board = Board(chunks)
    runner = Runner(chunks, tmp_path, board)
    for number in range(2):
        inputs = bytes((n * 5 + number) % 256 for n in range(BATCH * WORDS["host:in0"]))
        expected = inputs
        for step, (_, stored) in enumerate(STEPS):
            loaded = nibbles_joined(expected) if step == 1 else expected
            expected = computed(f"p{step}", loaded, BATCH * WORDS[stored])
        assert runner.batch(inputs) == expected
    runs = [line for line in board.log if line.startswith("run")]
    assert runs == ["run p0", "run p1", "run p2"] * 2


def test_with_two_regions_the_next_chunk_loads_while_one_runs(tmp_path: Path) -> None:
    chunks = chunks_in(tmp_path, ["r0", "r1"])
    board = Board(chunks)
    Runner(chunks, tmp_path, board).batch(bytes(BATCH * WORDS["host:in0"]))
    assert board.log == ["load full.bit", "run p0", "run p1", "load p2.bit while r1 runs", "run p2"]


def test_one_region_is_loaded_between_chunks(tmp_path: Path) -> None:
    chunks = chunks_in(tmp_path, ["r0"])
    board = Board(chunks)
    Runner(chunks, tmp_path, board).batch(bytes(BATCH * WORDS["host:in0"]))
    assert board.log == ["load full.bit", "run p0", "load p1.bit", "run p1", "load p2.bit", "run p2"]


def test_buffers_tell_who_writes_and_reads_which_bytes_when(tmp_path: Path) -> None:
    chunks = chunks_in(tmp_path, ["r0"])
    held = {entry["name"]: entry for entry in chunks["buffers"]}
    packed = held.pop("memory:a.0 in 16 bits")
    assert {name: entry["bytes"] for name, entry in held.items()} == {n: BATCH * w for n, w in WORDS.items()}
    assert (held["memory:a.0"]["written_by"], held["memory:a.0"]["read_by"]) == (["p0"], ["host"])
    assert (packed["packed_from"], packed["bytes"], packed["read_by"]) == ("memory:a.0", BATCH * 10, ["p1"])
    assert (packed["first_step"], packed["last_step"]) == (1, 1)
    assert (held["memory:b.0"]["written_by"], held["memory:b.0"]["read_by"]) == (["p1"], ["p2"])
    assert (held["host:in0"]["written_by"], held["host:out0"]["read_by"]) == (["host"], ["host"])
    assert [(e["first_step"], e["last_step"]) for e in held.values()] == [(0, 0), (2, 2), (0, 1), (1, 2)]


def test_buffers_in_use_together_share_no_byte_and_others_may() -> None:
    uses = [Use(f"b{n}", 1000 * (n % 3 + 1), n, n + 1) for n in range(8)]
    places = offsets(uses)
    for one, other in combinations(uses, 2):
        if one.first <= other.last and other.first <= one.last:
            ends = [(places[u.name], places[u.name] + u.size) for u in (one, other)]
            assert ends[0][1] <= ends[1][0] or ends[1][1] <= ends[0][0]
    assert max(places[u.name] + u.size for u in uses) < sum(u.size for u in uses) + 4096
    assert len(set(places.values())) < len(uses)


def test_the_script_runs_a_file_of_batches(tmp_path: Path) -> None:
    chunks = chunks_in(tmp_path, ["r0", "r1"])
    (tmp_path / "in.bin").write_bytes(bytes(2 * BATCH * WORDS["host:in0"]))
    script = runpy.run_path(str(tmp_path / "host" / "run_chunks.py"))
    given = ["--bitstreams", tmp_path, "--input", tmp_path / "in.bin", "--output", tmp_path / "out.bin"]
    assert script["main"]([str(word) for word in given], Board(chunks)) == 0
    assert (tmp_path / "out.bin").stat().st_size == 2 * BATCH * WORDS["host:out0"]


def test_a_missing_bitstream_and_half_a_batch_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = chunks_in(tmp_path, ["r0"])
    monkeypatch.setattr("floorflow.emit.host.run_chunks.__file__", str(tmp_path / "host" / "run_chunks.py"))
    (tmp_path / "in.bin").write_bytes(b"12345")
    given = ["--bitstreams", str(tmp_path), "--input", str(tmp_path / "in.bin"), "--output", str(tmp_path / "o")]
    with pytest.raises(SystemExit, match="5 bytes, expected a multiple of the 24"):
        main(given, Board(chunks))
    (tmp_path / "p1.bit").unlink()
    with pytest.raises(SystemExit, match=r"has no p1.bit; run dfx/dfx.tcl first"):
        main(given, Board(chunks))
    assert not (tmp_path / "o").exists()


def test_a_plan_without_regions_has_none_of_these_files() -> None:
    nothing = SimpleNamespace(reconfigurable=None, schedule=None)
    assert chunk_files(cast(Plan, nothing)) == {}
