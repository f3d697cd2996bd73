"""What a run hands over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from floorflow.facts import Extras, Plan
from floorflow.hardware import Platform
from floorflow.search.candidate.progress import Progress


@dataclass(frozen=True)
class Outcome:
    """A plan on its platform, and its files, content by relative path; pictures and run.json come with the API.

    ``seconds``: what its steps took, where that is told; run.json alone may hold them. ``extras`` works out what is
    told beside the plan once it stands, None where there is nothing.
    """

    plan: Plan
    platform: Platform
    files: dict[str, str | bytes]
    seconds: Mapping[str, float] = field(default_factory=dict)
    extras: Callable[[Progress], Extras | None] | None = None
