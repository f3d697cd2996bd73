"""A bound plan against the build that it is bound to: every name is followed to its node, and that is judged.

Nothing is derived by a rule for names: bound.json tells the cell of each engine, FIFO and converter, and here each must
be a node of the right kind, shape, folding, SLR and streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from floorflow.verify.finn.kernels import NoBuild, Node, Way, read_build, ways
from floorflow.verify.judge import Row

Problem = tuple[str, str, str]
SHAPES = (
    *("MW", "MH", "Channels", "NumChannels", "IFMChannels", "ConvKernelDim", "IFMDim", "OFMDim", "Stride", "Kernel"),
    *("Dilation", "depthwise", "PoolDim", "ImgDim", "Padding", "OutImgDims", "Labels", "NumOutputStreams", "K", "Dim"),
    *("ChannelsPerStream", "NumEmbeddings", "numSteps", "KernelSize", "Function"),
)
"""Attributes that a layer gives its node, and no build changes."""
PORTED = ("Concat", "Split")
"""Kinds of whose ports each has a meaning of its own."""
FINDINGS = {
    "build-unreadable": "the build that is given cannot be read, or its nodes have no names yet",
    "build-cell-missing": "a cell of the plan is no node of the build",
    "build-engine-differs": "a cell is another engine in the build, or is folded otherwise",
    "build-engine-unplanned": "a node of the build is no engine, FIFO or converter of the plan",
    "build-slr-differs": "a node of the build lies in another SLR than its module",
    "build-stream-differs": "the streams of the build are not those of the plan",
    "build-fifo-differs": "a FIFO of the build is missing, shallower, or in another memory than planned",
}


def judge_build(
    phase: Mapping[str, Any],
    folder: Path,
    told: tuple[Mapping[str, str], Mapping[str, str]],
    context: Mapping[str, Any],
) -> Iterator[Problem]:
    """Yield what is wrong; ``told`` are the cell of each engine and the module of each FIFO and converter."""
    patterns: Mapping[str, str] = context["cell_patterns"]
    try:
        nodes = read_build(folder, kernels=any("{partition}" in pattern for pattern in patterns.values()))
    except NoBuild as problem:
        yield "build-unreadable", str(folder), str(problem)
        return
    yield from _Built(phase, context["engines"], nodes, patterns, told).problems(str(folder))


class _Built:
    """A build with the nodes of what the plan names."""

    def __init__(
        self,
        phase: Mapping[str, Any],
        rows: Mapping[str, Row],
        nodes: list[Node],
        patterns: Mapping[str, str],
        told: tuple[Mapping[str, str], Mapping[str, str]],
    ) -> None:
        if not any(row["entry"]["kind"].startswith("Reshape") for row in rows.values()):
            nodes = [replace(node, is_transparent=node.is_a("Reshape")) for node in nodes]
        self.phase, self.rows, self.nodes = phase, rows, nodes
        cells, streams = told
        by_cell = {p.format(engine=node.name, partition=node.kernel): node for p in patterns.values() for node in nodes}
        self.engines = {name: by_cell[cell] for name, cell in cells.items() if cell in by_cell and name in rows}
        self.passing = {by_cell[cell]: module for cell, module in streams.items() if cell in by_cell}
        self.missing = [cell for cell in (*cells.values(), *streams) if cell not in by_cell]
        self.home = {row["module"]: row for row in rows.values()}

    def problems(self, where: str) -> Iterator[Problem]:
        """Yield what is wrong; ``where`` is what the build is called in messages."""
        for cell in self.missing:
            yield "build-cell-missing", where, f"no node of the build is {cell}"
        for name, node in self.engines.items():
            yield from self._engine(name, node, where)
        known = {*self.engines.values(), *self.passing}
        for node in self.nodes:
            if node not in known and not node.is_a("IODMA"):
                told = f"{_called(node)} ({node.kind}) is named nowhere in the plan's constraints"
                yield "build-engine-unplanned", where, told
        for node, module in self.passing.items():
            if not node.passes or node.is_a("IODMA"):
                yield "build-engine-differs", where, f"{_called(node)} is {node.kind}, the plan takes it for a FIFO"
            if module in self.home:
                yield from self._slr(node, self.home[module], where)
        yield from self._kernels(where)
        yield from self._ways(where)

    def _engine(self, name: str, node: Node, where: str) -> Iterator[Problem]:
        row = self.rows[name]
        entry, folding = row["entry"], row["folding"]["attributes"]
        if node.kind != entry["kind"]:
            yield "build-engine-differs", where, f"{_called(node)} is {node.kind}, {name} of the plan {entry['kind']}"
            return
        wanted = {key: entry["attributes"][key] for key in SHAPES if key in entry["attributes"]} | folding
        for key, value in wanted.items():
            built = node.attributes.get(key)
            if built is not None and _items(built) != _items(value):
                told = f"{_called(node)} has {key} {built!r:.60}, {name} of the plan {value!r:.60}"
                yield "build-engine-differs", where, told
        yield from self._slr(node, row, where)

    def _slr(self, node: Node, row: Row, where: str) -> Iterator[Problem]:
        """Judge the SLR where there are several and the plan says which; a node in none becomes a kernel of its own."""
        built = node.attributes.get("slr", -1)
        if row["dies"] > 1 and row["style"] != "none" and built != row["slr"]:
            yield "build-slr-differs", where, f"{_called(node)} lies in SLR {built}, the plan has it in {row['slr']}"

    def _kernels(self, where: str) -> Iterator[Problem]:
        """Judge that no kernel has nodes in two SLRs, and none of a plan over several SLRs lies in none."""
        if not any(row["dies"] > 1 and row["style"] != "none" for row in self.rows.values()):
            return
        slrs: dict[int | None, set[int]] = {}
        for node in self.nodes:
            slrs.setdefault(node.kernel, set()).add(int(node.attributes.get("slr", -1)))
        for kernel, found in slrs.items():
            if len(found) > 1 or -1 in found:
                yield "build-slr-differs", where, f"kernel {kernel} has nodes in SLRs {sorted(found)}"

    def _ways(self, where: str) -> Iterator[Problem]:
        name_of = {node: name for name, node in self.engines.items()}
        free: dict[tuple[str | None, str | None], list[Way]] = {}
        for built in ways(self.nodes):
            ends = [None if end is None else name_of.get(end, _called(end)) for end in (built.source, built.target)]
            free.setdefault((ends[0], ends[1]), []).append(built)
        for channel in self.phase["channels"]:
            source, target = (channel[end] if channel[end] in self.rows else None for end in ("source", "target"))
            candidates = free.get((source, target), [])
            way = next((way for way in candidates if self._fits(channel, way)), None)
            if way is None:
                yield "build-stream-differs", where, f"the build has no stream {channel['name']}"
                continue
            candidates.remove(way)
            yield from self._fifo(channel, way, where)
        for (source, target), left in free.items():
            if left and (source is not None or target is not None):
                yield "build-stream-differs", where, f"the plan has no stream {source or 'host'} -> {target or 'host'}"

    def _fits(self, channel: Mapping[str, Any], way: Way) -> bool:
        """Whether ports agree where they have a meaning, and there is a converter where one is planned."""
        for end, node in (("source", way.source), ("target", way.target)):
            ported = node is not None and any(kind in node.kind for kind in PORTED)
            if ported and getattr(way, f"{end}_port") != channel[f"{end}_port"]:
                return False
        planned = channel["converter"] is not None
        if any(node.is_transparent for node in way.between):
            return True  # FINN+ converts widths around a node that only passes words on
        return planned == any(node.is_a("StreamingDataWidthConverter") for node in way.between)

    def _fifo(self, channel: Mapping[str, Any], way: Way, where: str) -> Iterator[Problem]:
        """Judge the depth, which FINN may split over several FIFOs, and the memory of a FIFO that it did not split."""
        fifos = [node for node in way.between if node.is_a("StreamingFIFO")]
        depths = [int(node.attributes.get("depth", 0)) for node in fifos]
        if sum(depths) < max(2, channel["fifo_depth"]):
            told = f"the FIFOs of {channel['name']} hold {depths} words, the plan has {channel['fifo_depth']}"
            yield "build-fifo-differs", where, told
        style = channel["fifo_style"]
        memories = [node.attributes.get("ram_style", style) for node in fifos]
        if style in ("distributed", "block", "ultra") and fifos and style not in memories:
            yield "build-fifo-differs", where, f"the FIFO of {channel['name']} is {memories}, the plan has {style}"


def _called(node: Node) -> str:
    return node.name if node.kernel is None else f"{node.name} of kernel {node.kernel}"


def _items(value: Any) -> Any:
    """Return a list of one as its element, a list in any order of writing as it is."""
    if isinstance(value, list | tuple):
        return list(value) if len(value) != 1 else value[0]
    return value
