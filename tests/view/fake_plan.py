"""A plausible plan.json of N modules for any platform: a convolutional network cut into shares over the slots."""

from __future__ import annotations

import random
from dataclasses import asdict
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from floorflow.hardware.geometry import Rect
from floorflow.resources import RESOURCE_NAMES
from floorflow.view.sheet.die import box_of
from floorflow.view.sheet.geometry import Box, outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floorflow.hardware.platform import Platform, Slot

CAP = {"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9}
FILL = {"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0}
ZERO = dict.fromkeys(RESOURCE_NAMES, 0)
LIMIT = "not found within the limit"
SEARCH = {"gap": 0.12, "ended_by": f"the next shorter interval: {LIMIT} (place): layer3_conv2 finds no rectangle"}


def fake_plan(
    platform: Platform, modules: int, *, names: Sequence[str] = (), homes: Sequence[str] = (), seed: int = 1
) -> dict[str, Any]:
    """Return a plan with that many modules, of these names and in these slots if given.

    Every seventh module, from the third, also feeds the third one after it.
    """
    chance = random.Random(seed)
    names = list(names) or [_module_name(index, modules) for index in range(modules)]
    engines = {name: _engines(index, index == modules - 1) for index, name in enumerate(names)}
    by_name = {slot.name: slot for slot in platform.slots}
    slots = [by_name[home] for home in homes] or _spread(platform, modules)
    pblocks = _pblocks(platform, names, slots, chance)
    folding = {
        engine["name"]: _folding(engine, index, chance)
        for index, parts in enumerate(engines.values())
        for engine in parts
    }
    slowest = max(folding, key=lambda name: folding[name]["cycles"])
    channels = _channels(names, engines, chance)
    owner = {engine["name"]: name for name, parts in engines.items() for engine in parts}
    assignment = {name: slot.name for name, slot in zip(names, slots, strict=True)}
    interval = folding[slowest]["cycles"]
    crossings = _crossings(platform, channels, owner, assignment, 250e6 / interval)
    return {
        "schema": "floorflow-plan/1",
        "options": {"cap": CAP, "clock_mhz": 250.0, "fps": None, "fill": FILL, "objective": "throughput"},
        "platform": _platform(platform),
        "networks": [{"name": "resnet18_w3a3", "operations": [], "engines": [*chain.from_iterable(engines.values())]}],
        "phases": [
            {
                "folding": {"engines": folding, "cycles": interval, "stats": {}},
                "channels": channels,
                "modules": [
                    {"name": name, "engines": [part["name"] for part in parts], "resources": ZERO}
                    for name, parts in engines.items()
                ],
                "partition": {
                    "assignment": assignment,
                    "utilisation": _utilisation(platform, pblocks),
                    "crossings": crossings,
                    "cost": sum((padded(c) + 2) * c["hops"] * (10 if c["kind"] == "link" else 1) for c in crossings),
                    "loads": _loads(platform, crossings),
                    "stats": {"method": "metis+cpsat", "status": "feasible", "objective": 1, "bound": 1, "gap": 0.125},
                },
                "floorplan": {
                    fpga.name: {"pblocks": {n: b for n, b in pblocks.items() if b["slot"].startswith(f"{fpga.name}.")}}
                    for fpga in platform.fpgas
                },
                "estimates": {
                    "clock_mhz": 250.0,
                    "cycles": interval,
                    "fps": 250e6 / interval,
                    "latency_us": 812.5,
                    "bottleneck": slowest,
                },
            }
        ],
        "search": SEARCH | {"interval_cycles": interval, "bound_cycles": int(interval / 1.12)},
        "trace": _trace(interval),
    }


def _trace(interval: int) -> list[dict[str, Any]]:
    """Return a bisection: infeasible from the left, not found near the interval, legal at it and beyond."""
    return [
        {"interval_cycles": int(interval * share), "verdict": verdict, "stage": stage, "detail": detail, "refusals": []}
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


def _engines(index: int, last: bool) -> list[dict[str, Any]]:
    kinds = ["MVAU_hls", "LabelSelect_hls"] if last else ["FMPadding_rtl", "ConvolutionInputGenerator_rtl", "MVAU_rtl"]
    if not last and index % 3 == 0:
        kinds.append("Thresholding_rtl")
    return [{"name": f"{kind}_{index}", "kind": kind, "operation": f"Conv_{index}"} for kind in kinds]


def _folding(engine: dict[str, Any], index: int, chance: random.Random) -> dict[str, Any]:
    if not engine["kind"].startswith("MVAU"):
        return {"cycles": chance.choice([3136, 12544, 14400, 28900]) >> min(index // 8, 6)}
    cycles = chance.choice([18816, 25088, 37632, 50176])
    return {"cycles": cycles, "pe": chance.choice([4, 8, 16, 32]), "simd": chance.choice([3, 9, 16, 36])}


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
            pblocks[name] = {"slot": slot.name, "rectangle": box, "supply": supply, "demand": demand}
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
    """Cut an area into rectangles by halving the longer side, and leave some of each unused."""
    if parts == 1:
        width, height = (
            int(area.columns * chance.uniform(0.7, 0.97)),
            int(area.rows * chance.uniform(0.7, 0.97)),
        )
        width, height = max(width, 1), max(height, 1)
        return [Rect(area.left, area.bottom, area.left + width - 1, area.bottom + height - 1)]
    first = parts // 2
    share = min(max(first / parts + chance.uniform(-0.12, 0.12), 0.15), 0.85)
    if area.columns * 1.2 > area.rows:
        middle = area.left + max(int(area.columns * share), 1)
        pieces = (
            Rect(area.left, area.bottom, middle - 1, area.top),
            Rect(middle, area.bottom, area.right, area.top),
        )
    else:
        middle = area.bottom + max(int(area.rows * share), 1)
        pieces = (
            Rect(area.left, area.bottom, area.right, middle - 1),
            Rect(area.left, middle, area.right, area.top),
        )
    return cut(pieces[0], first, chance) + cut(pieces[1], parts - first, chance)


def _channels(names: list[str], engines: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    ends = [("host:in0", engines[names[0]][0]["name"], 24)]
    for before, after in pairwise(names):
        ends.append((engines[before][-1]["name"], engines[after][0]["name"], 2 ** chance.randint(3, 9)))
    ends += [
        (engines[names[start]][-1]["name"], engines[names[start + 3]][0]["name"], 64)
        for start in range(2, len(names) - 3, 7)
    ]
    ends.append((engines[names[-1]][-1]["name"], "host:out0", 16))
    inside = [(before["name"], after["name"], 8) for parts in engines.values() for before, after in pairwise(parts)]
    return [
        {"name": f"channel_{index}", "source": source, "target": target, "width_bits": bits, "link": None}
        for index, (source, target, bits) in enumerate(ends + inside)
    ]


def _crossings(
    platform: Platform, channels: list[dict[str, Any]], owner: dict[str, str], assignment: dict[str, str], fps: float
) -> list[dict[str, Any]]:
    places = {engine: assignment[module] for engine, module in owner.items()}
    places |= {"host:in0": platform.host_in_slot, "host:out0": platform.host_out_slot}
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
        for step in platform.route_steps(places[channel["source"]], places[channel["target"]])
    ]


def padded(crossing: dict[str, Any]) -> int:
    """Return the width rounded up to whole bytes."""
    return -(-int(crossing["width_bits"]) // 8) * 8


def _loads(platform: Platform, crossings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    position = {slot.name: index for index, slot in enumerate(platform.slots)}
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
            name = f"{source.split('.')[0]}>{target.split('.')[0]}"
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
                "board": platform.name,
                "host_slot": fpga.host_slot,
                "host_port": asdict(fpga.host_port),
                "link_port": fpga.link_port and asdict(fpga.link_port),
                "slots": [
                    {"name": slot.name, "slr": slot.slr, "available": slot.available.as_dict()}
                    for slot in platform.slots
                    if slot.fpga == fpga.name
                ],
            }
            for fpga in platform.fpgas
        ],
        "links": [asdict(link) for link in platform.links],
        "slls": [asdict(boundary) for boundary in platform.boundaries],
        "infrastructure": [
            {"name": item.name, "slot": item.slot, "resources": item.resources.as_dict()}
            for item in platform.infrastructure
        ],
    }
