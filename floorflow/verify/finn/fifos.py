"""FIFOs and register slices: fifo_config.json and floorflow_plan.json against the plan, and memories that FINN has.

FINN+ and FINN main put a FIFO behind each engine and converter and at the network's ends (InsertDWC, InsertFIFO), and
sort the graph by levels after each (qonnx SortGraph): nodes that wait for nothing first, then those that wait for these
alone, and so on; in a level they stay in order.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from floorflow.verify.back_end import Files
from floorflow.verify.finn.engines import BuiltNetwork
from floorflow.verify.finn.files import ANY_SLR, MOST_SLICES, check_folding_file
from floorflow.verify.hardware.boards import has_uram
from floorflow.verify.phase_records import ChannelRecord, PartRecord, PhaseRecord
from floorflow.verify.violations import Findings

FIFO_FILE = "fifo_config.json"
NODE = "StreamingFIFO_rtl"
SHALLOW = (2, "auto")
"""Depth and style of the FIFO on the narrow side of a converter."""
IN_VIVADO = ("distributed", "block", "ultra")
"""Styles of AMD's FIFO; FINN main's and dev's own is of shift registers."""

Edge = tuple[str, str]
Fifo = tuple[int, str]


def check_fifo_file(
    folder: Files, phase: PhaseRecord, built: BuiltNetwork, options: Mapping[str, Any], findings: Findings
) -> None:
    """Judge a network's file; there is none where FINN is to find the depths."""
    path = f"{built.folder}/{FIFO_FILE}"
    content = folder.json(path) if _is_needed(phase, built, options) else None
    if content is None:
        return
    fifos = {f"{NODE}_{number}": fifo for number, fifo in enumerate(inserted(built, phase["channels"]))}
    wanted = _for_plus(fifos) if options.get("finn") == "plus" else _for_main(fifos)
    where = folder.path(path)
    if options.get("finn") != "plus":
        folding = {name: entry for name, entry in content.items() if not name.startswith(NODE)}
        check_folding_file(folding, built, where, findings)
        content = {name: entry for name, entry in content.items() if name.startswith(NODE)}
    for key in sorted({*content} | {*wanted}):
        if content.get(key) != wanted.get(key):
            message = f"{key} is {content.get(key)!r:.200}, the plan's FIFOs give {wanted.get(key)!r:.200}"
            findings.add("finn-fifo-differs", where, message)


def _is_needed(phase: PhaseRecord, built: BuiltNetwork, options: Mapping[str, Any]) -> bool:
    """Whether depths are planned, and known to keep an interval."""
    network = next(iter(built.rows.values()))["network"]
    part = next(part for part in phase["networks"] if part["network"] == network)
    return knows_depths(part) and sets_fifos(options)


def sets_fifos(options: Mapping[str, Any]) -> bool:
    """Whether floorflow's steps give FINN the depths, where they are known; else FINN sizes FIFOs itself."""
    return options.get("costs") != "finn" and options.get("fifo_sizing", "floorflow") == "floorflow"


def knows_depths(part: PartRecord) -> bool:
    """Whether the depths of a network's FIFOs are known to keep an interval."""
    throughput = part["estimates"]["throughput"]
    return throughput is not None and throughput["interval_cycles"] is not None


def _for_plus(fifos: Mapping[str, Fifo]) -> dict[str, Any]:
    return {
        "fifo_depths": {name: depth for name, (depth, _) in fifos.items()},
        "impl_style": dict.fromkeys(fifos, "rtl"),
        "ram_style": {name: style for name, (_, style) in fifos.items()},
    }


def _for_main(fifos: Mapping[str, Fifo]) -> dict[str, Any]:
    def entry(depth: int, style: str) -> dict[str, Any]:
        own = style not in IN_VIVADO
        return {"depth": depth, "impl_style": "rtl" if own else "vivado", "ram_style": "auto" if own else style}

    return {name: entry(*fifo) for name, fifo in fifos.items()}


def inserted(built: BuiltNetwork, channels: Sequence[ChannelRecord]) -> list[Fifo]:
    """Return depth and style of the FIFOs in FINN's order."""
    nodes, made, _ = _ordered(built, [channel | {"slices": 0} for channel in channels])
    return [made[name] for name in nodes if name in made]


def engines_when_placed(built: BuiltNetwork, channels: Sequence[ChannelRecord]) -> dict[str, str]:
    """Return what FINN calls each engine (by id) when it places nodes: numbered anew, as FIFOs have moved levels.

    SpecializeLayers has put what it makes, converters and FIFOs, before the engines of their level by then.
    """
    nodes, _, edges = _ordered(built, channels)
    ids = {row["id"]: row["entry"]["kind"] for row in built.rows.values()}
    counts: Counter[str] = Counter()
    names = {}
    for node in by_levels(sorted(nodes, key=lambda name: name in ids), edges):
        if node in ids:
            names[node] = f"{ids[node]}_{counts[ids[node]]}"
            counts[ids[node]] += 1
    return names


def _ordered(built: BuiltNetwork, channels: Sequence[ChannelRecord]) -> tuple[list[str], dict[str, Fifo], list[Edge]]:
    """Return all nodes but DMA engines in FINN's order, the FIFOs among them, and what joins them."""
    ids = [row["id"] for row in built.rows.values()]
    into = [channel for channel in channels if channel["target"] in ids and channel["source"] not in ids]
    out = [channel for channel in channels if channel["source"] in ids and channel["target"] not in ids]
    inside = [channel for channel in channels if channel["source"] in ids and channel["target"] in ids]
    inside.sort(key=lambda channel: (ids.index(channel["source"]), -channel["source_port"]))
    edges = [(channel["source"], channel["target"]) for channel in inside]
    nodes = by_levels(ids, edges)
    widths = [(c["source"], f"{c['name']} DWC", c["target"]) for c in inside if _converts(c)]
    nodes = by_levels(_behind(nodes, widths), [*edges, *_edges(widths)])
    made: dict[str, Fifo] = {}
    queues: list[tuple[str, str, str]] = []
    for channel in inside:
        for name, before, behind, fifo in _queues(channel):
            made[name] = fifo
            queues.append((before, name, behind))
    ends = [channel["name"] for channel in reversed(into)], [channel["name"] for channel in out]
    made |= {channel["name"]: _planned(channel) for channel in (*into, *out)}
    at_ends = [(c["name"], c["target"]) for c in into] + [(c["source"], c["name"]) for c in out]
    joined = [*_edges(queues), *at_ends]
    nodes = [*ends[0], *_behind(nodes, queues), *ends[1]]
    for channel in (*inside, *into, *out):
        nodes, joined = _sliced(channel, nodes, joined, comes_in=channel in into)
    return by_levels(nodes, joined), made, joined


def _sliced(
    channel: ChannelRecord, nodes: list[str], edges: list[Edge], *, comes_in: bool
) -> tuple[list[str], list[Edge]]:
    """Put a channel's register slices behind its own FIFO, before it if it comes in from outside."""
    own = channel["name"]
    if own not in nodes:
        own += " 1" if channel["source_width_bits"] < channel["target_width_bits"] else " 0"
    chain = [f"{channel['name']} slice {number}" for number in range(min(channel["slices"], MOST_SLICES))]
    if not chain:
        return nodes, edges
    place = nodes.index(own) + (not comes_in)
    nodes = [*nodes[:place], *chain, *nodes[place:]]
    if comes_in:
        return nodes, [*edges, *pairwise([*chain, own])]
    edges = [(chain[-1], target) if source == own else (source, target) for source, target in edges]
    return nodes, [*edges, *pairwise([own, *chain])]


def _behind(nodes: list[str], added: list[tuple[str, str, str]]) -> list[str]:
    """Put each added node right behind the one before it, in the order given."""
    follow: dict[str, list[str]] = {}
    for before, name, _ in added:
        follow.setdefault(before, []).append(name)
    return [each for node in nodes for each in (node, *follow.get(node, ()))]


def _edges(added: list[tuple[str, str, str]]) -> list[Edge]:
    return [edge for before, name, behind in added for edge in ((before, name), (name, behind))]


def _converts(channel: ChannelRecord) -> bool:
    return bool(channel["source_width_bits"] != channel["target_width_bits"])


def _queues(channel: ChannelRecord) -> list[tuple[str, str, str, Fifo]]:
    """Return the FIFOs of a stream: name, the nodes before and behind, depth and style."""
    name, source, target = channel["name"], channel["source"], channel["target"]
    if not _converts(channel):
        return [(name, source, target, _planned(channel))]
    narrow_first = channel["source_width_bits"] < channel["target_width_bits"]
    first, second = (SHALLOW, _planned(channel)) if narrow_first else (_planned(channel), SHALLOW)
    converter = f"{name} DWC"
    return [(f"{name} 0", source, converter, first), (f"{name} 1", converter, target, second)]


def _planned(channel: ChannelRecord) -> Fifo:
    return max(2, channel["fifo_depth"]), channel["fifo_style"]


def by_levels(nodes: list[str], edges: list[Edge]) -> list[str]:
    """Return the nodes by the longest way to each; where the edges make a circle, as they are."""
    before: dict[str, set[str]] = {node: set() for node in nodes}
    for source, target in edges:
        before[target].add(source)
    ordered: list[str] = []
    placed: set[str] = set()
    while len(ordered) < len(nodes):
        level = [node for node in nodes if node not in placed and before[node] <= placed]
        if not level:
            return nodes
        ordered += level
        placed |= {*level}
    return ordered


SHIFT_REGISTER_WORDS = 33
"""Depth up to which FINN's FIFO is of shift registers, whatever is asked for."""
LARGEST = {"LUT": 64, "BRAM18": 18432, "URAM": 294912}
"""Bits in one unit of each resource."""
MEMORIES = {
    "auto": ("LUT",),
    "srl": ("LUT",),
    "distributed": ("LUT",),
    "block": ("BRAM18", "LUT"),
    "ultra": ("URAM", "BRAM18", "LUT"),
}
"""Resources that the words of a FIFO lie in, by style; the first of block and ultra is always needed."""
REGISTERED_WORDS = {"auto": 2, "srl": 2, "distributed": 2, "block": 2, "ultra": 18}
"""Words that may lie in registers at the two ends."""


def fifo_objections(channel: ChannelRecord, part: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the style of a channel's FIFO, and with what it costs in that style."""
    style, depth = channel["fifo_style"], channel["fifo_depth"]
    finns_own = options.get("costs") == "finn"
    if style not in MEMORIES:
        yield f"fifo_style is {style!r:.40}, expected one of {', '.join(MEMORIES)}"
        return
    if depth <= SHIFT_REGISTER_WORDS or (finns_own and options.get("finn") != "plus"):
        if style != "auto":
            yield f"fifo_style is {style}, yet FINN has one FIFO for {depth} words: auto"
    elif style == "auto":
        yield f"fifo_style is auto, yet {depth} words leave a choice"
    if style == "ultra" and not finns_own and not has_uram(part):
        yield f"fifo_style is ultra on {part}, a part without UltraRAM"
    if not finns_own:
        yield from _bits_objections(channel, style)


def _bits_objections(channel: ChannelRecord, style: str) -> Iterator[str]:
    depth, use = channel["fifo_depth"], channel["fifo_resources"]
    others = [name for name in ("BRAM18", "URAM") if use[name] and name not in MEMORIES[style]]
    if others:
        yield f"a FIFO of style {style} has no {' and '.join(others)}"
    first = MEMORIES[style][0]
    if first != "LUT" and not use[first]:
        yield f"a FIFO of style {style} has no {first}"
    bits = max(0, depth - REGISTERED_WORDS[style]) * channel["width_bits"]
    room = sum(LARGEST[name] * use[name] for name in MEMORIES[style])
    if bits > room:
        yield f"{bits} bits in {style} do not fit {', '.join(f'{use[n]} {n}' for n in MEMORIES[style])}"


STEP_PLAN = "floorflow_plan.json"


def builds_slices(phase: PhaseRecord, options: Mapping[str, Any]) -> bool:
    """Whether the step that sets FIFOs, which inserts slices, runs for all networks of a phase."""
    return sets_fifos(options) and all(knows_depths(part) for part in phase["networks"])


def fifos_cross(options: Mapping[str, Any]) -> bool:
    """Whether streams have FIFOs at SLR boundaries, which only the step that sets FIFOs inserts."""
    return options.get("crossings", "fifo") == "fifo" and sets_fifos(options)


def as_built(phase: PhaseRecord, context: Mapping[str, Any]) -> PhaseRecord:
    """Return a phase as FINN is told of it: FIFOs at SLR boundaries are slices too, and there are those that are built.

    A stream with slices stays on its FPGA, so they follow one another by the distance of their SLRs from its source's.
    """
    channels: list[ChannelRecord] = []
    for channel in phase["channels"]:
        crossing = channel["crossing_slots"] if phase["slices_built"] and fifos_cross(context["options"]) else []
        slots = list(crossing)
        if phase["slices_built"] and channel["slice_slots"]:
            slots = sorted(slots + channel["slice_slots"], key=_way_from_source(channel, context))
        channels.append({**channel, "slices": len(slots), "slice_slots": slots, "crossing_slots": crossing})
    return {**phase, "channels": channels}


def _way_from_source(channel: ChannelRecord, context: Mapping[str, Any]) -> Callable[[str], int]:
    """Return how far a slot is on a stream's way, in SLRs; a stream from outside is measured from its target."""
    rows, homes = context["engines"], context["slots"]
    end, sign = (channel["source"], 1) if channel["source"] in rows else (channel["target"], -1)
    place = homes.get(rows.get(end, {}).get("slot"), (0, 0))[1]
    return lambda slot: sign * abs(homes.get(slot, (0, place))[1] - place)


def check_step_plan(
    folder: Files,
    phase: PhaseRecord,
    built: BuiltNetwork,
    homes: Mapping[str, tuple[int, int]],
    findings: Findings,
) -> None:
    """Judge that the steps are told of each slice, with FPGA and SLR; ``homes`` are those of slots."""
    path = f"{built.folder}/{STEP_PLAN}"
    content = (folder.json(path) if folder.exists(path) else None) or {}
    ids = {row["id"] for row in built.rows.values()}
    told = {stream["name"]: stream.get("slices", []) for stream in content.get("streams", ())}
    for channel in phase["channels"]:
        if not {channel["source"], channel["target"]} & ids:
            continue
        styles = phase["constraint_styles"]
        wanted = [_home(slot, homes, styles) for slot in channel["slice_slots"] if slot in homes]
        found = told.get(channel["name"], [])
        if found != wanted:
            message = f"slices of {channel['name']} are {found!r:.80}, the plan has {wanted!r:.80}"
            findings.add("finn-slices-differ", folder.path(path), message)


def _home(slot: str, homes: Mapping[str, tuple[int, int]], styles: Mapping[str, str]) -> list[int]:
    fpga, slr = homes[slot]
    several = sum(other == fpga for other, _ in homes.values()) > 1
    return [fpga, ANY_SLR if several and styles.get(slot) == "none" else slr]
