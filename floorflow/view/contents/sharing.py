"""Read from plan.json how networks share the external memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from floorflow.errors import InputError
from floorflow.view.contents.names import Plan, network_names, networks_text, platform_text
from floorflow.view.contents.timeline import time_text


@dataclass(frozen=True)
class Transfer:
    """Bytes that a network moves from one time to another, in us and GB/s; ``frame``: which of its frames of a period.

    The frame that a period begins and ends with counts as one.
    """

    start_us: float
    end_us: float
    gbs: float
    frame: int


@dataclass(frozen=True)
class SharingView:
    """A network: what it moves when, and its rates in frames a second."""

    name: str
    repetitions: int
    transfers: tuple[Transfer, ...]
    fps: float
    unaware_fps: float
    target_fps: float
    least_fps: float
    alone_fps: float
    starved: bool


@dataclass(frozen=True)
class MemoryView:
    """A period of the memory; ``bandwidth_gbs`` of ``memory_gbs`` is planned with."""

    title: str
    subtitle: str
    period_us: float
    memory_gbs: float
    bandwidth_gbs: float
    error: float
    networks: tuple[SharingView, ...]


def schedule_of(plan: Plan) -> dict[str, Any]:
    """Return the schedule of the memory.

    Raises
    ------
    InputError
        If the plan has none.

    """
    shared: dict[str, Any] | None = plan.get("memory_schedule")
    if shared is None:
        raise InputError("plan.json: memory_schedule is null", hint="only networks that share the memory have one")
    return shared


def read_memory(plan: Plan) -> MemoryView:
    """Read the schedule of the memory."""
    shared = schedule_of(plan)
    stats = shared["schedule"]
    proof = "proven the shortest" if stats["status"] == "optimal" else f"at most {stats['gap']:.1%} above the shortest"
    subtitle = (
        f"period {time_text(shared['period_us'])} ({proof} for these engines and repetitions)   ·   "
        f"{shared['memory_gbs']:g} GB/s, {shared['bandwidth_gbs']:.4g} planned with   ·   "
        f"rounds of {shared['slots_total']} slots"
    )
    return MemoryView(
        f"External memory of {networks_text(network_names(plan))} on {platform_text(plan)}",
        subtitle,
        shared["period_us"],
        shared["memory_gbs"],
        shared["bandwidth_gbs"],
        shared["error"],
        tuple(_network(shared, network) for network in shared["networks"]),
    )


def _network(shared: dict[str, Any], network: dict[str, Any]) -> SharingView:
    count = len(network["subgraphs"])
    transfers = tuple(
        Transfer(
            entry["start_us"],
            entry["end_us"],
            entry["traffic_bytes"] / (entry["end_us"] - entry["start_us"]) / 1000,
            (network["first"] + entry["run"]) // count % network["repetitions"],
        )
        for entry in shared["transfers"]
        if entry["network"] == network["network"]
    )
    return SharingView(
        network["network"],
        network["repetitions"],
        transfers,
        network["fps"],
        network["unaware_fps"],
        network["target_fps"],
        network["least_fps"],
        network["alone_fps"],
        network["starved"],
    )
