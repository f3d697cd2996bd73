"""A plan's constraints bound to the cells of a build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Binding:
    """``files`` by their paths in the plan's folder, the cell of every engine, and what the build calls otherwise.

    ``renamed`` are pairs of the plan's name and the build's; ``notes`` say where the build differs without harm.
    """

    files: Mapping[str, str]
    cells: Mapping[str, str]
    renamed: Sequence[tuple[str, str]]
    notes: Sequence[str]
