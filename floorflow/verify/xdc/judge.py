"""The verdict on anybody's floorplan: read files in order, then judge what they leave behind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from floorflow.verify.hardware.boards import Shell
from floorflow.verify.hardware.geometry import Rectangle, Sites, difference, shared
from floorflow.verify.hardware.interconnect import Interconnect, boxes
from floorflow.verify.tcl.words import LimitError, UnreadableError
from floorflow.verify.xdc.findings import ERROR, WARNING, Finding, Findings
from floorflow.verify.xdc.floorplan import (
    Amounts,
    Demand,
    Floorplan,
    Fullness,
    Held,
    Pblock,
    Report,
    fullness_of,
    judge_fullness,
)
from floorflow.verify.xdc.pblocks import (
    PblockJudge,
    judge_cells,
    judge_pairs,
    judge_parents,
    judge_prefixes,
    judge_slrs,
)
from floorflow.verify.xdc.ranges import RangeBook
from floorflow.verify.xdc.reader import Reader
from floorflow.verify.xdc.reconfiguration import EdgeJudge
from floorflow.verify.xdc.targets import Target

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
    def is_whole(self) -> bool:
        """Whether all that the files say of pblocks was read, and there was something to judge."""
        return not self.judged_nothing and not self.findings.by_name["not-evaluated"]

    @property
    def judged_nothing(self) -> bool:
        """Whether the files name neither a pblock nor the SLR of a cell."""
        return not self.named and not self.floorplan.slrs

    @property
    def ordered(self) -> list[Finding]:
        """The findings, the gravest first."""
        return self.findings.in_order()

    @cached_property
    def created(self) -> list[Pblock]:
        """The pblocks that the files create, in their order."""
        return [block for block in self.floorplan.pblocks.values() if block.created is not None]

    @property
    def named(self) -> list[Pblock]:
        """Those, and others that the files name, such as the shell's own."""
        return [*self.floorplan.pblocks.values()]

    def boxes(self, sites: Sites) -> list[Rectangle]:
        """Return the rectangles that sites cover, as pictures draw them."""
        return boxes(self.target.device, sites)


def judge_floorplan(
    sources: Sources, target: Target, report: tuple[str, Mapping[str, Amounts]] | None = None
) -> Judged:
    """Judge the floorplan of some files; ``report`` is a file's name and what each cell of it uses.

    UnreadableError if a file is no Tcl, or more than is read (LimitError).
    """
    findings = Findings()
    reader = Reader(RangeBook(target.device), findings, target.shell_pblocks)
    for name, text in sources:
        try:
            reader.read(name, text)
        except RecursionError:
            raise _told(LimitError(0, "commands nest deeper than is read"), name) from None
        except UnreadableError as error:
            raise _told(error, name) from None
    try:
        return _judged(reader, target, report)
    except UnreadableError as error:
        raise _told(error, sources[-1][0]) from None


def _told(error: UnreadableError, file: str) -> UnreadableError:
    error.file = error.file or file
    return error


def _judged(reader: Reader, target: Target, report: tuple[str, Mapping[str, Amounts]] | None) -> Judged:
    floorplan, findings = reader.floorplan, reader.findings
    floorplan.check_nesting()
    floorplan.shell_slrs |= target.shell_slrs
    _judge_order(reader, target)
    known = Report(*report, floorplan.work) if report is not None else None
    demands: dict[str, Demand] = known.demands(floorplan) if known is not None else {}
    held = _held(floorplan, target)
    shell = _shell_under(floorplan, held, target)
    judge = PblockJudge(target.device, floorplan, shell, demands, findings)
    for block in held:
        judge.judge(block)
    judge_pairs(floorplan, held, findings)
    judge_parents(floorplan, held, findings)
    EdgeJudge(target.device, floorplan, target.shell_pblocks, findings).judge([one.block for one in held])
    judge_cells(floorplan, known, findings)
    judge_slrs(floorplan, held, judge, findings)
    judge_prefixes(floorplan, target, shell, findings)
    fullness = tuple(fullness_of(target.device, block, demands.get(block.name)) for block in held)
    for block, full in zip(held, fullness, strict=True):
        judge_fullness(block.block, full, findings)
    return Judged(target, shell, floorplan, findings, tuple(held), fullness)


def _held(floorplan: Floorplan, target: Target) -> list[Held]:
    """Return the pblocks that files create, with the sites that they have in the end."""
    wires, device = Interconnect(target.device), target.device
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
    """Tell of pblocks that are used and never created, unless a shell of the die brings them, and of SLRs not there."""
    brought = target.shell_pblocks
    scripts = (one for one in reader.findings.kept if one.name == "not-evaluated")
    may_be_made = any(one.place.file.lower().endswith(".tcl") for one in scripts)
    for block in reader.floorplan.pblocks.values():
        if missing := target.missing_slr(block.name):
            expected = f"one of {', '.join(str(entry['name']) for entry in target.device.raw['slrs'])}"
            found = f"there is no {missing} on this card"
            reader.findings.add("slr-unknown", block.place, found, expected, pblock=block.name)
    for name, place in reader.used_early.items():
        if name not in brought and not (name in reader.floorplan.pblocks and target.missing_slr(name)):
            severity = WARNING if may_be_made else ""
            more = ", perhaps by commands that were not run" if may_be_made else ""
            expected = f"a pblock that a file creates{more}"
            reader.findings.add("pblock-not-created", place, name, expected, pblock=name, severity=severity)
