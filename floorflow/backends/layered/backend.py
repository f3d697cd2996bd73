"""A back end that builds an engine for each layer, which works row by row, and whose cells the user names."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Backend
from floorflow.backends.builds import Binding
from floorflow.backends.layered.files import CELLS, CONSTRAINTS, bound, constraints_file
from floorflow.facts import Plan
from floorflow.facts.guide import BuildStep, Place
from floorflow.rates import Actor, moves
from floorflow.rates.problem import Moves

Ints = NDArray[np.int64]


def rows_written(rows_in: int, rows_out: int, window: tuple[int, int, int]) -> Ints:
    """Return how many output rows end with each input row, (rows_in,); ``window``: kernel, stride and padding above."""
    kernel, stride, above = window
    last = np.minimum(np.arange(rows_out) * stride - above + kernel - 1, rows_in - 1)
    return np.asarray(np.bincount(np.maximum(last, 0), minlength=rows_in), dtype=np.int64)


def by_rows(name: str, cycles: int, words: tuple[tuple[int, ...], tuple[int, ...]], written: Ints) -> Actor:
    """Return the actor of an engine that takes ``cycles`` a frame, spread over its input rows.

    ``words``: a frame at each input and output port. A row takes longer where its words need it.
    """
    inputs, outputs = words
    rows = len(written)
    bounds = cycles * np.arange(rows + 1) // rows
    reads = [_split(count, np.ones(rows, dtype=np.int64)) for count in inputs]
    writes = [_split(count, written) for count in outputs]
    steps = np.max([np.diff(bounds), np.ones(rows, dtype=np.int64), *reads, *writes], axis=0)
    return Actor(
        name,
        steps,
        tuple(moves(each, 0, steps // np.maximum(each, 1)) for each in reads),
        tuple(_at_end(each, steps) for each in writes),
    )


def _split(words: int, weights: Ints) -> Ints:
    """Return words by rows in proportion to weights."""
    return np.asarray(np.diff(words * np.concatenate([[0], np.cumsum(weights)]) // weights.sum()), dtype=np.int64)


def _at_end(counts: Ints, steps: Ints) -> Moves:
    stride = steps // np.maximum(counts, 1)
    return moves(counts, steps - 1 - np.maximum(counts - 1, 0) * stride, stride)


class NamedByUser(Backend):
    """What hls4ml and fpgaConvNet have in common: nothing foresees or reads what their cells are called."""

    names_are_read = True
    tool_name: str
    """What people call the tool."""
    config_file: str
    """The file that the tool takes, in the back end's folder."""

    def check_boards(self, options: Any, boards: Mapping[str, str]) -> None:
        return

    def unbuilt(self, boards: Sequence[str], networks: int, options: Any, *, in_regions: bool) -> Sequence[str]:
        found = {"cards": len(boards), "networks": networks}
        one = f"{self.tool_name} makes one design of one network for one card"
        return [
            f"{one}, this plan has {n} {what}: what joins them is yours to make" for what, n in found.items() if n > 1
        ]

    def bound_files(
        self,
        plan: Plan,
        phase: int,
        fpgas: Sequence[Mapping[str, Any]],
        library: str,
        /,
    ) -> Mapping[str, str]:
        return {f"{self.name}/{CONSTRAINTS}": constraints_file(fpgas)}

    def bind(self, plan: Plan, files: Mapping[str, bytes], build: Path, /) -> Binding:
        """Return the plan's constraints by the cells that the user wrote into ``cells.json``."""
        return bound(plan, files, self.name, build)

    def tool_steps(self, plan: Plan, place: Place) -> Iterable[BuildStep]:
        """Return the commands of the tool itself; where none are known, what its file is for."""
        files = place.matching(f"{self.name}/{self.config_file}") or place.matching(self.config_file)
        told = ", ".join(map(place.path, files))
        return [BuildStep(f"Build with {self.tool_name}", (), self.tool_name, f"{told} is its configuration")]

    def build_steps(self, plan: Plan, place: Place, /) -> Iterable[BuildStep]:
        yield from self.tool_steps(plan, place)
        if plan.unbuilt or not place.has(f"{self.name}/{CELLS}"):
            return
        new, cells = place.beside("bound"), place.path(f"{self.name}/{CELLS}")
        yield BuildStep(
            "Bind the constraints to the cells of the build",
            (f"floorflow bind {place.path()} --build {cells} -o {new}",),
            f"the cell of each layer in {cells}, which you fill in",
            f"source {new}/fpga0/pblocks.tcl in the Vivado project that holds the design",
        )
