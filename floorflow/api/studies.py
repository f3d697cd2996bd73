"""Studies: ways to fold side by side, what a frame rate costs, and plans made again from measurements."""

from __future__ import annotations

import json
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
from floorflow.api.pictures import Picture, drawn
from floorflow.api.results import encoded
from floorflow.api.targets import Platform
from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.output import require_free
from floorflow.request import Request, default_methods, require_method, require_resources

if TYPE_CHECKING:
    from floorflow.study.comparison import compare as comparing
    from floorflow.study.pareto import pareto as fronts
    from floorflow.view.files import Drawing

POINTS, FEWEST_POINTS, MOST_POINTS = 12, 2, 1000
"""Intervals of each front of `pareto`: unless told, at least, at most."""


class Study(ABC):
    """What a study found: plain data, flat rows, one picture, and the files of a folder."""

    _name: str
    """Of the command, and of the files."""

    def __init__(self, found: Any, command: Sequence[str], seconds: float) -> None:
        self.found = found
        self._command = tuple(command)
        self._seconds = seconds

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data, as ``--json`` prints it."""
        content: dict[str, Any] = self.found.as_dict()
        return content

    @property
    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """What was found as flat rows."""

    @abstractmethod
    def _draw(self) -> Drawing:
        """Draw the picture; what draws is loaded only then."""

    def _data(self) -> Mapping[str, str]:
        return {f"{self._name}.json": json.dumps(self.as_dict(), indent=2, sort_keys=True) + "\n"}

    def _foldings(self) -> Mapping[str, str]:
        return {}

    @cached_property
    def picture(self) -> Picture:
        """The picture, drawn when it is asked for."""
        return Picture(self._name, drawn(self._draw))

    def files(self, *, foldings: bool = False) -> dict[str, bytes]:
        """Return the files of a folder: data and the picture; with ``foldings`` those of fronts, for `plan`."""
        pictures = {f"{self._name}.png": self.picture.png, f"{self._name}.svg": self.picture.svg}
        return encoded({**self._data(), **(self._foldings() if foldings else {})}) | pictures

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

    _name = "compare"
    found: comparing.Comparison

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row a method; resources are of engines, converters and FIFOs together."""
        return [_flat(entry, leave_out={"engines", "folding"}) for entry in self.as_dict()["methods"]]

    def _draw(self) -> Drawing:
        from floorflow.view.pictures.comparison import comparison_chart

        return comparison_chart(self.as_dict())


class Pareto(Study):
    """The least of each resource, and the least scarcity, by interval; ``found`` holds the fronts with foldings."""

    _name = "pareto"
    found: fronts.Pareto

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row a point of a front."""
        return [
            {"objective": front["objective"], **_flat(point)}
            for front in self.as_dict()["fronts"]
            for point in front["points"]
        ]

    def _draw(self) -> Drawing:
        from floorflow.view.pictures.pareto import pareto_chart

        return pareto_chart(self.as_dict())

    def _data(self) -> Mapping[str, str]:
        from floorflow.study.pareto.files import csv_text

        return {**super()._data(), "pareto.csv": csv_text(self.as_dict())}

    def _foldings(self) -> Mapping[str, str]:
        from floorflow.study.pareto.files import all_folding_files

        return all_folding_files(self.found)


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
