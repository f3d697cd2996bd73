"""Rules on pblocks (contents, shell, dies, properties, overlaps, parents) and on cells (pblocks, SLRs, patterns)."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.hardware.boards import KNOWN_PREFIXES, ONE_STAGE, Shell
from floorflow.verify.hardware.geometry import Device, Sites, describe, difference
from floorflow.verify.hardware.ranges import left_out, overlapping, slrs_of
from floorflow.verify.tcl.values import PATTERN
from floorflow.verify.xdc.findings import ERROR, NOTE, WARNING, Findings
from floorflow.verify.xdc.floorplan import Demand, Floorplan, Held, Pblock, Report
from floorflow.verify.xdc.targets import Target

MOST_PAIRS = 1000
"""So many overlaps are looked for; a floorplan with more is wrong as a whole."""


def judge_pairs(floorplan: Floorplan, held: Sequence[Held], findings: Findings) -> None:
    """Judge every two pblocks that share sites."""
    told = 0
    for first, second, both in overlapping(held, floorplan.work.charge):
        if floorplan.is_nested(first.name, second.name) or floorplan.is_nested(second.name, first.name):
            continue
        told += 1
        if told > MOST_PAIRS:
            expected = f"at most {MOST_PAIRS:,} pairs that share sites"
            findings.add("not-evaluated", first.block.shape_place, "all further overlaps of pblocks", expected)
            return
        inner, outer = (first, second) if not difference(first.sites, second.sites) else (second, first)
        if not difference(inner.sites, outer.sites) and _cells_inside(inner.block, outer.block):
            place, found = inner.block.shape_place, f"{inner.name} lies inside {outer.name}, as its cells do"
            expected = f"PARENT {outer.name}"
            findings.add("nested-without-parent", place, found, expected, pblock=inner.name, sites=both)
            continue
        late = max(first, second, key=lambda one: one.block.shape_place.order)
        other = first if late is second else second
        strict = [one for one in (first, second) if _is_strict(floorplan, one.block)]
        found = f"{late.name} and {other.name} share {describe(both)}"
        expected = "sites of its own" + (f", since {strict[0].name} is hard" if strict else "")
        place, severity = late.block.shape_place, ERROR if strict else ""
        findings.add("pblock-overlap", place, found, expected, pblock=late.name, severity=severity, sites=both)


def _is_strict(floorplan: Floorplan, block: Pblock) -> bool:
    """Whether nothing else may lie in a pblock, or the cells that it has nowhere else."""
    holds = block.is_hard and block.has_cells
    return holds or block.is_set("EXCLUDE_PLACEMENT") or floorplan.is_reconfigurable(block)


def _cells_inside(inner: Pblock, outer: Pblock) -> bool:
    """Whether every cell of one pblock is below a cell of the other in the hierarchy."""
    if outer.has_top:
        return True
    above = {cell.text for cell in outer.held}
    return bool(inner.held) and all(
        any(cell.text[:at] in above for at, char in enumerate(cell.text) if char == "/") for cell in inner.held
    )


def judge_parents(floorplan: Floorplan, held: Sequence[Held], findings: Findings) -> None:
    """Judge every PARENT: the child inside it, and no circle; one that no file creates is judged elsewhere."""
    sites = {one.name: one.sites for one in held}
    for one in held:
        block = one.block
        if block.parent is None:
            continue
        name, place = block.parent
        if name == block.name or block.name in floorplan.ancestors(name):
            findings.add("parent-circle", place, f"{block.name} below {name}", "a tree", pblock=block.name)
        elif name not in sites and name in floorplan.shell_slrs:
            _judge_child(one, name, floorplan.shell_slrs[name][1], findings)
        elif name in sites and not floorplan.pblocks[name].unjudged:
            _judge_child(one, name, sites[name], findings)


def _judge_child(child: Held, parent: str, sites: Sites, findings: Findings) -> None:
    """Judge that a child is inside its parent; what it loses by itself is a warning, if it does not say so."""
    block, outside = child.block, difference(child.sites, sites)
    if outside:
        severity = NOTE if not sites else ""
        found, expected = f"{describe(outside)} outside {parent}", f"only sites of {parent}"
    elif child.outside and not block.value("SNAPPING_MODE"):
        outside, severity = child.outside, WARNING
        found, expected = f"{describe(outside)} outside {parent}, which Vivado drops", "SNAPPING_MODE NESTED"
    else:
        return
    place = block.parent[1] if block.parent is not None else block.place
    findings.add("child-outside-parent", place, found, expected, pblock=block.name, severity=severity, sites=outside)


NEEDS = {"SLICE": "LUT", "RAMB18": "BRAM18", "RAMB36": "BRAM18", "URAM288": "URAM", "DSP48E2": "DSP", "DSP48": "DSP"}
"""The resource that a site type gives."""


@dataclass(frozen=True)
class PblockJudge:
    """Judges each pblock by itself; ``demands`` are what a report says that the cells of pblocks need."""

    device: Device
    floorplan: Floorplan
    shell: Shell | None
    demands: dict[str, Demand]
    findings: Findings

    def judge(self, held: Held) -> None:
        """Apply every rule to a pblock that the files create."""
        block = held.block
        self._contents(block)
        self._unconstrained(block)
        self._properties(block)
        self._dies(held)
        if self.shell is not None:
            self._shell(held, self.shell)

    def _contents(self, block: Pblock) -> None:
        if not block.sites and not block.unjudged:
            found = "no ranges" if not block.ranges else "ranges of which no site is left"
            self.findings.add("pblock-without-ranges", block.shape_place, found, "sites", pblock=block.name)
        keeps_free = block.is_set("EXCLUDE_PLACEMENT")
        if not (block.has_cells or keeps_free or block.name in self._parents or block.name in self._emptied):
            self.findings.add("pblock-without-cells", block.place, "no cell", "cells of the design", pblock=block.name)

    @cached_property
    def _parents(self) -> set[str]:
        return {block.parent[0] for block in self.floorplan.pblocks.values() if block.parent is not None}

    @cached_property
    def _emptied(self) -> set[str]:
        """Pblocks of which others took cells, as is told of each."""
        return {before for _, before, _, _, _ in self.floorplan.moves}

    def _unconstrained(self, block: Pblock) -> None:
        """Judge what the area of SLICE ranges holds and no range names; without SLICE ranges that SLICEs are free."""
        if not block.sites:
            return
        lacking = left_out(block.area, block.sites)
        kinds = [kind for kind in lacking.kinds if kind != "SLICE"]
        if not any(kind == "SLICE" for kind, _ in block.sites):
            kinds.append("SLICE")
        demand = self.demands.get(block.name)
        for severity in (ERROR, NOTE, ""):
            here = [kind for kind in kinds if _severity(kind, demand) == severity]
            if here:
                self._left_out(block, here, demand, severity)
        if lacking.some:
            expected = "ranges that hold all sites of their types in the area"
            found = f"ranges leave out {describe(lacking.some)}"
            self.findings.add("sites-left-out", block.shape_place, found, expected, pblock=block.name)
        if not kinds and not lacking.some:
            self._block_rams(block)

    def _left_out(self, block: Pblock, kinds: list[str], demand: Demand | None, severity: str) -> None:
        named = " and ".join(kinds)
        found = f"no range of {named}, which the area holds"
        if severity and demand is not None:
            amounts = {NEEDS[kind]: demand.amounts.get(NEEDS[kind], 0) for kind in kinds}
            found += f"; its cells need {', '.join(f'{amount:,} {name}' for name, amount in amounts.items())}"
        place, expected = block.shape_place, f"ranges of {named}"
        self.findings.add("site-type-unconstrained", place, found, expected, pblock=block.name, severity=severity)

    def _block_rams(self, block: Pblock) -> None:
        rows: dict[str, dict[int, int]] = {}
        for kind in ("RAMB18", "RAMB36"):
            rows[kind] = self.device.rows_by_column({key: mask for key, mask in block.sites.items() if key[0] == kind})
        if rows["RAMB18"] and rows["RAMB36"] and rows["RAMB18"] != rows["RAMB36"]:
            place, found = block.shape_place, "RAMB18 and RAMB36 of other tiles"
            self.findings.add("block-ram-ranges-differ", place, found, "the same", pblock=block.name)

    def _properties(self, block: Pblock) -> None:
        snaps = self.floorplan.snaps(block, self.device)
        if block.is_hard or snaps or self.floorplan.is_reconfigurable(block):
            return
        for name in ("CONTAIN_ROUTING", "EXCLUDE_PLACEMENT"):
            if block.is_set(name):
                place, found = block.properties[name][1], f"{name} on a soft pblock"
                self.findings.add("property-without-effect", place, found, "IS_SOFT FALSE", pblock=block.name)

    # dies

    def slrs_of(self, held: Held) -> list[str]:
        """Return the SLRs in which a pblock has sites."""
        entries = self.device.raw["slrs"]
        return [str(entries[number]["name"]) for number in slrs_of(self.device, held)]

    def _dies(self, held: Held) -> None:
        if len(self.device.raw["slrs"]) == 1:
            return
        block, slrs = held.block, self.slrs_of(held)
        if len(slrs) > 1:
            found = f"sites in {', '.join(slrs)}"
            without = not any(kind == "LAGUNA" for kind, _ in block.sites)
            found += "; without LAGUNA no register of a crossing is in it" if without else ""
            severity = NOTE if block.name in self._parents else ""
            place = block.shape_place
            self.findings.add("crosses-slr", place, found, "one SLR", pblock=block.name, severity=severity)
        laguna = {key: mask for key, mask in block.sites.items() if key[0] == "LAGUNA"} if block.names_laguna else {}
        dead = {key: mask for key, mask in laguna.items() if mask & self._dead_laguna}
        if dead and not any(mask & ~self._dead_laguna for mask in laguna.values()):
            found = describe({key: mask & self._dead_laguna for key, mask in dead.items()})
            expected = "LAGUNA sites beside an SLR boundary"
            self.findings.add("laguna-without-wires", block.shape_place, found, expected, pblock=block.name)

    @cached_property
    def _dead_laguna(self) -> int:
        """The Y numbers of LAGUNA sites in rows of clock regions that are at no boundary of SLRs."""
        raw = self.device.raw
        live = {region for pair in (raw.get("sll") or {}).get("boundaries", []) for region in pair}
        mask = 0
        for region, spread in enumerate(raw["site_rows"].get("LAGUNA", [])):
            if spread is not None and region not in live:
                mask |= ((1 << (spread[1] - spread[0] + 1)) - 1) << spread[0]
        return mask

    # shell

    def _shell(self, held: Held, shell: Shell) -> None:
        block = held.block
        if block.name in shell.brought:
            found = f"{block.name}, which {shell.name} brings"
            self.findings.add("shell-pblock-created", block.place, found, "another name", pblock=block.name)
        place, (found, touched) = block.shape_place, shell.static.touched(held)
        if found:
            expected = f"no site of the static region of {shell.name}"
            self.findings.add("shell-touched", place, found, expected, pblock=block.name, sites=touched)
        for name, area in shell.reserved.items():
            found, taken = area.touched(held)
            if found:
                expected = f"no site where the {name} of {shell.name} is placed if it is in use"
                found = f"{found}: {name}"
                self.findings.add("reserved-touched", place, found, expected, pblock=block.name, sites=taken)


def _severity(kind: str, demand: Demand | None) -> str:
    """Say how grave it is that a type is in no range: as the report has it, or else as it stands."""
    if demand is None or not demand.is_whole:
        return ""
    return ERROR if demand.amounts.get(NEEDS[kind], 0) else NOTE


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
