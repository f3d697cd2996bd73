"""The phase of a plan made by hand: channels, modules, partition and floorplan of a case."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from floorflow.verify.hardware.geometry import Device, Rectangle, anchor_of
from tests.verify.dies import ranges_of
from tests.verify.tiny_bands import FIFO_KIND, SOUGHT, Use, bands_of, chance, fit, likelihood, module_uses
from tests.verify.tiny_cases import CLOCK_MHZ, PORTS, Case
from tests.verify.tiny_network import RESOURCES, Network, Stream, add, amounts, is_outside
from tests.verify.tiny_routing import Point, routing_map, terms_of

Entry = dict[str, Any]

STATS = {"method": "hand", "status": "optimal", "objective": 0.0, "bound": 0.0, "gap": 0.0}
LINK_COST = 10
PLACE_WEIGHTS = {"wire": 1.0, "reach": 1.0, "congestion": 1.0}
REACH, COMFORTABLE = 60_000 / CLOCK_MHZ, 36_000 / CLOCK_MHZ
CAP = {"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9}


@dataclass(frozen=True)
class Part:
    """What runs of a network in a phase, engines by their ids; ``latency_us`` is that of its longest path."""

    name: str
    network: Network
    latency_us: float

    @property
    def fps(self) -> float:
        return CLOCK_MHZ * 1e6 / self.network.interval


def phase_of_case(case: Case, platform: Entry, die: Device, parts: Sequence[Part], name: str = "main") -> Entry:
    """Return the phase of a case, whose network is all parts together."""
    network = case.network
    channels = [_channel(stream, case) for stream in network.streams]
    fps = {stream.full_name: part.fps for part in parts for stream in part.network.streams}
    crossings = [
        _crossing(entry, step, fps[entry["name"]])
        for entry, stream in zip(channels, network.streams, strict=True)
        for step in case.routes.get(stream.name, [])
    ]
    modules, uses = _modules(network, channels), module_uses(network, channels)
    limits = limits_of(platform)
    utilisation = _utilisation(case, platform, channels, modules)
    shares = [share for slot in utilisation for share in limit_shares(platform, utilisation, slot).values()]
    fits = {slot["name"]: _fit(case, slot, channels, uses) for fpga in platform["fpgas"] for slot in fpga["slots"]}
    floorplan = {fpga["name"]: _floorplan(fpga["name"], case, die, modules, uses) for fpga in platform["fpgas"]}
    return {
        "name": name,
        "networks": [_part(part, case, die, channels, limits) for part in parts],
        "channels": channels,
        "modules": modules,
        "joined": [],
        "implementations": [_made(module, case, channels) for module in modules],
        "memories": [],
        "partition": {
            "assignment": {name: slot for name, (_, slot) in case.layout.items()},
            "utilisation": utilisation,
            "crossings": crossings,
            "cost": _cost(crossings),
            "fullness": _stats(max(shares)),
            "evenness": None,
            "loads": _loads(platform, crossings),
            "hops": {"most": case.max_hops or 1, "proof": "", "streams": [_far(c) for c in crossings if c["hops"] > 1]},
            "stats": _stats(_cost(crossings)),
            "waiting_bits": 0,
        },
        "floorplan": floorplan,
        "constraint_styles": {slot["name"]: "hard" for fpga in platform["fpgas"] for slot in fpga["slots"]},
        "fifo_kind": FIFO_KIND,
        "bands": bands_of(uses),
        "fits": fits,
        "confidence": _confidence(case, platform, floorplan, channels, uses),
        "slices_built": False,
        **({"link_kernels": case.link_kernels} if case.link_kernels else {}),
    }


def limits_of(platform: Entry) -> dict[str, Entry]:
    """Return cap x available of every slot."""
    return {
        slot["name"]: {name: math.floor(CAP[name] * slot["available"][name] + 1e-9) for name in RESOURCES}
        for fpga in platform["fpgas"]
        for slot in fpga["slots"]
    }


def limit_shares(platform: Entry, utilisation: Entry, slot: str) -> dict[str, float]:
    """Return demand over limit of each resource of a slot."""
    available = {s["name"]: s["available"] for fpga in platform["fpgas"] for s in fpga["slots"]}[slot]
    limit = limits_of(platform)[slot]
    return {
        name: round(utilisation[slot][name] * available[name]) / limit[name] if limit[name] else 0.0
        for name in RESOURCES
    }


def _part(part: Part, case: Case, die: Device, channels: list[Entry], limits: dict[str, Entry]) -> Entry:
    own = {stream.full_name for stream in part.network.streams}
    return {
        "network": part.name,
        "interval_cycles": part.network.interval,
        "folding": _folding(part.network, case, die, [e for e in channels if e["name"] in own], limits),
        "estimates": {
            "clock_mhz": CLOCK_MHZ,
            "fps": part.fps,
            "sustained_fps": None,
            "latency_us": part.latency_us,
            "bottleneck": part.network.bottleneck,
            "expected_cycles": None,
            "throughput": None,
        },
        "host_weights": None,
    }


def _stats(objective: float) -> Entry:
    return {**STATS, "objective": objective, "bound": objective}


def _cost(crossings: list[Entry]) -> int:
    prices = (LINK_COST if entry["kind"] == "link" else (0, 1, 3, 6)[entry["hops"]] for entry in crossings)
    return sum(_wires(entry) * price for entry, price in zip(crossings, prices, strict=True))


def _far(crossing: Entry) -> Entry:
    """Return how the plan lists a crossing of several boundaries, upwards."""
    fpga, low = crossing["source"].split(".")[0], int(crossing["source"][-1])
    names = [f"{fpga}.SLR{slr}-{fpga}.SLR{slr + 1}" for slr in range(low, low + crossing["hops"])]
    registers = [{"boundary": name, "stages": 2, "flip_flops": 4 * _wires(crossing)} for name in names]
    return {key: crossing[key] for key in ("channel", "source", "target", "hops")} | {"registers": registers}


def _folding(network: Network, case: Case, die: Device, channels: list[Entry], limits: dict[str, Entry]) -> Entry:
    """Folding counted engines, converters and FIFOs; here the FIFOs are as deep as they became."""
    used = add(*(entry["resources"] for entry in [*network.folding.values(), *channels]))
    whole = add(*limits.values())
    fullness = max(used[name] / whole[name] for name in RESOURCES if whole[name])
    scarcity = _scarcity(used, case, die)
    return {
        "engines": {name: _folded(name, entry, network.attributes_of(name)) for name, entry in network.folding.items()},
        "resources": used,
        "budget": used,
        "fullness": _stats(fullness),
        "stats": _stats(scarcity),
        "whole_budget_bound": scarcity,
    }


def _folded(name: str, entry: Entry, has: Entry) -> Entry:
    """Return an engine's folding: its attributes apart, and those that tell of parallelism again."""
    products = entry["PE"] * entry["SIMD"] if "MVAU_hls" in name else 0
    results = {key: entry[key] for key in ("cycles", "resources")}
    attributes = {key: value for key, value in entry.items() if key not in results}
    sizes = {"PE": ("MH", "NumChannels"), "SIMD": ("MW", "IFMChannels", "NumChannels"), "parallel_window": ()}
    rows = [
        {"name": name, "value": attributes[name], "most": next((has[size] for size in sizes[name] if size in has), 1)}
        for name in sizes
        if name in attributes
    ]
    size = {"products": products, "beyond_known_builds": False}
    return {**results, "attributes": attributes, "parallelism": rows, **size}


def _scarcity(used: Entry, case: Case, die: Device) -> float:
    silicon = add(*die.slr_resources)
    return sum(used[name] / silicon[name] / case.fpgas for name in RESOURCES if name != "FF" and silicon[name])


def _end(text: str) -> tuple[str, int]:
    name, _, port = text.partition(".")
    return name, int(port or 0)


def _wires(entry: Entry) -> int:
    whole_bytes: int = -(-entry["width_bits"] // 8) * 8
    return whole_bytes + 2


def _channel(stream: Stream, case: Case) -> Entry:
    network, (source, source_port), (target, target_port) = case.network, _end(stream.source), _end(stream.target)
    narrow = network.module_of(source) if stream.widths[0] < stream.widths[1] else None
    # As many LUTs as a hundred words more would need, 64 bits in each.
    bits = (case.depths[stream.name] + 100) * max(stream.widths)
    fifo, converter = amounts(40 + bits // 64, 30), amounts(25, 20) if narrow else amounts()
    entry: Entry = {
        "name": stream.full_name,
        "source": source,
        "source_port": source_port,
        "target": target,
        "target_port": target_port,
        "source_width_bits": stream.widths[0],
        "target_width_bits": stream.widths[1],
        "width_bits": max(stream.widths),
        "words_per_frame": stream.words,
        "converter": "StreamingDataWidthConverter_rtl" if narrow else None,
        "converter_module": narrow,
        "fifo_depth": case.depths[stream.name],
        "fifo_needed": 0,
        "fifo_style": "auto" if case.depths[stream.name] <= 33 else "distributed",
        "fifo_module": network.module_of(target if is_outside(source) else source),
        "link": case.links.get(stream.name),
        "resources": add(fifo, converter),
        "fifo_resources": fifo,
        "converter_resources": converter,
    }
    runs = [step for step in case.routes.get(stream.name, []) if step.kind == "sll"]
    ways = [
        [slot for pair in _crossed(step) for slot in pair][:: 1 if step.source < step.target else -1] for step in runs
    ]
    stages = [slot for way in ways for slot in way]  # one stage in each of the two slots at a boundary
    entry |= {"crossing_registers": len(stages), "crossing_slots": stages}
    count = _slices(case, stream)
    entry |= {"slices": count, "slice_slots": ["fpga0.SLR0"] * count, "slices_left_out": 0}
    price = amounts(count * 5, count * (2 * entry["width_bits"] + 10))
    entry["slice_resources"] = {"fpga0.SLR0": price} if count else {}
    wires = {slot: stages.count(slot) * _wires(entry) for slot in sorted({*stages})}
    entry["crossing_resources"] = {slot: amounts(count, 2 * count) for slot, count in wires.items()}
    return entry


def _parts(case: Case, stream: Stream) -> tuple[str, float, list[float]] | None:
    """Return the FPGA of a stream, its columns, and its rows between registers; None in a module or over links."""
    source = "fpga0" if is_outside(stream.source) else case.slot_of(_end(stream.source)[0]).split(".")[0]
    target = _last(case) if is_outside(stream.target) else case.slot_of(_end(stream.target)[0]).split(".")[0]
    first, second = _place(case, source, stream.source, "fpga0")[0], _place(case, target, stream.target, _last(case))[0]
    if source != target or first == second:
        return None
    low, high = sorted((first[1], second[1]))
    cuts = [240 * n - 0.5 for n in range(1, 4) if stream.name in case.routes and low < 240 * n - 0.5 < high]
    stops = [low, *cuts, high]
    return source, abs(first[0] - second[0]), [after - before for before, after in pairwise(stops)]


def _slices(case: Case, stream: Stream) -> int:
    """Return the register slices of a stream, whose rows alone need none in these cases."""
    parts = _parts(case, stream)
    if parts is None:
        return 0
    assert max(parts[2]) <= COMFORTABLE
    return max(0, math.ceil((parts[1] + sum(parts[2])) / COMFORTABLE) - len(parts[2]))


def _long_streams(case: Case, fpga: str) -> list[Entry]:
    """Return the longest streams of an FPGA; those with slices are inside an SLR."""
    rows = []
    for stream in case.network.streams:
        parts, count = _parts(case, stream), _slices(case, stream)
        if parts is None or parts[0] != fpga:
            continue
        tiles, ways = parts[1] + sum(parts[2]), len(parts[2])
        bare = max(*parts[2], tiles / ways)
        assert not count or ways == 1
        sliced = tiles / (1 + count) if count else bare
        told = {"tiles": tiles, "unsliced_tiles": bare, "way_tiles": sliced, "slices": count}
        most = {"reach_tiles": REACH, "comfortable_tiles": COMFORTABLE}
        rows.append({"channel": stream.full_name, **told, **most})
    return sorted(rows, key=lambda row: -row["unsliced_tiles"])[:5]


def _crossed(step: Any) -> list[tuple[str, str]]:
    """Return the pairs of slots, the lower first, at the boundaries of a run."""
    fpga = step.source.split(".")[0]
    low, high = sorted((int(step.source[-1]), int(step.target[-1])))
    return [(f"{fpga}.SLR{slr}", f"{fpga}.SLR{slr + 1}") for slr in range(low, high)]


def _crossing(entry: Entry, step: Any, fps: float) -> Entry:
    gbps = entry["words_per_frame"] * -(-entry["width_bits"] // 8) * 8 * fps / 1e9
    ends = {"source": step.source, "target": step.target, "hops": step.hops, "kind": step.kind}
    return {"channel": entry["name"], "width_bits": entry["width_bits"], "gbps": gbps, **ends}


def _loads(platform: Entry, crossings: list[Entry]) -> list[Entry]:
    loads: dict[str, Entry] = {}
    for sll in platform["boundaries"]:
        name = sll["name"]
        loads[name] = {"name": name, "kind": "sll", "use": 0, "capacity": sll["wires"]}
    for link in platform["links"]:
        lower, upper = link["name"].split("-")
        for name in (f"{lower}>{upper}", f"{upper}>{lower}"):
            loads[name] = {"name": name, "kind": "link", "use": 0.0, "capacity": link["gbps"] / (1 + link["overhead"])}
    for entry in crossings:
        source, target = entry["source"].split(".")[0], entry["target"].split(".")[0]
        if entry["kind"] == "link":
            loads[f"{source}>{target}"]["use"] += entry["gbps"]
            continue
        low, high = sorted((int(entry["source"][-1]), int(entry["target"][-1])))
        for slr in range(low, high):
            loads[f"{source}.SLR{slr}-{source}.SLR{slr + 1}"]["use"] += _wires(entry)
    return list(loads.values())


def _modules(network: Network, channels: list[Entry]) -> list[Entry]:
    held = {
        name: [network.folding[engine]["resources"] for engine in engines] for name, engines in network.modules.items()
    }
    for entry in channels:
        held[entry["fifo_module"]].append(entry["fifo_resources"])
        if entry["converter"]:
            held[entry["converter_module"]].append(entry["converter_resources"])
    return [
        {
            "name": name,
            "engines": engines,
            "like": name,
            "implementation": name,
            "reused": False,
            "why_not": "",
            "resources": add(*held[name]),
        }
        for name, engines in network.modules.items()
    ]


def _utilisation(case: Case, platform: Entry, channels: list[Entry], modules: list[Entry]) -> Entry:
    utilisation = {}
    for slot in [slot for fpga in platform["fpgas"] for slot in fpga["slots"]]:
        inside = [module["resources"] for module in modules if case.layout[module["name"]][1] == slot["name"]]
        flops = [channel["crossing_resources"].get(slot["name"], amounts()) for channel in channels]
        slices = [channel["slice_resources"].get(slot["name"], amounts()) for channel in channels]
        demand, available = add(amounts(), *inside, *flops, *slices), slot["available"]
        shares = {name: demand[name] / available[name] if available[name] else 0.0 for name in RESOURCES}
        assert all(math.isfinite(share) for share in shares.values())
        utilisation[slot["name"]] = {name: round(share, 9) for name, share in shares.items()}
    return utilisation


def _confidence(case: Case, platform: Entry, floorplan: Entry, channels: list[Entry], uses: dict[str, Use]) -> Entry:
    """Return the least likely slot or pblock, of as many digits as it has."""
    slots = [(slot, *_held(case, slot, channels, uses)) for fpga in platform["fpgas"] for slot in fpga["slots"]]
    chances = [(chance(use, slot["available"], sure), slot["name"]) for slot, use, sure in slots]
    blocks = {name: block for held in floorplan.values() for name, block in held["pblocks"].items()}
    chances += [(chance(uses[name], block["supply"], amounts()), name) for name, block in blocks.items()]
    least, place = min(chances)
    return {"held": least >= SOUGHT, "likelihood": math.floor(least * 1e4) / 1e4, "place": place, "without": None}


def _fit(case: Case, slot: Entry, channels: list[Entry], uses: dict[str, Use]) -> Entry:
    use, sure = _held(case, slot, channels, uses)
    return fit(use, slot["available"], sure)


def _held(case: Case, slot: Entry, channels: list[Entry], uses: dict[str, Use]) -> tuple[Use, dict[str, int]]:
    together: Use = {}
    for module, use in uses.items():
        if case.layout[module][1] == slot["name"]:
            together |= {kind: add(together.get(kind, amounts()), needed) for kind, needed in use.items()}
    slices = add(amounts(), *(entry["slice_resources"].get(slot["name"], amounts()) for entry in channels))
    if any(slices.values()):
        together[FIFO_KIND] = add(together.get(FIFO_KIND, amounts()), slices)
    registers = [entry["crossing_resources"].get(slot["name"], amounts()) for entry in channels]
    kernels = [kernel["resources"] for kernel in case.link_kernels if kernel["slot"] == slot["name"]]
    return together, add(amounts(), *registers, *kernels)


def _floorplan(fpga: str, case: Case, die: Device, modules: list[Entry], uses: dict[str, Use]) -> Entry:
    here = [module for module in modules if case.layout[module["name"]][1].startswith(f"{fpga}.")]
    blocks = {
        module["name"]: _pblock(die, *case.layout[module["name"]], module["resources"], uses[module["name"]])
        for module in here
    }
    wires = list(_wires_on(case, fpga))
    terms = terms_of(die, wires, CLOCK_MHZ)
    return {
        "pblocks": blocks,
        "hpwl": terms["wire"],
        "port_length": give_ports(case, fpga, blocks),
        "sll_columns": _sll_columns(case, fpga),
        "longest": _long_streams(case, fpga),
        "weights": dict(PLACE_WEIGHTS),
        "terms": terms,
        "congestion": routing_map(die, wires),
        "stats": _stats(sum(terms.values())),
    }


def give_ports(case: Case, fpga: str, blocks: Entry) -> float:
    """Give each end of a stream a port, one above the other on a side; return the length of the wires between them."""
    length = 0.0
    for stream in case.network.streams:
        bits = max(stream.widths)
        first, second = _place(case, fpga, stream.source, "fpga0"), _place(case, fpga, stream.target, _last(case))
        if first == second or not (first[1] or second[1]):
            continue
        points = [
            _add_port(blocks[case.network.module_of(_end(end)[0])], stream.full_name, direction, bits, there[0])
            if is_module
            else middle
            for (middle, is_module), end, direction, there in (
                (first, stream.source, "out", second),
                (second, stream.target, "in", first),
            )
        ]
        length += max(64, _padded(stream) + 2) * sum(abs(a - b) for a, b in zip(*points, strict=True))
    return length


def _add_port(block: Entry, channel: str, direction: str, bits: int, there: tuple[float, float]) -> tuple[float, float]:
    """Add a port above those that a pblock has on the side; return its middle on the edge."""
    (area,) = block["rectangles"]
    side = "right" if there[0] > (area["left"] + area["right"]) / 2 else "left"
    first = max((p["last"] + 1 for p in block["ports"] if p["side"] == side), default=area["bottom"])
    last = first + -(-(-(-bits // 8) * 8 + 2) // 16) - 1
    block["ports"].append({"channel": channel, "direction": direction, "side": side, "first": first, "last": last})
    return float(area[side]), (first + last) / 2


def _sll_columns(case: Case, fpga: str) -> list[Entry]:
    """Let all streams over SLR boundaries cross in the die's first Laguna column; the cases are small."""
    return [
        {
            "channel": stream.full_name,
            "boundary": f"{lower}-{upper}",
            "columns": [{"column": 16, "wires": _padded(stream) + 2}],
        }
        for stream in case.network.streams
        for step in case.routes.get(stream.name, [])
        if step.kind == "sll"
        for lower, upper in _crossed(step)
        if lower.startswith(f"{fpga}.")
    ]


def _pblock(die: Device, area: Rectangle, slot: str, demand: dict[str, int], use: Use) -> Entry:
    sites, supply = die.sites(area), die.resources(area)
    return {
        "slot": slot,
        "rectangles": [{"left": area.left, "bottom": area.bottom, "right": area.right, "top": area.top}],
        "ranges": ranges_of(sites),
        "anchor": anchor_of(sites),
        "demand": demand,
        "supply": supply,
        "likelihood": likelihood(use, supply, amounts()),
        "short": False,
        "ports": [],
        "pins_per_row": 16,
    }


def _wires_on(case: Case, fpga: str) -> Iterator[tuple[int, Point, Point]]:
    """Yield the streams that leave a module of the FPGA, from its middle to that of the other module or the port."""
    for stream in case.network.streams:
        first, second = _place(case, fpga, stream.source, "fpga0"), _place(case, fpga, stream.target, _last(case))
        if (first[1] or second[1]) and first != second:
            yield _padded(stream) + 2, first[0], second[0]


def _padded(stream: Stream) -> int:
    return -(-max(stream.widths) // 8) * 8


def _last(case: Case) -> str:
    return f"fpga{case.fpgas - 1}"


def _place(case: Case, fpga: str, end: str, host_fpga: str) -> tuple[tuple[float, float], bool]:
    """Return the middle of what an end of a stream is on an FPGA, and whether that is a module."""
    host_port, link_port = PORTS[case.board]
    if is_outside(end):
        return _middle(**(host_port if fpga == host_fpga else link_port)), False
    area, slot = case.layout[case.network.module_of(_end(end)[0])]
    if slot.startswith(f"{fpga}."):
        return _middle(area.left, area.bottom, area.right, area.top), True
    return _middle(**link_port), False


def _middle(left: int, bottom: int, right: int, top: int) -> tuple[float, float]:
    return (left + right) / 2, (bottom + top) / 2


def _made(module: Entry, case: Case, channels: list[Entry]) -> Entry:
    """Return what a module is made of: its window, and the streams that cross its bounds."""
    area, own = case.layout[module["name"]][0], module["engines"]
    ports = [
        {"channel": entry["name"], "direction": direction, "width_bits": entry["width_bits"]}
        for entry in channels
        for direction, inside, other in (("in", "target", "source"), ("out", "source", "target"))
        if entry[inside] in own and entry[other] not in own
    ]
    window = {"columns": area.right - area.left + 1, "rows": area.top - area.bottom + 1}
    return {"name": module["name"], "window": window, "ports": ports}
