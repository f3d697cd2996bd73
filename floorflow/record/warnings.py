"""What a user should know of a plan beside its figures, as sentences."""

from __future__ import annotations

from floorflow.record.part import Part


def warnings_of(part: Part) -> list[str]:
    """Return what is to be said of a network in a phase."""
    context, result, warnings = part.context, part.result, []
    if context.board.doubt:
        fields = "the fields" if len(context.board.unstated) > 1 else "the field"
        warnings.append(f"{context.board.doubt}; state {fields}, or 'none' (platforms/README.md)")
    options = context.request.backend_options
    warnings += context.backend.warnings(result.candidate.folded, context.platform.clock_mhz, options)
    if result.repair:
        warnings.append(f"to place the design: {result.repair}")
    return warnings
