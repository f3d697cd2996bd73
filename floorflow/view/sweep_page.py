"""The page of a sweep: one file without scripts and requests, with its pictures, its table, and links to the plans."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from floorflow.facts.diff import fullest_of
from floorflow.facts.text import chance, number, rate
from floorflow.view.pictures.sweep import COSTS

Row = Mapping[str, Any]

_HEAD = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 78rem; padding: 0 1rem; }}
h1 {{ font-size: 1.35rem; margin: 0 0 .3rem; }}
h2 {{ font-size: 1.1rem; margin: 1.6rem 0 .4rem; }}
.pictures {{ display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); }}
img {{ background: #fff; border: 1px solid #8888; max-width: 100%; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ border-bottom: 1px solid #8886; padding: .25rem .6rem; text-align: right; vertical-align: top; }}
th {{ font-weight: 600; white-space: nowrap; }}
.text {{ text-align: left; }}
</style>
</head>
<body>
"""
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
    lines = [_HEAD.format(title=escape(title)) + f"<h1>{escape(title)}</h1>"]
    lines.append(f'<p>{escape(told)} All columns: <a href="table.csv">table.csv</a>.</p>')
    lines += _pictures(pictures) if pictures else ()
    if planned := [row for row in rows if row["code"] == 0]:
        heads = ["no.", "model", "platform", *options.values(), *_FOUND, "look at"]
        cells = [[*_asked(row, options), *_found(row), _links(files[row["point"]])] for row in planned]
        lines += ["<h2>Plans</h2>", *_table(heads, cells)]
    if failed := [row for row in rows if row["code"] != 0]:
        cells = [[str(row["number"]), _text(row["point"]), str(row["code"]), _text(_why(row))] for row in failed]
        lines += ["<h2>Points without a plan</h2>", *_table(["no.", "point", "exit code", "why"], cells)]
    return "\n".join([*lines, "</body>", "</html>", ""])


def _pictures(pictures: Mapping[str, bytes]) -> Iterator[str]:
    yield '<div class="pictures">'
    for name, svg in pictures.items():
        source = f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
        link = f"pictures/{name}.svg"
        yield f'<a href="{link}"><img src="{source}" alt="{escape(COSTS[name].title.capitalize())}"></a>'
    yield "</div>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table of cells that are HTML."""
    kinds = [' class="text"' if head in _TEXTS else "" for head in heads]
    yield '<div class="wide"><table>'
    shown = (f"<th{kind}>{escape(head)}</th>" for head, kind in zip(heads, kinds, strict=True))
    yield f"<thead><tr>{''.join(shown)}</tr></thead>"
    for row in rows:
        yield f"<tr>{''.join(f'<td{kind}>{cell}</td>' for cell, kind in zip(row, kinds, strict=True))}</tr>"
    yield "</table></div>"


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


def _links(paths: Sequence[str]) -> str:
    return " ".join(f'<a href="{quote(path)}">{escape(path.rpartition("/")[2])}</a>' for path in paths)


def _why(row: Row) -> str:
    return str(row["message"]) + (f" ({row['hint']})" if row["hint"] else "")


def _text(value: Any) -> str:
    return "" if value is None else escape(str(value))
