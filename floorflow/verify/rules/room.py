"""Whether pblocks have the room that they should have, what each is likely to hold, and how its slot is constrained.

By the plan's own options: the user's fill of a resource goes before the confidence, and that before the rule on hard
pblocks. A pblock that lacks room must be listed as short, and no rectangle around it that is clear of all else has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.floor import Floor
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.hardware.routes import Slot
from floorflow.verify.records import RESOURCE_NAMES, Amounts, Record, excess, limit_of
from floorflow.verify.rules.outcomes import NEAR, Outcomes
from floorflow.verify.violations import Findings

RECTANGLE_FILL = {"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0}
"""How full a rectangle may be at all."""
HARD_FILL = {"LUT": 0.85, "FF": 0.85, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9}
"""How full a hard pblock may be that is not short."""
LARGE_LUT, LARGE_LUT_FILL = 50_000, 0.75
"""The same of LUTs where its module needs more of them than that."""
MOST_OF_SLOT, MOST_OF_FPGA = 0.6, 0.6
"""Shares of a slot's free cells and of an FPGA's planned LUTs beyond which one pblock is constrained otherwise."""


@dataclass(frozen=True, slots=True)
class Block:
    """A pblock with what was counted: its rectangles, what these hold, and what its module needs."""

    name: str
    where: str
    entry: Record
    slot: Slot | None
    areas: Sequence[Rectangle]
    supply: Amounts
    demand: Amounts

    @property
    def cells(self) -> int:
        """Columns times rows."""
        return sum((area.right - area.left + 1) * (area.top - area.bottom + 1) for area in self.areas)


@dataclass(frozen=True)
class Rules:
    """How pblocks are judged on one FPGA."""

    board: Board
    options: Record
    outcomes: Outcomes
    floors: Mapping[int, Floor]

    @classmethod
    def of(cls, board: Board, options: Record, outcomes: Outcomes) -> Rules:
        """Take the floors of the board's SLRs."""
        return cls(board, options, outcomes, board.floors)

    @property
    def asked(self) -> str:
        """The style that was asked for."""
        return str(self.options["constraint_style"])

    @property
    def is_hard(self) -> bool:
        """Whether pblocks are sized to be hard: as asked for, else where there are several SLRs."""
        return self.asked == "hard" or (self.asked == "auto" and len(self.floors) > 1)

    def is_whole(self, block: Block) -> bool:
        """Whether a pblock covers all that is free of its slot."""
        floor = self._floor(block)
        return floor is not None and block.cells == floor.free_cells

    def _floor(self, block: Block) -> Floor | None:
        return None if block.slot is None else self.floors.get(block.slot.slr)

    def limit(self, block: Block) -> Amounts:
        """Return the most that a module may need of its pblock, short or not."""
        usual = dict.fromkeys(RESOURCE_NAMES, 1.0) if self.is_whole(block) else RECTANGLE_FILL
        return limit_of(self._given_over(usual), block.supply)

    def lack(self, block: Block, supply: Amounts) -> str:
        """Tell what room a supply lacks for a pblock's module; empty if none."""
        over = excess(block.demand, limit_of(self._room_fill(block), supply))
        if over:
            return f"it is too full for a hard pblock: {over}" if self.is_hard else over
        sought, outcomes = self.options["confidence"], self.outcomes
        if sought == "none" or not outcomes.is_known:
            return ""
        judged = [name for name in RESOURCE_NAMES if self.options["fill"][name] is None]
        chance = outcomes.of_module(block.name).chance(supply, judged)
        return "" if chance >= sought - NEAR else f"it holds its module with {chance:.6f}, {sought} is sought"

    def _room_fill(self, block: Block) -> dict[str, float]:
        large = {"LUT": LARGE_LUT_FILL} if block.demand["LUT"] > LARGE_LUT else {}
        return self._given_over({**HARD_FILL, **large} if self.is_hard else RECTANGLE_FILL)

    def _given_over(self, usual: Mapping[str, float]) -> dict[str, float]:
        given = self.options["fill"]
        return {name: usual[name] if given[name] is None else given[name] for name in RESOURCE_NAMES}

    def room_around(self, block: Block, others: Sequence[Block]) -> Rectangle | None:
        """Return a rectangle around a pblock, clear of all else, with the room that it lacks; None if there is none."""
        floor = self._floor(block)
        if floor is None or len(block.areas) > 1:
            return None
        taken = [area for other in others if other is not block for area in other.areas]
        for area in floor.around(block.areas[0], taken):
            if not self.lack(block, self.board.device.resources(area)):
                return area
        return None

    def style(self, slot: Slot, blocks: Sequence[Block]) -> str:
        """Return how a slot is constrained; ``blocks`` are all of the FPGA."""
        if self.asked == "auto" and len(self.floors) == 1:
            luts = [block.demand["LUT"] for block in blocks]
            return "none" if max(luts, default=0) > MOST_OF_FPGA * sum(luts) else "soft"
        inside = [block for block in blocks if block.slot is slot]
        if self.asked == "auto":
            most = MOST_OF_SLOT * self.floors[slot.slr].free_cells if slot.slr in self.floors else 0
            return "hard" if all(block.cells <= most and not block.entry["short"] for block in inside) else "slr"
        if self.asked == "slr":
            return "slr" if len(self.floors) > 1 else "none"
        return "soft" if self.asked == "hard" and any(map(self.is_whole, inside)) else self.asked


def check_room(rules: Rules, blocks: Sequence[Block], findings: Findings) -> None:
    """Judge each pblock of an FPGA: its limit, its likelihood, whether it has room, and whether it is rightly short."""
    for block in blocks:
        over = excess(block.demand, rules.limit(block))
        if over:
            findings.add("fill-exceeded", block.where, over)
        _check_likelihood(rules, block, findings)
        if rules.is_whole(block):
            if block.entry["short"]:
                findings.add("wrong-short", block.where, "it has all that is free of its slot")
            continue
        lack = rules.lack(block, block.supply)
        if not block.entry["short"]:
            if lack:
                findings.add("pblock-without-room", block.where, f"{lack}, and it is not listed as short")
        elif not lack:
            findings.add("wrong-short", block.where, "it has the room that it should have")
        elif room := rules.room_around(block, blocks):
            findings.add("wrong-short", block.where, f"{lack}, but {room} is free and has room for it")


def _check_likelihood(rules: Rules, block: Block, findings: Findings) -> None:
    stated, outcomes = block.entry["likelihood"], rules.outcomes
    if not outcomes.is_known:
        if stated is not None and not outcomes.bands:
            findings.add("wrong-likelihood", block.where, f"it is {stated}, but no error of the costs is known")
        return
    if stated is None:
        findings.add("wrong-likelihood", block.where, "it is not stated, though there are bands")
    elif objection := outcomes.of_module(block.name).objection(stated, block.supply):
        findings.add("wrong-likelihood", block.where, objection)


def check_styles(
    phase_where: str, stated: Mapping[str, str], slots: Sequence[Slot], derived: Mapping[str, str], findings: Findings
) -> None:
    """Judge that every slot is said to be constrained as options, pblocks and SLRs give; ``derived`` where known."""
    where, known = f"{phase_where}.constraint_styles", {slot.name for slot in slots}
    for name in sorted({*stated} - known):
        findings.add("slot-unknown", where, f"{name} is no slot")
    for name in sorted(known):
        if name not in stated:
            findings.add("wrong-constraint-style", where, f"{name} has none")
        elif name in derived:
            findings.expect("wrong-constraint-style", f"{where}.{name}", "style", stated[name], derived[name])
