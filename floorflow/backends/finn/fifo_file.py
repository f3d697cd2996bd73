"""FINN's FIFOs: the nodes that it inserts into a network, and the file that gives them depths and memories.

FINN inserts FIFOs and converters itself, late in its build, where no analysis sets depths (``auto_fifo_depths=False``):
a FIFO behind each engine and each converter, and one at each end of the network. It numbers them as they then stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from floorflow.backends.finn.version import FinnVersion
from floorflow.facts import ChannelEntry

LEAST_DEPTH = 2
"""Words of the second FIFO of a stream with a converter, and the fewest that FINN builds."""
_NODE = "StreamingFIFO_rtl"
_Fifo = tuple[int, str]
"""Depth in words and style."""
_Between = tuple[str, str, _Fifo]
"""A FIFO with the nodes before and behind it."""


def fifo_config(
    engines: Sequence[str], channels: Sequence[ChannelEntry], folding: Mapping[str, Any], finn: FinnVersion
) -> dict[str, Any]:
    """Return fifo_config.json of the engines (ids, in order) of one network.

    For FINN+ the file is ``fifo_config_file``. Main and dev read FIFOs with the ``folding`` of engines, so it has both
    and is ``folding_config_file`` instead of the one without.
    """
    nodes = {f"{_NODE}_{number}": fifo for number, fifo in enumerate(_inserted(engines, channels))}
    if finn != "plus":
        return {**folding} | {name: _entry(*fifo) for name, fifo in nodes.items()}
    return {
        "fifo_depths": {name: depth for name, (depth, _) in nodes.items()},
        "impl_style": dict.fromkeys(nodes, "rtl"),
        "ram_style": {name: style for name, (_, style) in nodes.items()},
    }


def _entry(depth: int, style: str) -> dict[str, Any]:
    """Return the attributes of a FIFO for main and dev, whose own FIFO is of shift registers alone."""
    vivado = style in ("block", "distributed", "ultra")
    return {
        "depth": depth,
        "impl_style": "vivado" if vivado else "rtl",
        "ram_style": style if vivado else "auto",
    }


def _inserted(engines: Sequence[str], channels: Sequence[ChannelEntry]) -> Iterator[_Fifo]:
    """Yield depth and style of FINN's FIFOs in the order of its graph.

    Converters and then FIFOs go right behind their producers, those of later outputs first; at last one goes before all
    for each input and one behind all for each output. After each round qonnx sorts the graph by levels (SortGraph).
    """
    inside = [channel for channel in channels if channel.source in engines and channel.target in engines]
    graph = _Graph({engine: [] for engine in engines})
    for channel in inside:
        graph.join(channel.source, channel.target)
    graph.sort()
    converters = [channel for channel in inside if channel.converter is not None]
    graph.insert((c.source, c.target, _converter(c)) for c in sorted(converters, key=_port))
    graph.sort()
    fifos: dict[str, _Between] = {}
    for channel in sorted(inside, key=_port):
        fifos |= _between(channel)
    graph.insert((before, behind, name) for name, (before, behind, _) in fifos.items())
    planned = {name: fifo for name, (_, _, fifo) in fifos.items()}
    for channel in channels:
        if channel.source not in engines and channel.target in engines:
            graph.put_first(channel.name, channel.target)
            planned[channel.name] = _planned(channel)
    for channel in channels:
        if channel.source in engines and channel.target not in engines:
            graph.put_last(channel.name, channel.source)
            planned[channel.name] = _planned(channel)
    graph.sort()
    yield from (planned[name] for name in graph.order if name in planned)


class _Graph:
    """Nodes in order, each with those that it reads from."""

    def __init__(self, before: dict[str, list[str]]) -> None:
        self.before = before
        self.order = list(before)

    def join(self, source: str, target: str) -> None:
        """Let one node read from another."""
        self.before[target].append(source)

    def insert(self, nodes: Iterable[tuple[str, str, str]]) -> None:
        """Put nodes, with the one before and the one behind each, right behind the one before."""
        for source, target, name in nodes:
            self.order.insert(self.order.index(source) + 1, name)
            self.before[name] = [source]
            self.before[target].remove(source)
            self.join(name, target)

    def put_first(self, name: str, target: str) -> None:
        """Put a node that reads nothing before all."""
        self.order.insert(0, name)
        self.before[name] = []
        self.join(name, target)

    def put_last(self, name: str, source: str) -> None:
        """Put a node behind all."""
        self.order.append(name)
        self.before[name] = [source]

    def sort(self) -> None:
        """Sort the nodes by levels, each one behind all that it reads from; in a level they keep their order."""
        level: dict[str, int] = {}
        waiting = list(self.order)
        number = 0
        while waiting:
            ready = [name for name in waiting if all(other in level for other in self.before[name])]
            level |= dict.fromkeys(ready, number)
            waiting = [name for name in waiting if name not in level]
            number += 1
        self.order.sort(key=level.__getitem__)


def _port(channel: ChannelEntry) -> int:
    return channel.source_port


def _converter(channel: ChannelEntry) -> str:
    return f"{channel.name} converter"


def _between(channel: ChannelEntry) -> dict[str, _Between]:
    """Return the FIFOs of a stream between engines by name, with what is before and behind each.

    The one of the plan is as wide as the wires, so on the wide side of the converter.
    """
    if channel.converter is None:
        return {channel.name: (channel.source, channel.target, _planned(channel))}
    converter, shallow = _converter(channel), (LEAST_DEPTH, "auto")
    first, second = _planned(channel), shallow
    if channel.source_width_bits < channel.width_bits:
        first, second = second, first
    return {
        f"{channel.name} before": (channel.source, converter, first),
        f"{channel.name} behind": (converter, channel.target, second),
    }


def _planned(channel: ChannelEntry) -> _Fifo:
    return max(channel.fifo_depth, LEAST_DEPTH), channel.fifo_style or "auto"
