"""Ends of channels outside the engines: the host, a buffer in the board's memory, another phase (`docs/plan.md`)."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.facts.channel import Outside, end_of


@dataclass(frozen=True)
class OutsideEnd:
    """An end of a channel that is no engine; ``network`` is empty where the plan has only one."""

    network: str
    kind: Outside
    name: str

    @property
    def text(self) -> str:
        """One line: ``host in0``, ``memory features``, ``phase p1/features``, ``cnv/host in0``."""
        return "/".join(self.lines)

    @property
    def lines(self) -> tuple[str, ...]:
        """The same in one or two lines, the network first."""
        return (*([self.network] if self.network else []), f"{self.kind} {self.name}")


def outside_end(text: str) -> OutsideEnd | None:
    """Read a channel's end; None for an engine."""
    end = end_of(text)
    if end.outside is None:
        return None
    return OutsideEnd(end.network, end.outside, f"{end.phase}/{end.name}" if end.phase else end.name)
