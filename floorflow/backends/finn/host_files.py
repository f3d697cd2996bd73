"""The script that runs FINN's designs on their cards, and host.json: the cards, units, types and planned figures."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from floorflow.backends.finn.card_builds import is_built_by_card
from floorflow.backends.finn.names import RUNTIME_WEIGHTS, VERSION_NAMES
from floorflow.backends.finn.read.ports import input_type, output_type
from floorflow.backends.finn.step_data import NetworkInPhase, finn_of, prefix_of
from floorflow.facts import ChannelEntry, Plan
from floorflow.facts.topology import linked_streams

SCHEMA = "floorflow-host/1"
PACKED = ("INT", "UINT", "BINARY", "BIPOLAR", "TERNARY", "FLOAT32")
"""What the names of types begin with that the script packs."""


def runs(one: NetworkInPhase) -> bool:
    """Whether the script runs a network: its build ends in bitstreams, one stream enters and one leaves."""
    ends = _ends(one)
    return (
        (not one.plan.unbuilt or is_built_by_card(one.plan))
        and len(one.plan.phases) == 1
        and [len(side) for side in ends] == [1, 1]
        and all(_end(one, side[0], at_input=number == 0)["type"].startswith(PACKED) for number, side in enumerate(ends))
    )


def _ends(one: NetworkInPhase) -> list[list[ChannelEntry]]:
    return [[c for c in one.channels if c.ends[side].outside is not None] for side in (0, 1)]


def host_files(each: Sequence[NetworkInPhase], fpgas: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return host/run.py and what it reads of networks on the same cards; nothing if it does not run one of them."""
    if not all(map(runs, each)):
        return {}
    plan, one = each[0].plan, each[0]
    script = (Path(__file__).parent / "host" / "run.py").read_text(encoding="utf-8")
    by_card = is_built_by_card(plan)
    first, *others = (_network(each[k], fpgas, k) for k in range(len(each)))
    content = {
        "schema": SCHEMA,
        "tool": VERSION_NAMES[finn_of(plan)],
        "clock_mhz": plan.summary.clock_mhz,
        "zynq": not any(fpga["platform"] for fpga in fpgas),
        "linked": len(plan.platform.fpgas) > 1,
        "bitstreams": "." if by_card else "vitis/link" if others else "finn/build/bitfile",
        "linked_by": _hint(plan, by_card=by_card, beside=bool(others)),
        "cards": list(_cards(one, fpgas, is_plus=finn_of(plan) == "plus")),
        **first,
        **({"beside": others} if others else {}),
        "told": list(plan.warnings),
    }
    return {"host/run.py": script, "host/host.json": json.dumps(content, indent=1) + "\n"}


def _network(one: NetworkInPhase, fpgas: Sequence[Mapping[str, Any]], number: int) -> dict[str, Any]:
    """Return what a network, the ``number``-th on its cards, takes and gives, where, and how fast."""
    plan, zynq = one.plan, not any(fpga["platform"] for fpga in fpgas)
    into, out = (_end(one, *side, at_input=place == 0) for place, side in enumerate(_ends(one)))
    return {
        "network": one.network.name if plan.replicas is None else plan.replicas.network,
        "driver": f"finn/{one.network.name}/build/driver" if prefix_of(one) else "finn/build/driver",
        "copies": list(_copies(one, number, is_plus=finn_of(plan) == "plus" and not zynq)),
        "input": into,
        "output": out,
        "planned": _planned(one),
        "written_weights": [n for n, folded in one.folding.items() if folded.attributes.get(RUNTIME_WEIGHTS) == 1],
    }


_HINT = "it holds another design: give the bitstreams of this plan's build"
_HINT_OF_CARDS = "link.sh in the card's folder links it"
_HINT_OF_NETWORKS = "vitis/link.sh links the kernels of all networks: give --bitstream CARD=LINK_DIR/a.xclbin"
_HINT_OF_COPIES = "vitis/relink.sh links all copies: give --bitstream CARD=LINK_DIR/a.xclbin"


def _hint(plan: Plan, *, by_card: bool, beside: bool) -> str:
    if by_card or beside:
        return _HINT_OF_CARDS if by_card else _HINT_OF_NETWORKS
    return _HINT if plan.replicas is None or len(plan.networks) == 1 else _HINT_OF_COPIES


def _end(one: NetworkInPhase, channel: ChannelEntry, *, at_input: bool) -> dict[str, Any]:
    """Return what a frame is in the host's memory, at the input or at the output."""
    identity = channel.target if at_input else channel.source
    engine = next(e for e in one.engines if one.id_of[e.name] == identity)
    attributes: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in engine.attributes.items()}
    found = input_type(attributes, channel.target_port) if at_input else output_type(engine.kind, attributes)
    width = channel.source_width_bits if at_input else channel.target_width_bits
    each = width // found.bits
    least, most = (found.min, found.max) if found.is_integer else (None, None)
    elements = channel.words_per_frame * channel.width_bits // found.bits
    return {
        "type": found.name,
        "element_bits": found.bits,
        "least": least,
        "most": most,
        "elements": elements,
        "elements_per_word": each,
        "words": elements // each,
    }


def _cards(one: NetworkInPhase, fpgas: Sequence[Mapping[str, Any]], *, is_plus: bool) -> Iterator[dict[str, Any]]:
    """Yield the cards with their bitstreams, as FINN calls these, and link kernels by the cables' names.

    ``links`` are AuroraFlow's, ``tests`` floorflow's own, which have a test pattern.
    """
    plan, links = one.plan, dict[str, dict[str, str]]()
    for stream in linked_streams(plan.platform, one.phase):
        for name, cage in stream.cable.cages.items():
            links.setdefault(name, {})[f"aurora_flow_{cage}"] = stream.cable.link.name
    cards = fpgas if plan.replicas is None else [fpgas[0]] * plan.replicas.cards
    by_card = is_built_by_card(plan)
    for number, fpga in enumerate(cards):
        name = f"fpga{number}"
        device = number if plan.replicas is None else 0
        file = f"finn-accel{f'-{device}' if is_plus else ''}.xclbin" if fpga["platform"] else "finn-accel.bit"
        file = f"{name}/{name}.xclbin" if by_card else "a.xclbin" if prefix_of(one) else file
        own = dict(sorted(links.get(name, {}).items()))
        tests = {unit.replace("aurora_flow", "link"): cable for unit, cable in own.items()}
        row = {"name": name, "board": fpga["board"], "bitstream": file, "links": own}
        yield row | ({"tests": tests} if by_card else {})


def _copies(one: NetworkInPhase, network: int, *, is_plus: bool) -> Iterator[dict[str, Any]]:
    """Yield each copy's DMA engines with their cards: the host's input is at the first, its output at the last."""
    plan = one.plan
    between, found = "_" if is_plus else "", plan.replicas
    units = [f"{way}dma{between}0" for way in "io"]
    if found is None:
        ends = [plan.platform.fpgas[place].name for place in (0, -1)]
        suffix = f"_{network}" if prefix_of(one) else ""
        copy = {way: [card, unit + suffix] for way, card, unit in zip(("input", "output"), ends, units, strict=True)}
        yield {"name": one.network.name, **copy, "suffix": suffix}
        return
    for number in range(found.copies):
        card, place = divmod(number, len(found.placed))
        suffix = f"_{place}" if len(plan.networks) > 1 else ""
        sides = {way: [f"fpga{card}", unit + suffix] for way, unit in zip(("input", "output"), units, strict=True)}
        yield {"name": f"{found.network}_{number}", **sides, "suffix": suffix}


def _planned(one: NetworkInPhase) -> dict[str, float]:
    estimates = one.phase.network(one.network.name).estimates
    together = estimates.believed_fps if one.plan.replicas is None else one.plan.replicas.fps
    return {"fps": together, "latency_us": estimates.believed_latency_us}
