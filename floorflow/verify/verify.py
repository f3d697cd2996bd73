"""The verdict: read a plan folder and apply every rule, of the tables below and in their order."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorflow.verify.back_end import judge_of
from floorflow.verify.facts import PhaseFacts, Phases, phases_of
from floorflow.verify.files import Folder, check_library, open_folder
from floorflow.verify.hardware.boards import Boards
from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.rules import (
    across,
    channels,
    claims,
    crossings,
    emitted,
    fifos,
    link_kernels,
    link_rates,
    memory,
    modules,
    outcomes,
    pblocks,
    platform,
    power,
    region_fabric,
    regions,
    replicas,
    schedule,
    slices,
    stitched,
    summary,
    sums,
    throughput,
    topology,
)
from floorflow.verify.rules.resource_plan import is_resource_plan, judge_resource_plan
from floorflow.verify.schema import departures
from floorflow.verify.violations import Findings, Violation

SCHEMA = "floorflow-plan/2"
MOST_ROWS = {"fpgas": 128, "networks": 256, "phases": 512, "rectangles": 512}
MOST_OTHERS = 20_000
"""Rows of a list of a plan, by its name: rules go over each row for each, so that longer ones are refused."""


Rules = tuple[tuple[Callable[..., None], str], ...]
"""Each rule with what it is given before the findings, which a phase has itself."""

OF_PLATFORMS: Rules = (
    (platform.check_files, "folder plan"),
    (check_library, "folder plan"),
    (platform.check_platform, "plan boards"),
)
OF_PLANS: Rules = (
    (across.check_names, "plan"),
    (across.check_provenance, "plan"),
    (claims.check_search, "plan"),
    (throughput.check_price, "plan"),
    (summary.check_targets, "plan"),
    (schedule.check_schedule, "plan"),
    (summary.check_summary, "plan"),
)
OVER_PHASES: Rules = (
    (across.check_runs, "plan phases"),
    (across.check_traces, "plan phases"),
    (across.check_passing, "phases"),
    (across.check_direction, "plan phases"),
    (outcomes.check_calibration, "plan phases"),
    (throughput.check_engine_limits, "plan phases"),
    (summary.check_fullness, "plan phases"),
    (summary.check_extras, "folder plan phases"),
    (memory.check_memory_schedule, "plan phases"),
)
OF_PHASES: Rules = (
    (throughput.check_throughput, "phase"),
    (throughput.check_balance, "plan phase"),
    (throughput.check_host_weights, "options phase"),
    (channels.check_channels, "phase"),
    (fifos.check_fifos, "phase"),
    (fifos.check_waiting, "phase"),
    (sums.check_memories, "phase"),
    (channels.check_costs, "phase"),
    (sums.check_membership, "phase"),
    (modules.check_implementations, "phase boards"),
    (sums.check_sums, "phase"),
    (crossings.check_assignment, "phase"),
    (sums.check_slots, "phase cap"),
    (crossings.check_crossings, "phase"),
    (crossings.check_hops, "phase options boundaries"),
    (crossings.check_order, "phase options"),
    (crossings.check_wishes, "phase options boards"),
    (crossings.check_link_streams, "phase options boards"),
    (topology.check_topology, "folder plan phase boards"),
    (link_kernels.check_link_kernels, "folder plan phase"),
    (link_kernels.check_charged, "phase"),
    (stitched.check_stitched, "folder plan phase boards"),
    (link_rates.check_link_rates, "plan phase"),
    (crossings.check_evenness, "phase"),
    (crossings.check_loads, "phase boundaries"),
    (pblocks.check_floorplan, "phase boards options outcomes"),
    (slices.check_slices, "phase boards cap"),
    (modules.check_interfaces, "phase"),
    (modules.check_joined, "phase"),
    (outcomes.check_expectations, "phase outcomes"),
    (outcomes.check_confidence, "options phase outcomes"),
    (sums.check_budgets, "phase cap"),
    (claims.check_phase_stats, "phase objective"),
)
OVER_ALL: Rules = (
    (replicas.check_replicas, "plan boards"),
    (power.check_power, "plan phases"),
    (regions.check_regions, "plan phases boards"),
    (schedule.check_timeline, "plan"),
    (schedule.check_region_files, "folder plan phases boards"),
    (schedule.check_reconfigured, "folder plan phases boards"),
    (emitted.check_left_overs, "folder plan phases"),
)


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
    part = judge_of(plan["options"], findings)
    boards, phases = platform.load_boards(folder, plan, findings), list[PhaseFacts]()
    given = {"folder": folder, "plan": plan, "boards": boards, "phases": phases, "options": plan["options"]}
    given |= {"cap": plan["options"]["cap"], "objective": plan["options"]["objective"]}
    given |= {"boundaries": plan["platform"]["boundaries"]}
    _apply(OF_PLATFORMS, given, findings)
    try:
        _apply(OF_PLANS, given, findings)
        phases += (region_fabric.confined_phase(plan, phase) for phase in phases_of(plan, boards, part, findings))
        _apply(OVER_PHASES, given, findings)
        measured = frozenset((plan["calibration"] or {"measured": ()})["measured"])
        for phase in phases:
            own = {"phase": phase, "boards": region_fabric.confined_boards(plan, phase, boards)}
            _apply(OF_PHASES, {**given, **own, "outcomes": outcomes.Outcomes(phase, measured)})
            emitted.check_emitted(folder, plan, phase, boards, build=build)
        _apply(OVER_ALL, given, findings)
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError) as error:
        # A value that no rule foresaw is the plan's fault, never a reason to give no verdict.
        findings.add("plan-malformed", "phases", f"cannot be judged: {type(error).__name__}: {error!s:.200}")
    return Verdict(findings.told(), _judged(folder, plan, phases, boards))


def _apply(rules: Rules, given: Mapping[str, Any], *last: Findings) -> None:
    for rule, names in rules:
        rule(*(given[name] for name in names.split()), *last)


def _judged(folder: Folder, plan: PlanRecord, phases: Phases, boards: Boards) -> dict[str, int]:
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
        "constraint_files": sum(name.rpartition("/")[2] in emitted.FILES for name in folder.known),
        "unbound_names": sum(len(phase.folded) for phase in phases if emitted.is_unbound(folder, plan, phase)),
        "files": sum(data is not None for data in folder.known.values()),
    }


def _read_plan(folder: Folder, findings: Findings) -> PlanRecord | None:
    plan: Any = folder.json("plan.json", findings)
    if plan is None:
        return None
    if plan.get("schema") != SCHEMA:
        told = f"is {plan.get('schema')!r:.60}, this floorflow reads {SCHEMA}: plan again (--force replaces the folder)"
        findings.add("plan-malformed", "schema", told)
        return None
    problems = list(departures(plan, PlanRecord))
    if not problems and not (plan["phases"] and plan["networks"] and plan["platform"]["fpgas"]):
        problems.append(("networks, phases, platform.fpgas", "must not be empty"))
    problems = problems or list(_long_lists(plan))
    for where, message in problems:
        findings.add("plan-malformed", where, message)
    return None if problems else plan


def _long_lists(plan: PlanRecord) -> Iterator[tuple[str, str]]:
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
