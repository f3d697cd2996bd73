"""Links of a phase: the streams over each, the kernels at its ends, and what keeps these from being built.

A card's part of the network is one kernel, ``part_<fpga>``: its streams from the host and from other cards are
``s_axis_0``, ... and those to them ``m_axis_0``, ..., as the plan's channels follow one another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from floorflow.errors import some
from floorflow.facts.link_kernels import MOST_STREAMS, LinkKernel, LinkKernelEntry, LinkStream, cost, link_stream
from floorflow.facts.link_rates import ROUNDING, LinkDirection
from floorflow.facts.phase import PhaseEntry, PhaseNetworkEntry
from floorflow.facts.platform import PlatformEntry
from floorflow.facts.topology import LinkedStream, linked_streams
from floorflow.facts.values import Amounts
from floorflow.resources import Fractions, Resources
from floorflow.technology import has_kernels

MOST_JOINED_BITS = 4088
"""Of a stream between two kernels; v++ refuses 4,096 (FINN issue 1276)."""


@dataclass(frozen=True)
class CardKernels:
    """The kernels of a card's part as v++ links them, a line each, and the port of each stream over a link there.

    ``settings``: what v++ is told beside.
    """

    lines: tuple[str, ...]
    ports: Mapping[str, str]
    settings: str


@dataclass(frozen=True)
class LinkEnd:
    """One end of a cable: its card, cage and SLR, and the streams that leave and arrive there."""

    fpga: str
    cage: int
    slot: str
    slr: str
    kind: str
    kernel: LinkKernel

    def port(self, stream: str, *, leaves: bool) -> str:
        """Return the port of a stream, as v++ writes it."""
        side, streams = ("s", self.kernel.sends) if leaves else ("m", self.kernel.receives)
        return f"link_{self.cage}.{side}_axis_{[one.name for one in streams].index(stream)}"


@dataclass(frozen=True)
class Links:
    """The streams over links of a phase, and the kernels at both ends of each cable."""

    platform: PlatformEntry
    phase: PhaseEntry

    @cached_property
    def streams(self) -> list[LinkedStream]:
        """A row for each link that a stream passes."""
        return linked_streams(self.platform, self.phase)

    @cached_property
    def ends(self) -> list[LinkEnd]:
        """The ends of all cables, card by card."""
        slr_of = {slot.name: slot.slr for slot in self.platform.slots}
        cables = {one.cable.link.name: one.cable for one in self.streams}
        found = []
        for name, cable in cables.items():
            over = [one for one in self.streams if one.cable.link.name == name]
            for (fpga, cage), slot in zip(cable.cages.items(), (cable.link.source, cable.link.target), strict=True):
                sends = tuple(_stream(one) for one in over if one.source == fpga)
                receives = tuple(_stream(one) for one in over if one.target == fpga)
                kernel = LinkKernel(f"floorflow_link_{fpga}_{cage}", sends, receives)
                found.append(LinkEnd(fpga, cage, slot, slr_of[slot], cable.link.kind, kernel))
        order = [fpga.name for fpga in self.platform.fpgas]
        return sorted(found, key=lambda end: (order.index(end.fpga), end.cage))

    @property
    def charged(self) -> list[LinkKernelEntry]:
        """The kernels that a plan counts where its tool has none of its own."""
        return [
            LinkKernelEntry(
                name=end.kernel.name,
                slot=end.slot,
                sends=[one.name for one in end.kernel.sends],
                receives=[one.name for one in end.kernel.receives],
                resources=Amounts.model_validate(cost(end.kernel)),
            )
            for end in self.ends
            if self._has_kernels(end.kind)
        ]

    def connections(self, fpga: str, ports: Mapping[str, str] | None = None) -> Iterator[str]:
        """Yield the streams that a card's link kernels send or receive; without ``ports`` its part is one kernel.

        What arrives for another card goes on over the next link.
        """
        inputs: Counter[bool] = Counter()
        for channel in self.phase.channels:
            stays = [self._card_of(channel.source) == fpga, self._card_of(channel.target) == fpga]
            over = [
                one for one in self.streams if one.stream.channel == channel.name and fpga in (one.source, one.target)
            ]
            comes = [self._end(one, fpga).port(channel.name, leaves=False) for one in over if one.target == fpga]
            goes = [self._end(one, fpga).port(channel.name, leaves=True) for one in over if one.source == fpga]
            if stays == [True, False]:
                comes = [f"part_0.m_axis_{inputs[False]}" if ports is None else ports.get(channel.name, "")]
                inputs[False] += 1
            if stays == [False, True]:
                goes = [f"part_0.s_axis_{inputs[True]}" if ports is None else ports.get(channel.name, "")]
                inputs[True] += 1
            yield from (f"sc={source}:{target}" for source, target in zip(comes, goes, strict=False))

    def _has_kernels(self, kind: str) -> bool:
        return has_kernels(kind, (fpga.part for fpga in self.platform.fpgas))

    @property
    def over_aurora(self) -> bool:
        """Whether all links that carry streams are Aurora's, on Alveo cards (whose parts are so called)."""
        kinds = {one.cable.link.kind for one in self.streams}
        return bool(kinds) and all(map(self._has_kernels, kinds))

    @property
    def are_made(self) -> bool:
        """Whether there are link kernels for all of them."""
        return self.over_aurora and max(self._counts.values()) <= MOST_STREAMS

    @property
    def _counts(self) -> Counter[tuple[str, str]]:
        return Counter((one.source, one.target) for one in self.streams)

    def objections(self, cap: Fractions) -> Iterator[str]:
        """Yield what keeps link kernels from being built, if a plan may have some."""
        if self.over_aurora:
            for (source, target), count in self._counts.items():
                if count > MOST_STREAMS:
                    yield f"a link kernel sends at most {MOST_STREAMS} streams, and {source} sends {count} to {target}"
            for one in (one for end in self.ends for one in end.kernel.sends if one.bits > MOST_JOINED_BITS):
                yield f"v++ joins kernels by at most {MOST_JOINED_BITS:,} bits, and {one.name} has {one.bits:,}"
            yield from () if self.phase.link_kernels else self._too_large(cap)

    def _too_large(self, cap: Fractions) -> Iterator[str]:
        """Yield the slots that have no room for their link kernels beside what they hold, where they are not counted.

        They are infrastructure, of which the cap is no share.
        """
        taken: dict[str, Resources] = {}
        for end in self.ends:
            taken[end.slot] = taken.get(end.slot, Resources()) + cost(end.kernel)
        for slot in (slot for slot in self.platform.slots if slot.name in taken):
            left = (slot.available.resources - taken[slot.name]).as_dict()
            held, caps = self.phase.demand(slot.name).as_dict(), cap.as_dict()
            short = [name for name, amount in held.items() if amount > caps[name] * left[name]]
            if short:
                yield (
                    f"link kernels take {told(taken[slot.name])} of {slot.name}, and of what they leave it holds more "
                    f"{some(short)} than allowed: plan with a lower --cap, or cuts at fewer streams (--link-streams)"
                )

    def directions(self, clock_mhz: float) -> Iterator[LinkDirection]:
        """Yield each direction of a link with kernels, with the streams over it."""
        pairs = dict.fromkeys((one.source, one.target) for one in self.streams)
        for source, target in pairs:
            over = [one for one in self.streams if (one.source, one.target) == (source, target)]
            link = over[0].cable.link
            if self._has_kernels(link.kind):
                streams = {one.stream.channel: _stream(one) for one in over}
                rates = {one.stream.channel: one.stream.gbps for one in over}
                where = f"{source}>{target}"
                yield LinkDirection(where, link.gbps, link.latency_us, clock_mhz, streams, rates)

    def limits(self, clock_mhz: float) -> Iterator[str]:
        """Yield the links that limit a rate, why, and what they make of the interval of each network."""
        for link in self.directions(clock_mhz):
            several, told = len(self.phase.networks) > 1, []
            for part in self.phase.networks:
                cycles = self._cycles(link, part)
                of = f" of {part.network}" * several
                told += [f"a frame{of} takes {cycles:,} cycles or more, not {part.interval_cycles:,}"] if cycles else []
            if told:
                yield (
                    f"link {link.name} limits the rate: {'; '.join(link.limits())}; {', '.join(told)}. "
                    "A cut at fewer bits or streams (--link-streams), or a lower --fps, needs less of it"
                )

    def slowest(self, part: PhaseNetworkEntry, clock_mhz: float) -> tuple[int, str]:
        """Return the cycles that links make a network's frames take, and which link does; 0 if none limits it."""
        return max(((self._cycles(link, part), link.name) for link in self.directions(clock_mhz)), default=(0, ""))

    def _cycles(self, link: LinkDirection, part: PhaseNetworkEntry) -> int:
        """Return the interval that a link allows a network, 0 if it limits none."""
        own = {c.name for c in self.phase.channels if {c.source, c.target} & part.folding.engines.keys()}
        slower = max((link.slower(name) for name in link.rates if name in own), default=1.0)
        return ceil(part.interval_cycles * slower * (1 - ROUNDING)) if slower > 1 else 0

    def _end(self, one: LinkedStream, fpga: str) -> LinkEnd:
        return next(e for e in self.ends if (e.fpga, e.cage) == (fpga, one.cable.cages[fpga]))

    def _card_of(self, end: str) -> str | None:
        """Return the card of an engine, None for what is outside."""
        slot = self.phase.slot_of.get(end)
        return None if slot is None else {s.name: s.fpga for s in self.platform.slots}[slot]


def _stream(one: LinkedStream) -> LinkStream:
    crossing = one.stream
    return link_stream(crossing.channel, crossing.width_bits, crossing.gbps, one.cable.link.latency_us)


def told(resources: Resources) -> str:
    """Return amounts in words."""
    return ", ".join(f"{amount:,} {name}" for name, amount in resources.as_dict().items() if amount)
