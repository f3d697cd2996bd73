"""Reading a case: an option table, a platform and an objective in one JSON file, of the schema ``samo-case/1``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from floorflow.errors import InputError
from floorflow.papers.case_reading import validated
from floorflow.papers.samo.problem import RESOURCES, Node, Objective, ScheduleProblem
from floorflow.reading import read_json

CASE_SCHEMA = "samo-case/1"
HINT = "give a case as docs/schedule.md has it"

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
