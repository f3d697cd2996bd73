"""What was read and assumed: networks, platform, request, limits, and what the user should know of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from floorflow.emit.backend import PlanBackend
from floorflow.emit.host_ports import host_lines
from floorflow.emit.report.preset import preset_lines
from floorflow.emit.sparing import limits_told
from floorflow.emit.tables import rate, wrapped
from floorflow.facts import Amounts, InfrastructureEntry, MemoryScheduleEntry, NetworkEntry, Options, Plan
from floorflow.hardware import Platform
from floorflow.resources import RESOURCE_NAMES


def assumptions(plan: Plan, platform: Platform, backend: PlanBackend) -> list[str]:
    """Return the section's lines."""
    options = plan.options
    kept = ", kept" if options.keep_granularity else ""
    rest = f"granularity {options.granularity}{kept}, effort {options.effort}"
    lines = [
        *_networks(plan),
        f"platform   {_boards(plan)}, --fpgas {options.fpgas}",
        f"asked for  {_asked(options, plan.memory_schedule)} at {options.clock_mhz:g} MHz; {rest}",
        *preset_lines(options, platform),
        f"engines    {limits_told(options)}",
        f"pblocks    {_room(plan)}",
        f"costs      {backend.cost_model(plan)}",
        *(f"fifos      {text}" for text in fifos_told(plan)),
        *_measured(plan),
    ]
    lines += [f"taken      {item.name} in {item.slot}: {_amounts(item.resources)}" for item in _infrastructure(plan)]
    lines += host_lines(platform)
    for link in plan.platform.links:
        assumed = " (assumed)" if link.assumed else ""
        lines.append(
            f"link       {link.name}: {link.kind}, {link.gbps:g} Gb/s each way, {link.latency_us:g} us{assumed}"
        )
    return [*lines, *wrapped(warning for warning in plan.warnings if warning not in plan.unbuilt)]


def fifos_told(plan: Plan) -> list[str]:
    """Tell whose FIFO depths a plan assumes, what the emitted build sets, and what they hold; nothing without any."""
    timed = [part.estimates.throughput for phase in plan.phases for part in phase.networks]
    known = all(found is not None and found.interval_cycles is not None for found in timed)
    whose = plan.options.backend_options.fifos_told(knows_depths=known)
    channels = [channel for phase in plan.phases for channel in phase.channels]
    bits = sum(channel.fifo_depth * channel.width_bits for channel in channels)
    used = {name: sum(c.fifo_resources.model_dump()[name] for c in channels) for name in RESOURCE_NAMES}
    blocks = ", ".join(f"{amount:,} {name}" for name, amount in used.items() if amount and name != "FF")
    return [f"{whose}; {bits / 1000:,.1f} kbit in {blocks or 'none'}"] if whose else []


def _networks(plan: Plan) -> list[str]:
    files = ", ".join(f"{file.path} (sha256 {file.sha256[:12]})" for file in plan.inputs)
    if len(plan.networks) == 1:
        return [f"network    {files}: {_counts(plan.networks[0])}"]
    return [f"inputs     {files}", *(f"network    {network.name}: {_counts(network)}" for network in plan.networks)]


def _counts(network: NetworkEntry) -> str:
    macs = sum(operation.macs for operation in network.operations)
    return f"{len(network.operations)} operations, {macs:,} MACs a frame, {len(network.engines)} engines"


def _boards(plan: Plan) -> str:
    counts = Counter((fpga.board, fpga.part) for fpga in plan.platform.fpgas)
    return ", ".join(f"{count} x {board} ({part})" for (board, part), count in counts.items())


def _measured(plan: Plan) -> list[str]:
    """Tell what a build said instead of estimates, and how it corrects the others."""
    known = plan.calibration
    if known is None:
        return []
    factors = [f"{kind} {name} x{x:.2f}" for kind, by in known.factors.items() for name, x in by.items()]
    rest = f"; estimates corrected: {', '.join(factors)}" if factors else ""
    return [f"measured   {len(known.measured)} of {len(plan.engines)} engines (calibration.json){rest}"]


def _asked(options: Options, shared: MemoryScheduleEntry | None) -> str:
    if shared is not None:
        rates = ", ".join(_rates_of_several(options)) or "the most that each network reaches alone"
        return f"the least {shared.fairness} against {rates}"
    wanted = {"throughput": "the highest rate", "latency": "the lowest latency", "resources": "the least resources"}
    what = wanted[options.objective]
    if options.rates or options.min_rate:
        what = what if options.objective == "resources" else "the largest least share"
        return f"{what} at {', '.join(_rates_of_several(options))}"
    if options.fps is None:
        return what
    return f"{what} at {options.fps:,g} frames/s{' or more' if options.objective == 'latency' else ''}"


def _rates_of_several(options: Options) -> list[str]:
    """Tell what was asked for of each of several networks."""
    asked = [f"{name} {rate(fps)} frames/s" for name, fps in options.rates.items()]
    return [*asked, *(f"{name} at least {rate(fps)} frames/s" for name, fps in options.min_rate.items())]


def _infrastructure(plan: Plan) -> list[InfrastructureEntry]:
    return [item for item in plan.platform.infrastructure if any(item.resources.model_dump().values())]


def _room(plan: Plan) -> str:
    """Tell by what pblocks are sized."""
    options = plan.options
    sought, given = options.confidence_sought, options.fill.as_dict()
    known = any(phase.bands for phase in plan.phases)
    told = [f"--fill {_fractions(given)}"] if given else []
    if sought is not None and len(given) < len(RESOURCE_NAMES):
        told.append(f"--confidence {sought:g}" if known else "without a confidence, as the costs know no error")
    rest = f"at most {_fractions(options.fullest_fill)} full, --constraint-style {options.constraint_style}"
    return ", ".join([*told, rest])


def _fractions(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.0%}" for name, value in shares.items())


def _amounts(amounts: Amounts) -> str:
    return ", ".join(f"{amount:,} {name}" for name, amount in amounts.model_dump().items() if amount)
