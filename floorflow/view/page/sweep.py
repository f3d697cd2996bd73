"""The page of a sweep: one file without scripts and requests, with its pictures, its table, and links to the plans."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from floorflow.facts.diff import fullest_of
from floorflow.facts.text import chance, number, rate
from floorflow.view.page.html import Html, document, element, joined, table
from floorflow.view.pictures.sweep import COSTS

Row = Mapping[str, Any]

_FOUND = ("frames/s", "cards", "fullest", "least likely", "LUT")
_TEXTS = {"model", "platform", "fullest", "least likely", "look at", "point", "why"}
"""Heads of columns that begin at the left."""


def sweep_page(
    title: str,
    told: str,
    rows: Sequence[Row],
    *,
    options: Mapping[str, str],
    files: Mapping[str, Sequence[str]],
    pictures: Mapping[str, bytes],
) -> str:
    """Return the page of a table's rows.

    ``options``: heads of the columns that say what points differ in; ``files``: paths to look at by point; ``pictures``
    are SVG.
    """
    lines = [element("h1", title), element("p", f"{told} All columns: ", _link("table.csv"), ".")]
    if pictures:
        lines.append(element("div", *(_picture(name, svg) for name, svg in pictures.items()), class_="pictures"))
    if planned := [row for row in rows if row["code"] == 0]:
        heads = ["no.", "model", "platform", *options.values(), *_FOUND, "look at"]
        cells = [[*_asked(row, options), *_found(row), joined(map(_link, files[row["point"]]), " ")] for row in planned]
        lines += [element("h2", "Plans"), _table("plans", heads, cells)]
    if failed := [row for row in rows if row["code"] != 0]:
        cells = [[str(row["number"]), row["point"], str(row["code"]), _why(row)] for row in failed]
        heads = ["no.", "point", "exit code", "why"]
        lines += [element("h2", "Points without a plan"), _table("points without a plan", heads, cells)]
    return document(title, element("main", joined(lines, "\n")), images=True)


def _picture(name: str, svg: bytes) -> Html:
    source = f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
    drawn = element("img", src=source, alt=COSTS[name].title.capitalize())
    return element("a", drawn, href=f"pictures/{name}.svg")


def _table(label: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Html:
    return table(label, heads, rows, numbers="".join(" " if head in _TEXTS else "n" for head in heads))


def _asked(row: Row, options: Iterable[str]) -> list[str]:
    return [str(row["number"]), *(_text(row[name]) for name in ("model", "platform", *options))]


def _found(row: Row) -> list[str]:
    likely = row["least_likelihood"]
    return [
        "unknown" if row["fps"] is None else rate(row["fps"]),
        number(row["fpgas"]),
        _text(fullest_of(row)),
        "" if likely is None else f"{_text(row['least_likely'])}: {chance(likely)}",
        "" if row["LUT"] is None else number(row["LUT"]),
    ]


def _link(path: str) -> Html:
    return element("a", path.rpartition("/")[2], href=quote(path))


def _why(row: Row) -> str:
    return str(row["message"]) + (f" ({row['hint']})" if row["hint"] else "")


def _text(value: Any) -> str:
    return "" if value is None else str(value)
