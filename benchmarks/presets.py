"""Plan all models on four boards as two presets ask for, and print what an engineer looks at first, side by side.

    python benchmarks/presets.py [FOLDER] [--before max] [--after balanced] [--rows FILE] [--out FILE.md]

FOLDER holds further models (default: ../shared/models) beside the examples. ``max`` plans as version 0.1 did. Each row
is a command of its own, `floorflow plan MODEL -p BOARD --fpgas N --preset NAME`, one at a time, judged by `check`. Rows
that are in the JSON lines file ``--rows`` are not run again. N is 2 for ResNet-50 on a U250, else auto.

Columns: interval in cycles (FPGAs); the fullest share of what is available in a slot, by resource; the engine that
takes the largest share of its slot's LUT or DSP, and the most products of any HLS engine; the probability that the
least likely pblock holds its module; streams over more than one SLR boundary; engines whose weights the host writes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runs import Row, command_of, keep, markdown, planned, rows_of

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (ROOT / "examples", ROOT.parent / "shared" / "models")
BOARDS = ("pynq-z1", "zcu104", "alveo-u250", "xcku5p")
TWO_CARDS = {("resnet50_w1a2", "alveo-u250")}
RESOURCES = ("LUT", "FF", "BRAM18", "URAM", "DSP")
HEADINGS = (
    "preset",
    "interval",
    "fullest of available",
    "largest engine",
    "products",
    "pblock",
    "far",
    "host",
    "check",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="folder of models beside the examples")
    parser.add_argument("--before", default="max")
    parser.add_argument("--after", default="balanced")
    parser.add_argument("--rows", type=Path, default=Path("presets_rows.jsonl"), help="JSON lines of finished rows")
    parser.add_argument("--out", type=Path, help="write the Markdown table here instead of printing it")
    parser.add_argument("--timeout", type=float, default=600, help="seconds a row")
    parser.add_argument("--models", nargs="+", default=[""], help="only those whose name holds one of these words")
    parser.add_argument("--boards", nargs="+", default=list(BOARDS))
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    chosen = parser.parse_args()
    asked = list(requests(chosen))
    rows = {row["key"]: row for row in rows_of(chosen.rows)}
    for key, arguments in asked if not chosen.only_table else []:
        if key not in rows:
            rows[key] = {"key": key, **measured(arguments, chosen.timeout)}
            keep(rows[key], chosen.rows)
            print(key, *cells(rows[key])[:2], f"{rows[key]['wall_s']:.1f} s", flush=True)
    lines = [[*key.split()[:2], key.split()[-1], *cells(rows[key])] for key, _ in asked if key in rows]
    text = markdown(["model", "board", *HEADINGS, "seconds"], lines)
    if chosen.out:
        chosen.out.write_text(text, encoding="utf-8")
    else:
        print(text)


def requests(chosen: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """Yield every row's key, and the arguments of its command."""
    folders = [FOLDERS[0], chosen.folder or FOLDERS[1]]
    models = {
        path.name.split(".")[0].removeprefix("brevitas_"): path for f in folders for path in sorted(f.glob("*.onnx"))
    }
    for name, path in sorted(models.items()):
        for board in chosen.boards if any(word in path.name for word in chosen.models) else ():
            fpgas = "2" if (name, board) in TWO_CARDS else "auto"
            for preset in (chosen.before, chosen.after):
                options = ["-p", board, "--fpgas", fpgas, "--preset", preset, "--no-plots"]
                yield f"{name} {board} {preset}", [str(path), *options]


def measured(arguments: list[str], timeout_s: float) -> Row:
    """Run one command."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        row = planned(command_of(None), arguments, out, timeout_s)
        file = out / "plan.json"
        return row | (looks(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {})


def looks(plan: dict[str, Any]) -> Row:
    """Return what an engineer looks at first in a plan of version 2 with one phase."""
    phase = plan["phases"][0]
    part = phase["networks"][0]
    slots = {slot["name"]: slot for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]}
    slot_of = {engine: phase["partition"]["assignment"][m["name"]] for m in phase["modules"] for engine in m["engines"]}
    used = phase["partition"]["utilisation"].values()
    engines = part["folding"]["engines"]
    shares = [
        (engine["resources"][name] / slots[slot_of[which]]["available"][name], name, which)
        for which, engine in engines.items()
        for name in ("LUT", "DSP")
        if slots[slot_of[which]]["available"][name]
    ]
    pblocks = [p for placed in phase["floorplan"].values() for p in placed["pblocks"].values()]
    likelihoods = [p["likelihood"] for p in pblocks if p["likelihood"] is not None]
    return {
        "fullest": {name: max(share[name] for share in used) for name in RESOURCES},
        "largest": max(shares),
        "products": max(engine["products"] for engine in engines.values()),
        "least_likely": min(likelihoods, default=None),
        "far": len(phase["partition"]["hops"]["streams"]),
        "host_weights": sum(e["attributes"].get("runtime_writeable_weights", 0) for e in engines.values()),
    }


def cells(row: Row) -> list[str]:
    """Return the cells of a row behind its preset."""
    time = f"{row['wall_s']:.1f}"
    if "fullest" not in row:
        end = "stopped" if row["timed_out"] else f"exit {row['exit']}"
        return [end, *[""] * 6, row.get("check", ""), time]
    fullest = ", ".join(f"{name} {row['fullest'][name]:.0%}" for name in RESOURCES if row["fullest"][name] >= 0.005)
    share, resource, engine = row["largest"]
    likely = "" if row["least_likely"] is None else f"{int(1000 * row['least_likely']) / 10:.1f}%"
    interval = f"{row['interval_cycles']:,} ({row['fpgas']})" + (" so far" if row["interrupted"] else "")
    largest = f"{engine} {share:.0%} {resource}"
    counts = [str(row["far"]), str(row["host_weights"])]
    return [interval, fullest, largest, f"{row['products']:,}", likely, *counts, row["check"], time]


if __name__ == "__main__":
    main()
