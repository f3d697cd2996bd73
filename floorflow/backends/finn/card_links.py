"""What keeps FINN+ from joining the cards of a plan: it links cards in a row, each to the next by one stream.

Its ``AddAuroraToLinkConfig`` joins a link to the first port of a kernel in each direction. Where every card sends to
one other at most, by one stream, and none back, a kernel that sends has no other output: what left by that would have
to come back to it, and its kernel would wait for itself.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from floorflow.backends.finn.kernel_cuts import MOST_LINKED_BITS
from floorflow.errors import some
from floorflow.facts.phase import PhaseEntry
from floorflow.facts.platform import PlatformEntry
from floorflow.facts.topology import LinkedStream, linked_streams

LINK_KIND = "aurora-100g"
BOARDS = ("alveo-u250", "alveo-u280", "alveo-u50", "alveo-u55c")
"""Cards of which FINN+ 1.6.1 knows both the SLR of the cages and a memory bank; of the U200 it knows no bank."""


def unjoined(platform: PlatformEntry, phases: Sequence[PhaseEntry]) -> list[str]:
    """Return why FINN+ does not join the cards of a plan as planned, a clause each; none if it does."""
    found = list(_of_cards(platform))
    for phase in phases:
        streams = linked_streams(platform, phase)
        found += [*_of_streams(streams), *_no_row(streams, [fpga.name for fpga in platform.fpgas]), *_of_ends(phase)]
    return list(dict.fromkeys(found))


def _of_cards(platform: PlatformEntry) -> Iterator[str]:
    boards = sorted({fpga.board for fpga in platform.fpgas})
    if len(boards) > 1:
        yield f"FINN+ links cards of one kind, this plan has {some(boards)}"
    strange = [board for board in boards if board not in BOARDS]
    if strange:
        yield f"FINN+ links {some(list(BOARDS))}, and not {some(strange)}"
    kinds = sorted({link.kind for link in platform.links} - {LINK_KIND})
    if kinds:
        yield f"FINN+ links cards by Aurora, this plan by {some(kinds)}: --link {LINK_KIND}"


def _of_streams(streams: Sequence[LinkedStream]) -> Iterator[str]:
    """Yield what FINN+ does not send: streams past a card, several over one cut, wide ones."""
    for name, count in Counter(one.stream.channel for one in streams).items():
        if count > 1:
            yield (
                f"stream {name} passes {count} links, and FINN+ passes nothing on through a card between (if that is "
                "empty, fewer cards do)"
            )
    for (source, target), count in Counter((one.source, one.target) for one in streams).items():
        if count > 1:
            names = [one.stream.channel for one in streams if (one.source, one.target) == (source, target)]
            yield (
                f"FINN+ sends one stream from a card to another, this plan {count} from {source} to {target} "
                f"({some(names)}): --link-streams 1 asks for a cut at one"
            )
    for one in streams:
        bits = -(-one.stream.width_bits // 8) * 8
        if bits > MOST_LINKED_BITS:
            name = one.stream.channel
            yield f"v++ joins kernels by at most {MOST_LINKED_BITS} bits, and {name} has {bits} where it leaves a card"


def _no_row(streams: Sequence[LinkedStream], cards: Sequence[str]) -> Iterator[str]:
    """Yield where cards do not stand in a row, each joined to the next alone."""
    pairs = {(one.source, one.target) for one in streams}
    for what, others in (("sends to", Counter(a for a, _ in pairs)), ("receives from", Counter(b for _, b in pairs))):
        for card, count in sorted(others.items()):
            if count > 1:
                yield f"FINN+ links cards in a row, and {card} {what} {count} others"
    back = sorted(f"{source} to {target}" for source, target in pairs if cards.index(source) > cards.index(target))
    if back:
        yield f"FINN+ links cards in a row, and streams go back: {some(back)}"


def _of_ends(phase: PhaseEntry) -> Iterator[str]:
    """Yield streams of the host that are several, or that pass a link."""
    for what, side in (("input", 0), ("output", 1)):
        outer = [channel for channel in phase.channels if channel.ends[side].outside is not None]
        if len(outer) > 1:
            yield f"over several cards FINN+ joins one {what} to the host, this plan has {len(outer)}"
        if any(channel.link is not None for channel in outer):
            yield f"the network's {what} passes a link on its way to or from the host, where FINN+ has its DMA engine"
