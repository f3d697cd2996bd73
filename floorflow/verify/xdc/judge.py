"""The verdict on anybody's floorplan: read files in order, then judge what they leave behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.hardware.geometry import Rectangle, Sites, difference, shared
from floorflow.verify.hardware.interconnect import Interconnect
from floorflow.verify.hardware.shells import Shell
from floorflow.verify.xdc.cells import judge_cells, judge_prefixes, judge_slrs
from floorflow.verify.xdc.findings import ERROR, WARNING, Finding, Findings
from floorflow.verify.xdc.floorplan import Floorplan, Held, Pblock
from floorflow.verify.xdc.pairs import judge_pairs, judge_parents
from floorflow.verify.xdc.pblock_judge import PblockJudge
from floorflow.verify.xdc.ranges import RangeBook
from floorflow.verify.xdc.reader import Reader
from floorflow.verify.xdc.reconfiguration import EdgeJudge
from floorflow.verify.xdc.report import Amounts, Demand, Fullness, Report, fullness_of, judge_fullness
from floorflow.verify.xdc.targets import Target
from floorflow.verify.xdc.words import UnreadableError

Sources = Sequence[tuple[str, str]]
"""Names and texts of files, in the order in which Vivado reads them."""


@dataclass(frozen=True)
class Judged:
    """What was found, and the floorplan that the files leave behind."""

    target: Target
    shell: Shell | None
    floorplan: Floorplan
    findings: Findings
    held: tuple[Held, ...]
    fullness: tuple[Fullness, ...]

    @property
    def is_legal(self) -> bool:
        """Whether there is no error."""
        return not self.findings.counts[ERROR]

    @property
    def ordered(self) -> list[Finding]:
        """The findings, the gravest first."""
        return self.findings.in_order()

    @cached_property
    def created(self) -> list[Pblock]:
        """The pblocks that the files create, in their order."""
        return [block for block in self.floorplan.pblocks.values() if block.created is not None]

    def boxes(self, sites: Sites) -> list[Rectangle]:
        """Return the rectangles that sites cover, as pictures draw them."""
        return self.target.grid.boxes(sites)


def judge_floorplan(
    sources: Sources, target: Target, report: tuple[str, Mapping[str, Amounts]] | None = None
) -> Judged:
    """Judge the floorplan of some files; ``report`` is a file's name and what each cell of it uses.

    Raises
    ------
    UnreadableError
        If a file is no Tcl.

    """
    findings = Findings()
    reader = Reader(RangeBook(target.grid), findings, target.shell_pblocks)
    for name, text in sources:
        try:
            reader.read(name, text)
        except UnreadableError as error:
            error.file = name
            raise
    floorplan = reader.floorplan
    _judge_order(reader, target)
    known = Report(*report) if report is not None else None
    demands: dict[str, Demand] = known.demands(floorplan) if known is not None else {}
    held = _held(floorplan, target)
    shell = _shell_under(floorplan, held, target)
    judge = PblockJudge(target.grid, floorplan, shell, demands, findings)
    for block in held:
        judge.judge(block)
    judge_pairs(floorplan, held, findings)
    judge_parents(floorplan, held, findings)
    EdgeJudge(target.grid, floorplan, target.shell_pblocks, findings).judge([one.block for one in held])
    judge_cells(floorplan, known, findings)
    judge_slrs(floorplan, held, judge, findings)
    judge_prefixes(floorplan, target, shell, findings)
    fullness = tuple(fullness_of(target.device, block, demands.get(block.name)) for block in held)
    for block, full in zip(held, fullness, strict=True):
        judge_fullness(block.block, full, findings)
    return Judged(target, shell, floorplan, findings, tuple(held), fullness)


def _held(floorplan: Floorplan, target: Target) -> list[Held]:
    """Return the pblocks that files create, with the sites that they have in the end."""
    wires, device = Interconnect(target.grid), target.device
    own = {
        block.name: wires.snapped(block.sites) if floorplan.snaps(block, device) else block.sites
        for block in floorplan.pblocks.values()
        if block.created is not None
    }
    found: dict[str, Held] = {}
    for name in sorted(own, key=lambda one: len([*floorplan.ancestors(one)])):  # parents first
        block, sites = floorplan.pblocks[name], own[name]
        parent = next((found[above] for above in floorplan.ancestors(name) if above in found), None)
        if parent is not None and floorplan.is_confined(block, device):
            lost = difference(sites, parent.sites)
            found[name] = Held(block, shared(sites, parent.sites), outside=lost)
        else:
            found[name] = Held(block, sites)
    return [found[name] for name in own]


def _shell_under(floorplan: Floorplan, held: Sequence[Held], target: Target) -> Shell | None:
    """Return the shell; of several versions that name cells alike the first whose static region is kept clear of."""
    shells = target.shells_of([cell.text for block in floorplan.pblocks.values() for cell, _ in block.cells])
    clear = (shell for shell in shells if not any(shell.static.touched(block)[0] for block in held))
    return next(clear, shells[0] if shells else None)


def _judge_order(reader: Reader, target: Target) -> None:
    """Tell of pblocks that are used and never created, unless a shell of the die brings them."""
    brought = target.shell_pblocks
    scripts = (one for one in reader.findings.kept if one.name == "not-evaluated")
    may_be_made = any(one.place.file.lower().endswith(".tcl") for one in scripts)
    for name, place in reader.used_early.items():
        if name not in brought:
            severity = WARNING if may_be_made else ""
            more = ", perhaps by commands that were not run" if may_be_made else ""
            expected = f"a pblock that a file creates{more}"
            reader.findings.add("pblock-not-created", place, name, expected, pblock=name, severity=severity)
