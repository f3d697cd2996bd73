"""Rules on one pblock: contents, the shell, dies and Laguna, and properties without effect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.hardware.geometry import describe
from floorflow.verify.hardware.grid import Grid
from floorflow.verify.hardware.pblock_rules import left_out, slrs_of
from floorflow.verify.hardware.shells import Shell
from floorflow.verify.xdc.findings import ERROR, NOTE, Findings
from floorflow.verify.xdc.floorplan import Floorplan, Held, Pblock
from floorflow.verify.xdc.report import Demand

NEEDS = {"SLICE": "LUT", "RAMB18": "BRAM18", "RAMB36": "BRAM18", "URAM288": "URAM", "DSP48E2": "DSP", "DSP48": "DSP"}
"""The resource that a site type gives."""


@dataclass(frozen=True)
class PblockJudge:
    """Judges each pblock by itself; ``demands`` are what a report says that the cells of pblocks need."""

    grid: Grid
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
            rows[kind] = self.grid.rows_by_column({key: mask for key, mask in block.sites.items() if key[0] == kind})
        if rows["RAMB18"] and rows["RAMB36"] and rows["RAMB18"] != rows["RAMB36"]:
            self.findings.add(
                "block-ram-ranges-differ",
                block.shape_place,
                "RAMB18 and RAMB36 of other tiles",
                "the same",
                pblock=block.name,
            )

    def _properties(self, block: Pblock) -> None:
        snaps = self.floorplan.snaps(block, self.grid.device)
        if block.is_hard or snaps or self.floorplan.is_reconfigurable(block):
            return
        for name in ("CONTAIN_ROUTING", "EXCLUDE_PLACEMENT"):
            if block.is_set(name):
                place, found = block.properties[name][1], f"{name} on a soft pblock"
                self.findings.add("property-without-effect", place, found, "IS_SOFT FALSE", pblock=block.name)

    # dies

    def slrs_of(self, held: Held) -> list[str]:
        """Return the SLRs in which a pblock has sites."""
        entries = self.grid.device.raw["slrs"]
        return [str(entries[number]["name"]) for number in slrs_of(self.grid.device, held)]

    def _dies(self, held: Held) -> None:
        if len(self.grid.device.raw["slrs"]) == 1:
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
        raw = self.grid.device.raw
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
