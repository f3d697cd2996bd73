"""Rules on pblocks: contents, shell, dies and Laguna, properties, and between two of them overlaps and parents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.hardware.boards import Shell
from floorflow.verify.hardware.geometry import Device, Sites, describe, difference
from floorflow.verify.hardware.ranges import left_out, overlapping, slrs_of
from floorflow.verify.xdc.findings import ERROR, NOTE, WARNING, Findings
from floorflow.verify.xdc.floorplan import Floorplan, Held, Pblock
from floorflow.verify.xdc.report import Demand

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
            self.findings.add(
                "block-ram-ranges-differ",
                block.shape_place,
                "RAMB18 and RAMB36 of other tiles",
                "the same",
                pblock=block.name,
            )

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
