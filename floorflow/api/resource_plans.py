"""From a model and a platform of resources alone to partitions in time, each folded; nothing is placed."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from floorflow.api.asking import asked
from floorflow.api.command import command_line
from floorflow.api.events import Callback, told_to
from floorflow.api.models import AnyModel
from floorflow.api.options import ResourcePlanOptions, require_options, with_options
from floorflow.api.pictures import Pictures, drawn
from floorflow.api.results import SavedPlan, encoded
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.request import RESOURCES_ALONE

if TYPE_CHECKING:
    from floorflow.facts.resource_plan import PartitionInTime
    from floorflow.facts.resource_plan import ResourcePlan as ResourcePlanContent


class ResourcePlanInterrupted(KeyboardInterrupt):
    """Ctrl-C while a plan was made; ``plan`` is the best known by then, marked as interrupted."""

    def __init__(self, plan: ResourcePlan) -> None:
        super().__init__("interrupted; the best plan known by then is in .plan")
        self.plan = plan


class ResourcePlan(SavedPlan):
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
        super().__init__(command, seconds, plots=plots)
        self.plan, self.files = plan, files

    @cached_property
    def pictures(self) -> Pictures:
        """The ``timeline``."""

        def contents() -> dict[str, Any]:
            with whole_imports():
                from floorflow.view.pictures.timeline import partitions_chart

            return {"timeline": drawn(lambda: partitions_chart(self.plan.model_dump(by_alias=True)))}

        return Pictures(contents)

    @property
    def main_file(self) -> bytes:
        """The text of schedule.json."""
        return self.files["schedule.json"]

    @property
    def partitions(self) -> list[PartitionInTime]:
        """The parts that the device runs one after another."""
        return list(self.plan.partitions)

    def as_dict(self) -> dict[str, Any]:
        """Return what schedule.json holds as plain data."""
        content: dict[str, Any] = json.loads(self.main_file)
        return content

    def told(self, folder: str | Path, names: Collection[str]) -> str:
        """Return the summary of the plan as it lies in a folder with these files."""
        from floorflow.facts.brief import ways_on
        from floorflow.facts.resource_plan import resource_summary

        return resource_summary(self.plan, ways_on(str(folder), names, self.next_command(folder)))

    def next_command(self, folder: str | Path) -> str:
        """Return the command that shows the first partition."""
        own = sorted(name for name in self.files if name.startswith("phases/"))
        return shlex.join(["less", str(Path(folder) / (own[0] if own else "report.txt"))])

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
