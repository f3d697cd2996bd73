"""FINN's own configuration files: styles and folding for ``ApplyConfig``, and the floorplan for ``Floorplan``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx

from floorflow.backends.finn.fifo_file import fifo_config
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.specialise import PREFERENCE
from floorflow.schema import EngineEntry, FoldedEntry, NetworkEntry, PhaseEntry, Plan

Places = dict[str, dict[str, Any]]
"""SLR, device and partition (kernel) number of every engine, by its name in the network."""


def files(plan: Plan, phase: int) -> dict[str, str]:
    """Return the files of a phase, by their paths in its folder; those of a network apart if there are several."""
    made: dict[str, str] = {}
    for one in networks_in(plan, phase):
        folder = _folder(plan, one.network.name)
        contents = {
            "folding_config": folding_config(one),
            "specialize_layers_config": specialize_layers_config(one),
            "fifo_config": _fifo_config(one),
            "floorplan": {"Defaults": {}} | floorplans(plan, phase)[one.network.name],
        }
        made |= {f"{folder}/{name}.json": _json(content) for name, content in contents.items() if content is not None}
    return made


def folding_file(plan: Plan, network: str) -> str:
    """Return the path of a network's folding_config.json in the folder of a phase."""
    return f"{_folder(plan, network)}/folding_config.json"


def _folder(plan: Plan, network: str) -> str:
    return "finn" if len(plan.networks) == 1 else f"finn/{network}"


def cells(plan: Plan, phase: int, cell_pattern: str) -> dict[str, str]:
    """Return every engine's cell, by its id, in a design whose cells a board names by this pattern."""
    places = floorplans(plan, phase)
    found = {}
    for one in networks_in(plan, phase):
        numbers = {name: place["partition_id"] for name, place in places[one.network.name].items()}
        # A board without a shell holds FINN's stitched design as a whole, with the names of the whole graph.
        names = local_names(one, numbers) if "{partition}" in cell_pattern else one.id_of
        for name, number in numbers.items():
            found[one.id_of[name]] = cell_pattern.format(engine=names[name], partition=number)
    return found


@dataclass(frozen=True)
class NetworkInPhase:
    """What runs of a network in a phase."""

    plan: Plan
    network: NetworkEntry
    phase: PhaseEntry

    @cached_property
    def engines(self) -> list[EngineEntry]:
        """The engines that run, in order."""
        folded = self.phase.network(self.network.name).folding.engines
        return [e for e in self.network.engines if self.plan.engine_id(self.network.name, e.name) in folded]

    @cached_property
    def id_of(self) -> dict[str, str]:
        """How the phase names the engines."""
        return {engine.name: self.plan.engine_id(self.network.name, engine.name) for engine in self.engines}

    @cached_property
    def folding(self) -> dict[str, FoldedEntry]:
        """The folding of each engine, by its name in the network."""
        folded = self.phase.network(self.network.name).folding.engines
        return {name: folded[identity] for name, identity in self.id_of.items()}

    @property
    def inputs(self) -> int:
        """Streams from outside; each has a DMA engine."""
        return sum(self._has(c.target) and c.ends[0].outside is not None for c in self.phase.channels)

    @cached_property
    def sources(self) -> dict[str, list[str]]:
        """The engines before each, by their names in the network."""
        name_of = {identity: name for name, identity in self.id_of.items()}
        before: dict[str, list[str]] = {name: [] for name in self.id_of}
        for channel in self.phase.channels:
            if channel.source in name_of and channel.target in name_of:
                before[name_of[channel.target]].append(name_of[channel.source])
        return before

    def _has(self, identity: str) -> bool:
        return identity in self.phase.network(self.network.name).folding.engines


def networks_in(plan: Plan, phase: int) -> list[NetworkInPhase]:
    """Return what runs of each network in a phase."""
    entry = plan.phases[phase]
    return [NetworkInPhase(plan, plan.network(part.network), entry) for part in entry.networks]


def folding_config(one: NetworkInPhase) -> dict[str, dict[str, Any]]:
    """Return folding_config.json: every engine's folding."""
    return {"Defaults": {}} | {name: dict(entry.attributes) for name, entry in one.folding.items()}


def specialize_layers_config(one: NetworkInPhase) -> dict[str, dict[str, Any]] | None:
    """Return specialize_layers_config.json: the layers that are hls or rtl against FINN's own choice; None if none is.

    FINN reads it before it makes engines: layers are numbered by generic op type, hls and rtl together.
    """
    config: dict[str, dict[str, Any]] = {"Defaults": {}}
    counts: Counter[str] = Counter()
    for engine in one.engines:
        layer = engine.kind.rpartition("_")[0]
        if PREFERENCE in engine.attributes:
            config[f"{layer}_{counts[layer]}"] = {PREFERENCE: engine.attributes[PREFERENCE]}
        counts[layer] += 1
    return config if len(config) > 1 else None


def _fifo_config(one: NetworkInPhase) -> dict[str, Any] | None:
    """Return fifo_config.json; None where FINN is to find depths: it prices FIFOs, or nothing is known of these."""
    options, throughput = one.plan.options.backend_options, one.phase.network(one.network.name).estimates.throughput
    known = throughput is not None and throughput.interval_cycles is not None
    if not isinstance(options, FinnOptions) or options.costs == "finn" or not known:
        return None
    return fifo_config(list(one.id_of.values()), one.phase.channels, folding_config(one), options.finn)


def floorplans(plan: Plan, phase: int) -> dict[str, Places]:
    """Return the places of every network's engines in a phase; partition numbers go on from network to network."""
    die_of = _dies(plan, phase)
    found, first = {}, 0
    for one in networks_in(plan, phase):
        places = {name: die_of[one.phase.slot_of[identity]] for name, identity in one.id_of.items()}
        ids = _partition_ids(one, first, places)
        found[one.network.name] = {name: _place(places[name], number) for name, number in ids.items()}
        first = 1 + max(ids.values())
    return found


Die = tuple[int, int]
"""Number of an FPGA, and of an SLR there: `ANY_SLR` where nothing is said of it."""
ANY_SLR = -1
"""What FINN takes for a node that may lie in any SLR."""


def _dies(plan: Plan, phase: int) -> dict[str, Die]:
    """Return where the engines of each slot have to lie."""
    styles = plan.phases[phase].constraint_styles
    return {
        slot.name: (number, ANY_SLR if styles[slot.name] == "none" else int(slot.slr.removeprefix("SLR")))
        for number, fpga in enumerate(plan.platform.fpgas)
        for slot in fpga.slots
    }


def _partition_ids(one: NetworkInPhase, first: int, places: Mapping[str, Die]) -> dict[str, int]:
    """Return the partition (kernel) number of every engine, the numbers from ``first`` on.

    FINN's rule (transformation/fpgadataflow/floorplan.py): a node keeps its predecessor's partition if it lies in the
    same SLR and the predecessor has no AXI-lite port (weights that are written at run time), the last predecessor
    first; else it starts a new one. Here it does so too where keeping one would make partitions depend on each other
    in a cycle, which FINN refuses, and where another predecessor in that partition has such a port. The input DMA
    engines come before all.
    """
    ids: dict[str, int] = {}
    graph = nx.DiGraph()
    fresh = first + one.inputs
    for engine, sources in one.sources.items():
        closed = {ids[source] for source in sources if _has_axilite(one.folding[source])}
        near = [ids[source] for source in reversed(sources) if places[source] == places[engine]]
        open_ids = [number for number in near if number not in closed]
        ids[engine] = next((i for i in open_ids if _stays_acyclic(graph, i, [ids[s] for s in sources])), fresh)
        fresh += ids[engine] == fresh
        graph.add_edges_from((ids[source], ids[engine]) for source in sources if ids[source] != ids[engine])
    return ids


def _stays_acyclic(graph: nx.DiGraph, number: int, inputs: Sequence[int]) -> bool:
    """Whether a node with these input partitions may join one: none of the others depends on it."""
    others = {other for other in inputs if other != number}
    return not any(number in graph and other in graph and nx.has_path(graph, number, other) for other in others)


def local_names(one: NetworkInPhase, partition_ids: Mapping[str, int]) -> dict[str, str]:
    """Return every engine's name inside its own partition.

    FINN builds each partition as a kernel of its own and names its nodes anew, counting per op type from 0 in
    topological order (GiveUniqueNodeNames in VitisBuild and ZynqBuild).
    """
    counts: dict[tuple[int, str], int] = {}
    names = {}
    for engine in one.engines:
        key = partition_ids[engine.name], engine.kind
        counts[key] = counts.get(key, -1) + 1
        names[engine.name] = f"{engine.kind}_{counts[key]}"
    return names


def _has_axilite(entry: FoldedEntry) -> bool:
    return bool(entry.attributes.get("runtime_writeable_weights", 0))


def _place(place: Die, partition_id: int) -> dict[str, Any]:
    device, slr = place
    return {"slr": slr, "partition_id": partition_id, "device_id": device, "mem_port": ""}


def _json(content: object) -> str:
    return json.dumps(content, indent=2, sort_keys=True) + "\n"
