"""Read from plan.json which modules belong to which network, and what the legend says of each network."""

from __future__ import annotations

from floorflow.view.contents.names import (
    Plan,
    modules_in_order,
    network_names,
    network_of_engine,
    network_rate_text,
    networks_in,
)
from floorflow.view.contents.scene import NetworkView


def module_networks(plan: Plan, phase: int) -> tuple[int, ...]:
    """Return the place among the plan's networks of each module's network (its first engine's), in dataflow order."""
    network_of, place = network_of_engine(plan), {name: index for index, name in enumerate(network_names(plan))}
    return tuple(place[network_of[module["engines"][0]]] for module in modules_in_order(plan, phase))


def read_networks(plan: Plan, phase: int) -> tuple[NetworkView, ...]:
    """Return a line of the legend for each network of the phase; none if the plan has only one network."""
    names, owners = network_names(plan), module_networks(plan, phase)
    if len(names) < 2:
        return ()
    views = []
    for entry in networks_in(plan, phase):
        place = names.index(entry["network"])
        own = [number for number, owner in enumerate(owners, start=1) if owner == place]
        modules = (own[0], own[-1]) if own else None
        views.append(NetworkView(place, entry["network"], modules, network_rate_text(plan, entry)))
    return tuple(views)
