"""Which modules are one circuit: equal in kinds, dimensions and folding, and in all that is built around them.

A module is pre-implemented once for all that are equal, where nothing makes them differ after all: the contents of
memories may, constants in logic may not.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeVar

from floorflow.channels.realise import Channel
from floorflow.dataflow.model import Attributes, FoldedDataflow, Stream
from floorflow.dataflow.modules import Module
from floorflow.hardware import Device, Rect, can_relocate

Signature = tuple[Hashable, ...]
Told = TypeVar("Told", bound=Hashable)
Joint = tuple[int, int, int, int, Told]
"""Numbers of a stream's source, its port, its target and that one's port, -1 outside, and what is told of it."""


@dataclass(frozen=True)
class Likeness:
    """A module beside its equals, each named after the first of them.

    ``like``: of equal kinds, dimensions and folding, joined alike. ``implementation``: with equal FIFOs, converters
    and wires as well, and free of constants in logic; the module itself if there is no such. ``why_not``: why a module
    that others are like shares no implementation; empty if it does, or if there are no others.
    """

    module: str
    like: str
    implementation: str
    why_not: str = ""


@dataclass(frozen=True)
class Circuits:
    """The modules of a folded network, and the streams at them; ``names``: what they are to be called, if otherwise.

    ``in_logic`` says, by engine, which constants are part of its logic, with the engine's name; left out: none.
    """

    modules: Sequence[Module]
    folded: FoldedDataflow
    channels: Sequence[Channel]
    in_logic: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)

    def constants(self, module: Module) -> str:
        """Return the first constants of a module that are part of its logic, empty if there are none."""
        return next((self.in_logic[name] for name in module.engines if self.in_logic.get(name)), "")


def likenesses(*networks: Circuits) -> tuple[Likeness, ...]:
    """Compare all modules of one or several networks, whose names must differ.

    Engines of a module are compared in their order; contents of memories and constants are never compared.
    """
    shapes: dict[Signature, str] = {}
    circuits: dict[Signature, str] = {}
    found = []
    for network in networks:
        for module in network.modules:
            name, baked = network.names.get(module.name, module.name), network.constants(module)
            shape = _shape(module, network.folded)
            circuit = (shape, _surroundings(module, network.channels))
            first = shapes.setdefault(shape, name)
            made = name if baked else circuits.setdefault(circuit, name)
            found.append(Likeness(name, first, made, baked))
    return tuple(_explained(found))


def _explained(found: Sequence[Likeness]) -> list[Likeness]:
    """Leave a reason with those alone that others are like and that share no implementation."""
    ordered = sorted(found, key=_like)
    alike = {name: list(group) for name, group in groupby(ordered, key=_like)}
    return [_with_reason(likeness, alike[likeness.like]) for likeness in found]


def _like(likeness: Likeness) -> str:
    return likeness.like


def _with_reason(likeness: Likeness, alike: Sequence[Likeness]) -> Likeness:
    shared = sum(other.implementation == likeness.implementation for other in alike) > 1
    others = [other for other in alike if other is not likeness]
    if shared or not others:
        why = ""
    elif likeness.why_not:
        why = f"{likeness.why_not} are part of the logic"
    elif all(other.why_not for other in others):
        why = "constants of all that are like it are part of their logic"
    else:
        why = f"its FIFOs, converters or wires are not those of {others[0].module}"
    return Likeness(likeness.module, likeness.like, likeness.implementation, why)


Home = tuple[Device, Sequence[Rect]]
"""The die and the rectangles that a module lies on."""


def in_windows_alike(found: Sequence[Likeness], homes: Mapping[str, Home]) -> list[Likeness]:
    """Let a module share the first implementation whose window can be moved onto its own; ``homes``: by module."""
    windows: dict[str, list[str]] = {}
    placed = []
    for likeness in found:
        made = windows.setdefault(likeness.implementation, [])
        name = next((other for other in made if _moves(homes[other], homes[likeness.module])), likeness.module)
        if name == likeness.module:
            made.append(name)
        placed.append(replace(likeness, implementation=name))
    pairs = zip(placed, found, strict=True)
    return [_in_window(likeness, placed, windows[before.implementation]) for likeness, before in pairs]


def _moves(home: Home, other: Home) -> bool:
    return home[0].die == other[0].die and can_relocate(home[0], home[1], other[1])


def _in_window(likeness: Likeness, placed: list[Likeness], windows: list[str]) -> Likeness:
    """Give a reason to a module that has equals, all of them in other windows."""
    shared = sum(other.implementation == likeness.implementation for other in placed) > 1
    others = [name for name in windows if name != likeness.module]
    if shared or not others or likeness.why_not:
        return likeness
    return replace(likeness, why_not=f"its window is not on the columns and rows of that of {others[0]}")


def held_alike(circuits: Circuits) -> list[list[str]]:
    """Return the channels, by name, whose FIFOs have one place in modules of one shape; of shapes that several have."""
    places: dict[Signature, list[str]] = {}
    for module in circuits.modules:
        shape, inside = _shape(module, circuits.folded), set(module.engines)
        own = [channel.stream for channel in circuits.channels if channel.fifo_engine in inside]
        for source, port, target, other, name in _joined(module, own, lambda stream: stream.channel):
            places.setdefault((shape, source, port, target, other), []).append(name)
    return [names for names in places.values() if len(names) > 1]


def _shape(module: Module, folded: FoldedDataflow) -> Signature:
    """Return kinds, attributes and folding of the engines, and which of their ports are joined, or lead out."""
    engines = tuple(_engine(name, folded) for name in module.engines)
    return (engines, *_joined(module, folded.dataflow.streams, lambda _: ()))


def _engine(name: str, folded: FoldedDataflow) -> Signature:
    engine, option = folded.dataflow.engine(name), folded.options[name]
    bits = (engine.weight_bits, engine.input_bits, engine.output_bits)
    return (engine.kind, _sorted(engine.attributes), _sorted(option.folding), bits)


def _sorted(attributes: Attributes) -> Signature:
    return tuple(sorted((name, repr(value)) for name, value in attributes.items()))


def _surroundings(module: Module, channels: Sequence[Channel]) -> Signature:
    """Return what of each stream at the module's engines is made inside it, and how wide the wires are that leave."""
    by_name = {channel.stream.channel: channel for channel in channels}

    def built(stream: Stream) -> Signature:
        channel, inside = by_name[stream.channel], set(module.engines)
        fifo = (channel.fifo_depth_words, channel.fifo_style) if channel.fifo_engine in inside else ()
        converts = channel.converter is not None and channel.converter_engine in inside
        widths = (channel.source_width_bits, channel.target_width_bits) if converts else ()
        return (channel.width_bits, fifo, channel.converter if converts else None, widths)

    return _joined(module, [channel.stream for channel in channels], built)


def _joined(module: Module, streams: Sequence[Stream], told: Callable[[Stream], Told]) -> tuple[Joint[Told], ...]:
    """Return the streams at a module by the numbers of its engines, with what is told of each; -1 lies outside."""
    number = {name: index for index, name in enumerate(module.engines)}
    near = [stream for stream in streams if stream.source in number or stream.target in number]
    ends = [(number.get(s.source, -1), s.source_port, number.get(s.target, -1), s.target_port, s) for s in near]
    # A port outside is another module's affair, so that its number says nothing.
    plain = [
        (source, port if source >= 0 else -1, target, other if target >= 0 else -1, told(stream))
        for source, port, target, other, stream in ends
    ]
    return tuple(sorted(plain, key=repr))
