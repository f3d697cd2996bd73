"""From a model and a platform of resources alone to partitions in time, each folded; nothing is placed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from floorflow.api.asking import asked
from floorflow.api.command import command_line
from floorflow.api.events import Callback, told_to
from floorflow.api.folders import LATER, Later, holds, save, save_later
from floorflow.api.models import AnyModel
from floorflow.api.options import ResourcePlanOptions, require_options, with_options
from floorflow.api.pictures import FOLDER, Pictures, drawn
from floorflow.api.results import encoded
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.output import require_free
from floorflow.request import RESOURCES_ALONE

if TYPE_CHECKING:
    from floorflow.facts.resource_plan import PartitionInTime
    from floorflow.facts.resource_plan import ResourcePlan as ResourcePlanContent


class ResourcePlanInterrupted(KeyboardInterrupt):
    """Ctrl-C while a plan was made; ``plan`` is the best known by then, marked as interrupted."""

    def __init__(self, plan: ResourcePlan) -> None:
        super().__init__("interrupted; the best plan known by then is in .plan")
        self.plan = plan


class ResourcePlan:
    """A network cut in time and folded for a platform of resources alone; ``print`` tells the chief figures.

    ``plan`` is all that schedule.json holds (docs/reconfigure.md); ``files`` are that and the back end's own, by their
    paths in the output folder; ``pictures`` has the ``timeline``, drawn when it is asked for.
    """

    def __init__(
        self,
        plan: ResourcePlanContent,
        files: Mapping[str, bytes],
        command: Sequence[str],
        seconds: float,
        *,
        plots: bool,
    ) -> None:
        self.plan, self.files = plan, files
        self._command, self._seconds, self._plots = tuple(command), seconds, plots
        self.pictures = _pictures(plan)

    @property
    def main_file(self) -> bytes:
        """The text of schedule.json."""
        return self.files["schedule.json"]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search, so that more might have been found."""
        return self.plan.interrupted

    @property
    def warnings(self) -> list[str]:
        """What was assumed, and what should be known before building."""
        return list(self.plan.warnings)

    @property
    def partitions(self) -> list[PartitionInTime]:
        """The parts that the device runs one after another."""
        return list(self.plan.partitions)

    def as_dict(self) -> dict[str, Any]:
        """Return what schedule.json holds as plain data."""
        content: dict[str, Any] = json.loads(self.main_file)
        return content

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

        Raises
        ------
        InputError
            If the folder is not empty and ``force`` is not set, or cannot be written.
        KeyboardInterrupt
            On Ctrl-C; while the picture is drawn it says that the plan stands.

        """
        require_free(Path(folder), force=force, later=LATER)
        with told_to(progress).stage("writing"):
            names = save(folder, self.files, command or self._command, self._seconds, force=force)
        return self.save_extras(folder, command=command, progress=progress) if extras else names

    def is_in(self, folder: str | Path) -> bool:
        """Tell whether a folder holds this plan, whole."""
        return holds(folder, self.files)

    def save_extras(
        self, folder: str | Path, *, command: Sequence[str] | None = None, progress: Callback | None = None
    ) -> tuple[str, ...]:
        """Add the picture to the folder that `save` wrote, unless the plan was interrupted; return all names.

        Raises
        ------
        InputError
            If that folder does not hold this plan, or cannot be written.
        KeyboardInterrupt
            On Ctrl-C; the plan stands.

        """

        def drawn_now() -> Mapping[str, bytes]:
            with told_to(progress).stage("extras: drawing"):
                return self.pictures.files

        later = [Later("pictures", FOLDER, drawn_now)] if self._plots and not self.interrupted else []
        return save_later(folder, later, self.files, command or self._command, self._seconds)

    def told_beside(self) -> str:
        """Return nothing: there is nothing to tell beside it."""
        return ""

    def next_steps(self, folder: str | Path) -> list[str]:
        """Return where the back end's files of the first partition are once they are saved to a folder."""
        own = sorted(name for name in self.files if name.startswith("phases/"))
        return [f"{self.plan.options.backend}: {Path(folder) / name}" for name in own[:1]]

    def __str__(self) -> str:
        from floorflow.facts.resource_plan import resource_summary

        return resource_summary(self.plan)

    def __repr__(self) -> str:
        return f"<floorflow.ResourcePlan {str(self).partition(' (')[0]}>"


def is_resources_alone(platform: object) -> bool:
    """Whether a platform is one of resources alone, for which `plan_resources` plans."""
    return isinstance(platform, str) and platform.startswith(RESOURCES_ALONE)


@with_options(ResourcePlanOptions)
def plan_resources(
    model: AnyModel, platform: str, *, progress: Callback | None = None, **options: Unpack[ResourcePlanOptions]
) -> ResourcePlan:
    """Cut a network in time and fold it for a platform of resources alone, such as ``samo:zc706``; nothing is placed.

    Without ``reconfigure="full"`` there is one partition. All of the platform's resources may be used unless ``cap``
    says less.

    Raises
    ------
    InputError
        If a model, a platform or an option is not what was expected.
    Infeasible
        If it is proven that there is no such plan.
    LimitReached
        If none was found, though none is proven impossible.
    ResourcePlanInterrupted
        On Ctrl-C, with the best plan known by then; a plain KeyboardInterrupt if there is none.

    """
    started = time.perf_counter()
    if not is_resources_alone(platform):
        raise InputError(f"platform {platform}: things can be placed there", hint="floorflow.plan plans it")
    require_options(options, ResourcePlanOptions, f"plan on {platform}, where nothing is placed,")
    request, source = asked(model, platform, options)
    if request.objective == "resources":
        raise InputError(f"--objective resources: {platform} is planned for throughput or latency", hint="leave it out")
    own = request.backend_options
    if "flow" in own.model_fields_set:
        raise InputError(
            f"--flow: plan on {platform}, where nothing is placed, has no such option", hint="leave it out"
        )
    with whole_imports():
        from floorflow import flow
        from floorflow.hardware.resource_platforms import resource_platform

    resource_platform(platform)
    found, files = flow.plan_on_resources(request, told_to(progress), source)
    seconds = time.perf_counter() - started
    made = ResourcePlan(found, encoded(files), command_line("plan", request), seconds, plots=request.plots)
    if made.interrupted:
        raise ResourcePlanInterrupted(made)
    return made


def _pictures(plan: ResourcePlanContent) -> Pictures:
    def contents() -> dict[str, Any]:
        with whole_imports():
            from floorflow.view.pictures.timeline import partitions_chart

        return {"timeline": drawn(lambda: partitions_chart(plan.model_dump(by_alias=True)))}

    return Pictures(contents)
