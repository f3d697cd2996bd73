"""Which cards of a phase talk to which: the streams over links, and the cages of the cables that they take."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from floorflow.facts.partition import CrossingEntry
from floorflow.facts.phase import PhaseEntry
from floorflow.facts.platform import LinkEntry, PlatformEntry


@dataclass(frozen=True)
class Cable:
    """A link that carries streams, and the cage that it takes at each of its two FPGAs, by their names."""

    link: LinkEntry
    cages: Mapping[str, int]


@dataclass(frozen=True)
class LinkedStream:
    """A stream over one cable, from one FPGA to another."""

    stream: CrossingEntry
    source: str
    target: str
    cable: Cable


def linked_streams(platform: PlatformEntry, phase: PhaseEntry) -> list[LinkedStream]:
    """Return the streams over links of a phase, one for each link that a stream passes."""
    fpga_of = {slot.name: slot.fpga for slot in platform.slots}
    names = [fpga.name for fpga in platform.fpgas]
    return linked_crossings(names, fpga_of, platform.links, phase.partition.crossings)


def linked_crossings(
    fpgas: Sequence[str], fpga_of: Mapping[str, str], links: Sequence[LinkEntry], crossings: Sequence[CrossingEntry]
) -> list[LinkedStream]:
    """Return those of some crossings that are over links, with their cables; ``fpga_of``: of each slot.

    An FPGA's cages are numbered from 0 in the order of the FPGAs at the other ends of its cables, as FINN+ numbers
    them where cards stand in a row.
    """
    number = {name: place for place, name in enumerate(fpgas)}
    passed = [(c, fpga_of[c.source], fpga_of[c.target]) for c in crossings if c.kind == "link"]
    pairs = {frozenset((source, target)) for _, source, target in passed}
    cables, taken = {}, dict.fromkeys(number, 0)
    for pair in sorted(pairs, key=lambda ends: sorted(number[name] for name in ends)):
        link = next(one for one in links if {fpga_of[one.source], fpga_of[one.target]} == pair)
        cables[pair] = Cable(link, {name: taken[name] for name in sorted(pair, key=number.__getitem__)})
        for name in pair:
            taken[name] += 1
    return [LinkedStream(c, source, target, cables[frozenset((source, target))]) for c, source, target in passed]


def start_order(cards: Sequence[str], streams: Collection[tuple[str, str]], entry: str) -> list[str]:
    """Return the cards in the order in which they are loaded: what receives before what sends to it.

    ``streams`` are pairs of a sending and a receiving card, ``entry`` is where the host's input enters. Where streams
    lead back to a card, that one which the data reach first is loaded last of those in the circle.
    """
    receivers = {card: [other for other in cards if (card, other) in streams and other != card] for card in cards}
    fed = {target for _, target in streams}
    order: dict[str, None] = {}
    # What nothing is sent to has no place of its own: such cards go from the last to the first.
    for root in (*(card for card in reversed(cards) if card not in fed and card != entry), entry, *cards):
        order |= dict.fromkeys(_behind(root, receivers, {*order}))
    return list(order)


def _behind(card: str, receivers: Mapping[str, Sequence[str]], seen: set[str]) -> Iterator[str]:
    """Yield a card behind all that its data reach and that is not seen yet."""
    if card not in seen:
        seen.add(card)
        for other in receivers[card]:
            yield from _behind(other, receivers, seen)
        yield card
