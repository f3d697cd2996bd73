"""How much work each effort allows, and from which size on what is worth it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Limits:
    """``work`` is in CP-SAT's deterministic units (one to three seconds each); the shares are of it.

    What is not needed is not used. Sizes are modules times edges: up to ``small`` CP-SAT alone is tried first, up to
    ``whole`` it gets all slots (above that it would find nothing), up to ``large`` slots are evened out.
    Shares: ``quick`` small problems at once, ``legal`` the phase of least excess, ``bound`` cuts alone and jointly,
    ``full`` all slots, ``fpgas`` links first, ``windows`` local search, ``first`` that where only a first answer is
    asked for (not ``prove``), ``even`` evening out, ``reason`` each trial of why not.
    """

    work: float
    small: int = 200
    whole: int = 300
    large: int = 4_000
    quick: float = 0.1
    legal: float = 0.5
    bound: float = 8.0
    full: float = 3.0
    fpgas: float = 2.0
    windows: float = 1.5
    first: float = 0.3
    even: float = 0.02
    reason: float = 0.1
    prove: bool = True


LIMITS: Mapping[str, Limits] = MappingProxyType({"fast": Limits(0.3), "default": Limits(1.0), "best": Limits(20.0)})
