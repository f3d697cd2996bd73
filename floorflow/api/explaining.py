"""Why a plan is as it is, and what a step more or less would give."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from floorflow.api.command import command_line
from floorflow.api.results import Plan, load
from floorflow.assets import asset_folder
from floorflow.errors import FloorflowError, InputError
from floorflow.facts.explain import Explainer, Explanation, glossary_words
from floorflow.facts.steps import Step, Way
from floorflow.output import write_file
from floorflow.study.calibration.replan import Overrides, replanned_request
from floorflow.study.steps import Steps, folding_files, folding_name


def explain(
    out: str | Path, topic: str | None = None, *, faster: str | Path | None = None, slower: str | Path | None = None
) -> Explanation:
    """Explain the plan in a folder that ``plan`` wrote, or one thing in it.

    ``topic``: a layer, engine, module, slot (``fpga0/slr1``), stream, resource (``lut``) or a word of the report
    (``gap``). ``faster`` and ``slower``: a new folder for the plan's folding with the step of the whole, or of the
    engine, that is told; ``plan(..., folding=...)`` takes the file in it.

    Raises
    ------
    InputError
        If there is no plan, nothing or more than one thing has that name, or no such step is known.

    """
    folder = Path(out)
    plan = load(folder)
    steps = _Priced(folder, plan)
    words = glossary_words((asset_folder("docs") / "glossary.md").read_text(encoding="utf-8"))
    found = Explainer(plan.views, steps.price, words).explain(topic)
    asked: list[tuple[Way, str | Path | None]] = [("faster", faster), ("slower", slower)]
    for way, new in asked:
        if new is not None:
            _write(plan, found, way, Path(new))
    return found


class _Priced:
    """Steps of a plan, with the commands that ask for each; the plan is taken up when the first is asked for."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder, self._plan = folder, plan

    @cached_property
    def _steps(self) -> Steps | str:
        try:
            return Steps.of(self._folder, self._plan.plan)
        except FloorflowError as error:
            return str(error)

    def price(self, engine: str, way: Way) -> Step | None:
        """Return the step of an engine, of the whole where none is named.

        Raises InputError if none can be priced.
        """
        steps = self._steps
        if isinstance(steps, str):
            raise InputError(steps)
        found = steps.of_engine(engine, way) if engine else steps.of_rate(way)
        return None if found is None else replace(found, commands=self._commands(found, engine))

    def _commands(self, step: Step, engine: str) -> tuple[str, ...]:
        """Return the command lines that write the folding and plan it; none where no such file is taken."""
        file = folding_name(self._plan.plan)
        if file is None or self._plan.plan.options.reuse != "no":  # a folding that is kept makes no modules alike
            return ()
        new = self._folder.with_name(f"{self._folder.resolve().name}_{step.way}")
        folding = new.with_name(f"{new.name}_folding")
        asked = replanned_request(self._folder, self._plan.plan, Overrides(keep_folding=True))
        asked = asked.changed(folding=folding / Path(file).name, fps=None, objective=None)
        words = ["floorflow", "explain", str(self._folder), *([engine] if engine else [])]
        written = shlex.join([*words, f"--{step.way}", str(folding)])
        return written, shlex.join(command_line("plan", asked, "-o", str(new)))


def _write(plan: Plan, found: Explanation, way: Way, folder: Path) -> None:
    step = next((step for step in found.steps if step.way == way), None)
    if step is None or found.kind not in {"plan", "engine"}:
        raise InputError(
            f"--{way}: no such step is known", hint="ask for one that is worth it: of an engine, or of the whole plan"
        )
    files = folding_files(plan.plan, step)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})", hint="choose another folder") from error
    for name, text in sorted(files.items()):
        write_file(folder / name, text.encode(), force=False)
