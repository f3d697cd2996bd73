"""A finished plan: its figures, rows, pictures and files."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from floorflow.api import rows
from floorflow.api.events import Callback, told_to
from floorflow.api.folders import (
    EXTRAS_FILE,
    LATER,
    PAGE_FILE,
    Later,
    files_in,
    holds,
    require_folder,
    run_of,
    save,
    save_later,
)
from floorflow.api.pictures import FOLDER, Picture, Pictures, pictures_in, pictures_of
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.output import RUN_FILE, require_free
from floorflow.reading import read_bytes

if TYPE_CHECKING:
    from floorflow import facts, hardware
    from floorflow.facts.brief import Line
    from floorflow.facts.context import Context
    from floorflow.facts.guide import BuildStep, Place
    from floorflow.record.run import PlanWithFiles
    from floorflow.search.candidate.progress import Progress


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while a plan was made; ``plan`` is the best legal one known by then, marked as interrupted."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("interrupted; the best legal plan known by then is in .plan")
        self.plan = plan


class SavedPlan(ABC):
    """What all plans have: files that are saved whole, and what follows them in their folder."""

    plan: Any
    files: Mapping[str, bytes]
    timed_out: bool = False
    """Whether a time limit ended the search."""

    def __init__(
        self,
        command: Sequence[str],
        seconds: float,
        *,
        plots: bool,
        steps: Mapping[str, float] = MappingProxyType({}),
        loaded_from: Path | None = None,
    ) -> None:
        self._command = tuple(command)
        self._seconds = seconds
        self._plots = plots
        self._steps = steps
        self._loaded_from = loaded_from

    @property
    @abstractmethod
    def pictures(self) -> Pictures:
        """The pictures by name, drawn when they are asked for."""

    @property
    def warnings(self) -> list[str]:
        """What was assumed, and what should be known before building."""
        return list(self.plan.warnings)

    @property
    def spare(self) -> str:
        """What copies of the network in empty SLRs might give, by sums; empty where that is nothing."""
        return ""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C or a time limit ended the search, so that more might have been found."""
        return bool(self.plan.interrupted)

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        command: Sequence[str] | None = None,
        progress: Callback | None = None,
        extras: bool = True,
    ) -> tuple[str, ...]:
        """Write the plan and its files to a folder, whole or not at all, then what `save_extras` adds; return names.

        They are what ``floorflow plan ... -o FOLDER`` writes, to the byte, but for the time in run.json. ``force``
        replaces an earlier plan. ``command``: the words that run.json is to hold, the command line that asks for this
        plan if not given. ``extras``: whether to go on with these.

        Raises
        ------
        InputError
            If the folder is not empty and ``force`` is not set, or cannot be written.
        FloorflowError
            If `check` would refuse the plan; says what is wrong, and where the plan is kept beside the folder.
        KeyboardInterrupt
            On Ctrl-C; while extras are made it says that the plan stands.

        """
        require_free(Path(folder), force=force, later=LATER)
        with told_to(progress).stage("writing"):
            words = command or self._command
            names = save(
                folder, self.files, words, self._seconds, force=force, steps=self._steps, loaded_from=self._loaded_from
            )
        return self.save_extras(folder, command=command, progress=progress) if extras else names

    def is_in(self, folder: str | Path) -> bool:
        """Tell whether a folder holds this plan, whole."""
        return holds(folder, self.files)

    def save_extras(
        self, folder: str | Path, *, command: Sequence[str] | None = None, progress: Callback | None = None
    ) -> tuple[str, ...]:
        """Add pictures, and what is worked out once the plan stands, to the folder that `save` wrote.

        That is extras.json, with a report that tells of it, and last the page, report.html. No other file is changed.
        Of a plan that was interrupted there are none. Returns the names of all files.

        Raises
        ------
        InputError
            If that folder does not hold this plan, or cannot be written.
        KeyboardInterrupt
            On Ctrl-C; the plan stands, and the message says what is missing.

        """
        later = [Later("pictures", FOLDER, partial(self._drawn, progress))] if self._plots else []
        later = [] if self.interrupted else [*later, *self._later(progress)]
        words = command or self._command
        return save_later(folder, later, self.files, words, self._seconds, steps=self._steps)

    def _later(self, progress: Callback | None) -> list[Later]:  # noqa: ARG002  (most plans have nothing to work out)
        """Return what follows the pictures."""
        return []

    def _drawn(self, progress: Callback | None) -> Mapping[str, bytes]:
        with told_to(progress).stage("extras: drawing"):
            return self.pictures.files


class Plan(SavedPlan):
    """A plan, as `plan` makes it and `load` reads it; ``print`` tells the chief figures.

    ``plan`` is all that plan.json holds, field by field (docs/plan.md). ``files`` are the files for other tools and
    plan.json itself, by their paths in the output folder; ``pictures`` are drawn when they are asked for.
    """

    def __init__(
        self,
        plan: facts.Plan,
        files: Mapping[str, bytes],
        platform: Callable[[], hardware.Platform],
        *,
        command: Sequence[str] = (),
        seconds: float = 0.0,
        plots: bool = True,
        pictures: Pictures | None = None,
        steps: Mapping[str, float] = MappingProxyType({}),
        extras: Callable[[Progress], facts.Extras | None] | None = None,
        loaded_from: Path | None = None,
        timed_out: bool = False,
    ) -> None:
        super().__init__(command, seconds, plots=plots, steps=steps, loaded_from=loaded_from)
        self.plan = plan
        self.files = files
        self.timed_out = timed_out
        self._platform = platform
        self._saved_pictures = pictures
        self._extras = extras
        self._known_extras: list[facts.Extras | None] = []

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
        return rows.summary(self.plan)

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
    def spare(self) -> str:
        """What copies of the network in empty SLRs might give, by sums; empty where that is nothing."""
        from floorflow.facts.spare import controllers_of, spare

        board = self._platform().fpgas[0].board
        return spare(self.plan, controllers_of(board.memories, board.host_slr))

    @cached_property
    def pictures(self) -> Pictures:
        """The pictures by name: ``floorplan``, ``floorplan_fpga0``, ..., ``partition``, ``folding``, ``search``."""
        return self._saved_pictures or pictures_of(self.plan.model_dump(by_alias=True), self._platform)

    def drawn(self, picture: str = "floorplan", style: str = "review", by: str | None = None) -> Picture:
        """Draw one of `pictures` again: a floorplan in a style, its modules coloured by something.

        ``style``: ``review``, ``paper`` (a column of 3.5 inches), ``wide paper`` (7.16 inches), no text of either below
        7 points, ``slide``. ``by``: ``kind``, ``order``, ``slot``, ``fill``, ``interval``, ``likelihood``, ``network``.

        Raises
        ------
        InputError
            If there is no such picture, style or colouring, or the picture is no floorplan and knows neither.

        """
        with whole_imports():
            from floorflow.view.colouring import COLOURINGS
            from floorflow.view.sheet import STYLES

        plain = style == "review" and by is None
        found = pictures_of(self.plan.model_dump(by_alias=True), self._platform, style, by)
        for name, known in ((style, STYLES), (by or "order", COLOURINGS)):
            if name not in known:
                raise InputError(f"no floorplan is drawn by '{name}'", hint=f"there are {', '.join(known)}")
        named = [name for name in found if plain or name.startswith("floorplan")]
        if picture not in named:
            which = "picture" if plain else "picture with styles and colourings"
            raise InputError(f"no {which} is called '{picture}'", hint=f"there are {', '.join(named)}")
        return found[picture]

    @property
    def extras(self) -> facts.Extras | None:
        """What less rate would free and what limits on engines cost, worked out now; None where nothing is to be told.

        By default in a tenth of the work that the plan took; `facts.Extras.left_out` says what that leaves out.
        """
        return self._worked_out(None)

    def _worked_out(self, progress: Callback | None) -> facts.Extras | None:
        """Return the extras, worked out once, or as they are among the files."""
        if not self._known_extras:
            with whole_imports():
                from floorflow.facts import read_extras

            if EXTRAS_FILE in self.files:
                self._known_extras.append(read_extras(self.files[EXTRAS_FILE]))
            else:
                self._known_extras.append(None if self._extras is None else self._extras(told_to(progress)))
        return self._known_extras[0]

    def _later(self, progress: Callback | None) -> list[Later]:
        extras = Later(EXTRAS_FILE, EXTRAS_FILE, partial(self._extra_files, progress))
        return [extras, *([Later(PAGE_FILE, PAGE_FILE, partial(self._page_file, progress))] if self._plots else [])]

    def _page_file(self, progress: Callback | None) -> Mapping[str, bytes]:
        with told_to(progress).stage("extras: page"):
            return {PAGE_FILE: self.page.encode()}

    @property
    def page(self) -> str:
        """The plan as one page of HTML that needs no other file: report.html; it tells of extras that are known."""
        with whole_imports():
            from floorflow.backends.backend import backend_named
            from floorflow.facts.guide import Place, whole_way
            from floorflow.view.page.page import page

        place = Place(frozenset(self.files))  # as NEXT.md has it: where the models lie is not the plan's to know
        steps = backend_named(self.plan.options.backend).build_steps(self.plan, place)
        return page(self.views, self._platform(), whole_way(steps, place))

    def _extra_files(self, progress: Callback | None) -> Mapping[str, bytes]:
        from floorflow.backends.backend import backend_named
        from floorflow.emit import extra_files

        found = None if EXTRAS_FILE in self.files else self._worked_out(progress)
        if found is None:
            return {}
        return encoded(extra_files(self.plan, found, self._platform(), backend_named(self.plan.options.backend)))

    def told(self, folder: str | Path, names: Collection[str]) -> str:
        """Return the summary of the plan as it lies in a folder with these files, with the next command."""
        from floorflow.facts.brief import ways_on

        return self._told(ways_on(str(folder), names, self.next_command(folder)))

    def next_command(self, folder: str | Path) -> str:
        """Return the first command on the way from the plan in a folder to a bitstream."""
        from floorflow.facts.guide import first_command

        return first_command(*self._way(folder))

    def next_steps(self, folder: str | Path) -> list[str]:
        """Return the commands of the way from the plan in a folder to a bitstream, in order."""
        return [command for step in self._way(folder)[0] for command in step.commands]

    def guide(self, folder: str | Path) -> str:
        """Return the way from the plan in a folder to a bitstream: NEXT.md, as seen from the working folder."""
        from floorflow.facts.guide import guide

        return guide(self.plan, *self._way(folder))

    def _way(self, folder: str | Path) -> tuple[list[BuildStep], Place]:
        from floorflow.backends.backend import backend_named
        from floorflow.facts.guide import Place
        from floorflow.study.calibration.replan import found_models

        models = found_models(Path(folder), self.plan)
        place = Place(frozenset(self.files), str(folder), tuple(map(str, models)))
        return [*backend_named(self.plan.options.backend).build_steps(self.plan, place)], place

    @property
    def views(self) -> list[Context]:
        """The phases of the plan with all that is told of them; extras that are not known yet are not worked out."""
        from floorflow.backends.backend import backend_named
        from floorflow.emit.bundle import contexts

        extras = self.extras if self._known_extras or EXTRAS_FILE in self.files else None
        return contexts(self.plan, self._platform(), backend_named(self.plan.options.backend), extras)

    def _told(self, ways: Sequence[Line] = ()) -> str:
        from floorflow.facts.brief import summary

        return summary(self.views, ways)

    def __str__(self) -> str:
        return self._told()

    def __repr__(self) -> str:
        line = str(self).splitlines()[1 if self.plan.unbuilt else 0]
        return f"<floorflow.Plan {line.partition(' (')[0]}>"


def encoded(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    """Return files as they lie on disk."""
    return {name: data.encode() if isinstance(data, str) else data for name, data in files.items()}


def plan_of(
    outcome: PlanWithFiles, command: Sequence[str], *, plots: bool, started: float, timed_out: bool = False
) -> Plan:
    """Return what a run of the flow came to."""
    return Plan(
        outcome.plan,
        encoded(outcome.files),
        lambda: outcome.platform,
        command=command,
        seconds=time.perf_counter() - started,
        plots=plots,
        steps=outcome.seconds,
        extras=outcome.extras,
        timed_out=timed_out,
    )


def load(folder: str | Path) -> Plan:
    """Read the plan in a folder that `Plan.save` or ``floorflow plan`` wrote; `check` judges it.

    Its files are those that run.json lists; without one they are all in it that are not hidden.

    Raises
    ------
    InputError
        If there is no plan, or it is not one of this version.

    """
    with whole_imports():
        from floorflow.facts import read_plan

    out = Path(folder)
    require_folder(out, "a folder that plan wrote")
    plan = read_plan(out / "plan.json")
    names = files_in(out)
    if "plan.json" not in names:
        raise InputError(f"{out / RUN_FILE}: files: lists no plan.json", hint="plan anew into another folder")
    pictures = pictures_in(out, names)
    drawn = {name for name in names if name == PAGE_FILE or name.startswith(FOLDER)}
    files = {name: read_bytes(out / name, "plan", "plan again") for name in sorted(names - drawn)}

    def platform() -> hardware.Platform:
        with whole_imports():
            from floorflow.study.calibration.replan import planned_platform

        return planned_platform(out, plan)

    command, seconds = run_of(out)
    plots = bool(pictures)
    return Plan(
        plan, files, platform, command=command, seconds=seconds, plots=plots, pictures=pictures, loaded_from=out
    )
