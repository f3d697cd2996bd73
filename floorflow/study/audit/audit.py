"""A build as floorflow would have priced, sized and timed it: the same graph, foldings and FIFO depths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from floorflow.backends.backend import Backend, Costs, backend_named
from floorflow.backends.builds import Build, BuiltNode
from floorflow.channels import Channel, PartialPlacement, connect
from floorflow.dataflow.bands import LESS, MORE, spread
from floorflow.dataflow.fifo import of_style
from floorflow.dataflow.model import FoldedDataflow, Option, renamings
from floorflow.errors import InputError
from floorflow.plugins import registration
from floorflow.rates.pipeline import LEAST_DEPTH_WORDS
from floorflow.reading import require_folder, resolved
from floorflow.record.throughput import expected_cycles
from floorflow.resources import ZERO, Resources, total
from floorflow.search.candidate import kept_words
from floorflow.search.fifo_sizing import FullRate, Throughput, full_rate, throughput
from floorflow.search.progress import SILENT, Progress
from floorflow.study.audit.target import Target, target_of

_DMA = {True: "input_dma", False: "output_dma"}
"""What boards' files call the DMA engines that read memory, and that write it."""


@dataclass(frozen=True)
class AuditedNode:
    """A node of the build and what floorflow says of it; ``predicted`` None: no cost model prices such a node alone.

    ``doubt``: what it may take less and more by versions of the tools that nothing rules out.
    """

    node: BuiltNode
    predicted: Resources | None
    folding: Mapping[str, Any]
    cycles: int | None = None
    doubt: tuple[Resources, Resources] = (ZERO, ZERO)


@dataclass(frozen=True)
class Audit:
    """What was built, and what floorflow says of the same design.

    ``channels``: as `plan --keep-folding` realises them, by the channel's name; ``built_words`` the depth as built in
    words of the channel's width, ``full`` the depths that the full rate needs. ``throughput`` is with the depths
    as built. ``options``: the cost model and the FINN that were asked for.
    """

    folder: str
    network: str
    build: Build
    target: Target
    clock_mhz: float
    options: Any
    costs: Costs
    folded: FoldedDataflow
    nodes: tuple[AuditedNode, ...]
    channels: tuple[Channel, ...]
    built_words: Mapping[str, int]
    full: FullRate
    throughput: Throughput
    expected_cycles: int

    @property
    def infrastructure(self) -> Mapping[str, Resources] | None:
        """Shell and interconnect as the board's file has them, and DMA engines; None without a board.

        A board's file has DMA engines of one width; those of the graph stand for them with the price of their own.
        """
        if self.target.infrastructure is None:
            return None
        dma = [one for one in self.nodes if one.node.role == "DMA" and one.predicted is not None]
        known = {_DMA[one.node.reads] for one in dma}
        parts = {part.name: part.resources for part in self.target.infrastructure if part.name not in known}
        return parts | {one.node.name: one.predicted or ZERO for one in dma}

    @property
    def network_nodes(self) -> tuple[AuditedNode, ...]:
        """Engines, FIFOs and converters: all but what connects them with the host."""
        return tuple(one for one in self.nodes if one.node.role != "DMA")

    @property
    def planned(self) -> Resources:
        """What `plan --keep-folding` counts for engines, converters and FIFOs: one FIFO a stream, not one a node."""
        streams = total(channel.fifo_resources + channel.converter_resources for channel in self.channels)
        return total(option.resources for option in self.folded.options.values()) + streams

    @property
    def predicted_band(self) -> tuple[Resources, Resources] | None:
        """What the network uses at least and at most by the bands of its kinds (`dataflow.bands.spread`); no shell."""
        if not self.costs.has_bands:
            return None
        use: dict[str, Resources] = {}
        for one in self.network_nodes:
            if one.predicted is not None:
                use[one.node.kind] = use.get(one.node.kind, ZERO) + one.predicted
                for kind, doubt in zip((LESS, MORE), one.doubt, strict=True):
                    use[kind] = use.get(kind, ZERO) + doubt
        return spread(use, self.costs.band)


def audit(
    folder: Path,
    platform: str | None = None,
    *,
    clock_mhz: float | None = None,
    backend: str = "finn",
    options: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> Audit:
    """Read a build folder and price, size and time the same design.

    ``platform``: a board, its file or a part, if not the one that the build tells; ``options`` of the back end.

    Raises
    ------
    InputError
        If the folder holds no build, the part is not known, or an engine has a folding that cannot be priced.

    """
    require_folder(folder, "the output_dir of a build")
    tool = backend_named(backend)
    chosen = registration(backend).options(**(options or {}))
    with progress.stage("reading"):
        build = tool.read_build(folder)
        target = target_of(build, platform, tool.boards)
    with progress.stage("pricing"):
        costs = tool.costs(target.technology, chosen, own_kinds=True)
        folded = _folded(tool, build, target, costs, chosen)
        nodes = tuple(_priced(node, folded, costs) for node in build.nodes)
    with progress.stage("timing"):
        full = full_rate(folded, known=tool)
        channels = _channels(folded, costs, full)
        built_words = {channel.name: _built_words(channel, build) for channel in channels}
        found = throughput(folded, built_words, known=tool)
    clock = clock_mhz or build.clock.asked_mhz or target.clock_mhz
    network = folded.dataflow.name
    expected = expected_cycles(found.interval_cycles, folded.interval_cycles, tool.expected_interval(folded))
    return Audit(
        resolved(folder).name, network, build, target, clock, chosen, costs, folded, nodes, channels, built_words, full,
        found, expected,
    )  # fmt: skip


def _folded(tool: Backend, build: Build, target: Target, costs: Costs, options: Any) -> FoldedDataflow:
    """Return the engines of the build with the foldings that they were built with."""
    dataflow = tool.lower(build.source, target.technology, options)
    groups = tool.given_groups(dataflow, costs)
    rows = {name: option for group in groups for name, option in zip(group.engines, group.rows[0], strict=True)}
    before = FoldedDataflow(dataflow, rows)
    after = tool.finished(before)
    names = renamings(dataflow, after.dataflow)
    other = [name for name, new in names.items() if name != new]
    if other:
        raise InputError(f"{other[0]} was built, but would be {names[other[0]]}: is the graph of another FINN?")
    return after


def _priced(node: BuiltNode, folded: FoldedDataflow, costs: Costs) -> AuditedNode:
    if node.engine is not None:
        option: Option = folded.options[node.engine]
        doubt = costs.doubt(folded.dataflow.engine(node.engine), option)
        return AuditedNode(node, option.resources, option.folding, option.cycles, doubt)
    return AuditedNode(node, _stream_price(node, costs), {})


def _stream_price(node: BuiltNode, costs: Costs) -> Resources | None:
    """Return what a FIFO, converter or DMA engine costs at the very widths and depth that it was built with."""
    if node.input_bits is None or node.output_bits is None:
        return None
    if node.role == "FIFO" and node.depth_words is not None:
        return of_style(costs.fifo_choices(node.input_bits, node.depth_words), node.memory, ()).resources
    if node.role == "converter":
        return costs.converter_resources(node.input_bits, node.output_bits)
    if node.role == "DMA":
        stream, memory = (node.output_bits, node.input_bits) if node.reads else (node.input_bits, node.output_bits)
        return costs.dma_resources(stream, memory, reads=node.reads)
    return None


def _channels(folded: FoldedDataflow, costs: Costs, full: FullRate) -> tuple[Channel, ...]:
    """Return the channels inside one module with the depths that `plan --keep-folding` gives them."""
    needed = full.depths if costs.sizes_fifos else {}
    least = {channel.name: kept_words(channel, needed) for channel in connect(folded, costs)}
    home = {engine.name: "whole" for engine in folded.dataflow.engines}
    return connect(folded, costs, PartialPlacement(home, {}, least))


def _built_words(channel: Channel, build: Build) -> int:
    """Return the words of the channel's width that its FIFOs hold as built.

    Where the graph has no FIFO there, it is what the engines ask for, and never less than a FIFO can be.
    """
    nodes = (n for n in build.nodes if n.role == "FIFO" and n.channel == channel.name)
    bits = sum((n.input_bits or 0) * (n.depth_words or 0) for n in nodes)
    words = ceil(bits / channel.width_bits) if bits else channel.stream.fifo_words
    return max(words, LEAST_DEPTH_WORDS)


def fifo_nodes(audit: Audit) -> dict[str, list[BuiltNode]]:
    """Return the FIFOs as built by the channel that they lie on, in its order."""
    found: dict[str, list[BuiltNode]] = {channel.name: [] for channel in audit.channels}
    for node in audit.build.nodes:
        if node.role == "FIFO" and node.channel in found:
            found[node.channel].append(node)
    return found


def sums(nodes: Sequence[AuditedNode]) -> tuple[Resources, Resources]:
    """Return what was built and what was predicted of nodes together; what has no row, or no price, counts as nothing.

    Vivado dissolves some nodes into their neighbours: floorflow's price of them is an error all the same.
    """
    return total(one.node.built or ZERO for one in nodes), total(one.predicted or ZERO for one in nodes)
