"""The files of a plan with regions: the script that implements them, and what the host is told of buffers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from floorflow.verify.facts import PhaseFacts
from floorflow.verify.files import Folder
from floorflow.verify.hardware.boards import Board
from floorflow.verify.records import Record
from floorflow.verify.schema import departures
from floorflow.verify.violations import Findings

SCRIPT, CHUNKS = "dfx/dfx.tcl", "host/chunks.json"
CHUNKS_SCHEMA = "floorflow-chunks/1"
_PAIR = re.compile(r"(\w+) \{?([^{}\\\n]*?)\}?(?: \\)?$")
_CONFIGURATION = re.compile(r"lappend configurations \[list \{[^{}]+\} \[dict create ([^\]]*)\]\]")
_WORD = re.compile(r"\{([^{}]*)\}")


def check_region_files(
    folder: Folder, plan: Record, phases: Sequence[PhaseFacts], boards: Mapping[str, Board], findings: Findings
) -> None:
    """Judge that script and chunks.json say what the plan does, and that there are none without regions."""
    if plan.get("reconfigurable") is None:
        for where, name in ((SCRIPT, "wrong-region-script"), (CHUNKS, "wrong-chunks")):
            if folder.matching([where]):
                findings.add(name, where, "the plan has no regions; a left-over of another plan?")
        return
    text = folder.text(SCRIPT, findings)
    if text is not None:
        _check_script(text, plan, phases, boards, findings)
    if plan["schedule"] is not None:
        content = folder.json(CHUNKS, findings)
        if content is not None:
            _check_chunks(content, plan, phases, findings)


def _check_script(
    text: str, plan: Record, phases: Sequence[PhaseFacts], boards: Mapping[str, Board], findings: Findings
) -> None:
    stated = [_pairs(block) for block in text.split("lappend regions [dict create")[1:]]
    expected = [
        {
            "name": region["name"],
            "cell": region["cell"],
            "pblock": f"pblock_region_{region['name']}",
            "ranges": " ".join(region["ranges"]),
            "snapping": region["snapping_mode"],
            "reset": str(region["reset_after_reconfig"]).upper(),
        }
        for region in plan["reconfigurable"]["regions"]
    ]
    if stated != expected:
        findings.add("wrong-region-script", SCRIPT, "its regions are not the plan's")
    part = f"-part {{{next(iter(boards.values())).raw['part']}}}" if boards else ""
    if part not in text:
        findings.add("wrong-region-script", SCRIPT, f"it is for another part, expected {part}")
    sets = [_WORD.findall(words) for words in _CONFIGURATION.findall(text)]
    told = [dict(zip(words[::2], words[1::2], strict=False)) for words in sets]
    of_region: dict[str, list[str]] = {}
    for phase in phases:
        of_region.setdefault(str(phase.raw.get("region")), []).append(phase.name)
    for region, names in of_region.items():
        run = list(dict.fromkeys(one[region] for one in told if region in one))
        if run != names:
            findings.add("wrong-region-script", SCRIPT, f"region {region} is implemented with {run}, expected {names}")


def _pairs(block: str) -> dict[str, str]:
    lines = [line.strip().removesuffix("]") for line in block.partition("]")[0].splitlines()]
    return {match[1]: match[2] for match in map(_PAIR.fullmatch, lines) if match}


def _check_chunks(content: Record, plan: Record, phases: Sequence[PhaseFacts], findings: Findings) -> None:
    faults = list(departures(content, "chunks_file", CHUNKS))
    for where, message in faults:
        findings.add("wrong-chunks", where, message)
    if faults:
        return
    batch = plan["schedule"]["batch"]
    findings.expect("wrong-chunks", CHUNKS, "schema", content["schema"], CHUNKS_SCHEMA)
    findings.expect("wrong-chunks", CHUNKS, "batch", content["batch"], batch)
    left = {
        channel["target"]: (channel["width_bits"], channel["words_per_frame"])
        for phase in phases
        for channel in phase.channels
    }
    steps = [_step(phase, batch, left) for phase in phases]
    stated = content["steps"]
    for number, (told, step) in enumerate(zip(stated, steps, strict=False)):
        if {key: told[key] for key in step} != step:
            findings.add("wrong-chunks", f"{CHUNKS} step {number}", f"it is not what phase {step['phase']} does")
    findings.expect("wrong-chunks", CHUNKS, "number of steps", len(stated), len(steps))
    first: dict[str, str | None] = {region["name"]: None for region in plan["reconfigurable"]["regions"]}
    for phase in reversed(phases):
        first[str(phase.raw.get("region"))] = phase.name
    findings.expect("wrong-chunks", CHUNKS, "reference", content["reference"], first)
    _check_buffers(content, steps, findings)


def _step(phase: PhaseFacts, batch: int, left: Mapping[str, tuple[int, int]]) -> Record:
    return {
        "phase": phase.name,
        "region": phase.raw.get("region"),
        "loads_after": phase.raw.get("loads_after"),
        "bitstream": f"{phase.name}.bit",
        "loads": [*_rows(phase, "source", batch, left)],
        "stores": [*_rows(phase, "target", batch, left)],
    }


def _rows(phase: PhaseFacts, side: str, batch: int, left: Mapping[str, tuple[int, int]]) -> Iterator[Record]:
    """Yield what a phase loads or stores; words of another width than the buffer's are packed into an area apart."""
    for channel in phase.channels:
        end = phase.end(channel, side)
        if end is not None and end.kind in ("host", "memory"):
            name, width, words = channel[side], channel["width_bits"], channel["words_per_frame"]
            same = left.get(name, (width, words)) == (width, words)
            yield {
                "buffer": name,
                "area": name if same else f"{name} in {width} bits",
                "channel": channel["name"],
                "width_bits": width,
                "words_per_frame": words,
                "bytes": batch * words * -(-width // 8),
            }


def _areas(steps: Sequence[Record]) -> dict[str, Record]:
    """Return what must be said of each area but where it lies."""
    needed: dict[str, Record] = {}
    at: dict[str, set[int]] = {}
    for number, step in enumerate(steps):
        for side, key in (("stores", "written_by"), ("loads", "read_by")):
            for row in step[side]:
                held = needed.setdefault(row["area"], {"written_by": [], "read_by": [], "packed_from": None})
                held |= {field: row[field] for field in ("bytes", "width_bits", "words_per_frame")}
                held[key].append(step["phase"])
                if row["area"] != row["buffer"]:
                    held["packed_from"] = row["buffer"]
                at.setdefault(row["area"], set()).add(number)
                at.setdefault(row["buffer"], set()).add(number)
    for name, held in needed.items():
        outer = {0} if name.startswith("host:in") else {len(steps) - 1} if name.startswith("host:out") else set()
        held["first_step"], held["last_step"] = min(at[name] | outer), max(at[name] | outer)
        held["written_by"], held["read_by"] = held["written_by"] or ["host"], held["read_by"] or ["host"]
    return needed


def _check_buffers(content: Record, steps: Sequence[Record], findings: Findings) -> None:
    """Judge sizes, who writes and reads, when, and that what is in use together lies apart."""
    needed = _areas(steps)
    stated = {entry["name"]: entry for entry in content["buffers"]}
    if stated.keys() != needed.keys() or len(stated) != len(content["buffers"]):
        findings.add("wrong-chunks", f"{CHUNKS} buffers", f"they are {sorted(stated)}, expected {sorted(needed)}")
        return
    for name, held in needed.items():
        entry, where = stated[name], f"{CHUNKS} buffer {name}"
        findings.compare("wrong-chunks", where, entry, held)
        if entry["offset"] + entry["bytes"] > content["memory_bytes"]:
            findings.add("wrong-chunks", where, "it ends behind the memory")
    for one, other in combinations(content["buffers"], 2):
        together = one["first_step"] <= other["last_step"] and other["first_step"] <= one["last_step"]
        first, second = sorted((one, other), key=lambda entry: int(entry["offset"]))
        if together and first["offset"] + first["bytes"] > second["offset"]:
            findings.add("wrong-chunks", f"{CHUNKS} buffers", f"{one['name']} and {other['name']} share bytes")
