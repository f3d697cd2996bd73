"""Fronts as the files of an output folder: data, a picture, and each point's folding for `plan` and other tools."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from floorflow.dataflow.model import FoldedDataflow
from floorflow.folding import FoldingSolution
from floorflow.resources import RESOURCE_NAMES
from floorflow.study.pareto.pareto import Pareto

_COLUMNS = ("objective", "interval_cycles", "frames_per_s", "status", "value", "bound", "gap", "folding_cycles")


def pareto_files(pareto: Pareto, *, foldings: bool = False) -> dict[str, str | bytes]:
    """Return ``pareto.json``, ``.csv``, ``.png`` and ``.svg``; matplotlib is loaded only here.

    With ``foldings`` also ``foldings/<objective>_<interval>/`` for each point, see `folding_files`.
    """
    from floorflow.view.pictures.files import png_bytes, svg_bytes
    from floorflow.view.pictures.pareto import pareto_chart

    content = pareto.as_dict()
    figure = pareto_chart(content)
    return {
        "pareto.json": _json(content),
        "pareto.csv": _csv(content),
        "pareto.png": png_bytes(figure),
        "pareto.svg": svg_bytes(figure),
        **(_all_foldings(pareto) if foldings else {}),
    }


def _all_foldings(pareto: Pareto) -> dict[str, str]:
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


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def _csv(content: Mapping[str, Any]) -> str:
    """Return one row a point and objective; what is not known is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, (*_COLUMNS, *RESOURCE_NAMES), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(content))
    return text.getvalue()


def _rows(content: Mapping[str, Any]) -> Iterator[dict[str, object]]:
    for front in content["fronts"]:
        for point in front["points"]:
            row = {"objective": front["objective"], **point, **(point["resources"] or {})}
            yield {key: value for key, value in row.items() if key in {*_COLUMNS, *RESOURCE_NAMES}}
