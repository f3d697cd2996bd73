"""A plausible plan.json for any platform: a convolutional network, or two in two phases, cut into shares over slots."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from floorflow.hardware.device import Device
from floorflow.hardware.geometry import Rect
from floorflow.resources import RESOURCE_NAMES
from floorflow.view.box import Box, outside
from floorflow.view.die import box_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floorflow.hardware.platform import Platform
    from floorflow.hardware.slots import Slot

CAP = {"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9}
STYLES = ("hard", "slr", "soft", "none")
FILL = {"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0}
CLOCK_MHZ = 250.0
ZERO = dict.fromkeys(RESOURCE_NAMES, 0)
LIMIT = "not found within the limit"
SEARCH = {
    "gap": 0.12,
    "joint_bound_cycles": None,
    "ended_at": None,
    "ended_by": f"the next shorter interval: {LIMIT} (place): layer3_conv2 finds no rectangle",
}


def fake_plan(
    platform: Platform, modules: int, *, names: Sequence[str] = (), homes: Sequence[str] = (), seed: int = 1
) -> dict[str, Any]:
    """Return a plan of one network and phase with that many modules, of these names and in these slots if given.

    Every seventh module, from the third, also feeds the third one after it.
    """
    chance = random.Random(seed)
    names = list(names) or [_module_name(index, modules) for index in range(modules)]
    network = _Network(
        "resnet18_w3a3", {name: _engines(index, last=index == modules - 1) for index, name in enumerate(names)}
    )
    by_name = {slot.name: slot for slot in platform.slots}
    slots = [by_name[home] for home in homes] or _spread(platform, modules)
    part = _Part(network, names, ("host:in0", "host:out0"))
    return _plan(platform, [network], [_phase(platform, "main", [part], slots, chance)], None)


def fake_mission(platform: Platform, modules: int = 12, *, seed: int = 1) -> dict[str, Any]:
    """Return a plan of two networks and two phases.

    Half of the first network's modules run in each phase, with a buffer in memory between them; the second runs whole
    in the first phase, where it hands its result to its one module in the second.
    """
    chance = random.Random(seed)
    first = _Network(
        "resnet18", {f"layer{index}": _engines(index, last=False) for index in range(modules)}, "resnet18/"
    )
    small = _Network("mobile", {f"tiny{index}": _engines(index, last=index == 3) for index in range(5)}, "mobile/")
    names, half = list(first.engines), modules // 2
    parts = {
        "p0": [
            _Part(first, names[:half], ("resnet18/host:in0", "resnet18/memory:features")),
            _Part(small, ["tiny0", "tiny1", "tiny2", "tiny3"], ("mobile/host:in0", "mobile/phase:p1/scores")),
        ],
        "p1": [
            _Part(first, names[half:], ("resnet18/memory:features", "resnet18/host:out0")),
            _Part(small, ["tiny4"], ("mobile/phase:p0/scores", "mobile/host:out0")),
        ],
    }
    phases = [
        _phase(platform, name, own, _spread(platform, sum(len(part.modules) for part in own)), chance)
        for name, own in parts.items()
    ]
    batch = 64
    longest = [max(entry["interval_cycles"] for entry in phase["networks"]) for phase in phases]
    steps = [
        {"phase": name, "load_us": 9500.0, "run_us": batch * cycles / CLOCK_MHZ}
        for name, cycles in zip(parts, longest, strict=True)
    ]
    period_us = sum(step["load_us"] + step["run_us"] for step in steps)
    schedule = {"kind": "reconfigure", "batch": batch, "period_us": period_us, "steps": steps}
    return _plan(platform, [first, small], phases, schedule)


@dataclass(frozen=True)
class _Network:
    """A network with the engines of each module; ``prefix`` stands before an engine's name in the phases."""

    name: str
    engines: dict[str, list[dict[str, Any]]]
    prefix: str = ""

    def ids(self, module: str) -> list[str]:
        return [f"{self.prefix}{engine['name']}" for engine in self.engines[module]]


@dataclass(frozen=True)
class _Part:
    """The modules of a network that run in a phase, and where the chain of them begins and ends."""

    network: _Network
    modules: list[str]
    ends: tuple[str, str]


def _plan(
    platform: Platform, networks: list[_Network], phases: list[dict[str, Any]], schedule: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "schema": "floorflow-plan/2",
        "options": {
            "cap": CAP,
            "clock_mhz": CLOCK_MHZ,
            "constraint_style": "hard",
            "fps": None,
            "fill": FILL,
            "objective": "throughput",
        },
        "platform": _platform(platform),
        "networks": [_network(network, phases) for network in networks],
        "phases": phases,
        "schedule": schedule,
    }


def _network(network: _Network, phases: list[dict[str, Any]]) -> dict[str, Any]:
    parts = [(phase["name"], entry) for phase in phases for entry in phase["networks"]]
    ran = {name: entry["interval_cycles"] for name, entry in parts if entry["network"] == network.name}
    interval = max(ran.values())
    return {
        "name": network.name,
        "operations": [],
        "engines": [*chain.from_iterable(network.engines.values())],
        "search": SEARCH | {"interval_cycles": interval, "bound_cycles": int(interval / 1.12)},
        "trace": [row for name, cycles in ran.items() for row in _trace(name, cycles)],
    }


def _phase(
    platform: Platform, name: str, parts: list[_Part], slots: list[Slot], chance: random.Random
) -> dict[str, Any]:
    names = [module for part in parts for module in part.modules]
    pblocks = _pblocks(platform, names, slots, chance)
    networks = [_part(part, chance) for part in parts]
    channels = [channel for part in parts for channel in _channels(part, chance)]
    channels = [{**channel, "name": f"channel_{index}"} for index, channel in enumerate(channels)]
    engines = {module: part.network.ids(module) for part in parts for module in part.modules}
    owner = {engine: module for module, inside in engines.items() for engine in inside}
    assignment = {name: slot.name for name, slot in zip(names, slots, strict=True)}
    interval = max(entry["interval_cycles"] for entry in networks)
    crossings = _crossings(platform, channels, owner, assignment, CLOCK_MHZ * 1e6 / interval)
    on_fpga = {slot.name: slot.fpga for slot in platform.slots}
    styles = {slot.name: STYLES[number % len(STYLES)] for number, slot in enumerate(platform.slots)}
    return {
        "name": name,
        "networks": networks,
        "channels": channels,
        "modules": [{"name": module, "engines": inside, "resources": ZERO} for module, inside in engines.items()],
        "partition": {
            "assignment": assignment,
            "utilisation": _utilisation(platform, pblocks),
            "crossings": crossings,
            "cost": sum((padded(c) + 2) * (10 if c["kind"] == "link" else (0, 1, 3, 6)[c["hops"]]) for c in crossings),
            "loads": _loads(platform, crossings),
            "stats": {"method": "metis+cpsat", "status": "feasible", "objective": 1, "bound": 1, "gap": 0.125},
        },
        "floorplan": {
            fpga.name: {
                "pblocks": {n: b for n, b in pblocks.items() if on_fpga[b["slot"]] == fpga.name},
                "congestion": _routing_map(fpga.device),
            }
            for fpga in platform.fpgas
        },
        "constraint_styles": styles,
    }


def _routing_map(device: Device) -> dict[str, Any]:
    """Return a map whose demand rises to the right and upwards."""
    across, up = -(-device.column_count // 15), -(-device.row_count // 15)
    right, top = 15 * (across - 1), 15 * (up - 1)
    return {
        "unit": "bit-tiles",
        "bin_columns": 15,
        "bin_rows": 15,
        "capacity": 18_000.0,
        "peak": 500.0 * (across + up - 2),
        "peak_at": {"left": right, "bottom": top, "right": device.column_count - 1, "top": device.row_count - 1},
        "mean": 250.0 * (across + up - 2),
        "over": 0,
        "demand": [" ".join(str(500 * (x + y)) for x in range(across)) for y in range(up)],
    }


def _part(part: _Part, chance: random.Random) -> dict[str, Any]:
    """Return the folding of a network's part and what is estimated of it."""
    folding = {
        engine_id: _folding(engine, index, chance)
        for index, module in enumerate(part.modules)
        for engine_id, engine in zip(part.network.ids(module), part.network.engines[module], strict=True)
    }
    slowest = max(folding, key=lambda name: folding[name]["cycles"])
    interval = folding[slowest]["cycles"]
    fps = CLOCK_MHZ * 1e6 / interval
    estimates = {"clock_mhz": CLOCK_MHZ, "fps": fps, "latency_us": 812.5, "bottleneck": slowest}
    return {
        "network": part.network.name,
        "interval_cycles": interval,
        "folding": {"engines": folding, "stats": {}},
        "estimates": estimates,
    }


def _trace(phase: str, interval: int) -> list[dict[str, Any]]:
    """Return a bisection: infeasible from the left, not found near the interval, legal at it and beyond."""
    return [
        {
            "phase": phase,
            "interval_cycles": int(interval * share),
            "verdict": verdict,
            "stage": stage,
            "detail": detail,
            "refusals": [],
        }
        for share, verdict, stage, detail in (
            (4.0, "legal", "place", "hpwl 180,300"),
            (0.25, "proven infeasible", "fold", "LUT: at least 5,120,000 needed, 1,106,000 within the limits"),
            (0.8, "proven infeasible", "fold", "LUT: at least 1,310,400 needed, 1,106,000 within the limits"),
            (0.94, LIMIT, "partition", "LUT of fpga0.SLR1: 301,200 needed by the modules nearest to it, 296,700 there"),
            (0.97, LIMIT, "place", "fpga0.SLR1: layer3_conv2 and layer3_conv3 find no rectangle beside the shell " * 3),
            (1.0, "legal", "place", "hpwl 201,920"),
        )
    ]


def _module_name(index: int, count: int) -> str:
    if index == 0:
        return "stem"
    return "classifier" if index == count - 1 else f"layer{1 + index // 5}_conv{index % 5}"


_KINDS = {
    "FMPadding_rtl": ("pad", "front", 0),
    "ConvolutionInputGenerator_rtl": ("window", "front", 0),
    "MVAU_rtl": ("MVAU", "core", 3),
    "MVAU_hls": ("MVAU", "core", 3),
    "Thresholding_rtl": ("threshold", "behind", 8),
    "LabelSelect_hls": ("label", "behind", 0),
}
"""Label, role and bits of a weight."""


def _engines(index: int, *, last: bool) -> list[dict[str, Any]]:
    kinds = ["MVAU_hls", "LabelSelect_hls"] if last else ["FMPadding_rtl", "ConvolutionInputGenerator_rtl", "MVAU_rtl"]
    if not last and index % 3 == 0:
        kinds.append("Thresholding_rtl")
    return [_engine(kind, index) for kind in kinds]


def _engine(kind: str, index: int) -> dict[str, Any]:
    label, role, bits = _KINDS[kind]
    names = {"name": f"{kind}_{index}", "kind": kind, "operation": f"Conv_{index}"}
    return {**names, "label": label, "role": role, "weight_bits": bits}


def _folding(engine: dict[str, Any], index: int, chance: random.Random) -> dict[str, Any]:
    if engine["role"] != "core":
        cycles = chance.choice([3136, 12544, 14400, 28900]) >> min(index // 8, 6)
        return {"cycles": cycles, "attributes": {}, "parallelism": []}
    cycles = chance.choice([18816, 25088, 37632, 50176])
    factors = {"PE": chance.choice([4, 8, 16, 32]), "SIMD": chance.choice([3, 9, 16, 36])}
    parallelism = [{"name": name, "value": value, "most": 64} for name, value in factors.items()]
    return {"cycles": cycles, "attributes": factors | {"ram_style": "auto"}, "parallelism": parallelism}


def _spread(platform: Platform, modules: int) -> list[Slot]:
    """Return the slot of each module: contiguous shares, larger slots more, up one FPGA and down the next."""
    slots = [
        slot
        for index, fpga in enumerate(platform.fpgas)
        for slot in (fpga.slots if index % 2 == 0 else reversed(fpga.slots))
    ]
    weights = [slot.available.lut for slot in slots]
    total = sum(weights)
    bounds = [round(modules * sum(weights[: index + 1]) / total) for index in range(len(slots))]
    return [slots[next(i for i, bound in enumerate(bounds) if index < bound)] for index in range(modules)]


def _pblocks(platform: Platform, names: list[str], slots: list[Slot], chance: random.Random) -> dict[str, Any]:
    devices = {fpga.name: fpga.device for fpga in platform.fpgas}
    pblocks: dict[str, Any] = {}
    for slot in platform.slots:
        inside = [name for name, own in zip(names, slots, strict=True) if own.name == slot.name]
        boxes = cut(usable(slot), len(inside), chance) if inside else []
        boxes = [_clear_of(rect, slot.keep_outs) for rect in boxes]
        for name, rect in zip(inside, boxes, strict=True):
            supply = devices[slot.fpga].resources(rect).as_dict()
            share = chance.uniform(0.45, 0.84)
            demand = {key: int(value * chance.uniform(0.1, 0.95)) for key, value in supply.items()}
            demand["LUT"] = int(supply["LUT"] * share)
            box = {"left": rect.left, "bottom": rect.bottom, "right": rect.right, "top": rect.top}
            pblocks[name] = {"slot": slot.name, "rectangles": [box], "supply": supply, "demand": demand}
            pblocks[name]["likelihood"] = 1 - share / 10
    return pblocks


def _clear_of(rect: Rect, keep_outs: Sequence[Rect]) -> Rect:
    """Return the largest rectangle that the keep-outs leave of one, or one of a single tile if they leave none."""
    pieces = outside(box_of(rect), tuple(box_of(keep_out) for keep_out in keep_outs))
    piece = max(pieces, key=lambda box: box.width * box.height, default=Box(0, rect.bottom, 1, rect.bottom + 1))
    return Rect(int(piece.left), int(piece.bottom), int(piece.right) - 1, int(piece.top) - 1)


def usable(slot: Slot) -> Rect:
    """Return the slot's region, less keep-outs that take it from bottom to top."""
    return _clear_of(slot.region, [rect for rect in slot.keep_outs if rect.rows == slot.region.rows])


def cut(area: Rect, parts: int, chance: random.Random) -> list[Rect]:
    """Cut an area into rows of rectangles about as high as wide, and leave some of each unused."""
    rows = max(round((parts * area.rows / (1.2 * area.columns)) ** 0.5), 1)
    counts = [len(range(row, parts, rows)) for row in range(min(rows, parts))]
    height, found = area.rows // len(counts), []
    for row, count in enumerate(counts):
        width = area.columns // count
        for column in range(count):
            left, bottom = area.left + column * width, area.bottom + row * height
            right, top = (int(size * chance.uniform(0.7, 0.97)) or 1 for size in (width, height))
            found.append(Rect(left, bottom, left + right - 1, bottom + top - 1))
    return found


def _channels(part: _Part, chance: random.Random) -> list[dict[str, Any]]:
    names, engines = part.modules, {module: part.network.ids(module) for module in part.modules}
    ends = [(part.ends[0], engines[names[0]][0], 24)]
    for before, after in pairwise(names):
        ends.append((engines[before][-1], engines[after][0], 2 ** chance.randint(3, 9)))
    ends += [(engines[names[start]][-1], engines[names[start + 3]][0], 64) for start in range(2, len(names) - 3, 7)]
    ends.append((engines[names[-1]][-1], part.ends[1], 16))
    inside = [(before, after, 8) for module in names for before, after in pairwise(engines[module])]
    return [
        {"source": source, "target": target, "width_bits": bits, "link": None} for source, target, bits in ends + inside
    ]


def _crossings(
    platform: Platform, channels: list[dict[str, Any]], owner: dict[str, str], assignment: dict[str, str], fps: float
) -> list[dict[str, Any]]:
    places = {engine: assignment[module] for engine, module in owner.items()}
    return [
        {
            "channel": channel["name"],
            "source": step.source,
            "target": step.target,
            "width_bits": channel["width_bits"],
            "gbps": channel["width_bits"] * 3136 * fps / 1e9,
            "hops": step.hops,
            "kind": step.kind,
        }
        for channel in channels
        for step in platform.route_steps(
            places.get(channel["source"], platform.host_in_slot), places.get(channel["target"], platform.host_out_slot)
        )
    ]


def padded(crossing: dict[str, Any]) -> int:
    """Return the width rounded up to whole bytes."""
    return -(-int(crossing["width_bits"]) // 8) * 8


def _loads(platform: Platform, crossings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    position = {slot.name: index for index, slot in enumerate(platform.slots)}
    fpga_of = {slot.name: slot.fpga for slot in platform.slots}
    loads = []
    for boundary in platform.boundaries:
        use = 0
        for item in crossings:
            ends = sorted((position[item["source"]], position[item["target"]]))
            if item["kind"] == "sll" and ends[0] <= position[boundary.lower] < ends[1]:
                use += padded(item) + 2
        name = f"{boundary.lower}-{boundary.upper}"
        loads.append({"name": name, "kind": "sll", "use": use, "capacity": boundary.wires})
    for link in platform.links:
        for source, target in ((link.source, link.target), (link.target, link.source)):
            use_gbps = sum(c["gbps"] for c in crossings if (c["source"], c["target"]) == (source, target))
            name = f"{fpga_of[source]}>{fpga_of[target]}"
            loads.append({"name": name, "kind": "link", "use": use_gbps, "capacity": link.gbps})
    return loads


def _utilisation(platform: Platform, pblocks: dict[str, Any]) -> dict[str, Any]:
    result = {}
    for slot in platform.slots:
        inside = [block["demand"] for block in pblocks.values() if block["slot"] == slot.name]
        available = slot.available.as_dict()
        result[slot.name] = {
            name: round(CAP[name] * min(sum(d[name] for d in inside) / available[name], 1), 6) if available[name] else 0
            for name in RESOURCE_NAMES
        }
    return result


def _platform(platform: Platform) -> dict[str, Any]:
    return {
        "name": platform.name,
        "fpgas": [
            {
                "name": fpga.name,
                "board": fpga.board.name,
                "host_slot": fpga.host_slot,
                "host_port": asdict(fpga.host_port),
                "link_port": fpga.link_port and asdict(fpga.link_port),
                "slots": [
                    {"name": slot.name, "fpga": fpga.name, "slr": slot.slr, "available": slot.available.as_dict()}
                    for slot in platform.slots
                    if slot.fpga == fpga.name
                ],
            }
            for fpga in platform.fpgas
        ],
        "links": [asdict(link) for link in platform.links],
        "boundaries": [
            {"name": f"{boundary.lower}-{boundary.upper}", **asdict(boundary)} for boundary in platform.boundaries
        ],
        "infrastructure": [
            {"name": item.name, "slot": item.slot, "resources": item.resources.as_dict()}
            for item in platform.infrastructure
        ],
    }
