"""A card's configuration for v++ where a build makes the kernels of its part: their units, ports, banks and SLRs."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from floorflow.verify.facts import PhaseFacts
from floorflow.verify.phase_records import ChannelRecord
from floorflow.verify.records import SIDES
from floorflow.verify.rules.steps import STEPS, setting_faults

_UNIT = re.compile(r"nk=(\w+):1:(\w+)")
_PLACE = re.compile(r"slr=(\w+):(SLR\d+)")
_BANK = re.compile(r"sp=(\w+)\.m_axi_gmem0:(\w+\[\d+\])")
_STREAM = re.compile(r"sc=(\w+)\.(m_axis_\d+|link_tx|rx_axis):(\w+)\.(s_axis_\d+|tx_axis|link_rx)")
_OF_LINK = re.compile(r"link_\d+|aurora_flow_\d+")
_WAYS = {"idma": ["m"], "odma": ["s"]}

End = tuple[ChannelRecord, str, str]
"""A stream over a link, and what it is joined to on a card: one or both are ports of link kernels."""


def kernel_faults(
    phase: PhaseFacts, fpga: str, stated: Sequence[str], of_links: Sequence[str], ends: Sequence[End]
) -> Iterator[str]:
    """Yield what is wrong with a card's lines; ``of_links`` are those of link kernels and cages.

    Which kernels a part has is the tool's matter: each is one unit, with streams that come and go. Streams over links
    begin or end at one in the SLR of the link or of their own end, those of the host at DMA engines at its bank.
    """
    yield from (f"lacks {line}" for line in of_links if line not in stated)
    dies = len({slot.slr for slot in phase.slots.values() if slot.fpga == fpga})
    yield from setting_faults(stated, dies)
    forms = (_UNIT, _PLACE, _BANK, _STREAM)
    for line, count in Counter(stated).items():
        if count > 1 or not (line in of_links or line.startswith(STEPS) or any(form.fullmatch(line) for form in forms)):
            yield f"{line} stands there {count} times" if count > 1 else f"{line} is no line for it"
    rows = [[match.groups() for line in stated if (match := form.fullmatch(line))] for form in forms]
    units, streams = Counter(unit for _, unit in rows[0]), [*rows[3]]
    ports = Counter(port for a, i, b, j in streams for port in ((a, i), (b, j)))
    for what, count in (*units.items(), *Counter(kernel for kernel, _ in rows[0]).items(), *ports.items()):
        if count > 1 and not (what in units and units[what] == 1):
            yield f"{what} is there {count} times"
    named = [row[0] for row in (*rows[1], *rows[2])] + [unit for unit, _ in ports]
    yield from (f"there is no unit {unit}" for unit in sorted({*named} - {*units}))
    own = [unit for unit in units if not _OF_LINK.fullmatch(unit)]
    for unit in own:
        ways = sorted({port[0] for name, port in ports if name == unit})
        if ways != _WAYS.get(unit[:4], ["m", "s"]):
            yield f"{unit} has streams {ways}"
    yield from _at_host(phase, fpga, own, {row[0]: row[1] for row in rows[2]})
    yield from _at_links(phase, fpga, streams, {row[0]: row[1] for row in rows[1]}, ends)


def _at_host(phase: PhaseFacts, fpga: str, units: Sequence[str], banks: dict[str, str]) -> Iterator[str]:
    """Yield where DMA engines are not those of the host's streams, or at another bank."""
    memory = phase.fpgas[fpga].get("host_memory")
    for way, (outside, inside) in (("idma", SIDES), ("odma", SIDES[::-1])):
        outer = [c for c in phase.channels if c[outside] not in phase.module_of]
        count = sum(_slr_on(phase, fpga, channel[inside]) is not None for channel in outer)
        found = sorted(unit for unit in units if unit.startswith(way))
        if found != sorted(f"{way}{number}" for number in range(count)):
            yield f"has {found} for {count} streams of the host"
        yield from (f"{unit} is at {banks.get(unit)}" for unit in found if memory and banks.get(unit) != memory)


def _at_links(
    phase: PhaseFacts, fpga: str, streams: Sequence[tuple[str, ...]], places: dict[str, str], ends: Sequence[End]
) -> Iterator[str]:
    """Yield the streams over links that are joined to no kernel, or to one in an SLR where they are not."""
    joined = [(f"{a}.{i}", f"{b}.{j}") for a, i, b, j in streams]
    for channel, come, go in ends:
        if come.startswith("link_") and go.startswith("link_"):
            if (come, go) not in joined:
                yield f"lacks sc={come}:{go}"
            continue
        port = come if come.startswith("link_") else go
        others = [b if a == port else a for a, b in joined if port in (a, b)]
        at = places.get(others[0].partition(".")[0]) if others else None
        near = {places.get(port.partition(".")[0]), *(_slr_on(phase, fpga, channel[side]) for side in SIDES)}
        if at is None or at not in near:
            yield f"{port} is joined to {others}, in {at}: {channel['name']} is not there"


def _slr_on(phase: PhaseFacts, fpga: str, engine: str) -> str | None:
    """Return the SLR of an engine that lies on a card."""
    slot = phase.slot_of_module(phase.module_of.get(engine))
    return None if slot is None or slot.fpga != fpga else f"SLR{slot.slr}"
