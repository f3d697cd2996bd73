"""Planted mistakes: each changes a legal plan in memory and names the violation that must be found.

Targets are picked generically (first module, first crossing, ...), so that the table also serves real plans. A mutant
that finds nothing to spoil raises `NotApplicable`. Where a mistake would show in a sum as well, the sums are mended, so
that only the rule in question can catch it.
"""

import ast
import copy
import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import yaml

from floorflow.verify.hardware.geometry import Device, Rectangle, anchor_of, union
from tests.verify.dies import die_of, ranges_of

Plan = dict[str, Any]
Files = dict[str, str]


class NotApplicable(Exception):  # noqa: N818 - says so of a mutant, is no error
    """The plan holds nothing that this mutant could spoil."""


ANY_PLAN, TWO_SLRS, TWO_FPGAS, LINK_CORES, JOIN = "", "two SLRs", "two FPGAs", "link cores", "a join"
"""What a plan must have for a mutant to apply; plans with link cores have SLRs and a link beyond the host's SLR."""


Spoil = Callable[[Plan, Files], None]


@dataclass(frozen=True)
class Mutant:
    """A planted mistake, the violation that it must lead to, and what it needs of a plan."""

    title: str
    expected: str
    spoil: Spoil
    needs: str = ANY_PLAN


class _Keys(ast.NodeTransformer):
    """Makes keys of what stands behind dots, but of what is called; ``phase`` and ``part`` are the plan's first."""

    ROOTS: ClassVar = {"phase": 'plan["phases"][0]', "part": 'plan["phases"][0]["networks"][0]'}

    def __init__(self, statements: ast.AST) -> None:
        names = (node for node in ast.walk(statements) if isinstance(node, ast.Name))
        self.roots = {*self.ROOTS} - {node.id for node in names if isinstance(node.ctx, ast.Store)}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.parse(self.ROOTS[node.id], mode="eval").body if node.id in self.roots else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Attribute):
            called.value = self.visit(called.value)
        node.func = ast.Constant(None)
        self.generic_visit(node)
        node.func = called
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return ast.Subscript(self.visit(node.value), ast.Constant(node.attr), node.ctx)


def planted(statements: str, helpers: dict[str, Any], second: str = "files") -> Spoil:
    """Return a mistake that is stated by a row of ``mutants.yaml``; ``second``: what stands there beside ``plan``."""
    tree = ast.parse(statements)
    code = compile(ast.fix_missing_locations(_Keys(tree).visit(tree)), statements, "exec")

    def spoil(plan: Plan, files: Files) -> None:
        exec(code, {**helpers, "plan": plan, second: files})  # noqa: S102 - the table's own statements

    return spoil


LINK_COST = 10
"""What a wire over a link costs, in boundaries."""

ROWS = yaml.safe_load(Path(__file__).with_name("mutants.yaml").read_text(encoding="utf-8"))


class Registry:
    """The mistakes to plant in one kind of plan, in the order of their files."""

    def __init__(self) -> None:
        self.mutants: list[Mutant] = []

    def mutant(self, expected: str, needs: str = ANY_PLAN) -> Callable[[Spoil], Spoil]:
        """Take a function as a mutant that leads to a violation."""

        def register(spoil: Spoil) -> Spoil:
            self.mutants.append(Mutant(spoil.__name__, expected, spoil, needs))
            return spoil

        return register

    def rows(
        self, section: str, *modules: ModuleType, second: str = "files", around: Callable[[Spoil], Spoil] | None = None
    ) -> None:
        """Take the rows of a section of the table, whose statements use the helpers of these modules.

        ``around`` turns what a row does to a plan and to ``second`` into what a mistake does to a plan and its files.
        """
        helpers: dict[str, Any] = {"copy": copy, "json": json, "re": re, "yaml": yaml}
        for module in modules:
            helpers |= vars(module)
        for needs in (ANY_PLAN, TWO_SLRS, TWO_FPGAS, LINK_CORES, JOIN):
            for expected, rows in ROWS.get(f"{section}, {needs}" if needs else section, {}).items():
                for title, told in rows.items():
                    spoil = planted(told, helpers, second)
                    self.mutants.append(Mutant(title, expected, around(spoil) if around else spoil, needs))


ONE_NETWORK = Registry()
"""Mistakes that any plan of one network and one phase can hold."""

mutant = ONE_NETWORK.mutant


def phase_of(plan: Plan) -> Plan:
    phase: Plan = plan["phases"][0]
    return phase


def part_of(plan: Plan) -> Plan:
    """Return what runs of the first network in the first phase."""
    part: Plan = phase_of(plan)["networks"][0]
    return part


def stream_wires(width_bits: int) -> int:
    return -(-width_bits // 8) * 8 + 2


def first(items: Any) -> Any:
    for item in items:
        return item
    raise NotApplicable


def pblocks(plan: Plan) -> Plan:
    pblocks: Plan = phase_of(plan)["floorplan"][plan["platform"]["fpgas"][0]["name"]]["pblocks"]
    return pblocks


def die(plan: Plan, files: Files) -> Device:
    name = plan["platform"]["fpgas"][0]["device"]
    return die_of(files[f"platform/devices/{name}.yaml"])


def board_of(plan: Plan, files: Files) -> Plan:
    """Return the board's file, without the fields that state that there is no such thing."""
    board: Plan = yaml.safe_load(files[f"platform/boards/{plan['platform']['fpgas'][0]['board']}.yaml"])
    return {name: value for name, value in board.items() if value != "none"}


def folded(plan: Plan, kind: str = "", key: str = "PE") -> tuple[str, Plan, Plan]:
    """Return name, folding and attributes of the first engine of a kind that has the folding attribute."""
    engines = part_of(plan)["folding"]["engines"]
    return first(
        (engine["name"], engines[engine["name"]]["attributes"], engine["attributes"])
        for network in plan["networks"]
        for engine in network["engines"]
        if engine["kind"].startswith(kind) and key in engines[engine["name"]]["attributes"]
    )


def constraint_files(plan: Plan) -> list[str]:
    folder = plan["platform"]["fpgas"][0]["name"]
    return [f"{folder}/pblocks.xdc", f"{folder}/pblocks.tcl"]


def xdc(plan: Plan) -> str:
    return constraint_files(plan)[0]


def edit_lines(files: Files, name: str, edit: Callable[[list[str]], list[str]]) -> None:
    files[name] = "\n".join(edit(files[name].split("\n")))


def edit_json(files: Files, name: str, edit: Callable[[Plan], None]) -> None:
    content = json.loads(files[name])
    edit(content)
    files[name] = json.dumps(content)


def drop_first(lines: list[str], start: str) -> list[str]:
    index = first(i for i, line in enumerate(lines) if line.startswith(start))
    return lines[:index] + lines[index + 1 :]


def charge(plan: Plan, module: str, resource: str, amount: int) -> None:
    """Let the first engine of a module need more, and mend every sum behind it."""
    phase = phase_of(plan)
    entry = first(m for m in phase["modules"] if m["name"] == module)
    part_of(plan)["folding"]["engines"][entry["engines"][0]]["resources"][resource] += amount
    entry["resources"][resource] += amount
    for floorplan in phase["floorplan"].values():
        if module in floorplan["pblocks"]:
            floorplan["pblocks"][module]["demand"][resource] += amount
    slot = phase["partition"]["assignment"][module]
    for fpga in plan["platform"]["fpgas"]:
        for place in fpga["slots"]:
            if place["name"] == slot and place["available"][resource]:
                phase["partition"]["utilisation"][slot][resource] += amount / place["available"][resource]


def name_ranges(plan: Plan, files: Files, module: str, ranges: list[str]) -> None:
    """Give a pblock other ranges, in the plan and in the constraint files."""
    entry = pblocks(plan)[module]
    for name in constraint_files(plan):
        for separator in (" ", "\n", " \\\n    "):
            files[name] = files[name].replace(separator.join(entry["ranges"]), separator.join(ranges))
    entry["ranges"] = ranges


def place(plan: Plan, files: Files, module: str, *areas: Rectangle) -> None:
    """Move a pblock to rectangles, with everything that follows from these."""
    device, entry = die(plan, files), pblocks(plan)[module]
    sites = reduce(union, map(device.sites, areas))
    name_ranges(plan, files, module, ranges_of(sites))
    entry["rectangles"] = [asdict(area) for area in areas]
    supplies = [device.resources(area) for area in areas]
    entry["supply"] = {name: sum(supply[name] for supply in supplies) for name in supplies[0]}
    entry["anchor"] = anchor_of(sites) or entry["anchor"]


def area_of(entry: Plan) -> Rectangle:
    return Rectangle(**entry["rectangles"][0])


def crossing(plan: Plan) -> tuple[Plan, Plan]:
    """Return the first crossing and its channel."""
    phase = phase_of(plan)
    crossing = first(phase["partition"]["crossings"])
    return crossing, first(c for c in phase["channels"] if c["name"] == crossing["channel"])
