"""What a run hands over."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.hardware import Platform
from floorflow.schema import Plan


@dataclass(frozen=True)
class Outcome:
    """A plan on its platform, and its files, content by relative path; pictures and run.json come with the API."""

    plan: Plan
    platform: Platform
    files: dict[str, str | bytes]
