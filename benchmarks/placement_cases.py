"""Real placement problems as small files: what `floorflow plan` asked of placement for the plan that it gave.

    python -m benchmarks.placement_cases NAME MODEL BOARD [OPTION ...]

plans a model and writes `benchmarks/data/placement/NAME.json` for the FPGA with most modules: modules with slot and
needed supply, wires, pins, fill. `cases` reads them again. An option is one of a Request, as `granularity=layer`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from floorflow import flow
from floorflow.hardware import load_platform
from floorflow.placement import Pin, PlacedModule, PlacementFailure, PlacementProblem, PlacementSolution, Wire
from floorflow.placement.bounds.wires import need_of
from floorflow.request import Request
from floorflow.resources import Resources
from floorflow.search.candidate import context as search_context

FOLDER = Path(__file__).parent / "data" / "placement"


def read(path: Path, effort: str = "default") -> PlacementProblem:
    """Return the problem in a file."""
    case = json.loads(path.read_text(encoding="utf-8"))
    fpga = load_platform(case["board"]).fpgas[0]
    modules = tuple(
        PlacedModule(m["name"], f"fpga0.{m['slot']}", Resources(*m["demand"]), Resources(*m["supply"]))
        for m in case["modules"]
    )
    wires = tuple(Wire(_end(w[0]), _end(w[1]), w[2]) for w in case["wires"])
    return PlacementProblem(fpga.device, fpga.slots, modules, wires, case["fill"], effort)  # type: ignore[arg-type]


def cases(effort: str = "default") -> Iterator[tuple[str, PlacementProblem]]:
    """Yield all problems, the smallest first."""
    problems = [(path.stem, read(path, effort)) for path in sorted(FOLDER.glob("*.json"))]
    yield from sorted(problems, key=lambda pair: (len(pair[1].modules), pair[0]))


def _end(end: str | list[int]) -> str | Pin:
    return end if isinstance(end, str) else Pin(*end)


def as_case(board: str, problem: PlacementProblem) -> dict[str, Any]:
    """Return what a file holds of a problem."""
    return {
        "board": board,
        "fill": dict(problem.fill),
        "modules": [
            {
                "name": module.name,
                "slot": module.slot.split(".", 1)[1],
                "demand": list(module.demand.as_tuple()),
                "supply": need_of(problem, module).tolist(),
            }
            for module in problem.modules
        ],
        "wires": [
            [*(end if isinstance(end, str) else [end.x2, end.y2] for end in (w.source, w.target)), w.width_bits]
            for w in problem.wires
        ],
    }


def split(option: str) -> tuple[str, str]:
    """Part an option's name from its value."""
    name, value = option.split("=", 1)
    return name, value


def literal(text: str) -> Any:
    """Read a value of an option: JSON, or else a word."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def main() -> None:
    name, model, board, *options = sys.argv[1:]
    asked: list[tuple[PlacementProblem, PlacementSolution | PlacementFailure]] = []
    place = search_context.place

    def recording(problem: PlacementProblem, method: str, seed: int) -> PlacementSolution | PlacementFailure:
        asked.append((problem, place(problem, method, seed)))
        return asked[-1][1]

    search_context.place = recording
    outcome = flow.plan(Request(model, board, plots=False, **{k: literal(v) for k, v in map(split, options)}))
    kept = {m.name for m in outcome.plan.phases[0].modules}
    fitting = [
        problem
        for problem, answer in asked
        if isinstance(answer, PlacementSolution) and kept >= {m.name for m in problem.modules}
    ]
    most = max(len(problem.modules) for problem in fitting)
    (*_, last) = (problem for problem in fitting if len(problem.modules) == most)
    text = json.dumps(as_case(board, last), indent=None, separators=(",", ":"))
    (FOLDER / f"{name}.json").write_text(text.replace('},{"name"', '},\n{"name"').replace("],[", "],\n[") + "\n")
    print(name, most, "modules")


if __name__ == "__main__":
    main()
