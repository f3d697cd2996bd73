"""Read from plan.json (as a plain dict, `docs/plan.md`) what one FPGA's picture shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from floorflow.errors import InputError
from floorflow.resources import RESOURCE_NAMES
from floorflow.view.geometry import Box
from floorflow.view.scene import TIMES, CrossingView, ModuleView, Scene, SlotView, StreamView

Plan = Mapping[str, Any]

_HOST_PREFIX = "host:"
"""Channel ends outside the network are ``host:in0``, ``host:out0`` (`docs/plan.md`)."""

_SHORT_KINDS = {
    "AddStreams": "add",
    "ChannelwiseOp": "channelwise",
    "ConvolutionInputGenerator": "window",
    "DuplicateStreams": "duplicate",
    "ElementwiseAdd": "add",
    "FMPadding": "pad",
    "GlobalAccPool": "average pool",
    "LabelSelect": "label",
    "Pool": "pool",
    "StreamingConcat": "concat",
    "StreamingMaxPool": "max pool",
    "StreamingSplit": "split",
    "Thresholding": "threshold",
    "UpsampleNearestNeighbour": "upsample",
}
"""FINN's op types in the words of a picture's margin; others keep their own name."""


def engine_names(plan: Plan) -> tuple[str, ...]:
    """Return all engines in dataflow order, as ``network/engine`` if there is more than one network."""
    networks = plan["networks"]
    return tuple(
        f"{network['name']}/{engine['name']}" if len(networks) > 1 else engine["name"]
        for network in networks
        for engine in network["engines"]
    )


def modules_in_order(plan: Plan, phase: int = 0) -> tuple[Mapping[str, Any], ...]:
    """Return the phase's modules by the first of their engines in dataflow order."""
    position = {name: index for index, name in enumerate(engine_names(plan))}
    last = len(position)

    def first_engine(module: Mapping[str, Any]) -> tuple[int, str]:
        return min((position.get(engine, last) for engine in module["engines"]), default=last), module["name"]

    return tuple(sorted(plan["phases"][phase]["modules"], key=first_engine))


def read_scene(plan: Plan, fpga: str, phase: int = 0) -> Scene:
    """Read everything that the picture of one FPGA shows.

    Raises
    ------
    InputError
        If the plan has no floorplan of that FPGA.

    """
    floorplans = plan["phases"][phase]["floorplan"]
    if fpga not in floorplans:
        known = ", ".join(sorted(floorplans)) or "none"
        raise InputError(
            f"plan.json: phases[{phase}].floorplan has no '{fpga}'; it has: {known}", hint="name one of these"
        )
    modules = _read_modules(plan, fpga, phase)
    return Scene(
        fpga=fpga,
        title=_title(plan, fpga),
        subtitle=_subtitle(plan, phase),
        modules=modules,
        streams=_read_streams(plan, phase, modules),
        crossings=_read_crossings(plan, fpga, phase),
        slots=_read_slots(plan, fpga, phase, modules),
        infrastructure=tuple(
            (item["name"], item["slot"], int(item["resources"]["LUT"]))
            for item in plan["platform"]["infrastructure"]
            if item["slot"].startswith(f"{fpga}.")
        ),
    )


def _title(plan: Plan, fpga: str) -> str:
    networks = " + ".join(network["name"] for network in plan["networks"])
    board = next(
        (item["board"] for item in plan["platform"]["fpgas"] if item["name"] == fpga),
        plan["platform"]["name"],
    )
    return f"{networks} on {board}, {fpga}"


def _subtitle(plan: Plan, phase: int) -> str:
    estimates = plan["phases"][phase]["estimates"]
    return (
        f"interval {estimates['cycles']:,} cycles   ·   {frames_text(estimates['fps'])} frames/s"
        f" at {estimates['clock_mhz']:g} MHz   ·   bottleneck {estimates['bottleneck']}"
    )


def frames_text(fps: float) -> str:
    """Write a frame rate with about four digits."""
    return f"{fps:,.0f}" if fps >= 1000 else f"{fps:.4g}"


def _read_modules(plan: Plan, fpga: str, phase: int) -> tuple[ModuleView, ...]:
    pblocks = plan["phases"][phase]["floorplan"][fpga]["pblocks"]
    return tuple(
        _read_module(plan, phase, number, module, pblocks[module["name"]])
        for number, module in enumerate(modules_in_order(plan, phase), start=1)
        if module["name"] in pblocks
    )


def _read_module(
    plan: Plan, phase: int, number: int, module: Mapping[str, Any], pblock: Mapping[str, Any]
) -> ModuleView:
    rectangle, demand, supply = pblock["rectangle"], pblock["demand"], pblock["supply"]
    words = _engine_words(plan, phase, module["engines"])
    return ModuleView(
        number=number,
        name=module["name"],
        slot=pblock["slot"],
        box=Box(rectangle["left"], rectangle["bottom"], rectangle["right"] + 1, rectangle["top"] + 1),
        summary=", ".join(words),
        headline=words[0] if words else "",
        lut=int(demand["LUT"]),
        fill={name: demand[name] / supply[name] for name in RESOURCE_NAMES if supply[name]},
    )


def _engine_words(plan: Plan, phase: int, engines: list[str]) -> tuple[str, ...]:
    """Return each different word once, matrix units first: ``("MVAU 16x32", "window", "threshold")``."""
    kinds = dict(zip(engine_names(plan), _engine_kinds(plan), strict=True))
    folded = plan["phases"][phase]["folding"]["engines"]
    words: list[str] = []
    for engine in engines:
        word = _engine_word(kinds.get(engine, engine), folded.get(engine, {}))
        if word not in words:
            words.append(word)
    return tuple(sorted(words, key=lambda word: TIMES not in word))


def _engine_kinds(plan: Plan) -> tuple[str, ...]:
    return tuple(engine["kind"] for network in plan["networks"] for engine in network["engines"])


def _engine_word(kind: str, folding: Mapping[str, Any]) -> str:
    family = re.sub(r"_(hls|rtl)$", "", kind)
    word = _SHORT_KINDS.get(family, family)
    if family in ("MVAU", "VVAU") and "pe" in folding:
        return f"{word} {folding['pe']}{TIMES}{folding.get('simd', 1)}"
    return word


def _read_streams(plan: Plan, phase: int, modules: tuple[ModuleView, ...]) -> tuple[StreamView, ...]:
    """Add up the streams between each two modules; streams inside a module are left out."""
    order = modules_in_order(plan, phase)
    holder = {engine: module["name"] for module in order for engine in module["engines"]}
    number = {module["name"]: index for index, module in enumerate(order, start=1)}
    here = {module.name for module in modules}
    width_bits: dict[tuple[str, str], int] = {}
    for channel in plan["phases"][phase]["channels"]:
        ends = tuple(holder.get(end, end) for end in (channel["source"], channel["target"]))
        if ends[0] != ends[1] and not here.isdisjoint(ends):
            width_bits[ends] = width_bits.get(ends, 0) + channel["width_bits"]
    return tuple(_stream(ends, bits, here, number) for ends, bits in sorted(width_bits.items()))


def _stream(ends: tuple[str, str], width_bits: int, here: set[str], number: Mapping[str, int]) -> StreamView:
    source, target = (end if end in here else None for end in ends)
    elsewhere = next((end for end in ends if end not in here), "")
    far_end = elsewhere.replace(_HOST_PREFIX, "host ") if elsewhere.startswith(_HOST_PREFIX) else ""
    if elsewhere and not far_end:
        far_end = f"module {number[elsewhere]}"
    ahead = number[ends[1]] - number[ends[0]] if not elsewhere else 0
    return StreamView(source, target, far_end, width_bits, ahead)


def _read_crossings(plan: Plan, fpga: str, phase: int) -> tuple[CrossingView, ...]:
    prefix = f"{fpga}."
    numbers = {
        engine: str(number)
        for number, module in enumerate(modules_in_order(plan, phase), start=1)
        for engine in module["engines"]
    }
    channels = {channel["name"]: channel for channel in plan["phases"][phase]["channels"]}
    return tuple(
        _read_crossing(item, channels[item["channel"]], numbers)
        for item in plan["phases"][phase]["partition"]["crossings"]
        if item["source"].startswith(prefix) or item["target"].startswith(prefix)
    )


def _read_crossing(item: Mapping[str, Any], channel: Mapping[str, Any], numbers: Mapping[str, str]) -> CrossingView:
    source, target = (channel[end] for end in ("source", "target"))
    ends = numbers.get(source, source), numbers.get(target, target)
    return CrossingView(ends, item["source"], item["target"], item["width_bits"], item["gbps"])


def _read_slots(plan: Plan, fpga: str, phase: int, modules: tuple[ModuleView, ...]) -> tuple[SlotView, ...]:
    """Read the slots from the top of the die down; use is demand over limit, limit = cap x available."""
    description = next(item for item in plan["platform"]["fpgas"] if item["name"] == fpga)
    utilisation, cap = plan["phases"][phase]["partition"]["utilisation"], plan["options"]["cap"]
    slots = []
    for slot in sorted(description["slots"], key=lambda item: (item["slr"], item["name"]), reverse=True):
        used = utilisation.get(slot["name"], {})
        of_limit = {
            name: used.get(name, 0.0) / cap[name] for name in RESOURCE_NAMES if slot["available"][name] and cap[name]
        }
        count = sum(module.slot == slot["name"] for module in modules)
        slots.append(SlotView(slot["name"], slot["slr"], of_limit, count))
    return tuple(slots)


def module_count(plan: Plan, phase: int = 0) -> int:
    """Return how many modules the phase has on all FPGAs."""
    return len(plan["phases"][phase]["modules"])
