"""What a run ends in: the Plan and every file of its output folder."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.plan import Plan


@dataclass(frozen=True)
class Outcome:
    """A plan and its files, content by relative path; run.json is added when they are laid on disk.

    ``interrupted``: Ctrl-C ended the search or left out the pictures.
    """

    plan: Plan
    files: dict[str, str | bytes]
    interrupted: bool = False
