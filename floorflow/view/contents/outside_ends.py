"""Ends of channels outside the engines: the host, a buffer in the board's memory, another phase (`docs/plan.md`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

OutsideKind = Literal["host", "memory", "phase"]

_PATTERN = re.compile(r"(?:(?P<network>[^/:]+)/)?(?P<kind>host|memory|phase):(?P<name>.+)", re.DOTALL)


@dataclass(frozen=True)
class OutsideEnd:
    """An end of a channel that is no engine; ``network`` is empty where the plan has only one."""

    network: str
    kind: OutsideKind
    name: str

    @property
    def text(self) -> str:
        """One line: ``host in0``, ``memory features``, ``phase p1/features``, ``cnv/host in0``."""
        return "/".join(self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """The same in one or two lines, the network first."""
        return (*([self.network] if self.network else []), f"{self.kind} {self.name}")


def outside_end(end: str) -> OutsideEnd | None:
    """Read a channel's end; None for an engine."""
    found = _PATTERN.fullmatch(end)
    if found is None:
        return None
    return OutsideEnd(found["network"] or "", cast("OutsideKind", found["kind"]), found["name"])
