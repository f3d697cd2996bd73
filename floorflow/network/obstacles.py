"""What keeps a model from being read or lowered: collected, so that one error tells all of it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from floorflow.errors import InputError

T = TypeVar("T")

MAX_LINES = 10
"""Different obstacles that are listed; the others are counted."""

_QUOTED = re.compile(r"'[^']*'")


@dataclass(frozen=True)
class Obstacle:
    """One node or operation that cannot be used: what it is (``operator``), its name, why, and what to do.

    ``where`` is the file or network; ``subject`` is "node" or "operation". ``unsupported``: the operator itself is none
    that can be used, whatever its attributes.
    """

    where: str
    subject: str
    name: str
    operator: str
    reason: str
    hint: str
    unsupported: bool = False

    @property
    def kind(self) -> tuple[str, str, str]:
        """What obstacles of the same kind share: all but the names in them."""
        return self.operator, _QUOTED.sub("''", self.reason), self.hint


class ObstacleError(InputError):
    """An obstacle was met; whoever walks the nodes may collect it and go on."""

    def __init__(self, obstacle: Obstacle) -> None:
        o = obstacle
        super().__init__(f"{o.where}: {o.subject} '{o.name}' ({o.operator}): {o.reason}", o.hint)
        self.obstacle = obstacle


class UnknownShapeError(InputError):
    """The shape of a tensor cannot be derived: behind an obstacle a mere consequence."""


@dataclass
class Obstacles:
    """The obstacles met so far."""

    met: list[Obstacle] = field(default_factory=list)

    def tried(self, step: Callable[[], T], instead: Callable[[], T]) -> T:
        """Return what a step returns, or where it meets an obstacle, which is collected, what stands for it.

        Behind an obstacle a shape that is not known is none of its own.
        """
        try:
            return step()
        except ObstacleError as error:
            if error.obstacle not in self.met:
                self.met.append(error.obstacle)
        except UnknownShapeError:
            if not self.met:
                raise
        return instead()

    def check(self, supported: str = "") -> None:
        """Raise InputError if any obstacle was met."""
        if self.met:
            raise merged(self.met, supported)


def merged(obstacles: Sequence[Obstacle], supported: str = "") -> InputError:
    """Return one error for all obstacles, each kind once; ``supported`` says which operators can be used."""
    supported = supported if any(obstacle.unsupported for obstacle in obstacles) else ""
    if len(obstacles) == 1:
        only = ObstacleError(obstacles[0])
        return InputError(str(only), f"{only.hint} {supported}".strip())
    kinds: dict[tuple[str, str, str], list[Obstacle]] = {}
    for obstacle in obstacles:
        kinds.setdefault(obstacle.kind, []).append(obstacle)
    lines = [_line(alike) for alike in kinds.values()]
    if len(lines) > MAX_LINES:
        unlisted = sum(len(alike) for alike in list(kinds.values())[MAX_LINES:])
        lines[MAX_LINES:] = [f"{unlisted} more obstacles of {len(lines) - MAX_LINES} other kinds"]
    text = "".join(f"\n  {line}" for line in lines)
    return InputError(f"{obstacles[0].where}: {len(obstacles)} obstacles:{text}", supported or _HINT)


_HINT = "Change the network or its export at these nodes."


def _line(alike: Sequence[Obstacle]) -> str:
    """Tell obstacles of one kind: ``12 x Foo, first at node 'Foo_3': why; what to do``."""
    first = alike[0]
    named = f"{first.subject} '{first.name}'"
    place = f"{len(alike)} x {first.operator}, first at {named}" if len(alike) > 1 else f"{named} ({first.operator})"
    return f"{place}: {first.reason}. {first.hint}".rstrip()
