"""A plausible plan.json of N modules for any platform: a convolutional network cut into equal shares over the slots."""

from __future__ import annotations

import random
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from floorflow.resources import RESOURCE_NAMES
from floorflow.target.geometry import Rect
from floorflow.view.die import box_of
from floorflow.view.geometry import Box, outside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floorflow.target.platform import Platform, Slot

CAP = {"LUT": 0.7, "FF": 0.5, "BRAM18": 0.9, "URAM": 0.9, "DSP": 0.9}
ZERO = dict.fromkeys(RESOURCE_NAMES, 0)


def fake_plan(platform: Platform, modules: int, *, names: Sequence[str] = (), seed: int = 1) -> dict[str, Any]:
    """Return a plan with that many modules; every seventh stream also feeds a module further on."""
    chance = random.Random(seed)
    names = list(names) or [_module_name(index, modules) for index in range(modules)]
    engines = {name: _engines(index, index == modules - 1) for index, name in enumerate(names)}
    slots = _spread(platform, modules)
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
    return {
        "schema": "floorflow-plan/1",
        "options": {"cap": CAP, "fill": {"LUT": 0.85, "FF": 0.85, "BRAM18": 1.0, "URAM": 1.0, "DSP": 1.0}},
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
                    "crossings": _crossings(channels, owner, assignment),
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
    }


def _module_name(index: int, count: int) -> str:
    if index == 0:
        return "stem"
    return "classifier" if index == count - 1 else f"layer{1 + index // 5}_conv{index % 5}"


def _engines(index: int, last: bool) -> list[dict[str, Any]]:
    kinds = ["MVAU_hls", "LabelSelect_hls"] if last else ["FMPadding_rtl", "ConvolutionInputGenerator_rtl", "MVAU_rtl"]
    if not last and index % 3 == 0:
        kinds.append("Thresholding_rtl")
    return [{"name": f"{kind}_{index}", "kind": kind} for kind in kinds]


def _folding(engine: dict[str, Any], index: int, chance: random.Random) -> dict[str, Any]:
    if not engine["kind"].startswith("MVAU"):
        return {"cycles": chance.choice([3136, 12544, 14400, 28900]) >> min(index // 8, 6)}
    cycles = chance.choice([18816, 25088, 37632, 50176])
    return {"cycles": cycles, "pe": chance.choice([4, 8, 16, 32]), "simd": chance.choice([3, 9, 16, 36])}


def _spread(platform: Platform, modules: int) -> list[Slot]:
    """Return the slot of each module: contiguous shares, larger slots more."""
    slots = sorted(platform.slots, key=lambda slot: slot.name)
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


def _crossings(channels: list[dict[str, Any]], owner: dict[str, str], assignment: dict[str, str]) -> list[Any]:
    crossings = []
    for channel in channels:
        source, target = (assignment.get(owner.get(channel[end], ""), "") for end in ("source", "target"))
        if source and target and source != target:
            bits = channel["width_bits"]
            crossings.append(
                {
                    "channel": channel["name"],
                    "source": source,
                    "target": target,
                    "width_bits": bits,
                    "gbps": bits / 7,
                }
            )
    return crossings


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
                "slots": [
                    {"name": slot.name, "slr": slot.slr, "available": slot.available.as_dict()}
                    for slot in platform.slots
                    if slot.fpga == fpga.name
                ],
            }
            for fpga in platform.fpgas
        ],
        "infrastructure": [
            {"name": item.name, "slot": item.slot, "resources": item.resources.as_dict()}
            for item in platform.infrastructure
        ],
    }
