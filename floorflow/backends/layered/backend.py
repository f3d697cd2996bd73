"""A back end whose cells the user names, in a file of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from floorflow.backends.backend import Backend
from floorflow.backends.binding import Binding
from floorflow.backends.layered.cells import CELLS, CONSTRAINTS, bound, constraints_file
from floorflow.facts import Plan


class NamedByUser(Backend):
    """What hls4ml and fpgaConvNet have in common: nothing foresees or reads what their cells are called."""

    names_are_read = True
    tool_name: str
    """What people call the tool."""
    config_file: str
    """The file that the tool takes, in the back end's folder."""

    def check_boards(self, options: Any, boards: Mapping[str, str]) -> None:  # noqa: ARG002
        """Take every board."""
        return

    def unbuilt(self, boards: Sequence[str], networks: int, options: Any, *, in_regions: bool) -> Sequence[str]:  # noqa: ARG002
        """Return that the tool makes one design of one network."""
        found = {"cards": len(boards), "networks": networks}
        one = f"{self.tool_name} makes one design of one network for one card"
        return [
            f"{one}, this plan has {n} {what}: what joins them is yours to make" for what, n in found.items() if n > 1
        ]

    def bound_files(
        self,
        plan: Plan,  # noqa: ARG002
        phase: int,  # noqa: ARG002
        fpgas: Sequence[Mapping[str, Any]],
        library: str,  # noqa: ARG002
        /,
    ) -> Mapping[str, str]:
        """Return the constraints with modules in the place of cells."""
        return {f"{self.name}/{CONSTRAINTS}": constraints_file(fpgas)}

    def bind(self, plan: Plan, files: Mapping[str, bytes], build: Path, /) -> Binding:
        """Return the plan's constraints by the cells that the user wrote into ``cells.json``."""
        return bound(plan, files, self.name, build)

    def next_step(self, plan: Plan, phase: int, folder: Path, /) -> str:  # noqa: ARG002
        """Return what the tool takes, and what the constraints wait for."""
        own = folder / self.name
        network = "" if len(plan.networks) == 1 else "<network>/"
        return (
            f"{self.tool_name}: {own / (network + self.config_file)}; fill in {own / CELLS}, "
            "then floorflow bind --build that file"
        )
