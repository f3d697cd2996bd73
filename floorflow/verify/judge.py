"""The part of the judge for a back end: what it must answer, and where it is found by the back end's name.

It speaks plain values (docs/backends.md, The judge's part), so that one made elsewhere imports nothing of floorflow.
Those of FINN, hls4ml, fpgaConvNet and f-CNN^x come with floorflow; others register an entry point of the group
``floorflow.judges`` under their back end's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, cast

Row = Mapping[str, Any]
"""One engine of a phase: id, network, entry, folding, module, slot, slr, style, fpga, dies, fpga_number and part."""

GROUP = "floorflow.judges"
BUILT_IN = {
    "finn": "floorflow.verify.finn.judge",
    "hls4ml": "floorflow.verify.hls4ml.judge",
    "fpgaconvnet": "floorflow.verify.fpgaconvnet.judge",
    "fcnnx": "floorflow.verify.fcnnx.judge",
}
"""Modules that come with floorflow, by the name of their back end."""
ANSWERS = ("findings", "option_objections", "may_cost_nothing", "engine", "joined", "converter", "fifo", "files")
"""Names that a part must have."""


class Files(Protocol):
    """The files of one phase; a file that is missing or corrupt is reported when it is asked for, and is None."""

    def json(self, name: str) -> dict[str, Any] | None:
        """Return a JSON object."""

    def text(self, name: str) -> str | None:
        """Return a text."""

    def exists(self, name: str) -> bool:
        """Whether there is such a file; nothing is reported."""

    def path(self, name: str) -> str:
        """Return a file's path in the plan's folder, for messages."""


class Judge(Protocol):
    """What a back end's part answers; a module with these names is one."""

    @property
    def findings(self) -> Mapping[str, str]:
        """Names of the findings that no other back end has, with what each means."""

    def option_objections(self, options: Mapping[str, Any]) -> Iterable[str]:
        """Return what is wrong with the plan's ``backend_options``, one sentence each."""

    def may_cost_nothing(self, options: Mapping[str, Any]) -> bool:
        """Whether engines, converters and FIFOs may have no resources."""

    def engine(self, row: Row, context: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return cycles, ports, window fill, objections and least resources of an engine; None: an unknown kind."""

    def joined(self, source: Row, target: Row, context: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what two engines that a stream joins do not agree on, and whether the second reads no data of it."""

    def converter(self, narrow_bits: int, wide_bits: int) -> tuple[str, Iterable[str]]:
        """Return the kind of the converter between two widths, and why it cannot be made."""

    def fifo(self, channel: Mapping[str, Any], part: str, context: Mapping[str, Any]) -> Iterable[str]:
        """Return what is wrong with the style of a channel's FIFO, and with what it costs in that style."""

    def files(
        self, plan: Mapping[str, Any], phase: Mapping[str, Any], folder: Files, context: Mapping[str, Any]
    ) -> tuple[Iterable[tuple[str, str, str]], Mapping[str, str]]:
        """Return findings ``(name, where, message)`` about a phase's files, and the cell of each engine by its id."""


class NoJudgeError(Exception):
    """There is no part of the judge for a back end, or it cannot be loaded; the message says what to do."""


def find_judge(backend: str) -> Judge:
    """Return the part of the judge for a back end.

    Raises
    ------
    NoJudgeError
        If there is none, two, or one that cannot be imported or lacks an answer.

    """
    if backend in BUILT_IN:
        return cast(Judge, import_module(BUILT_IN[backend]))
    found = entry_points(group=GROUP, name=backend)
    values = sorted({point.value for point in found})
    if len(values) > 1:
        raise NoJudgeError(
            f"{' and '.join(values)} are installed for the back end {backend!r:.60}; uninstall all but one"
        )
    if not values:
        raise NoJudgeError(
            f"no part of the judge is installed for the back end {backend!r:.60}; install the package that brings it, "
            f"with an entry point {backend!r:.60} of the group {GROUP}, into the Python that runs this check"
        )
    return _loaded(next(iter(found)))


def _loaded(point: EntryPoint) -> Judge:
    try:
        judge = point.load()
    except Exception as error:
        raise NoJudgeError(f"{point.value} cannot be loaded: {type(error).__name__}: {error!s:.200}") from error
    missing = [name for name in ANSWERS if not hasattr(judge, name)]
    if missing:
        raise NoJudgeError(f"{point.value} lacks {', '.join(missing)}")
    return cast(Judge, judge)
