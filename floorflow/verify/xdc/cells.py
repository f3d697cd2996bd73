"""Rules on cells: in which pblocks, in which SLR, by which patterns, and under which shell."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from floorflow.verify.hardware.boards import KNOWN_PREFIXES, ONE_STAGE, Shell
from floorflow.verify.tcl.values import PATTERN
from floorflow.verify.xdc.findings import NOTE, WARNING, Findings
from floorflow.verify.xdc.floorplan import Floorplan, Held
from floorflow.verify.xdc.pblocks import PblockJudge
from floorflow.verify.xdc.report import Report
from floorflow.verify.xdc.targets import Target

_ENDS_OPEN = re.compile(r"\d\*$")


def judge_cells(floorplan: Floorplan, report: Report | None, findings: Findings) -> None:
    """Judge that each cell is in one pblock, and that patterns take what they seem to."""
    _judge_patterns(floorplan, findings)
    for cell, before, at, after, place in floorplan.moves:
        found = f"{cell.text} in {before} ({at}) and {after} ({place}), which holds"
        severity = NOTE if floorplan.is_nested(after, before) else ""
        findings.add("cell-in-two-pblocks", place, found, "one pblock", pblock=after, severity=severity)
    for cell, name, at, place in floorplan.repeats:
        findings.add("cell-repeated", place, cell.text, f"once; it is at {at}", pblock=name)
    for block in floorplan.pblocks.values():
        for cell, place in block.cells:
            if not cell.is_exact and _ENDS_OPEN.search(cell.text):
                expected = f"{cell.text[:-1]} or {cell.text[:-1]}/*"
                findings.add("cell-pattern-ambiguous", place, cell.text, expected, pblock=block.name)
            if report is not None and not report.matching(cell):
                hidden = report.may_hide(cell)
                found = f"{cell.text}" + (", which may lie below the report's depth" if hidden else "")
                severity = NOTE if hidden else ""
                expected = f"a cell of {report.file}"
                findings.add("cell-unmatched", place, found, expected, pblock=block.name, severity=severity)


def _judge_patterns(floorplan: Floorplan, findings: Findings) -> None:
    """Judge that no pattern takes a cell that another pblock names."""
    named = sorted(
        (cell.text, block.name, place.file, place.line)
        for block in floorplan.pblocks.values()
        for cell, place in block.cells
        if cell.is_exact
    )
    for block in floorplan.pblocks.values():
        for cell, place in block.cells:
            head = PATTERN.split(cell.text, maxsplit=1)[0] if cell.how in ("glob", "filter") else ""
            takes = cell.taking()
            for name, other, file, line in _beginning(named, head) if head else ():
                floorplan.work.charge(cell.cost((name,)), place.line)
                if other != block.name and takes(name):
                    found = f"{cell.text} in {block.name} takes {name} in {other} ({file}:{line})"
                    expected = "one pblock; the last holds"
                    findings.add("cell-in-two-pblocks", place, found, expected, pblock=block.name, severity=WARNING)
                    break


def _beginning(named: list[tuple[str, str, str, int]], head: str) -> Iterator[tuple[str, str, str, int]]:
    """Yield from a sorted list what begins with a text."""
    for number in range(bisect_left(named, (head,)), len(named)):
        if not named[number][0].startswith(head):
            return
        yield named[number]


def judge_slrs(floorplan: Floorplan, held: Sequence[Held], judge: PblockJudge, findings: Findings) -> None:
    """Judge SLR assignments: SLRs that exist, and that the pblock of a cell agrees."""
    names = [str(entry["name"]) for entry in judge.device.raw["slrs"]]
    owner = {cell.text: one for one in held for cell in one.block.held}
    in_shell = {
        cell.text: (block.name, floorplan.shell_slrs[block.name][0])
        for block in floorplan.pblocks.values()
        if block.created is None and block.name in floorplan.shell_slrs
        for cell in block.held
    }
    of_block: dict[str, list[str]] = {}
    for slr, cell, place in floorplan.slrs:
        if re.fullmatch(r"SLR\d+", slr) and slr not in names:
            findings.add("slr-unknown", place, slr, f"one of {', '.join(names)}")
            continue
        block, (parent, own) = owner.get(cell.text), in_shell.get(cell.text, ("", slr))
        if slr in names and own != slr:
            found = f"{cell.text} in {slr}, and in {parent}"
            findings.add("cell-and-slr", place, found, "one of the two", pblock=parent)
        if block is not None and block.name not in of_block:
            of_block[block.name] = judge.slrs_of(block)
        slrs = of_block[block.name] if block is not None else []
        if block is not None and slr in names and slrs and slr not in slrs:
            found = f"{cell.text} in {slr}, and in {block.name} in {', '.join(slrs)}"
            findings.add("cell-and-slr", place, found, "one of the two", pblock=block.name)
    has_laguna = "LAGUNA" in judge.device.raw["site_columns"]
    for cell, place in floorplan.sll_registers if has_laguna else ():
        block = next((owner[name] for name in _above(cell.text) if name in owner), None)
        if block is not None and block.sites and not any(kind == "LAGUNA" for kind, _ in block.sites):
            found = f"{cell.text} in {block.name}, which has no LAGUNA"
            findings.add("laguna-left-out", place, found, "LAGUNA ranges in it", pblock=block.name)


def _above(cell: str) -> list[str]:
    parts = cell.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def judge_prefixes(floorplan: Floorplan, target: Target, shell: Shell | None, findings: Findings) -> None:
    """Judge that cells are named as under the board's shell, or under one that is known for the die."""
    for block in floorplan.pblocks.values():
        for cell, place in block.cells:
            prefix = next((one for one in KNOWN_PREFIXES if cell.text.startswith(f"{one}/")), None)
            if shell is not None and prefix is not None and not shell.holds(cell.text):
                expected = f"{shell.prefix}/..., as under {shell.name}"
                severity = WARNING if ONE_STAGE.get(shell.prefix) == prefix else ""
                findings.add("cell-prefix", place, cell.text, expected, pblock=block.name, severity=severity)
            elif shell is None and prefix is not None:
                found = f"{cell.text}, as under a shell"
                known = ", ".join(sorted({entry["prefix"] for entry in target.entries})) or "none"
                expected = f"a shell known for {target.device_file}: {known}"
                severity = WARNING if target.entries else NOTE
                findings.add("cell-prefix", place, found, expected, pblock=block.name, severity=severity)
                return
