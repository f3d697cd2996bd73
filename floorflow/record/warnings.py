"""What a user should know of a plan beside its figures, as sentences."""

from __future__ import annotations

from floorflow.hardware import Platform
from floorflow.record.part import Part


def doubts(platform: Platform) -> list[str]:
    """Say, once for each board, what its file leaves open."""
    boards = {fpga.board.name: fpga.board for fpga in platform.fpgas}.values()
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
    warnings = list(context.backend.warnings(result.candidate.folded, context.platform.clock_mhz, options))
    warnings += part.likely_clock.notes if part.likely_clock is not None else ()
    if result.repair:
        warnings.append(f"to place the design: {result.repair}")
    return warnings
