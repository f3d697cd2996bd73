"""Fronts as the files of an output folder: a table, and each point's folding for `plan` and other tools."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from floorflow.dataflow.model import FoldedDataflow
from floorflow.folding import FoldingSolution
from floorflow.resources import RESOURCE_NAMES
from floorflow.study.pareto.pareto import Pareto

_COLUMNS = ("objective", "interval_cycles", "frames_per_s", "status", "value", "bound", "gap", "folding_cycles")


def all_folding_files(pareto: Pareto) -> dict[str, str]:
    """Return ``foldings/<objective>_<interval>/`` for each point, see `folding_files`."""
    return {
        f"foldings/{front.objective}_{point.interval_cycles}/{name}": text
        for front in pareto.fronts
        for point in front.points
        if point.folding is not None
        for name, text in folding_files(pareto, point.folding).items()
    }


def folding_files(pareto: Pareto, folding: FoldingSolution) -> Mapping[str, str]:
    """Return the files of the back end from which ``plan --folding`` gets the folding back."""
    folded = FoldedDataflow(pareto.dataflow, folding.options)
    return pareto.backend.folding_files(pareto.backend.finished(folded))


def csv_text(content: Mapping[str, Any]) -> str:
    """Return one row a point and objective; what is not known is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, (*_COLUMNS, *RESOURCE_NAMES), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(content))
    return text.getvalue()


def rows(content: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    """Yield each point of each front with what it uses of each resource; what is not known is left out or None."""
    for front in content["fronts"]:
        for point in front["points"]:
            row = {"objective": front["objective"], **point, **(point["resources"] or {})}
            yield {key: value for key, value in row.items() if key in {*_COLUMNS, *RESOURCE_NAMES}}
