"""The report: what was read, then phase by phase what was found."""

from __future__ import annotations

from collections.abc import Iterator

from floorflow.emit.backend import PlanBackend
from floorflow.emit.bargains import bargains
from floorflow.emit.long_streams import longest_streams
from floorflow.emit.next_steps import next_steps
from floorflow.emit.report.area import fits, modules, slots
from floorflow.emit.report.assumptions import assumptions
from floorflow.emit.report.clock import clocks, hard_to_close
from floorflow.emit.report.constrained import constrained
from floorflow.emit.report.memories import memories
from floorflow.emit.report.memory import sharing
from floorflow.emit.report.overview import overview
from floorflow.emit.report.proofs import gaps, tried
from floorflow.emit.report.rates import rates, throughput
from floorflow.emit.report.routing import routing
from floorflow.emit.report.targets import targets
from floorflow.emit.report.traffic import crossings, far_streams, loads
from floorflow.emit.sparing import large_engines
from floorflow.emit.tables import wrapped
from floorflow.emit.use import slot_uses
from floorflow.facts import Extras, PhaseEntry, Plan
from floorflow.hardware import Platform

Section = tuple[str, list[str]]
"""Heading and lines; one without lines is left out."""


def report(plan: Plan, platform: Platform, backend: PlanBackend, extras: Extras | None = None) -> str:
    """Return the report's text; ``extras``: once they are worked out."""
    networks = " and ".join(network.name for network in plan.networks)
    title = f"{networks} on {plan.platform.name}, floorflow {plan.version}, seed {plan.seed}"
    sections = [
        ("What was read and assumed", assumptions(plan, platform, backend)),
        *_results(plan, platform, backend, extras),
    ]
    body = [f"{heading}\n{'-' * len(heading)}\n" + "\n".join(lines) for heading, lines in sections if lines]
    head = "\n".join([title, "=" * len(title), *wrapped(plan.unbuilt)])
    return "\n\n".join([head, *body]) + "\n"


def _results(plan: Plan, platform: Platform, backend: PlanBackend, extras: Extras | None) -> Iterator[Section]:
    """Yield the sections of every phase; with several phases their networks first, and the name in each heading."""
    if len(plan.phases) == 1:
        yield from _phase(plan, plan.phases[0], platform, backend, extras)
        return
    yield "Networks and phases", overview(plan)
    yield _tried(plan)
    for phase in plan.phases:
        sections = _phase(plan, phase, platform, backend, extras)
        yield from ((f"{heading}, in {phase.name}", lines) for heading, lines in sections if heading != _TRIED)


_TRIED = "What the search tried, and what ended it"


def _tried(plan: Plan) -> Section:
    return _TRIED, tried(plan)


def _phase(
    plan: Plan, phase: PhaseEntry, platform: Platform, backend: PlanBackend, extras: Extras | None
) -> Iterator[Section]:
    uses = slot_uses(plan, phase, platform)
    shared = plan.memory_schedule
    yield "How the memory is shared", sharing(shared)
    yield "Rate" if shared is None else "Rate of the engines, if the memory never waits", rates(plan, phase, backend)
    yield "What each network gets", targets(plan)
    yield "Clock", clocks(plan, phase) if shared is None else []
    yield "What makes it hard to close", hard_to_close(plan, phase)
    yield "Longest streams", longest_streams(plan, phase)
    yield "What one frame takes", throughput(plan, phase, backend)
    yield "What less rate would free", bargains(plan, extras)
    yield "How far from optimal", gaps(plan, phase, extras)
    yield _tried(plan)
    yield "Use of each slot", slots(plan, phase, uses)
    yield "Large engines", wrapped(large_engines(plan, phase))
    yield "Where large memories lie", memories(phase, uses)
    yield "How likely it is to fit", fits(plan, phase)
    yield "What is constrained", constrained(plan, phase, platform)
    yield "Streams between slots", crossings(phase)
    yield "Streams over several SLR boundaries", far_streams(plan, phase)
    yield "SLR boundaries and links", loads(phase)
    yield "Wires on each die", routing(phase)
    if shared is None:  # what sets rates there is told with the memory
        yield "What to try next", wrapped(next_steps(plan, phase, platform, uses, backend, extras=extras))
    yield "Modules", modules(phase)
