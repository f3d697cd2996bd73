"""SAMO's cases, from the data beside: problems, and recorded designs as floorflow's."""

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

from floorflow.papers.samo.case_file import problem_of
from floorflow.papers.samo.problem import Design, ScheduleProblem

DATA = Path(__file__).parent / "data"
COPIED = ("batch", "clock_mhz", "cycles_scale", "words_scale", "objective", "id")


@cache
def tables() -> dict[str, Any]:
    return json.loads(lzma.decompress((DATA / "tables.json.xz").read_bytes()))


@cache
def results() -> dict[str, Any]:
    return json.loads(lzma.decompress((DATA / "results.json.xz").read_bytes()))


CASES = {case["id"]: case for case in results()["cases"]}


def content_of(name: str) -> dict[str, Any]:
    """Return a case as its file has it."""
    case = CASES[name]
    lifted = case.get("unlimited_resources") or []
    return {
        "schema": "samo-case/1",
        "platform": results()["platforms"][case["platform"]],
        "table": tables()[case["table"]],
        **{key: case[key] for key in COPIED},
        **({"unlimited_resources": lifted} if lifted else {}),
    }


@cache
def problem(name: str) -> ScheduleProblem:
    return problem_of(content_of(name), name)


def size(name: str) -> int:
    return len(tables()[CASES[name]["table"]]["nodes"])


def recorded(name: str, design: dict[str, Any]) -> Design:
    """Return a recorded design by rows of the problem's options."""
    nodes = problem(name).nodes
    rows = [node.foldings.tolist().index(folding) for node, folding in zip(nodes, design["folding"], strict=True)]
    return Design(tuple(design["cuts"]), tuple(rows))
