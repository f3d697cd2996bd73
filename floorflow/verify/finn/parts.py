"""Which parts FINN takes for a Versal; the tables stand in docs/plan.md."""

from __future__ import annotations

from floorflow.verify.hardware.parts import commercial

_VERSAL = ("xcvc", "xcve", "xcvm", "xcvp")
_VERSAL_SINCE_DEV = ("xcv80",)


def is_versal(part: str, flavour: str) -> bool:
    """Whether FINN of a flavour (``main``, ``dev`` or ``plus``) takes a part for a Versal."""
    known = _VERSAL if flavour == "main" else _VERSAL + _VERSAL_SINCE_DEV
    return commercial(part).startswith(known)
