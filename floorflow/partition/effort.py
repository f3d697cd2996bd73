"""How much work each effort allows, and from which size on what is worth it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Limits:
    """``work`` is in CP-SAT's deterministic units (one to three seconds each); the shares are of it.

    ``small``: modules times edges up to which CP-SAT alone is tried first. ``large``: modules times edges from which
    CP-SAT is not given all slots at once if there is a start: it would find nothing.
    Shares: ``quick`` small problems at once, ``fpgas`` the assignment to whole FPGAs, ``windows`` local search,
    ``bound`` edge bounds, ``full`` all slots, ``even`` evening out, ``reason`` each trial of why not, ``legal`` the
    phase of least excess, ``first`` local search where only a first answer is asked for (not ``prove``).
    """

    work: float
    small: int = 200
    large: int = 4_000
    quick: float = 0.1
    fpgas: float = 0.2
    windows: float = 0.6
    bound: float = 0.4
    full: float = 0.25
    even: float = 0.02
    reason: float = 0.1
    legal: float = 0.4
    first: float = 0.1
    prove: bool = True


LIMITS: Mapping[str, Limits] = MappingProxyType({"fast": Limits(0.3), "default": Limits(1.0), "best": Limits(20.0)})
