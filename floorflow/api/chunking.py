"""Chunks swapped by partial reconfiguration: a network over areas of a board, and a case's rows."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Unpack

from floorflow.api.asking import asked, paper
from floorflow.api.command import command_line
from floorflow.api.events import Callback, told_to
from floorflow.api.folders import save
from floorflow.api.models import AnyModel
from floorflow.api.options import ProblemOptions, require_options, with_options
from floorflow.api.pictures import Picture, drawn
from floorflow.api.results import encoded
from floorflow.api.targets import Platform
from floorflow.errors import InputError
from floorflow.output import require_free
from floorflow.reading import require_file
from floorflow.resources import RESOURCE_NAMES
from floorflow.stats import method_names

CHUNK_METHODS = method_names("papers/dpr")
AREAS = "0.3:1.0:0.05"
"""The paper's, with the step that it does not say."""
MOST_AREAS, MOST_REGIONS = 1000, 4
SIZE_STEP = "0.05"
_NUMBER = re.compile(r"\d*\.?\d+")
HINT = "give areas as first:last:step or with commas, such as 0.3:1.0:0.05 or 0.5,0.87"


class Chunks:
    """A network's fastest designs over areas; ``found`` holds all of them, `rows` one flat row an area."""

    def __init__(self, found: dict[str, Any], command: Sequence[str], seconds: float) -> None:
        self.found = found
        self._command, self._seconds = tuple(command), seconds

    def as_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data, as ``floorflow chunks --json`` prints it."""
        return dict(self.found)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One flat row an area, as chunks.csv has it."""
        rows: list[dict[str, Any]] = paper("dpr.over_areas").chunk_rows(self.found)
        return rows

    def files(self) -> dict[str, bytes]:
        """Return the files of a folder: data and two pictures."""
        study = paper("dpr.over_areas")
        files = encoded(study.chunk_files(self.found))
        for name, figure in study.chunk_figures(self.found).items():
            picture = Picture(name, drawn(lambda figure=figure: figure))  # type: ignore[misc]
            files |= {f"{name}.png": picture.png, f"{name}.svg": picture.svg}
        return files

    def save(self, folder: str | Path, *, force: bool = False, command: Sequence[str] | None = None) -> tuple[str, ...]:
        """Write `files` and run.json to a folder, as `Plan.save` does; return the names of the files."""
        require_free(Path(folder), force=force)
        return save(folder, self.files(), command or self._command, self._seconds, force=force)

    def __repr__(self) -> str:
        return f"<floorflow.Chunks of {self.found['network']}>"


@with_options(ProblemOptions)
def chunks(
    model: AnyModel,
    platform: str | Path | Platform,
    *,
    area: str | Sequence[float] = AREAS,
    batch: int = 256,
    regions: int = 1,
    sizes: str = "equal",
    size_step: float | str = SIZE_STEP,
    foldings: Literal["powers", "all"] = "all",
    method: str = "exact",
    memory_gbs: float | None = None,
    spill: bool = False,
    progress: Callback | None = None,
    **options: Unpack[ProblemOptions],
) -> Chunks:
    """Cut a network into chunks that run one after another in reconfigured regions, at each area of a board.

    ``area``: shares of what the board offers, ``first:last:step`` or a list. ``sizes``: ``equal``, ``free`` (in steps
    of ``size_step``) or the regions' parts of the area with commas. ``memory_gbs`` bounds a chunk by its traffic.
    ``spill``: residual blocks may be cut.

    Raises
    ------
    InputError
        If a model, a platform or an option is not what was expected, or the board does not say what loading takes.
    Infeasible
        If a layer has no folding of the kind that is asked for.

    """
    require_options(options, ProblemOptions, "chunks")
    areas = areas_of(area)
    known_method(method)
    if method != "exact" and (regions > 1 or sizes != "equal" or (method == "milp" and memory_gbs is not None)):
        why = f"--method {method}: it knows one region of the whole area, and milp no traffic"
        raise InputError(why, hint="use --method exact")
    started = time.perf_counter()
    step, shares = _sizes(sizes, size_step, regions)
    if memory_gbs is not None and not 0 < memory_gbs < float("inf"):
        raise InputError(f"--memory-gbs {memory_gbs}: more than 0 is expected")
    whole = dict.fromkeys(RESOURCE_NAMES, 1.0)
    request, source = asked(model, platform, {"cap": whole, **options, "reconfigure": "full", "batch": batch})
    asked_for = {"--area": area, "--regions": regions, "--sizes": sizes, "--foldings": foldings, "--method": method}
    told = [word for name, value in asked_for.items() for word in (name, _spelt(value))]
    told += [] if memory_gbs is None else ["--memory-gbs", f"{memory_gbs:g}"]
    command = _without_reconfigure(command_line("chunks", request, *told, *(["--spill"] if spill else [])))
    tell = told_to(progress)
    with tell.stage("reading"):
        network = paper("dpr.network").chunked_network(
            request, source, powers=foldings == "powers", spill=spill, memory_gbs=memory_gbs
        )
    with tell.stage("folding"):
        study = paper("dpr.over_areas")
        found = study.study_chunks(network, areas, study.Asked(regions, method, step, shares), foldings)
    return Chunks(found, command, time.perf_counter() - started)


def chunk_case(case: str | Path, *, method: str = "exact") -> dict[str, Any]:
    """Answer the rows of a case file (docs/chunks.md): ``{"case": ..., "method": ..., "expected": [...]}``.

    Raises
    ------
    InputError
        If the file is no case, with file and field named, or a method is unknown.

    """
    known_method(method)
    require_file(Path(case), "give a case as docs/chunks.md has it", "--case ")
    read = paper("dpr.case_file").read_chunk_case(Path(case))
    return {"case": str(case), "method": method, "expected": paper("dpr.case_rows").answered_rows(read, method)}


def _spelt(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _without_reconfigure(words: list[str]) -> list[str]:
    """Drop the option of the request that the command itself stands for."""
    at = words.index("--reconfigure")
    return words[:at] + words[at + 2 :]


def known_method(method: str) -> None:
    """Refuse an unknown method."""
    if not CHUNK_METHODS:
        paper("dpr.methods")
    if method not in CHUNK_METHODS:
        raise InputError(f"--method {method}: unknown method, expected one of {', '.join(CHUNK_METHODS)}")


def areas_of(given: str | Sequence[float]) -> list[Fraction]:
    """Return the areas that a text or a list names, exactly as it is written.

    Raises InputError if it names none, or one that is not above 0 and up to 1.
    """
    parts = given.split(":") if isinstance(given, str) else []
    if len(parts) == 3:
        first, last, step = (_number(part, f"--area {given}") for part in parts)
        if step <= 0 or last < first or (last - first) / step > MOST_AREAS:
            raise InputError(f"--area {given}: first up to last in steps above 0 are expected", hint=HINT)
        areas = [first + step * number for number in range(int((last - first) / step) + 1)]
    else:
        texts = given.split(",") if isinstance(given, str) else [str(number) for number in given]
        areas = [_number(text, f"--area {given}") for text in texts]
    if not areas or not all(0 < area <= 1 for area in areas):
        raise InputError(f"--area {given}: shares above 0 and up to 1 are expected", hint=HINT)
    return areas


def _number(text: str, option: str) -> Fraction:
    if not _NUMBER.fullmatch(text.strip()):
        raise InputError(f"{option}: '{text.strip()}' is no number", hint=HINT)
    return Fraction(text.strip())


def _sizes(sizes: str, size_step: float | str, regions: int) -> tuple[Fraction | None, tuple[Fraction, ...]]:
    """Return the step of free sizes, or the regions' shares; neither where they are equal."""
    if not 1 <= regions <= MOST_REGIONS:
        raise InputError(f"--regions {regions}: 1 to {MOST_REGIONS} are expected")
    if sizes == "equal":
        return None, ()
    if sizes == "free":
        step = _number(str(size_step), f"--size-step {size_step}")
        if not Fraction(1, 1000) <= step <= 1:
            raise InputError(f"--size-step {size_step}: 0.001 to 1 is expected")
        return step, ()
    shares = tuple(_number(text, f"--sizes {sizes}") for text in sizes.split(","))
    if len(shares) != regions or sum(shares) > 1 or not all(shares):
        hint = "give equal, free, or a part of the area for each region, such as 0.6,0.4"
        raise InputError(f"--sizes {sizes}: {regions} parts above 0 and together up to 1 are expected", hint=hint)
    return None, shares
