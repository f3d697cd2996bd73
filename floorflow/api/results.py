"""A finished plan: its figures, rows, pictures and files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from floorflow.api import rows
from floorflow.api.events import Callback, told_to
from floorflow.api.folders import files_in, require_folder, run_of, save
from floorflow.api.pictures import FOLDER, Pictures, pictures_in, pictures_of
from floorflow.api.told import next_steps, summary, told
from floorflow.importing import whole_imports
from floorflow.output import require_free

if TYPE_CHECKING:
    from floorflow import hardware, schema


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a plan was made; ``plan`` is the best legal one known by then, marked as interrupted."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("interrupted; the best legal plan known by then is in .plan")
        self.plan = plan


class Plan:
    """A plan, as `plan` makes it and `load` reads it; ``print`` tells the chief figures.

    ``plan`` is all that plan.json holds, field by field (docs/plan.md). ``files`` are the files for other tools and
    plan.json itself, by their paths in the output folder; ``pictures`` are drawn when they are asked for.
    """

    def __init__(
        self,
        plan: schema.Plan,
        files: Mapping[str, bytes],
        platform: Callable[[], hardware.Platform],
        *,
        command: Sequence[str] = (),
        seconds: float = 0.0,
        plots: bool = True,
        pictures: Pictures | None = None,
        steps: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.plan = plan
        self.files = files
        self._platform = platform
        self._command = tuple(command)
        self._seconds = seconds
        self._steps = steps
        self._plots = plots
        self._saved_pictures = pictures

    @property
    def main_file(self) -> bytes:
        """The text of plan.json."""
        return self.files["plan.json"]

    @property
    def name(self) -> str:
        """The names of the networks, joined by commas."""
        return ", ".join(network.name for network in self.plan.networks)

    @property
    def summary(self) -> dict[str, Any]:
        """The plan in a few figures: rates, intervals, bounds and gaps by network, and where it is fullest.

        ``fps`` of a network is over the schedule if there is one, in its ``phases`` while each of them runs.
        """
        return summary(self.plan)

    @property
    def engines(self) -> list[dict[str, Any]]:
        """One flat row an engine: place, cycles a frame, resources, bits, folding."""
        return list(rows.engine_rows(self.plan))

    @property
    def channels(self) -> list[dict[str, Any]]:
        """One flat row a stream between engines: widths in bits, words a frame, FIFO, registers, resources."""
        return list(rows.channel_rows(self.plan))

    @property
    def modules(self) -> list[dict[str, Any]]:
        """One flat row a module: engines, slot, resources, and its pblock in columns and CLB rows."""
        return list(rows.module_rows(self.plan))

    @property
    def warnings(self) -> list[str]:
        """What was assumed, and what should be known before building."""
        return list(self.plan.warnings)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search, so that more might have been found."""
        return self.plan.interrupted

    @cached_property
    def pictures(self) -> Pictures:
        """The pictures by name: ``floorplan``, ``floorplan_fpga0``, ..., ``partition``, ``folding``, ``search``."""
        return self._saved_pictures or pictures_of(self.plan.model_dump(by_alias=True), self._platform)

    def draw(self, *, progress: Callback | None = None) -> None:
        """Draw now what `save` would draw.

        Raises
        ------
        Interrupted
            On Ctrl-C; its plan is this one, marked as interrupted, which is saved without pictures.

        """
        if self._is_drawn:
            return
        try:
            with told_to(progress).stage("drawing"):
                self.pictures.draw()
        except KeyboardInterrupt:
            raise Interrupted(self._cut_short()) from None

    def _cut_short(self) -> Plan:
        from floorflow.backends.backend import backend_named
        from floorflow.emit import bundle

        figures = self.plan.summary.model_copy(update={"interrupted": True})
        marked = self.plan.model_copy(update={"interrupted": True, "summary": figures})
        backend = backend_named(self.plan.options.backend)
        files = {**self.files, **encoded(bundle(marked, self._platform(), backend))}
        return Plan(
            marked, files, self._platform, command=self._command, seconds=self._seconds, plots=False, steps=self._steps
        )

    @property
    def _is_drawn(self) -> bool:
        """Whether `save` finds all pictures drawn that it writes."""
        return not self._saves_pictures or self.pictures.are_drawn

    @property
    def _saves_pictures(self) -> bool:
        return self._plots and not self.interrupted

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        command: Sequence[str] | None = None,
        progress: Callback | None = None,
    ) -> tuple[str, ...]:
        """Write the plan, its files and pictures to a folder, whole or not at all; return the names of the files.

        They are what ``floorflow plan ... -o FOLDER`` writes, to the byte, but for the time in run.json. ``force``
        replaces an earlier plan. ``command``: the words that run.json is to hold, the command line that asks for this
        plan if not given.

        Raises
        ------
        InputError
            If the folder is not empty and ``force`` is not set, or cannot be written.
        Interrupted
            On Ctrl-C while pictures are drawn, see `draw`; on Ctrl-C while files are written, KeyboardInterrupt.

        """
        require_free(Path(folder), force=force)
        self.draw(progress=progress)
        with told_to(progress).stage("writing"):
            pictures = self.pictures.files if self._saves_pictures else {}
            own = {**self.files, **pictures}
            return save(folder, own, command or self._command, self._seconds, force=force, steps=self._steps)

    def next_steps(self, folder: str | Path) -> list[str]:
        """Return what to do with the plan's files once they are saved to a folder, a line for each tool."""
        return next_steps(self.plan, self.files, Path(folder))

    def __str__(self) -> str:
        return told(self.plan)

    def __repr__(self) -> str:
        lines = str(self).splitlines()[len(self.plan.unbuilt) :]
        return f"<floorflow.Plan {lines[0].partition(' (')[0]}>"


def encoded(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    """Return files as they lie on disk."""
    return {name: data.encode() if isinstance(data, str) else data for name, data in files.items()}


def load(folder: str | Path) -> Plan:
    """Read the plan in a folder that `Plan.save` or ``floorflow plan`` wrote; `check` judges it.

    Its files are those that run.json lists; without one they are all in it that are not hidden.

    Raises
    ------
    InputError
        If there is no plan, or it is not one of this version.

    """
    with whole_imports():
        from floorflow.schema import read_plan

    out = Path(folder)
    require_folder(out, "a folder that plan wrote")
    plan = read_plan(out / "plan.json")
    names = files_in(out)
    pictures = pictures_in(out, names)
    files = {name: (out / name).read_bytes() for name in sorted(names) if not name.startswith(FOLDER)}

    def platform() -> hardware.Platform:
        with whole_imports():
            from floorflow.study.calibration.replan import planned_platform

        return planned_platform(out, plan)

    command, seconds = run_of(out)
    return Plan(plan, files, platform, command=command, seconds=seconds, plots=bool(pictures), pictures=pictures)
