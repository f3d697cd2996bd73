"""Names, numbers and headlines that all pictures share, read from plan.json (as a plain dict, `docs/plan.md`)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.errors import InputError
from floorflow.facts.values import engine_id

TIMES = "\N{MULTIPLICATION SIGN}"
"""Between the factors of an engine's parallelism, and between a number and what it counts."""

_MOST_NAMES = 3
"""Networks that a title names; more are only counted."""

Plan = Mapping[str, Any]


@dataclass(frozen=True)
class NetworkView:
    """A line of the legend of networks, for plans of several: ``modules`` are the first and last number of its own."""

    number: int
    """Place among the plan's networks, from 0: it gives the colours of its modules."""
    name: str
    modules: tuple[int, int] | None
    rate: str


def all_engines(plan: Plan) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield every engine in dataflow order, one network after another: its name in the phases, its network, itself."""
    several = len(plan["networks"]) > 1
    for network in plan["networks"]:
        for engine in network["engines"]:
            yield engine_id(network["name"], engine["name"], several=several), network["name"], engine


def engines_by_id(plan: Plan) -> dict[str, Mapping[str, Any]]:
    """Return all engines in dataflow order, one network after another, by their names in the phases."""
    return {name: engine for name, _, engine in all_engines(plan)}


def core_rank(engine: Mapping[str, Any]) -> int:
    """Order engines by what a reader looks for: core engines with weights, other core engines, the rest."""
    if engine["role"] != "core":
        return 2
    return 0 if engine["weight_bits"] else 1


def network_names(plan: Plan) -> tuple[str, ...]:
    """Return the networks of the plan in its order."""
    return tuple(network["name"] for network in plan["networks"])


def networks_in(plan: Plan, phase: int) -> tuple[Mapping[str, Any], ...]:
    """Return what the phase says of each of its networks, in the plan's order."""
    by_name = {item["network"]: item for item in plan["phases"][phase]["networks"]}
    return tuple(by_name[name] for name in network_names(plan) if name in by_name)


def network_in(plan: Plan, phase: int, name: str | None) -> Mapping[str, Any]:
    """Return what the phase says of one of its networks, without a name of the first.

    Raises InputError if the phase has no network of that name.
    """
    networks = networks_in(plan, phase)
    for network in networks:
        if name in (None, network["network"]):
            return network
    known = ", ".join(network["network"] for network in networks)
    raise InputError(f"plan.json: phases[{phase}] has no network '{name}'; it has: {known}", hint="name one of these")


def modules_in_order(plan: Plan, phase: int = 0) -> tuple[Mapping[str, Any], ...]:
    """Return the phase's modules by the first of their engines in dataflow order."""
    position = {name: index for index, name in enumerate(engines_by_id(plan))}
    last = len(position)

    def first_engine(module: Mapping[str, Any]) -> tuple[int, str]:
        return min((position.get(engine, last) for engine in module["engines"]), default=last), module["name"]

    return tuple(sorted(plan["phases"][phase]["modules"], key=first_engine))


def module_networks(plan: Plan, phase: int) -> tuple[int, ...]:
    """Return the place among the plan's networks of each module's network (its first engine's), in dataflow order."""
    names = network_names(plan)
    place_of = {engine: names.index(network) for engine, network, _ in all_engines(plan)}
    return tuple(place_of[module["engines"][0]] for module in modules_in_order(plan, phase))


def read_networks(plan: Plan, phase: int) -> tuple[NetworkView, ...]:
    """Return a line of the legend for each network of the phase; none if the plan has only one network."""
    names, owners = network_names(plan), module_networks(plan, phase)
    if len(names) < 2:
        return ()
    views = []
    for entry in networks_in(plan, phase):
        place = names.index(entry["network"])
        own = [number for number, owner in enumerate(owners, start=1) if owner == place]
        views.append(NetworkView(place, entry["network"], (own[0], own[-1]) if own else None,
                                 network_rate_text(plan, entry)))  # fmt: skip
    return tuple(views)


def fpga_names(plan: Plan) -> tuple[str, ...]:
    """Return the platform's FPGAs in the order of the chain."""
    return tuple(fpga["name"] for fpga in plan["platform"]["fpgas"])


def fpga_of_slots(plan: Plan) -> dict[str, str]:
    """Return the FPGA of each slot by the slot's name."""
    return {slot["name"]: slot["fpga"] for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]}


def slot_labels(plan: Plan) -> dict[str, str]:
    """Return what a slot is called beside its FPGA: its SLR, or its own name where it shares the SLR."""
    labels: dict[str, str] = {}
    for fpga in plan["platform"]["fpgas"]:
        slrs = [slot["slr"] for slot in fpga["slots"]]
        labels |= {s["name"]: s["slr"] if slrs.count(s["slr"]) == 1 else s["name"] for s in fpga["slots"]}
    return labels


def headline(plan: Plan, place: str, phase: int) -> str:
    """Return a title: the phase's networks, ``place``, and the phase if there are several."""
    networks = networks_text([item["network"] for item in networks_in(plan, phase)])
    return f"{networks} on {place}{phase_text(plan, phase)}"


def networks_text(names: Sequence[str]) -> str:
    """Return networks' names for a title, of many only how many they are."""
    return " + ".join(names) if len(names) <= _MOST_NAMES else f"{len(names)} networks"


def phase_text(plan: Plan, phase: int) -> str:
    """Return what a title says of the phase: nothing if it is the only one."""
    return f", phase {plan['phases'][phase]['name']}" if len(plan["phases"]) > 1 else ""


def platform_text(plan: Plan) -> str:
    """Return the platform's name for a title; of several FPGAs that are alike their number and board."""
    boards = [fpga["board"] for fpga in plan["platform"]["fpgas"]]
    if len(boards) > 1 and len(set(boards)) == 1:
        return f"{len(boards)} {TIMES} {boards[0]}"
    return str(plan["platform"]["name"])


def rate_text(plan: Plan, phase: int = 0) -> str:
    """Return interval, frame rate and bottleneck for a subtitle; of several networks only how many they are."""
    networks = networks_in(plan, phase)
    if len(networks) > 1:
        return f"{len(networks)} networks at {networks[0]['estimates']['clock_mhz']:g} MHz"
    return network_rate_text(plan, networks[0])


def network_rate_text(plan: Plan, network: Mapping[str, Any]) -> str:
    """Return interval, frame rate and bottleneck of one network in a phase."""
    estimates = network["estimates"]
    fps = shared_fps(plan, network["network"])
    reached = reached_text(estimates) if fps is None else f"{frames_text(fps)} frames/s by the schedule"
    return (
        f"interval {network['interval_cycles']:,} cycles   ·   {reached}"
        f" at {estimates['clock_mhz']:g} MHz   ·   bottleneck {_with_layer(plan, estimates['bottleneck'])}"
    )


def _with_layer(plan: Plan, engine: str) -> str:
    """Return an engine's id with the layer of the user's model that it computes."""
    network, _, name = engine.rpartition("/")
    owners = [item for item in plan["networks"] if network in ("", item["name"])]
    layers = [e["operation"] for item in owners for e in item["engines"] if e["name"] == name]
    return f"{engine} ({layers[0]})" if layers and layers[0] != name else engine


def shared_fps(plan: Plan, network: str) -> float | None:
    """Return the rate that the memory's schedule gives a network; None where there is none."""
    networks = (plan.get("memory_schedule") or {"networks": ()})["networks"]
    return next((float(each["fps"]) for each in networks if each["network"] == network), None)


def reached_text(estimates: Mapping[str, Any]) -> str:
    """Return the frame rate to believe, and that of the engines where the planned FIFOs do not allow it."""
    engines = f"{frames_text(estimates['fps'])} frames/s"
    timed = estimates.get("throughput") or {}
    cycles = estimates.get("expected_cycles")
    believed = estimates["fps"] if cycles is None else estimates["clock_mhz"] * 1e6 / cycles
    if timed.get("deadlock"):
        return f"planned FIFOs deadlock (engines alone: {engines})"
    if not timed.get("shallow"):
        return f"{frames_text(believed)} frames/s"
    kept = estimates.get("sustained_fps")
    sustained = "sustained rate not known, FIFOs too shallow" if kept is None else f"{frames_text(kept)} frames/s"
    return f"{sustained} (engines alone: {engines})"


def frames_text(fps: float) -> str:
    """Write a frame rate, never more than it is: whole frames, one decimal below 100, two digits below 1."""
    decimals = 0 if fps >= 100 else 1 if fps >= 1 or fps <= 0 else 1 - math.floor(math.log10(fps))
    # The division that gave fps may have ended a hair below a whole number.
    return f"{math.floor(fps * 10**decimals * (1 + 1e-12)) / 10**decimals:,.{decimals}f}"
