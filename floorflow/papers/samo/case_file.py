"""A case as a JSON file (``samo-case/1``): an option table, a platform and an objective; methods side by side on it."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from floorflow.errors import InputError
from floorflow.papers.case_reading import validated
from floorflow.papers.samo.methods import ScheduleMethod, schedule_methods
from floorflow.papers.samo.problem import RESOURCES, Node, Objective, ScheduleProblem, evaluate
from floorflow.reading import read_json

HINT = "give a case as docs/schedule.md has it"
RANDOM_SEEDS = 3
"""Runs of a method that draws random numbers, of which the best is taken."""

Count = Annotated[int, Field(gt=0)]
Amount = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
OptionRow = tuple[Count, Count, Count, NotNegative, Amount, Amount, Amount, Amount]
"""Input, output and kernel folding, cycles, LUT, DSP, BRAM18 and FF."""


class _FileModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Node(_FileModel):
    name: str = Field(min_length=1)
    channels_in: Count
    channels_out: Count
    size_in: Amount
    size_out: Amount
    matching_inter: bool
    matching_intra: bool
    divisible_inter: bool
    split_after: bool
    options: tuple[OptionRow, ...] = Field(min_length=1)


class _Table(_FileModel):
    wordlength_bits: Count
    nodes: tuple[_Node, ...] = Field(min_length=1)
    edges: tuple[tuple[str, str], ...]


class _Resources(_FileModel):
    LUT: Amount
    DSP: Amount
    BRAM: Amount
    FF: Amount


class _Platform(_FileModel):
    bandwidth_gbit_s: Positive
    reconfiguration_us: NotNegative
    resources: _Resources


class _Case(_FileModel):
    schema_: Literal["samo-case/1"] = Field(alias="schema")
    id: str = ""
    platform: _Platform
    table: _Table
    batch: Count
    clock_mhz: Positive
    cycles_scale: Positive = 1
    words_scale: Positive = 1
    objective: Objective
    unlimited_resources: tuple[Literal["LUT", "DSP", "BRAM", "FF"], ...] = ()


def read_case(path: Path) -> ScheduleProblem:
    """Read a case.

    Raises
    ------
    InputError
        If the file cannot be read or a field of it is not what is expected; file and field are named.

    """
    return problem_of(read_json(path, "case", HINT), str(path))


def problem_of(content: Any, file: str) -> ScheduleProblem:
    """Return the problem that a case's content describes; ``file`` names it in errors.

    Raises
    ------
    InputError
        If a field is not what is expected.

    """
    case = validated(_Case, content, file, HINT)
    nodes = tuple(_node(node, f"{file}: table.nodes.{number}") for number, node in enumerate(case.table.nodes))
    have = case.platform.resources
    limits = (np.inf if name in case.unlimited_resources else float(getattr(have, name)) for name in RESOURCES)
    return ScheduleProblem(
        nodes,
        tuple(_edges(case.table, file)),
        tuple(limits),
        case.platform.bandwidth_gbit_s,
        case.table.wordlength_bits,
        case.clock_mhz,
        case.platform.reconfiguration_us,
        case.objective,
        case.batch,
        case.cycles_scale,
        case.words_scale,
    )


def _node(node: _Node, where: str) -> Node:
    """Return a node with the options that keep channel factors (eq. 8) and, where it has to, eq. 9."""
    numbers = np.array([row[:3] for row in node.options], dtype=np.int64)
    legal = (node.channels_in % numbers[:, 0] == 0) & (node.channels_out % numbers[:, 1] == 0)
    if node.matching_intra:
        legal &= numbers[:, 0] == numbers[:, 1]
    if not legal.any():
        raise InputError(f"{where}.options: no option's foldings suit the channels of '{node.name}'", hint=HINT)
    rows = [row for row, keep in zip(node.options, legal.tolist(), strict=True) if keep]
    return Node(
        node.name,
        numbers[legal],
        np.array([row[3] for row in rows], dtype=np.float64),
        np.array([row[4:] for row in rows], dtype=np.int64),
        node.size_in,
        node.size_out,
        node.matching_inter,
        node.divisible_inter and not node.matching_inter,
        node.split_after,
    )


def _edges(table: _Table, file: str) -> Iterator[tuple[int, int]]:
    """Yield the streams by position; each leads from an earlier node to a later one."""
    position = {node.name: number for number, node in enumerate(table.nodes)}
    if len(position) < len(table.nodes):
        names = [node.name for node in table.nodes]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{file}: table.nodes: the name '{twice}' stands twice", hint=HINT)
    for number, edge in enumerate(table.edges):
        for name in edge:
            if name not in position:
                raise InputError(f"{file}: table.edges.{number}: there is no node '{name}'", hint=HINT)
        source, target = (position[name] for name in edge)
        if source >= target:
            raise InputError(f"{file}: table.edges.{number}: '{edge[1]}' stands before '{edge[0]}'", hint=HINT)
        yield source, target


def compare_on_case(problem: ScheduleProblem, case: str, methods: Sequence[str], seed: int = 0) -> dict[str, Any]:
    """Solve a case by every method, and return plain data for JSON.

    Costs are in us, ``run_us`` is that without reconfiguration; cuts are the last nodes of all partitions but the final
    one.
    """
    known = schedule_methods()
    return {"case": case, "results": [_result(problem, name, known[name], seed) for name in methods]}


def _result(problem: ScheduleProblem, name: str, method: ScheduleMethod, seed: int) -> dict[str, Any]:
    started = time.perf_counter()
    seeds = range(seed, seed + RANDOM_SEEDS) if name.startswith("annealing") else range(seed, seed + 1)
    answers = [method(problem, each) for each in seeds]
    answer = min(answers, key=lambda each: float("inf") if each.stats.objective is None else each.stats.objective)
    seconds = time.perf_counter() - started
    design, stats = answer.design, answer.stats
    rows = zip(problem.nodes, () if design is None else design.rows, strict=design is not None)
    return {
        "method": name,
        "status": stats.status,
        "us": stats.objective,
        "bound_us": stats.bound,
        "gap": stats.gap,
        "run_us": None if design is None else evaluate(problem, design).run_us,
        "cuts": [] if design is None else list(design.cuts),
        "folding": [node.foldings[row].tolist() for node, row in rows],
        "seconds": round(seconds, 4),
        "reason": answer.reason,
    }
