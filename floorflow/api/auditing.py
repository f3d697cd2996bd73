"""A build held against what floorflow would have said of it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.api.events import Callback, told_to
from floorflow.api.folders import require_folder
from floorflow.api.results import encoded
from floorflow.api.studies import Study
from floorflow.importing import whole_imports

if TYPE_CHECKING:
    from floorflow.study.audit import audit as study
    from floorflow.view.files import Drawing


class Audit(Study):
    """What was built beside what floorflow predicts of it; ``found`` holds nodes, channels and rates."""

    _name = "audit"
    found: study.Audit

    def __init__(self, found: study.Audit, command: Sequence[str], seconds: float, *, plots: bool = True) -> None:
        super().__init__(found, command, seconds)
        self.plots = plots

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data, as ``floorflow audit --json`` prints it."""
        from floorflow.study.audit.data import as_dict

        return as_dict(self.found)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row a node: what was built and what is predicted of each resource; None where it is not known."""
        return [
            {
                **{name: node[name] for name in ("name", "kind", "role", "depth_words")},
                **{
                    f"{resource}_{side}": amount
                    for side in ("built", "predicted")
                    for resource, amount in _of(node, side)
                },
            }
            for node in self.as_dict()["nodes"]
        ]

    @property
    def text(self) -> str:
        """The audit in words and tables, as audit.txt holds it."""
        from floorflow.study.audit.text import audit_text

        return audit_text(self.as_dict())

    def files(self, *, foldings: bool = False) -> dict[str, bytes]:
        """Return audit.json and audit.txt, and the picture unless there is to be none."""
        return super().files(foldings=foldings) if self.plots else encoded(self._data())

    def _draw(self) -> Drawing:
        from floorflow.view.pictures.audit import audit_chart

        return audit_chart(self.as_dict())

    def _data(self) -> Mapping[str, str]:
        content = json.dumps(self.as_dict(), indent=2, sort_keys=True, allow_nan=False)
        return {"audit.json": content + "\n", "audit.txt": self.text}


def _of(node: Mapping[str, Any], side: str) -> list[tuple[str, int | None]]:
    from floorflow.resources import RESOURCE_NAMES

    return [(name, None if node[side] is None else node[side][name]) for name in RESOURCE_NAMES]


def audit(
    build: str | Path,
    platform: str | Path | None = None,
    *,
    clock_mhz: float | None = None,
    costs: str | None = None,
    finn: str | None = None,
    vivado: str | None = None,
    plots: bool = True,
    progress: Callback | None = None,
) -> Audit:
    """Compare a build folder of FINN, FINN+ or hls4ml with what floorflow says of the same design. Nothing is planned.

    ``platform``: a board, a YAML file of one or a part such as ``xc7z020clg400-1``; the build's own unless told.
    ``clock_mhz``: instead of the build's. ``costs``: by which cost model; ``finn`` and ``vivado``: as that FINN and
    Vivado make it, where the build does not tell, or in spite of it.

    Raises
    ------
    InputError
        If the folder holds no build or several, its part is not known, or an engine cannot be priced as it was built.

    """
    started = time.perf_counter()
    require_folder(Path(build), "the output_dir of a build")
    with whole_imports():
        from floorflow.study.audit import audit as study

    named = None if platform is None else str(platform)
    given = {"costs": costs, "finn": finn, "vivado": vivado}
    options = {name: value for name, value in given.items() if value is not None}
    found = study.audit(Path(build), named, clock_mhz=clock_mhz, options=options, progress=told_to(progress))
    words = ["floorflow", "audit", str(build), *(() if named is None else ("--platform", named))]
    words += [] if clock_mhz is None else ["--clock-mhz", f"{clock_mhz:.15g}"]
    words += [word for name, value in options.items() for word in (f"--{name}", value)]
    return Audit(found, words, time.perf_counter() - started, plots=plots)
