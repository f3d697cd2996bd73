"""What FINN's steps have to know of a network in a phase: floorflow_plan.json, and FINN's graph of it as foreseen."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from floorflow.backends.finn.kernel_cuts import moves
from floorflow.backends.finn.made_graph import made_nodes
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.step.graph import BuiltNode, joined
from floorflow.backends.finn.step.kernels import kernel_order, local_names
from floorflow.backends.finn.step.match import streams_between
from floorflow.backends.finn.step.settings import LEAST_DEPTH, Bound, own_kernels, placements
from floorflow.backends.placed import PlacedStream
from floorflow.facts import ChannelEntry, EngineEntry, FoldedEntry, NetworkEntry, PhaseEntry, Plan
from floorflow.facts.stitched import by_implementation, core_name, stitched_modules
from floorflow.facts.topology import linked_streams


@dataclass(frozen=True)
class NetworkInPhase:
    """What runs of a network in a phase; with ``fpga`` the part of it on that card, which is built by itself."""

    plan: Plan
    network: NetworkEntry
    phase: PhaseEntry
    fpga: str | None = None

    @cached_property
    def engines(self) -> list[EngineEntry]:
        """The engines that run, in order."""
        folded = self.phase.network(self.network.name).folding.engines
        ids = {e.name: self.plan.engine_id(self.network.name, e.name) for e in self.network.engines}
        inside = {name for name, identity in ids.items() if identity in folded and self.holds(identity)}
        return [e for e in self.network.engines if e.name in inside]

    def holds(self, engine: str) -> bool:
        """Whether an engine, by its id, is of the part."""
        return self.fpga is None or self.plan.fpga_of[self.phase.slot_of[engine]] == self.fpga

    @cached_property
    def id_of(self) -> dict[str, str]:
        """How the phase names the engines."""
        return {engine.name: self.plan.engine_id(self.network.name, engine.name) for engine in self.engines}

    @cached_property
    def folding(self) -> dict[str, FoldedEntry]:
        """The folding of each engine, by its name in the network."""
        folded = self.phase.network(self.network.name).folding.engines
        return {name: folded[identity] for name, identity in self.id_of.items()}

    @cached_property
    def channels(self) -> list[ChannelEntry]:
        """The channels with an end at an engine of the network."""
        inside = set(self.id_of.values())
        return [channel for channel in self.phase.channels if {channel.source, channel.target} & inside]


def networks_in(plan: Plan, phase: int) -> list[NetworkInPhase]:
    """Return what runs of each network in a phase."""
    entry = plan.phases[phase]
    return [NetworkInPhase(plan, plan.network(part.network), entry) for part in entry.networks]


SCHEMA = "floorflow-step/1"
ANY_SLR = -1
"""What FINN takes for a node that may lie in any SLR: where nothing is constrained, of several."""


FRAMES_VERIFIED = 4
"""FINN simulates each from reset, by itself."""


@dataclass(frozen=True)
class Foreseen:
    """FINN's graph of a network as foreseen from the plan: nodes, their places, kernels and names.

    Names may turn out otherwise (FINN splits FIFOs and orders parallel branches): they are bound after the build.
    """

    data: Mapping[str, Any]

    @cached_property
    def bound(self) -> Bound:
        """The graph, with the engines' nodes."""
        nodes, of = made_nodes(self.data)
        graph = joined(nodes)
        found = Bound(self.data, graph, of, tuple(streams_between(self.data["streams"], of, graph)))
        return replace(found, plan={**self.data, "moved": moves(found)})

    @cached_property
    def ids(self) -> dict[BuiltNode, int]:
        """The partition id of every node."""
        return own_kernels(self.bound)

    @cached_property
    def kernel_of(self) -> dict[str, int]:
        """The number of each engine's kernel."""
        order = kernel_order(self.bound.graph.nodes, self.ids)
        return {name: order[self.ids[node]] for name, node in self.bound.nodes.items()}

    @cached_property
    def inner_names(self) -> dict[str, str]:
        """What each engine is called in its kernel."""
        members: dict[int, list[BuiltNode]] = {}
        for node in self.bound.graph.nodes:
            members.setdefault(self.ids[node], []).append(node)
        names: dict[BuiltNode, str] = {}
        for nodes in members.values():
            names |= local_names(nodes)
        return {name: names[node] for name, node in self.bound.nodes.items()}

    @property
    def kernels(self) -> list[list[str]]:
        """The engines of each kernel that has some, in order."""
        groups: dict[int, list[str]] = {}
        for name, node in self.bound.nodes.items():
            groups.setdefault(self.ids[node], []).append(name)
        return list(groups.values())

    @property
    def floorplan(self) -> dict[str, dict[str, Any]]:
        """An entry of floorplan.json for every node."""
        places = placements(self.bound)
        return {node.name: places[node] | {"partition_id": number} for node, number in self.ids.items()}


def foreseen(one: NetworkInPhase) -> Foreseen:
    """Return FINN's graph of a network in a phase."""
    return Foreseen(_data(one))


def step_data(one: NetworkInPhase, fpgas: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return floorflow_plan.json; ``fpgas`` have ``name``, ``part``, ``cell_pattern`` and ``constraints``."""
    found = foreseen(one)
    whole = {} if len(one.plan.phases) == 1 and one.fpga is None else {"whole": _whole(one)}
    plan = one.plan
    if plan.options.backend_options.stitches:
        # All modules are cut out of the one graph, wherever their cards are, and no kernel waits for another.
        later = {} if plan.options.reuse == "no" else {"contents_apart": True}
        own = {"moved": {}, "fpgas": list(fpgas[:1]), "kernels": [], "stitched": _stitched(one)}
        return {**found.bound.plan, **own, **later}
    cards = {"stops": list(plan.unbuilt), "card_links": _card_links(one)} if len(plan.platform.fpgas) > 1 else {}
    if one.fpga is not None:
        cards = {"kernels_only": True}
    joined: dict[str, Any] = {"part_of_a_design": True} if _is_part(plan) else {}
    if prefix := prefix_of(one):
        joined = {"kernel_prefix": prefix}
    return {**found.bound.plan, "fpgas": list(fpgas), "kernels": found.kernels, **whole, **cards, **joined}


def _stitched(one: NetworkInPhase) -> list[dict[str, Any]]:
    """Return each implementation: its module, what FINN's IP is called, and its streams as ports are numbered."""
    return [
        {
            "implementation": name,
            "module": module.name,
            "core": core_name(name),
            "inputs": [port.channel for port in module.ports if port.enters],
            "outputs": [port.channel for port in module.ports if not port.enters],
        }
        for name, (module, *_) in by_implementation(stitched_modules(one.phase).values()).items()
    ]


def _card_links(one: NetworkInPhase) -> list[dict[str, Any]]:
    """Return the streams over links: at both ends the numbers of the card and of its cage."""
    number = {fpga.name: place for place, fpga in enumerate(one.plan.platform.fpgas)}
    return [
        {
            "stream": link.stream.channel,
            "source": {"device": number[link.source], "cage": link.cable.cages[link.source]},
            "target": {"device": number[link.target], "cage": link.cable.cages[link.target]},
        }
        for link in linked_streams(one.plan.platform, one.phase)
    ]


def _is_part(plan: Plan) -> bool:
    """Whether a network's build is a part of a design: beside others, or in a region; copies are of one build."""
    linked = (plan.targets is not None or plan.replicas is not None) and not plan.unbuilt
    return (len(plan.networks) > 1 and not linked) or plan.reconfigurable is not None


def prefix_of(one: NetworkInPhase) -> str:
    """Return what the names of a network's kernels begin with: of several that v++ links, none may have another's."""
    if one.plan.targets is None or one.plan.unbuilt:
        return ""
    return f"network{one.plan.networks.index(one.network)}_"


def _whole(one: NetworkInPhase) -> dict[str, list[dict[str, Any]]]:
    """Return engines and streams of the network in all phases; what one leaves in a buffer others read."""
    phases = [NetworkInPhase(one.plan, one.network, phase) for phase in one.plan.phases]
    own = {identity for part in phases for identity in part.id_of.values()}
    engines = [
        {"id": part.id_of[engine.name], "kind": engine.kind, "attributes": dict(engine.attributes)}
        for part in phases
        for engine in part.engines
    ]
    channels = [channel for part in phases for channel in part.channels]
    # What a buffer holds comes from the engine that writes it; that engine's own channel is told where it is read.
    written, read = {c.target: c for c in channels if c.target not in own}, {c.source for c in channels}
    ending = (c for c in channels if c.target in own or c.target not in read)
    return {"engines": engines, "streams": [_ends(written.get(c.source, c), c, own) for c in ending]}


def _ends(origin: ChannelEntry, channel: ChannelEntry, own: set[str]) -> dict[str, Any]:
    """Return a stream from where one channel begins to where another ends, None for what is outside."""
    return {
        "name": channel.name,
        "source": origin.source if origin.source in own else None,
        "source_port": origin.source_port,
        "target": channel.target if channel.target in own else None,
        "target_port": channel.target_port,
    }


def finn_of(plan: Plan) -> str:
    """Return the FINN that a plan is for."""
    options = plan.options.backend_options
    return options.finn if isinstance(options, FinnOptions) else "main"


def _data(one: NetworkInPhase) -> dict[str, Any]:
    plan = one.plan
    module_of = {engine: module.name for module in one.phase.modules for engine in module.engines}
    own = {module_of[identity] for identity in one.id_of.values()}
    slot_of = one.phase.slot_of
    return {
        "schema": SCHEMA,
        "version": plan.version,
        "finn": finn_of(plan),
        "network": one.network.name,
        "clock_mhz": plan.options.clock_mhz,
        "ports_of_finn": all(engine.operation == engine.name for engine in one.network.engines),
        "single_slr": all(len(fpga.slots) == 1 for fpga in plan.platform.fpgas),
        "engines": [
            {
                "id": one.id_of[engine.name],
                "kind": engine.kind,
                "attributes": dict(engine.attributes),
                "folding": dict(one.folding[engine.name].attributes),
                "module": module_of[one.id_of[engine.name]],
                "fpga": plan.fpga_of[slot_of[one.id_of[engine.name]]],
            }
            for engine in one.engines
        ],
        "streams": [_stream(channel, one) for channel in one.channels],
        "modules": {
            name: _place(one, slot) for name, slot in sorted(one.phase.partition.assignment.items()) if name in own
        },
        "dma": _dma(one),
        "vectors": {"frames": FRAMES_VERIFIED, "seed": plan.options.seed},
    }


def _stream(channel: ChannelEntry, one: NetworkInPhase) -> dict[str, Any]:
    inside = set(one.id_of.values())
    placed = PlacedStream(
        channel.name,
        channel.source if channel.source in inside else None,
        channel.source_port,
        channel.target if channel.target in inside else None,
        channel.target_port,
        channel.source_width_bits,
        channel.target_width_bits,
        channel.converter,
        channel.converter_module,
        channel.fifo_module,
    )
    places = [_place(one, slot) for slot in one.plan.built_slices(one.phase, channel)]
    slices = [[place["device"], place["slr"]] for place in places]
    found = {**asdict(placed), "depth": channel.fifo_depth, "style": channel.fifo_style, "slices": slices}
    return found if one.fpga is None else _on_card(found, channel, one)


def _on_card(stream: dict[str, Any], channel: ChannelEntry, one: NetworkInPhase) -> dict[str, Any]:
    """Return a stream as the part on a card has it: of FIFO, converter and slices what stands there.

    Beside a converter on another card the stream is as wide as that leaves it, or takes it.
    """
    module_of = {engine: module.name for module in one.phase.modules for engine in module.engines}
    ends = [end for end in (channel.source, channel.target) if end in one.id_of.values()]
    here, device = module_of[ends[0]], _place(one, one.phase.slot_of[ends[0]])["device"]
    found = {**stream, "slices": [row for row in stream["slices"] if row[0] == device]}
    card_of = {name: one.plan.fpga_of[slot] for name, slot in one.phase.partition.assignment.items()}
    if card_of[channel.fifo_module] != one.fpga:
        found |= {"fifo_module": here, "depth": LEAST_DEPTH, "style": "auto"}
    if channel.converter_module is not None and card_of[channel.converter_module] != one.fpga:
        side = "source" if stream["source"] is not None else "target"
        width = stream[f"{side}_width"]
        found |= {"converter": None, "converter_module": None, "source_width": width, "target_width": width}
    return found


def _place(one: NetworkInPhase, slot: str) -> dict[str, int]:
    fpga = one.plan.fpga_of[slot]
    slr = next(entry.slr for entry in one.plan.platform.slots if entry.name == slot)
    fpgas = {entry.name: number for number, entry in enumerate(one.plan.platform.fpgas)}
    dies = sum(entry.fpga == fpga for entry in one.plan.platform.slots)
    free = dies > 1 and one.phase.constraint_styles[slot] == "none"
    return {"slr": ANY_SLR if free else int(slr.removeprefix("SLR")), "device": fpgas[fpga]}


def _dma(one: NetworkInPhase) -> dict[str, dict[str, Any]]:
    """Return where the DMA engines lie: at the host's port of the FPGA of the first and of the last engine."""
    found = {}
    for way, identity in (("in", "target"), ("out", "source")):
        ends = [channel for channel in one.channels if getattr(channel, identity) in one.id_of.values()]
        outer = [c for c in ends if c.ends[0 if way == "in" else 1].outside is not None]
        engine = getattr(outer[0], identity) if outer else next(iter(one.id_of.values()))
        fpga_name = one.plan.fpga_of[one.phase.slot_of[engine]]
        fpga = next(entry for entry in one.plan.platform.fpgas if entry.name == fpga_name)
        found[way] = _place(one, fpga.host_slot) | {"mem_port": fpga.host_memory or ""}
    return found
