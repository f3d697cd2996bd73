"""Mistakes in the files of a plan whose phases lie in a region, each with the finding that tells of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Spoil = Callable[[dict[str, Any]], None]


def chunks(change: Spoil) -> Callable[[Path], None]:
    def spoil(out: Path) -> None:
        path = out / "host" / "chunks.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))

    return spoil


def script(old: str, new: str) -> Callable[[Path], None]:
    def spoil(out: Path) -> None:
        path = out / "dfx" / "dfx.tcl"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return spoil


def moved_pblock(out: Path) -> None:
    path = out / "phases" / "p0" / "fpga0" / "pblocks.unbound.tcl"
    path.write_text(path.read_text().replace("-parent {pblock_region_r0} \\\n    ", ""))


MISTAKES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "another cell": ("wrong-region-script", script("{top_i/r0}", "{top_i/r1}")),
    "another range": ("wrong-region-script", script("Y49", "Y48")),
    "no reset": ("wrong-region-script", script("reset TRUE", "reset FALSE")),
    "another part": ("wrong-region-script", script("xc7z020clg400-1", "xc7z010clg400-1")),
    "a phase not implemented": ("wrong-region-script", script("{r0} {p1}", "{r0} {p0}")),
    "no script": ("file-missing", lambda out: (out / "dfx" / "dfx.tcl").unlink()),
    "no chunks": ("file-missing", lambda out: (out / "host" / "chunks.json").unlink()),
    "two buffers at one place": ("wrong-chunks", chunks(lambda c: [b.update(offset=0) for b in c["buffers"]] and None)),
    "a shorter buffer": ("wrong-chunks", chunks(lambda c: c["buffers"][0].update(bytes=1))),
    "another writer": ("wrong-chunks", chunks(lambda c: c["buffers"][-1].update(written_by=["p1"]))),
    "not packed anew": ("wrong-chunks", chunks(lambda c: c["buffers"][-1].update(packed_from=None))),
    "released too early": ("wrong-chunks", chunks(lambda c: c["buffers"][-1].update(last_step=0))),
    "less memory": ("wrong-chunks", chunks(lambda c: c.update(memory_bytes=1))),
    "another order": ("wrong-chunks", chunks(lambda c: c["steps"].reverse())),
    "a step less": ("wrong-chunks", chunks(lambda c: c["steps"].pop())),
    "another reference": ("wrong-chunks", chunks(lambda c: c.update(reference={"r0": "p1"}))),
    "a buffer twice": ("wrong-chunks", chunks(lambda c: c["buffers"].append(c["buffers"][0]))),
    "no batch": ("wrong-chunks", chunks(lambda c: c.pop("batch"))),
    "no parent": ("pblock-parent", moved_pblock),
}
