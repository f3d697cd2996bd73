"""What of a board is a guess or missing, and what that makes uncertain."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from floorflow.hardware.board import Board
from floorflow.hardware.device import Device

MAKES_UNCERTAIN: Mapping[str, str] = {
    "part": "the clock that is reached (speed grade), and whether the scripts name your part",
    "clock_mhz": "every rate and latency, and whether timing closes",
    "max_fpgas": "how many boards --fpgas auto may take",
    "host_slr": "in which SLR the streams of the host begin and end, and what stands beside them",
    "host_port": "where modules are pulled to, and the length of the host's wires",
    "memories": "where the streams of the host end, and what their memory controller takes",
    "crossing_registers": "flip-flops, FIFO depths and latency at SLR boundaries",
    "sll_wires": "whether streams between SLRs find enough wires",
    "cell_pattern": "whether the constraints find their cells: 'floorflow bind' reads the real names from a build",
    "shell": "how much of the silicon is free, and where pblocks may lie",
    "infrastructure": "how much logic stands beside the network",
    "link": "the rate between boards, and the logic that a link takes",
    "reconfiguration": "how long loading the device takes: only --reconfigure asks for it",
    "memory_gbps": "how fast phases hand over their data: only --reconfigure asks for it",
    "power": "the estimate of power, by which nothing is decided",
}
"""By a fact of a board's file."""
_IF_ABSENT: Mapping[str, str] = {
    "shell": "all silicon counts as available",
    "infrastructure": "nothing is taken off for DMA engines and interconnect",
    "host_port": "the right edge of the SLR is taken",
    "link": "one board only",
    "reconfiguration": "--reconfigure refuses the board",
    "memory_gbps": "--reconfigure refuses the board",
}


@dataclass(frozen=True, slots=True)
class DoubtfulFact:
    """A fact that is a guess or missing: ``why`` says which and what is taken, ``uncertain`` what hangs on it."""

    fact: str
    why: str
    uncertain: str

    def __str__(self) -> str:
        return f"{self.fact}: {self.why}; uncertain: {self.uncertain}"


def assumed_facts(board: Board) -> tuple[DoubtfulFact, ...]:
    """Return the facts that the board's own file calls assumed."""
    return tuple(
        DoubtfulFact(fact, f"assumed{_value(board, fact)}", MAKES_UNCERTAIN[fact])
        for fact in board.assumed
        if fact not in board.unstated
    )


def doubts_of(board: Board, device: Device) -> tuple[DoubtfulFact, ...]:
    """Return every doubtful or missing fact of a board, those that the evidence in its file calls so too."""
    return (
        *_missing(board, device),
        *assumed_facts(board),
        *_assumed_parts(board),
        *_by_evidence(board),
        *_of_die(device),
    )


def _value(board: Board, fact: str) -> str:
    """Return a fact's value where it is short enough to be told."""
    held = getattr(board, fact, None)
    return f" to be {held:g}" if isinstance(held, float) else f" to be {held}" if isinstance(held, str | int) else ""


def _missing(board: Board, device: Device) -> Iterator[DoubtfulFact]:
    """Yield what the file says nothing of."""
    absent = [*board.unstated, *(name for name in ("link", "reconfiguration", "memory_gbps") if _lacks(board, name))]
    for fact in absent:
        yield DoubtfulFact(fact, f"missing, {_IF_ABSENT[fact]}", MAKES_UNCERTAIN[fact])
    if board.shell is not None and device.sll_wires and board.sll_wires is None:
        why = "missing beside a shell, all wires of the die are taken"
        yield DoubtfulFact("sll_wires", why, MAKES_UNCERTAIN["sll_wires"])


def _lacks(board: Board, fact: str) -> bool:
    """Whether a fact that may be left out is; a link is missed only by boards of which several are meant."""
    return getattr(board, fact) is None and (fact != "link" or board.max_fpgas > 1)


def _assumed_parts(board: Board) -> Iterator[DoubtfulFact]:
    """Yield what is marked as assumed inside a fact."""
    for memory in board.memories:
        if memory.assumed:
            yield DoubtfulFact(f"memories {memory.name}", "place or price assumed", MAKES_UNCERTAIN["memories"])
    if board.link is not None and board.link.assumed:
        yield DoubtfulFact(f"link {board.link.kind}", "bandwidth and latency assumed", MAKES_UNCERTAIN["link"])


def _by_evidence(board: Board) -> Iterator[DoubtfulFact]:
    """Yield the facts whose evidence says that they are assumed, approximate or only derived."""
    for item in board.evidence:
        fact = item.fact.split(",")[0].split(".")[0].strip().partition(" ")[0]
        doubtful = any(word in item.confidence for word in ("assumed", "approximate", "medium", "not measured"))
        if doubtful and fact not in board.assumed:
            yield DoubtfulFact(item.fact, item.confidence, MAKES_UNCERTAIN.get(fact, "what the design may use"))


def _of_die(device: Device) -> Iterator[DoubtfulFact]:
    """Yield what of the die's geometry is not exact."""
    for fact, confidence in device.confidence.items():
        if "derived" in confidence:
            yield DoubtfulFact(f"die {device.part}: {fact}", confidence, "where columns and clock regions lie")
