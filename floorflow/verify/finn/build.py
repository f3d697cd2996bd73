"""Nodes of a build against the engines of the plan whose cells they are: kind, shape, folding and SLR."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from floorflow.verify.back_end import Row
from floorflow.verify.finn.fifos import sets_fifos
from floorflow.verify.finn.kernels import NoBuild, Node, Way, read_build, ways
from floorflow.verify.phase_records import ChannelRecord, PhaseRecord

Problem = tuple[str, str]
SHAPES = (
    *("MW", "MH", "Channels", "NumChannels", "IFMChannels", "ConvKernelDim", "IFMDim", "OFMDim", "Stride", "Kernel"),
    *("Dilation", "depthwise", "PoolDim", "ImgDim", "Padding", "OutImgDims", "Labels", "NumOutputStreams", "K", "Dim"),
    *("ChannelsPerStream", "NumEmbeddings", "numSteps", "KernelSize", "Function"),
)
"""Attributes that a layer gives its node, and no build changes."""


def node_problems(name: str, node: Node, row: Row) -> Iterator[Problem]:
    """Yield where the node of an engine's cell is not that engine as planned."""
    entry, folding = row["entry"], row["folding"]["attributes"]
    if node.kind != entry["kind"]:
        yield "build-engine-differs", f"{node.called} is {node.kind}, {name} of the plan {entry['kind']}"
        return
    wanted = {key: entry["attributes"][key] for key in SHAPES if key in entry["attributes"]} | folding
    for key, value in wanted.items():
        built = node.attributes.get(key)
        if built is not None and _items(built) != _items(value):
            message = f"{node.called} has {key} {built!r:.60}, {name} of the plan {value!r:.60}"
            yield "build-engine-differs", message
    yield from slr_problems(node, row)


def slr_problems(node: Node, row: Row) -> Iterator[Problem]:
    """Judge the SLR where there are several and the plan says which; a node in none becomes a kernel of its own."""
    built = node.attributes.get("slr", -1)
    if _has_slr(row) and built != row["slr"]:
        yield "build-slr-differs", f"{node.called} lies in SLR {built}, the plan has it in {row['slr']}"


def kernel_problems(nodes: Sequence[Node], rows: Mapping[str, Row]) -> Iterator[Problem]:
    """Judge that no kernel has nodes in two SLRs, and none of a plan over several SLRs lies in none."""
    if not any(_has_slr(row) for row in rows.values()):
        return
    slrs: dict[int | None, set[int]] = {}
    for node in nodes:
        slrs.setdefault(node.kernel, set()).add(int(node.attributes.get("slr", -1)))
    for kernel, found in slrs.items():
        if len(found) > 1 or -1 in found:
            yield "build-slr-differs", f"kernel {kernel} has nodes in SLRs {sorted(found)}"


def _has_slr(row: Row) -> bool:
    return bool(row["dies"] > 1 and row["style"] != "none")


def _items(value: Any) -> Any:
    """Return a list of one as its element, a list in any order of writing as it is."""
    if isinstance(value, list | tuple):
        return list(value) if len(value) != 1 else value[0]
    return value


Places = tuple[Mapping[str, tuple[int, int]], Mapping[Node, int]]
"""FPGA and SLR of each slot, empty where no FIFOs cross; the SLR of each FIFO of `kernel_starts`."""
PORTED = ("Concat", "Split")
"""Kinds of whose ports each has a meaning of its own."""


def stream_problems(
    channels: Sequence[ChannelRecord],
    rows: Mapping[str, Row],
    nodes: Sequence[Node],
    engines: Mapping[str, Node],
    places: Places,
) -> Iterator[Problem]:
    """Yield where streams between the engines' nodes are not the plan's, each of which must be one of the build's."""
    name_of = {node: name for name, node in engines.items()}
    free: dict[tuple[str | None, str | None], list[Way]] = {}
    for built in ways(nodes):
        ends = [None if end is None else name_of.get(end, end.called) for end in (built.source, built.target)]
        free.setdefault((ends[0], ends[1]), []).append(built)
    for channel in channels:
        source, target = (channel[end] if channel[end] in rows else None for end in ("source", "target"))
        candidates = free.get((source, target), [])
        way = next((way for way in candidates if _fits(channel, way)), None)
        if way is None:
            yield "build-stream-differs", f"the build has no stream {channel['name']}"
            continue
        candidates.remove(way)
        yield from _fifo_problems(channel, way)
        if places[0]:
            yield from _crossing_problems(channel, way, *places)
    for (source, target), left in free.items():
        if left and (source is not None or target is not None):
            yield "build-stream-differs", f"the plan has no stream {source or 'host'} -> {target or 'host'}"


def _fits(channel: ChannelRecord, way: Way) -> bool:
    """Whether ports agree where they have a meaning, and there is a converter where one is planned."""
    ends = (
        (way.source, way.source_port, channel["source_port"]),
        (way.target, way.target_port, channel["target_port"]),
    )
    for node, built, stated in ends:
        if node is not None and any(kind in node.kind for kind in PORTED) and built != stated:
            return False
    planned = channel["converter"] is not None
    if any(node.is_transparent for node in way.between):
        return True  # FINN+ converts widths around a node that only passes words on
    return planned == any(node.is_a("StreamingDataWidthConverter") for node in way.between)


def _fifo_problems(channel: ChannelRecord, way: Way) -> Iterator[Problem]:
    """Judge the depth, which FINN may split over several FIFOs, and the memory of a FIFO that it did not split."""
    fifos = [node for node in way.between if node.is_a("StreamingFIFO")]
    depths = [int(node.attributes.get("depth", 0)) for node in fifos]
    if sum(depths) < max(2, channel["fifo_depth"]):
        message = f"the FIFOs of {channel['name']} hold {depths} words, the plan has {channel['fifo_depth']}"
        yield "build-fifo-differs", message
    wanted = 1 + (channel["converter"] is not None) + channel["slices"]
    if channel["slices"] and (len(fifos) < wanted or depths.count(2) < channel["slices"]):
        message = (
            f"the FIFOs of {channel['name']} hold {depths} words, the plan has {channel['slices']} slices beside one"
        )
        yield "build-slice-missing", message
    style = channel["fifo_style"]
    memories = [node.attributes.get("ram_style", style) for node in fifos]
    if style in ("distributed", "block", "ultra") and fifos and style not in memories:
        yield "build-fifo-differs", f"the FIFO of {channel['name']} is {memories}, the plan has {style}"


def kernel_starts(nodes: Sequence[Node], passing: Mapping[Node, str], home: Mapping[str, Row]) -> dict[Node, int]:
    """Return the FIFOs before joins that FINN has in another SLR only to begin a kernel, and the SLR of their pblocks.

    Each is all of its kernel, and what is before it and behind lies where its module does.
    """
    sizes, found = Counter(node.kernel for node in nodes), dict[Node, int]()
    for way in ways(nodes):
        chain = [node for node in (way.source, *way.between, way.target) if node is not None]
        for before, node, after in zip(chain, chain[1:], chain[2:], strict=False):
            row = home.get(passing.get(node, ""))
            joins = way.target is not None and len(way.target.inputs) > 1
            alone = node.is_a("StreamingFIFO") and sizes[node.kernel] == 1
            slr = row["slr"] if row else None
            if slr is not None and joins and alone and {n.attributes.get("slr") for n in (before, after)} == {slr}:
                found[node] = slr
    return found


def _crossing_problems(
    channel: ChannelRecord, way: Way, homes: Mapping[str, tuple[int, int]], starts: Mapping[Node, int]
) -> Iterator[Problem]:
    """Judge that a stream has a FIFO of two words on each side of every SLR boundary, and crosses none but planned."""
    name = "build-crossing-open"

    def place(node: Node) -> int:
        return starts.get(node, int(node.attributes.get("slr", -1)))

    shallow = [node for node in way.between if node.is_a("StreamingFIFO") and node.attributes.get("depth") == 2]
    lacking = Counter(homes[slot][1] for slot in channel["slice_slots"] if slot in homes)
    lacking.subtract(place(node) for node in shallow)
    for slr, count in sorted((+lacking).items()):
        yield name, f"{channel['name']} lacks {count} of its FIFOs of two words in SLR {slr}"
    crossed = []
    for before, after in pairwise(node for node in (way.source, *way.between, way.target) if node is not None):
        sides = place(before), place(after)
        linked = before.attributes.get("device_id", 0) != after.attributes.get("device_id", 0)
        if sides[0] != sides[1] and min(sides) >= 0 and not linked:
            crossed.append(sides)
            if abs(sides[0] - sides[1]) != 1 or before not in shallow or after not in shallow:
                ends = f"{before.called} in SLR {sides[0]} and {after.called} in SLR {sides[1]}"
                yield name, f"{channel['name']} has no FIFO of two words on each side between {ends}"
    told = [homes.get(slot, (0, -1)) for slot in channel["crossing_slots"]]
    planned = [(a[1], b[1]) for a, b in pairwise(told) if a[0] == b[0] and a[1] != b[1]]
    if crossed != planned:
        yield name, f"{channel['name']} passes SLR boundaries {crossed}, the plan has {planned}"


FINDINGS = {
    "build-unreadable": "the build that is given cannot be read, or it cannot be told what its nodes are called",
    "build-cell-missing": "a cell of the plan is no node of the build",
    "build-engine-differs": "a cell is another engine in the build, or is folded otherwise",
    "build-engine-unplanned": "a node of the build is no engine, FIFO or converter of the plan",
    "build-slr-differs": "a node of the build lies in another SLR than its module",
    "build-stream-differs": "the streams of the build are not those of the plan",
    "build-slice-missing": "a stream of the build lacks register slices of the plan, FIFOs of two words",
    "build-crossing-open": "a stream of the build lacks FIFOs of the plan at an SLR boundary, or crosses another one",
    "build-fifo-differs": "a FIFO of the build is missing, shallower, or in another memory than planned",
    "build-vectors-differ": "the input or the expected output that a build is verified by is missing, or no frames of "
    "the plan's",
}


def judge_build(
    phase: PhaseRecord,
    folder: Path,
    told: tuple[Mapping[str, str], Mapping[str, str]],
    context: Mapping[str, Any],
) -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong; ``told``: each engine's cell, the module of each FIFO and converter, none of a slice."""
    patterns: Mapping[str, str] = context["cell_patterns"]
    try:
        nodes = read_build(folder, kernels=any("{partition}" in pattern for pattern in patterns.values()))
    except NoBuild as problem:
        yield "build-unreadable", str(folder), str(problem)
        return
    if not sets_fifos(context["options"]):
        # FINN sizes FIFOs as it builds: what the plan has is foreseen, and no promise of its depths.
        phase = {**phase, "channels": [{**c, "fifo_depth": 0, "fifo_style": ""} for c in phase["channels"]]}
    for name, message in _problems(phase, context, nodes, told):
        yield name, str(folder), message


def _problems(
    phase: PhaseRecord,
    context: Mapping[str, Any],
    nodes: list[Node],
    told: tuple[Mapping[str, str], Mapping[str, str]],
) -> Iterator[Problem]:
    rows, patterns = context["engines"], context["cell_patterns"]
    if not any(row["entry"]["kind"].startswith("Reshape") for row in rows.values()):
        nodes = [replace(node, is_transparent=node.is_a("Reshape")) for node in nodes]
    cells, streams = told
    by_cell = {p.format(engine=node.name, partition=node.kernel): node for p in patterns.values() for node in nodes}
    for cell in (*cells.values(), *streams):
        if cell not in by_cell:
            yield "build-cell-missing", f"no node of the build is {cell}"
    engines = {name: by_cell[cell] for name, cell in cells.items() if cell in by_cell and name in rows}
    passing = {by_cell[cell]: module for cell, module in streams.items() if cell in by_cell}
    for name, node in engines.items():
        yield from node_problems(name, node, rows[name])
    known = {*engines.values(), *passing}
    for node in nodes:
        if node not in known and not node.is_a("IODMA"):
            message = f"{node.called} ({node.kind}) is named nowhere in the plan's constraints"
            yield "build-engine-unplanned", message
    home = {row["module"]: row for row in rows.values()}
    starts = kernel_starts(nodes, passing, home)
    for node, module in passing.items():
        if not node.passes or node.is_a("IODMA"):
            yield "build-engine-differs", f"{node.called} is {node.kind}, the plan takes it for a FIFO"
        if module in home and node not in starts:
            yield from slr_problems(node, home[module])
    yield from kernel_problems(nodes, rows)
    fifos_cross = phase["slices_built"] and any(channel["crossing_slots"] for channel in phase["channels"])
    homes = context["slots"] if fifos_cross and all(map(_has_slr, rows.values())) else {}
    yield from stream_problems(phase["channels"], rows, nodes, engines, (homes, starts))
