"""What the name of a part tells of UltraRAM; the tables stand in docs/plan.md."""

from __future__ import annotations

import re

_WITHOUT_URAM = (
    *("xc7", "xcau", "xck24", "xcku0", "xcku115-", "xcku9p", "xcvu0", "xcvu125-", "xcvu160-", "xcvu190-", "xcvu440-"),
    *(f"xczu{number}{kind}" for number in (1, 2, 3, 6, 9) for kind in ("cg", "eg")),
)


def has_uram(part: str) -> bool:
    """Whether a part has UltraRAM."""
    return not commercial(part).startswith(_WITHOUT_URAM)


def commercial(part: str) -> str:
    """Return the commercial part's name: automotive (xa) and defence (xq, xqr) ones have the same dies."""
    return re.sub("^x(a|qr?)", "xc", part.lower())
