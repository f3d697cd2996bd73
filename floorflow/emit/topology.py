"""Who talks to whom where a plan takes several FPGAs: ``topology.json``, for whoever cables and starts them."""

import json
from collections.abc import Mapping
from typing import Any

from floorflow.facts import PhaseEntry, Plan
from floorflow.facts.topology import LinkedStream, linked_streams, start_order
from floorflow.hardware import Platform

TOPOLOGY = "topology.json"
SCHEMA = "floorflow-topology/1"


def topology(plan: Plan, phase: PhaseEntry, platform: Platform) -> str | None:
    """Return the file of a phase; None where the plan has one FPGA."""
    fpgas = plan.platform.fpgas
    if len(fpgas) == 1:
        return None
    streams = linked_streams(plan.platform, phase)
    content = {
        "schema": SCHEMA,
        "phase": phase.name,
        "clock_mhz": plan.summary.clock_mhz,
        "cards": [_card(plan, phase, number, platform) for number in range(len(fpgas))],
        "cables": [*{one.cable.link.name: _cable(one) for one in streams}.values()],
        "streams": [_stream(one) for one in streams],
        # What receives is there before what sends to it, so that nothing is sent to a card that is not loaded yet. The
        # host's input enters at the first card.
        "start_order": start_order(
            [fpga.name for fpga in fpgas], {(one.source, one.target) for one in streams}, fpgas[0].name
        ),
    }
    return json.dumps(content, indent=2) + "\n"


def _card(plan: Plan, phase: PhaseEntry, number: int, platform: Platform) -> dict[str, Any]:
    """Return a card; ``outside``: streams of the host, memory or other phases there; ``cages``: how many, if known."""
    entry, link = plan.platform.fpgas[number], platform.fpgas[number].board.link
    ends = {True: plan.platform.fpgas[0].name, False: plan.platform.fpgas[-1].name}
    outer = [
        c.name
        for c in phase.channels
        for enters, end in zip(ends, c.ends, strict=True)
        if end.outside is not None and ends[enters] == entry.name
    ]
    return {
        "name": entry.name,
        "board": entry.board,
        "part": entry.part,
        "outside": outer,
        "cages": None if link is None else link.max_links,
    }


def _cable(one: LinkedStream) -> dict[str, Any]:
    link = one.cable.link
    slots = dict(zip(one.cable.cages, (link.source, link.target), strict=True))
    ends = [{"card": name, "slot": slots[name], "cage": cage} for name, cage in one.cable.cages.items()]
    return {"link": link.name, "kind": link.kind, "gbps": link.gbps, "latency_us": link.latency_us, "ends": ends}


def _stream(one: LinkedStream) -> Mapping[str, Any]:
    return {
        "channel": one.stream.channel,
        "link": one.cable.link.name,
        "source": one.source,
        "target": one.target,
        "bits": one.stream.width_bits,
        "gbps": one.stream.gbps,
    }
