"""A build as floorflow would have priced, sized and timed it: the same graph, foldings and FIFO depths."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, gcd
from pathlib import Path
from typing import Any

from floorflow.backends.backend import Backend, Costs, backend_named
from floorflow.backends.builds import Build, BuiltNode
from floorflow.channels import Channel, PartialPlacement, connect
from floorflow.channels.realise import words_per_frame
from floorflow.dataflow.bands import LESS, MORE, spread
from floorflow.dataflow.model import FoldedDataflow, Option, renamings
from floorflow.errors import InputError, some
from floorflow.facts.estimates import expected_cycles
from floorflow.plugins import DEFAULT_BACKEND, backend_names, registration
from floorflow.rates.fifo_sizing import FullRate, Throughput, full_rate, throughput
from floorflow.rates.pipeline import LEAST_DEPTH_WORDS
from floorflow.reading import require_folder, resolved
from floorflow.resources import ZERO, Resources, total
from floorflow.search.candidate.candidate import kept_words
from floorflow.search.candidate.progress import SILENT, Progress
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
class Analysis:
    """What is known of a build's graph beyond the prices of its nodes.

    ``channels``: as `plan --keep-folding` realises them, by the channel's name; ``built_words`` the depth as built in
    words of the channel's width, ``full`` the depths that the full rate needs. ``throughput`` is with the depths
    as built.
    """

    folded: FoldedDataflow
    channels: tuple[Channel, ...]
    built_words: Mapping[str, int]
    full: FullRate
    throughput: Throughput
    expected_cycles: int


@dataclass(frozen=True)
class Audit:
    """What was built, and what floorflow says of the same design.

    ``analysis`` is None where the build has no graph: then ``nodes`` are those of its reports. ``options``: the cost
    model and the versions of tools that were asked for, or that the build tells; ``notes`` says which, and what else
    was taken for granted.
    """

    folder: str
    network: str
    build: Build
    target: Target
    clock_mhz: float
    options: Any
    costs: Costs
    nodes: tuple[AuditedNode, ...]
    analysis: Analysis | None
    notes: tuple[str, ...] = ()

    @property
    def folded(self) -> FoldedDataflow:
        """The engines as built; only of a build with a graph."""
        if self.analysis is None:
            raise ValueError(f"{self.folder} has no graph")
        return self.analysis.folded

    @property
    def infrastructure(self) -> Mapping[str, Resources] | None:
        """Shell and interconnect as the board's file has them, and DMA engines; None without a board.

        A board's file has DMA engines of one width; those of the build stand for them with the price of their own, or,
        where nothing tells their widths, with what their rows say.
        """
        if self.target.infrastructure is None:
            return None
        dma = [one for one in self.nodes if one.node.role == "DMA"]
        known = {_DMA[one.node.reads] for one in dma if one.predicted is not None or one.node.built is not None}
        if any(one.node.built is not None and one.predicted is None for one in dma):
            known = set(_DMA.values())
        parts = {part.name: part.resources for part in self.target.infrastructure if part.name not in known}
        return parts | {one.node.name: one.predicted or one.node.built or ZERO for one in dma}

    @property
    def network_nodes(self) -> tuple[AuditedNode, ...]:
        """Engines, FIFOs and converters: all but what connects them with the host."""
        return tuple(one for one in self.nodes if one.node.role != "DMA")

    @property
    def planned(self) -> Resources | None:
        """What `plan --keep-folding` counts for engines, converters and FIFOs: one FIFO a stream, not one a node."""
        if self.analysis is None:
            return None
        streams = total(channel.fifo_resources + channel.converter_resources for channel in self.analysis.channels)
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
        return spread(use, self.costs.band) if use else None


def audit(
    folder: Path,
    platform: str | None = None,
    *,
    clock_mhz: float | None = None,
    backend: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> Audit:
    """Read a build folder and price, size and time the same design.

    ``platform``: a board, its file or a part, if not the one that the build tells; ``backend`` the tool that built it,
    if not the one that knows the folder; ``options`` of that back end, where the build is not to tell them.

    Raises InputError if the folder holds no build, or several, the part is not known, or an engine's folding cannot be
    priced.
    """
    require_folder(folder, "the output_dir of a build")
    name = backend or tool_of(folder)
    tool = backend_named(name)
    with progress.stage("reading"):
        build = tool.read_build(folder)
        chosen, notes = _options(name, build, options or {})
        target = target_of(build, platform, tool.boards, resolved(folder))
        if name != DEFAULT_BACKEND:
            target = replace(target, infrastructure=None)  # shells and DMA engines in boards' files are FINN's
    with progress.stage("pricing"):
        costs = tool.costs(target.technology, chosen, own_kinds=True)
        folded = None if build.source is None else _folded(tool, build, target, costs, chosen)
        priced = tool.built_options(folder, costs) if folded is None else folded.options
    with progress.stage("timing"):
        analysis = None if folded is None else _analysis(folded, build, costs, tool)
    if analysis is not None:
        build, assumed = with_dma_widths(build, analysis.channels, tool.host_port_bits(build.board, target.part))
        notes = (*notes, *assumed)
    engines = () if folded is None else folded.dataflow.engines
    doubts = {engine.name: costs.doubt(engine, priced[engine.name]) for engine in engines}
    nodes = tuple(_priced(node, priced, doubts, costs) for node in build.nodes)
    clock = clock_mhz or build.clock.asked_mhz or target.clock_mhz
    network = resolved(folder).name if folded is None else folded.dataflow.name
    return Audit(
        resolved(folder).name, network, build, target, clock, chosen, costs, nodes, analysis,
        (*notes, *_dma_notes(nodes, target)),
    )  # fmt: skip


def tool_of(folder: Path) -> str:
    """Return the back end whose tool made a build: that which knows the folder's files for its own, else FINN's."""
    known = (
        name for name in backend_names() if name in _BUILD_READERS and backend_named(name).recognises_build(folder)
    )
    return next(known, DEFAULT_BACKEND)


def _options(backend: str, build: Build, asked: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """Return the options by which a build is priced: those asked for, else those that it tells; and notes on them."""
    kind = registration(backend).options
    known = {name: value for name, value in asked.items() if name in kind.model_fields}
    notes = [f"--{name} {value} says nothing to {backend}" for name, value in asked.items() if name not in known]
    told = {name: each for name, each in build.options.items() if name in kind.model_fields}
    for name, each in build.options.items():
        if str(known.get(name, each.value)) == each.value:
            notes.append(f"{name} {each.value}: told by {each.file}")
        else:
            notes.append(f"warning: --{name} {known[name]} was asked for, but {each.file} tells {name} {each.value}")
    notes += [text for name, text in _NOT_TOLD.items() if name in kind.model_fields and name not in {*told, *known}]
    return kind(**{**{name: each.value for name, each in told.items()}, **known}), tuple(notes)


_NOT_TOLD = {
    "finn": "nothing tells which FINN built it: priced as FINN main's (--finn)",
    "vivado": "nothing tells which Vivado built it: the one that its FINN asks for is taken (--vivado)",
}
_BUILD_READERS = frozenset({"hls4ml"})
"""Back ends beside the default one that read build folders."""


def _analysis(folded: FoldedDataflow, build: Build, costs: Costs, tool: Backend) -> Analysis:
    full = full_rate(folded, known=tool)
    channels = _channels(folded, costs, full)
    built_words = {channel.name: _built_words(channel, build) for channel in channels}
    found = throughput(folded, built_words, known=tool)
    expected = expected_cycles(found.interval_cycles, folded.interval_cycles, tool.expected_interval(folded))
    return Analysis(folded, channels, built_words, full, found, expected)


def with_dma_widths(build: Build, channels: Sequence[Channel], port_bits: int | None) -> tuple[Build, tuple[str, ...]]:
    """Return the build with the widths that FINN gives DMA engines which only the report has, and a note on that.

    ``InsertIODMA``: the stream is padded to bytes, and a memory word is the greatest common divisor of a frame's bits
    and of the port's width. Which engine reads is told by the order of its partition: the first ones do.
    """
    unknown = [node for node in build.nodes if node.role == "DMA" and node.input_bits is None]
    ends = [[c for c in channels if c.stream.from_outside], [c for c in channels if c.stream.to_outside]]
    if not unknown or port_bits is None or len(unknown) != sum(map(len, ends)):
        return build, ()
    ordered = sorted(unknown, key=lambda node: [int(n) for n in re.findall(r"\d+", node.name)])
    widths = {}
    for node, (channel, reads) in zip(
        ordered, [(c, True) for c in ends[0]] + [(c, False) for c in ends[1]], strict=True
    ):
        bits = channel.target_width_bits if reads else channel.source_width_bits
        stream = ceil(bits / 8) * 8
        memory = gcd(stream * words_per_frame(channel.stream, bits), port_bits)
        widths[node.name] = replace(
            node, channel=channel.name, reads=reads,
            input_bits=memory if reads else stream, output_bits=stream if reads else memory,
        )  # fmt: skip
    note = (
        f"the graph names no DMA engine: the {len(unknown)} of the report are priced at the widths that FINN's "
        f"InsertIODMA makes of the network's ends and a port of {port_bits} bits"
    )
    return replace(build, nodes=tuple(widths.get(node.name, node) for node in build.nodes)), (note,)


def _dma_notes(nodes: Sequence[AuditedNode], target: Target) -> tuple[str, ...]:
    """Say what stands for DMA engines whose widths nothing tells."""
    unpriced = [one.node.name for one in nodes if one.node.role == "DMA" and one.predicted is None]
    if target.infrastructure is None:
        return ()
    if unpriced:
        return (f"nothing tells the widths of {some(unpriced)}: what was built of them stands for their prediction",)
    if not any(one.node.role == "DMA" for one in nodes) and {p.name for p in target.infrastructure} & {*_DMA.values()}:
        return (
            f"neither graph nor report names a DMA engine: those of {target.name} are taken, the widest it may have",
        )
    return ()


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


def _priced(
    node: BuiltNode, options: Mapping[str, Option], doubts: Mapping[str, tuple[Resources, Resources]], costs: Costs
) -> AuditedNode:
    if node.engine is not None and node.engine in options:
        option, doubt = options[node.engine], doubts.get(node.engine, (ZERO, ZERO))
        return AuditedNode(node, option.resources, option.folding, option.cycles, doubt)
    return AuditedNode(node, _stream_price(node, costs), node.folding)


def _stream_price(node: BuiltNode, costs: Costs) -> Resources | None:
    """Return what a FIFO, converter or DMA engine costs at the very widths and depth that it was built with."""
    if node.input_bits is None or node.output_bits is None:
        return None
    if node.role == "FIFO" and node.depth_words is not None:
        return costs.built_fifo(node.input_bits, node.depth_words, node.memory)
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
    channels = () if audit.analysis is None else audit.analysis.channels
    found: dict[str, list[BuiltNode]] = {channel.name: [] for channel in channels}
    for node in audit.build.nodes:
        if node.role == "FIFO" and node.channel in found:
            found[node.channel].append(node)
    return found


def sums(nodes: Sequence[AuditedNode]) -> tuple[Resources, Resources]:
    """Return what was built and what was predicted of nodes together; what has no row, or no price, counts as nothing.

    Vivado dissolves some nodes into their neighbours: floorflow's price of them is an error all the same.
    """
    return total(one.node.built or ZERO for one in nodes), total(one.predicted or ZERO for one in nodes)
