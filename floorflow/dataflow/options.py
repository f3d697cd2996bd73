"""Engines whose foldings are tied, with every joint folding that they may have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Option
from floorflow.resources import total


@dataclass(frozen=True)
class OptionGroup:
    """Engines that must be folded together, usually one; each row holds an option for each of them.

    A depthwise window and the engine behind it are tied: the window's SIMD is that engine's PE.
    """

    engines: tuple[str, ...]
    rows: tuple[tuple[Option, ...], ...]

    @cached_property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles a frame of each row's slowest engine, (n_rows,)."""
        return np.array([max(option.cycles for option in row) for row in self.rows], dtype=np.int64)

    @cached_property
    def use(self) -> NDArray[np.int64]:
        """Summed resources of each row in the order of RESOURCE_NAMES, (n_rows, 5)."""
        amounts = [total(option.resources for option in row).as_tuple() for row in self.rows]
        return np.array(amounts, dtype=np.int64)

    @property
    def name(self) -> str:
        """The engines' names, for messages."""
        return " + ".join(self.engines)
