"""The verdict: read a plan folder and apply every rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorflow.verify.back_end import judge_of
from floorflow.verify.facts import PhaseFacts, phases_of
from floorflow.verify.files import Folder, check_library, open_folder
from floorflow.verify.hardware.boards import Board
from floorflow.verify.records import Record
from floorflow.verify.rules.across import (
    check_direction,
    check_names,
    check_passing,
    check_provenance,
    check_runs,
    check_traces,
)
from floorflow.verify.rules.channels import check_channels, check_costs
from floorflow.verify.rules.claims import check_phase_stats, check_search
from floorflow.verify.rules.crossings import check_assignment, check_crossings, check_hops, check_loads
from floorflow.verify.rules.emitted import FILES, check_emitted, check_left_overs, is_unbound
from floorflow.verify.rules.engines import check_engine_limits, check_host_weights
from floorflow.verify.rules.extras import check_extras
from floorflow.verify.rules.fifos import check_fifos
from floorflow.verify.rules.memory import check_memory_schedule
from floorflow.verify.rules.modules import check_implementations, check_interfaces, check_joined
from floorflow.verify.rules.outcomes import Outcomes, check_calibration, check_expectations
from floorflow.verify.rules.pblocks import check_floorplan
from floorflow.verify.rules.platform import check_files, check_platform, load_boards
from floorflow.verify.rules.region_fabric import confined_boards, confined_phase
from floorflow.verify.rules.region_files import check_region_files
from floorflow.verify.rules.regions import check_regions
from floorflow.verify.rules.resource_plan import is_resource_plan, judge_resource_plan
from floorflow.verify.rules.schedule import check_reconfigured, check_schedule, check_timeline
from floorflow.verify.rules.slices import check_slices
from floorflow.verify.rules.summary import check_fullness, check_summary, check_targets
from floorflow.verify.rules.sums import check_budgets, check_membership, check_memories, check_slots, check_sums
from floorflow.verify.rules.throughput import check_balance, check_price, check_throughput
from floorflow.verify.schema import departures
from floorflow.verify.violations import Findings, Violation

SCHEMA = "floorflow-plan/2"
MOST_ROWS = {"fpgas": 128, "networks": 256, "phases": 512, "rectangles": 512}
MOST_OTHERS = 20_000
"""Rows of a list of a plan, by its name: rules go over each row for each, so that longer ones are refused."""


@dataclass(frozen=True)
class Verdict:
    """Every rule that a plan breaks, none if it is legal, and how many things of each kind were judged."""

    violations: list[Violation]
    checked: dict[str, int]


def check(out: Path, build: Path | None = None) -> list[Violation]:
    """Return every rule that the plan in a folder breaks; empty means that the plan is legal.

    Raises
    ------
    NotAPlan
        If the folder is none that `floorflow plan` wrote.

    """
    return judge(out, build).violations


def judge(out: Path, build: Path | None = None) -> Verdict:
    """Return every rule that the plan in a folder breaks, and what was judged; ``build``: what it is bound to.

    Raises
    ------
    NotAPlan
        If the folder is none that `floorflow plan` wrote.

    """
    folder, findings = open_folder(out), Findings()
    if is_resource_plan(folder):
        checked = judge_resource_plan(folder, findings)
        return Verdict(findings.told(), checked)
    plan = _read_plan(folder, findings)
    if plan is None:
        return Verdict(findings.told(), {})
    part = judge_of(plan, findings)
    boards = load_boards(folder, plan, findings)
    check_files(folder, plan, findings)
    check_library(folder, plan, findings)
    check_platform(plan, boards, findings)
    phases: list[PhaseFacts] = []
    try:
        check_names(plan, findings)
        check_provenance(plan, findings)
        check_search(plan, findings)
        check_price(plan, findings)
        check_targets(plan, findings)
        check_schedule(plan, findings)
        check_summary(plan, findings)
        phases += (confined_phase(plan, phase) for phase in phases_of(plan, boards, part, findings))
        check_runs(plan, phases, findings)
        check_traces(plan, phases, findings)
        check_passing(phases, findings)
        check_direction(plan, phases, findings)
        check_calibration(plan, phases, findings)
        check_engine_limits(plan, phases, findings)
        check_host_weights(plan, phases, findings)
        check_fullness(plan, phases, findings)
        check_extras(folder, plan, phases, findings)
        check_memory_schedule(plan, phases, findings)
        for phase in phases:
            _check_phase(plan, phase, confined_boards(plan, phase, boards), findings)
            check_emitted(folder, plan, phase, boards, findings, build=build)
        check_regions(plan, phases, boards, findings)
        check_timeline(plan, findings)
        check_region_files(folder, plan, phases, boards, findings)
        check_reconfigured(folder, plan, phases, boards, findings)
        check_left_overs(folder, plan, phases, findings)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError) as error:
        # A value that no rule foresaw is the plan's fault, never a reason to give no verdict.
        findings.add("plan-malformed", "phases", f"cannot be judged: {type(error).__name__}: {error!s:.200}")
    return Verdict(findings.told(), _judged(folder, plan, phases, boards))


def _judged(folder: Folder, plan: Record, phases: list[PhaseFacts], boards: dict[str, Board]) -> dict[str, int]:
    """Count what was there to be judged, and could be."""
    return {
        "boards": len({id(board) for board in boards.values()}),
        "fpgas": len(plan["platform"]["fpgas"]),
        "slots": sum(len(fpga["slots"]) for fpga in plan["platform"]["fpgas"]),
        "networks": len(plan["networks"]),
        "phases": len(phases),
        "engines": sum(len(part["folding"]["engines"]) for phase in phases for part in phase.raw["networks"]),
        "foldings": sum(len(phase.folded) for phase in phases),
        "channels": sum(len(phase.raw["channels"]) for phase in phases),
        "modules": sum(len(phase.modules) for phase in phases),
        "pblocks": sum(len(held["pblocks"]) for phase in phases for held in phase.raw["floorplan"].values()),
        "constraint_files": sum(name.rpartition("/")[2] in FILES for name in folder.known),
        "unbound_names": sum(len(phase.folded) for phase in phases if is_unbound(folder, plan, phase)),
        "files": sum(data is not None for data in folder.known.values()),
    }


def _read_plan(folder: Folder, findings: Findings) -> Record | None:
    plan = folder.json("plan.json", findings)
    if plan is None:
        return None
    if plan.get("schema") != SCHEMA:
        told = f"is {plan.get('schema')!r:.60}, this floorflow reads {SCHEMA}: plan again (--force replaces the folder)"
        findings.add("plan-malformed", "schema", told)
        return None
    problems = list(departures(plan, "plan"))
    if not problems and not (plan["phases"] and plan["networks"] and plan["platform"]["fpgas"]):
        problems.append(("networks, phases, platform.fpgas", "must not be empty"))
    problems = problems or list(_long_lists(plan))
    for where, message in problems:
        findings.add("plan-malformed", where, message)
    return None if problems else plan


def _long_lists(plan: Record) -> Iterator[tuple[str, str]]:
    """Yield the lists that are longer than any plan's, with a sentence."""
    waiting: list[tuple[str, Any]] = [("", plan)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, list) and len(value) > (most := MOST_ROWS.get(name, MOST_OTHERS)):
            yield name, f"{len(value):,} rows, more than the limit of {most:,}"
        elif isinstance(value, list):
            waiting += [(name, row) for row in value]
        elif isinstance(value, dict):
            waiting += value.items()


def _check_phase(plan: Record, phase: PhaseFacts, boards: dict[str, Board], findings: Findings) -> None:
    options = plan["options"]
    check_throughput(phase, findings)
    check_balance(plan, phase, findings)
    check_channels(phase, findings)
    check_fifos(phase, findings)
    check_memories(phase, findings)
    if phase.back_end is not None and not phase.back_end.may_cost_nothing(phase.where):
        check_costs(phase, findings)
    check_membership(phase, findings)
    check_implementations(phase, boards, findings)
    check_sums(phase, findings)
    check_assignment(phase, findings)
    check_slots(phase, options["cap"], findings)
    check_crossings(phase, findings)
    check_hops(phase, options, plan["platform"]["boundaries"], findings)
    check_loads(phase, plan["platform"]["boundaries"], findings)
    measured = (plan["calibration"] or {"measured": ()})["measured"]
    outcomes = Outcomes(phase, frozenset(measured))
    check_floorplan(phase, boards, options, outcomes, findings)
    check_slices(phase, boards, options["cap"], findings)
    check_interfaces(phase, findings)
    check_joined(phase, findings)
    check_expectations(phase, outcomes, findings)
    check_budgets(phase, options["cap"], findings)
    check_phase_stats(phase, options["objective"], findings)
