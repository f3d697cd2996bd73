"""Ends of channels: engines by their ids, and the outside ends at the host, in memory and at other phases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["engine", "host", "memory", "phase"]

_HOST = {"source": re.compile(r"in(?:0|[1-9][0-9]{0,5})"), "target": re.compile(r"out(?:0|[1-9][0-9]{0,5})")}
_NAME = re.compile(r"[A-Za-z0-9_.\-]+")


@dataclass(frozen=True, slots=True)
class End:
    """One end of a channel; ``name`` is an engine, a port of the host or a buffer; ``phase`` that of a phase end."""

    network: str
    kind: Kind
    name: str
    phase: str = ""


def is_outside(text: str) -> bool:
    """Whether an end is no engine: names of engines and networks have no colon."""
    return ":" in text


def read_end(text: str, side: str, networks: Sequence[str]) -> End | None:
    """Take an end (``side`` is source or target) of a plan with these networks apart; None if it is none."""
    network, rest = networks[0] if networks else "", text
    if len(networks) > 1:
        network, _, rest = text.partition("/")
        if network not in networks:
            return None
    owner, colon, name = rest.partition(":")
    if not colon:
        return End(network, "engine", rest) if rest and "/" not in rest else None
    if owner == "host":
        return End(network, "host", name) if _HOST[side].fullmatch(name) else None
    if owner == "memory":
        return End(network, "memory", name) if _NAME.fullmatch(name) else None
    phase, slash, name = name.partition("/")
    if owner != "phase" or not slash or not _NAME.fullmatch(name):
        return None
    return End(network, "phase", name, phase)


def engine_id(network: str, engine: str, *, several: bool) -> str:
    """Return how phases name an engine: with its network where the plan has several."""
    return f"{network}/{engine}" if several else engine
