"""What a user should know of a plan beside its figures, as sentences."""

from __future__ import annotations

from collections.abc import Collection

from floorflow.hardware import Board, Platform, assumed_facts
from floorflow.record.part import Part
from floorflow.record.streams import far_streams


def doubts(platform: Platform) -> list[str]:
    """Say, once for each board, what its file leaves open, and once what host port and links are in doubt."""
    boards = {fpga.board.name: fpga.board for fpga in platform.fpgas}.values()
    ports = {fpga.board.name: fpga.board.at_host for fpga in (platform.fpgas[0], platform.fpgas[-1])}
    assumed = [
        f"host port {memory.name} of {board} in {memory.slr}: place and price are assumed: confirm with platforminfo"
        for board, memory in ports.items()
        if memory is not None and memory.assumed
    ]
    lossy = [
        f"link {kind} loses packets and sends none again: a frame that loses one is wrong or never ends; take "
        "aurora-100g, or add a layer that sends again"
        for kind in sorted({link.kind for link in platform.links if not link.reliable})
    ]
    guessed = [f"{board.name}: {fact}" for board in boards for fact in assumed_facts(board)]
    return [*_unstated(boards), *guessed, *assumed, *lossy]


def _unstated(boards: Collection[Board]) -> list[str]:
    """Say what the files of boards leave open."""
    return [
        f"{board.name + ': ' if len(boards) > 1 else ''}{board.doubt}; "
        f"state the field{'s' if len(board.unstated) > 1 else ''}, or 'none' (platforms/README.md)"
        for board in boards
        if board.doubt
    ]


def warnings_of(part: Part) -> list[str]:
    """Return what is to be said of a network in a phase."""
    context, result = part.context, part.result
    options = context.request.backend_options
    own = list(context.backend.warnings(result.candidate.folded, context.platform.clock_mhz, options))
    own += part.likely_clock.notes if part.likely_clock is not None else ()
    warnings = [part.told(sentence) for sentence in own]
    far = far_streams(part)
    if far:
        why = result.hop_proof or f"--max-hops {result.max_hops} allows it"
        streams = f"{len(far)} stream{'s cross' if len(far) > 1 else ' crosses'} up to {max(s.hops for s in far)}"
        warnings.append(
            f"{streams} SLR boundaries of an FPGA one after the other ({why}), and rely on registers at each that no "
            "tool inserts by itself: report.txt lists them"
        )
    if result.repair:
        warnings.append(f"to place the design: {result.repair}")
    return warnings
