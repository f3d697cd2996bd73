"""Studies: ways to fold side by side, what a frame rate costs, and plans made again from measurements."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from floorflow.api.asking import asked
from floorflow.api.command import command_line
from floorflow.api.events import Callback, told_to
from floorflow.api.folders import save
from floorflow.api.models import AnyModel
from floorflow.api.options import CompareOptions, ProblemOptions, require_options, with_options
from floorflow.api.pictures import Content, Picture, drawn
from floorflow.api.results import encoded
from floorflow.api.targets import Platform
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.output import require_free
from floorflow.request import Request, default_methods, require_method, require_resources

if TYPE_CHECKING:
    from floorflow.study.comparison import compare as comparing
    from floorflow.study.pareto import pareto as fronts

POINTS, FEWEST_POINTS, MOST_POINTS = 12, 2, 1000
"""Intervals of each front of `pareto`: unless told, at least, at most."""


class Study(ABC):
    """What a study found: plain data, flat rows, one picture, and the files of a folder."""

    def __init__(self, name: str, command: Sequence[str], seconds: float) -> None:
        self._name = name
        self._command = tuple(command)
        self._seconds = seconds

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data, as ``--json`` prints it."""

    @property
    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """What was found as flat rows."""

    @abstractmethod
    def _content(self) -> Content: ...

    @abstractmethod
    def _data(self, *, foldings: bool) -> Mapping[str, str | bytes]: ...

    @cached_property
    def picture(self) -> Picture:
        """The picture, drawn when it is asked for."""
        return Picture(self._name, self._content())

    def files(self, *, foldings: bool = False) -> dict[str, bytes]:
        """Return the files of a folder: data and the picture; with ``foldings`` those of fronts, for `plan`."""
        pictures = {f"{self._name}.png": self.picture.png, f"{self._name}.svg": self.picture.svg}
        return encoded(self._data(foldings=foldings)) | pictures

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        foldings: bool = False,
        command: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """Write `files` and run.json to a folder, as `Plan.save` does; return the names of the files."""
        require_free(Path(folder), force=force)
        return save(folder, self.files(foldings=foldings), command or self._command, self._seconds, force=force)

    def __repr__(self) -> str:
        return f"<floorflow.{type(self).__name__} of {self.as_dict()['network']}>"


class Comparison(Study):
    """Folding methods on one problem; ``found`` holds all of them, `rows` the figures of each."""

    def __init__(self, found: comparing.Comparison, command: Sequence[str], seconds: float) -> None:
        super().__init__("compare", command, seconds)
        self.found = found

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data, as ``floorflow compare --json`` prints it."""
        return self.found.as_dict()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row a method; resources are of engines, converters and FIFOs together."""
        return [_flat(entry, leave_out={"engines", "folding"}) for entry in self.as_dict()["methods"]]

    def _content(self) -> Content:
        from floorflow.study.comparison.files import comparison_figure

        return drawn(lambda: comparison_figure(self.found))

    def _data(self, *, foldings: bool) -> Mapping[str, str | bytes]:  # noqa: ARG002  (a comparison has none)
        from floorflow.study.comparison.files import comparison_data

        return comparison_data(self.found)


class Pareto(Study):
    """The least of each resource, and the least scarcity, by interval; ``found`` holds the fronts with foldings."""

    def __init__(self, found: fronts.Pareto, command: Sequence[str], seconds: float) -> None:
        super().__init__("pareto", command, seconds)
        self.found = found

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data, as ``floorflow pareto --json`` prints it."""
        return self.found.as_dict()

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row a point of a front."""
        return [
            {"objective": front["objective"], **_flat(point)}
            for front in self.as_dict()["fronts"]
            for point in front["points"]
        ]

    def _content(self) -> Content:
        from floorflow.study.pareto.files import pareto_figure

        return drawn(lambda: pareto_figure(self.found))

    def _data(self, *, foldings: bool) -> Mapping[str, str | bytes]:
        from floorflow.study.pareto.files import all_folding_files, pareto_data

        return pareto_data(self.found) | (all_folding_files(self.found) if foldings else {})


def _flat(entry: Mapping[str, Any], leave_out: set[str] | frozenset[str] = frozenset()) -> dict[str, Any]:
    row = {key: value for key, value in entry.items() if key not in leave_out | {"resources"}}
    return {**row, **(entry["resources"] or {})}


@with_options(CompareOptions)
def compare(
    model: AnyModel,
    platform: str | Path | Platform,
    *,
    methods: Sequence[str] = (),
    epsilon: float | None = None,
    progress: Callback | None = None,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Fold by every method: the least resources at ``fps``, or the highest rate within the budget. No floorplan.

    ``methods``: all but ``brute`` unless told, those of the back end too. ``epsilon`` balances the rates of consecutive
    layers in ``cpsat``, as its paper has it.

    Raises
    ------
    InputError
        If a model, a platform, a method or an option is not what was expected.
    Infeasible
        If an engine fits no slot.

    """
    started = time.perf_counter()
    require_options(options, CompareOptions, "compare")
    request, source = asked(model, platform, options)
    request.fixed_fpgas("compare")
    named = list(filter(None, map(str.strip, methods.split(",")))) if isinstance(methods, str) else methods
    methods = named or default_methods(request.backend)
    for name in methods:
        require_method("fold_method", name, "--methods", request.backend)
    with whole_imports():
        from floorflow.study.comparison.compare import compare as fold_by_all

    found = fold_by_all(request, methods, epsilon, told_to(progress), source)
    return Comparison(found, _command("compare", request, methods=methods), time.perf_counter() - started)


@with_options(ProblemOptions)
def pareto(
    model: AnyModel,
    platform: str | Path | Platform,
    *,
    resources: Sequence[str] = (),
    points: int = POINTS,
    progress: Callback | None = None,
    **options: Unpack[ProblemOptions],
) -> Pareto:
    """Tell what a frame rate costs: the least of each resource, and the least scarcity, at intervals. No floorplan.

    ``resources``: those of the fronts, all that the platform has unless told. ``points``: intervals of each front.

    Raises
    ------
    InputError
        If a model, a platform or an option is not what was expected, or the platform has none of a resource.
    Infeasible
        If no interval is possible, or an engine fits no slot.
    LimitReached
        If no folding was found, though none is proven impossible.

    """
    started = time.perf_counter()
    require_options(options, ProblemOptions, "pareto")
    request, source = asked(model, platform, options)
    request.fixed_fpgas("pareto")
    require_resources(resources, "--resources")
    if isinstance(points, bool) or not isinstance(points, int) or not FEWEST_POINTS <= points <= MOST_POINTS:
        raise InputError(f"--points {points}: expected at least {FEWEST_POINTS} and at most {MOST_POINTS:,}")
    with whole_imports():
        from floorflow.study.pareto.pareto import pareto as find_fronts

    found = find_fronts(request, resources, points, told_to(progress), source=source)
    return Pareto(found, _command("pareto", request, resources=resources), time.perf_counter() - started)


def _command(command: str, request: Request, **lists: Sequence[str]) -> list[str]:
    more = [word for name, values in lists.items() if values for word in (f"--{name}", ",".join(values))]
    return command_line(command, request, *more)
