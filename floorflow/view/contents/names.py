"""Names, numbers and headlines that all pictures share, read from plan.json (as a plain dict, `docs/plan.md`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

TIMES = "\N{MULTIPLICATION SIGN}"
"""Between PE and SIMD, and between a number and what it counts."""

Plan = Mapping[str, Any]


def engine_names(plan: Plan) -> tuple[str, ...]:
    """Return all engines in dataflow order, as ``network/engine`` if there is more than one network."""
    networks = plan["networks"]
    return tuple(
        f"{network['name']}/{engine['name']}" if len(networks) > 1 else engine["name"]
        for network in networks
        for engine in network["engines"]
    )


def modules_in_order(plan: Plan, phase: int = 0) -> tuple[Mapping[str, Any], ...]:
    """Return the phase's modules by the first of their engines in dataflow order."""
    position = {name: index for index, name in enumerate(engine_names(plan))}
    last = len(position)

    def first_engine(module: Mapping[str, Any]) -> tuple[int, str]:
        return min((position.get(engine, last) for engine in module["engines"]), default=last), module["name"]

    return tuple(sorted(plan["phases"][phase]["modules"], key=first_engine))


def module_count(plan: Plan, phase: int = 0) -> int:
    """Return how many modules the phase has on all FPGAs."""
    return len(plan["phases"][phase]["modules"])


def fpga_names(plan: Plan) -> tuple[str, ...]:
    """Return the platform's FPGAs in the order of the chain."""
    return tuple(fpga["name"] for fpga in plan["platform"]["fpgas"])


def fpga_of(slot: str) -> str:
    """Return the FPGA that a slot belongs to: ``fpga0`` of ``fpga0.SLR2``."""
    return slot.rpartition(".")[0]


def slr_of(slot: str) -> str:
    """Return a slot's name within its FPGA: ``SLR2`` of ``fpga0.SLR2``."""
    return slot.rpartition(".")[2]


def networks_text(plan: Plan) -> str:
    """Return the networks' names for a title."""
    return " + ".join(network["name"] for network in plan["networks"])


def platform_text(plan: Plan) -> str:
    """Return the platform's name for a title, with the number of FPGAs if there are several."""
    count, name = len(plan["platform"]["fpgas"]), str(plan["platform"]["name"])
    return name if count == 1 else f"{count} {TIMES} {name}"


def rate_text(plan: Plan, phase: int = 0) -> str:
    """Return interval, frame rate and bottleneck for a subtitle."""
    estimates = plan["phases"][phase]["estimates"]
    return (
        f"interval {estimates['cycles']:,} cycles   ·   {reached_text(estimates)}"
        f" at {estimates['clock_mhz']:g} MHz   ·   bottleneck {estimates['bottleneck']}"
    )


def reached_text(estimates: Mapping[str, Any]) -> str:
    """Return the frame rate: where the planned FIFOs do not allow that of the engines, what they keep of it."""
    engines = f"{frames_text(estimates['fps'])} frames/s"
    timed = estimates.get("throughput") or {}
    if timed.get("deadlock"):
        return f"planned FIFOs deadlock (engines alone: {engines})"
    if not timed.get("shallow"):
        return engines
    kept = estimates.get("sustained_fps")
    sustained = "sustained rate not known, FIFOs too shallow" if kept is None else f"{frames_text(kept)} frames/s"
    return f"{sustained} (engines alone: {engines})"


def frames_text(fps: float) -> str:
    """Write a frame rate, never more than it is: whole frames, one decimal below 100, two digits below 1."""
    decimals = 0 if fps >= 100 else 1 if fps >= 1 or fps <= 0 else 1 - math.floor(math.log10(fps))
    # The division that gave fps may have ended a hair below a whole number.
    return f"{math.floor(fps * 10**decimals * (1 + 1e-12)) / 10**decimals:,.{decimals}f}"
