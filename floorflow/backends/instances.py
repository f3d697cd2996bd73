"""Whose the instances of a build are: what a back end says of the names in reports."""

# ruff: noqa: ARG002 - answers to one interface need not use all that they are told

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

_COPY = re.compile(r"(.+)__xdcDup__\d+")


@dataclass(frozen=True)
class RejectedMatch:
    """A name, of an engine or of a part of the build, whose rows are not used, and why; like reasons have one cause."""

    name: str
    cause: str
    reason: str


class Instances(Protocol):
    """The instances of a build; a ``path`` holds the names from the top of a report down to one."""

    rejected: tuple[RejectedMatch, ...] = ()
    """What is in doubt of the build as a whole."""

    @abstractmethod
    def engine(self, path: Sequence[str]) -> str | None:
        """Return the id of the engine that an instance is, None if it is none."""

    def doubt(self, engine: str, path: Sequence[str]) -> RejectedMatch | None:
        """Return why an instance may be another engine after all; None if it is sure."""
        return None

    def stream(self, path: Sequence[str]) -> tuple[str, str] | None:
        """Return kind (with ``FIFO`` in it for a FIFO) and name in the design of a FIFO or width converter."""
        return None

    def is_design(self, path: Sequence[str]) -> bool:
        """Whether a row is the sum of the whole design, though it names no instance."""
        return False


@dataclass(frozen=True)
class NamedCells(Instances):
    """Engines that are cells of known names, which occur once in a design."""

    engine_of: Mapping[str, str]

    def engine(self, path: Sequence[str]) -> str | None:
        """Return the engine whose cell has this name."""
        return self.engine_of.get(plain_name(path[-1]))


def plain_name(cell: str) -> str:
    """Return a cell's name without what Vivado adds: its escape, and the number of a copy made for constraints."""
    name = cell.strip().lstrip("\\")
    copy = _COPY.fullmatch(name)
    return copy[1] if copy else name
