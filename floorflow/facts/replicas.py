"""Copies of one network: how many on how many cards, their rate together, and where the host's streams of each end."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from floorflow.facts.text import rate, table, wrapped
from floorflow.facts.values import PlainName, PlanModel, RectangleEntry


class CopyEntry(PlanModel):
    """A copy on a card: its name in the plan, and the slot, memory channel and port at which the host's streams end.

    ``memory``: null where the board's file lists no channels.
    """

    network: PlainName
    fpga: str
    slot: str
    memory: str | None
    port: RectangleEntry


class ReplicasEntry(PlanModel):
    """Equal copies of a network; every card is loaded with the same ``placed`` copies.

    ``fps``: frames a second to believe of ``copies``, among which the host deals them. ``bound_fps``: by the sums of
    resources no more frames a second by the engines, of so many equal copies a card. ``tried``: why other numbers were
    not taken.
    """

    network: PlainName
    copies: Annotated[int, Field(ge=1)]
    cards: Annotated[int, Field(ge=1)]
    fps: float
    bound_fps: float
    placed: Annotated[list[CopyEntry], Field(min_length=1)]
    tried: list[str] = Field(default_factory=list)


def replicas_line(found: ReplicasEntry) -> str:
    """Return copies, cards and rates in a line."""
    each = found.fps / found.copies
    cards = "" if found.cards == 1 else f" on {found.cards} cards, {len(found.placed)} each"
    if found.copies == 1:
        return f"1 copy: {rate(found.fps)} frames/s"
    return f"{found.copies} copies{cards}: {rate(found.fps)} frames/s together, {rate(each)} each"


def replicas(found: ReplicasEntry | None) -> list[str]:
    """Return the copies as a table, and what is proven; nothing where there are none."""
    if found is None:
        return []
    rows: list[tuple[str, ...]] = [("copy", "host's streams in", "memory")]
    rows += [(copy.network, copy.slot, copy.memory or "-") for copy in found.placed]
    told = [replicas_line(found), *found.tried]
    told.append(f"no so many equal copies reach more than {rate(found.bound_fps)} frames/s, by the sums of resources")
    return [*table(rows, left=3), *wrapped(told)]
