"""What a run hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from floorflow.hardware import Platform
from floorflow.schema import Plan


@dataclass(frozen=True)
class Outcome:
    """A plan on its platform, and its files, content by relative path; pictures and run.json come with the API.

    ``seconds``: what its steps took, where that is told; run.json alone may hold them.
    """

    plan: Plan
    platform: Platform
    files: dict[str, str | bytes]
    seconds: Mapping[str, float] = field(default_factory=dict)
