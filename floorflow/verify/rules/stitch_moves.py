"""The scripts by which RapidWright moves checkpoints, derived again from the plan's windows and streams."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from floorflow.verify.hardware.ranges import SiteRange, parse_range

_SITE = re.compile(r"SLICE_X(\d+)Y(\d+)")
Ends = tuple[tuple[str, str], tuple[str, str]]
"""Cell and port at the two ends of a stream."""


@dataclass(frozen=True)
class Moved:
    """A module of the plan as its script has to have it; ``window`` and ``made_in`` are ranges of pblocks."""

    cell: str
    implementation: str
    first: str
    made_in: Sequence[str]
    window: Sequence[str]
    ports: Mapping[str, int]


def faults(text: str, top: str, moved: Sequence[Moved], streams: Sequence[Ends]) -> Iterator[str]:
    """Yield what is wrong with the script of a card; ValueError where it is none."""
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise ValueError(str(error)) from error
    data = dict[str, list[tuple[object, ...]]]()
    rest = list[str]()
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            calls = [one for one in node.value.elts if isinstance(one, ast.Call)]
            data[ast.unparse(node.targets[0])] = [tuple(map(ast.literal_eval, call.args)) for call in calls]
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            rest.append(ast.unparse(node))
    expected = ["import sys", "from floorflow_rapidwright import Place, Stream, stitch"]
    if rest != [*expected, f"stitch({top!r}, PLACES, STREAMS, sys.argv[1:])"]:
        yield "does something else than to move this card's modules"
    places = data.get("PLACES", [])
    told = [(place[:3], place[5]) for place in places]
    wanted = [((one.cell, one.implementation, one.first), dict(one.ports)) for one in moved]
    if told != wanted:
        yield f"its modules are {told!s:.150}, derived {wanted!s:.150}"
    for one, place in zip(moved, places, strict=False):
        start, end = (_SITE.fullmatch(str(site)) for site in place[3:5])
        if start is None or end is None or not _carries(one, start, end):
            yield f"{one.cell}: moved from {place[3]} to {place[4]} its window is not the plan's"
    if sorted(stream[1:] for stream in data.get("STREAMS", [])) != sorted(streams):
        yield "its streams are not those that join these modules without a register"


def _carries(one: Moved, start: re.Match[str], end: re.Match[str]) -> bool:
    """Whether the window that a module was made in, moved as one site is to another, is the module's own."""
    columns, rows = (int(end[axis]) - int(start[axis]) for axis in (1, 2))
    made, own = _slices(one.made_in), _slices(one.window)
    corners = {(span.left, span.bottom) for span in made}
    moved = {SiteRange(s.kind, s.left + columns, s.bottom + rows, s.right + columns, s.top + rows) for s in made}
    return (int(start[1]), int(start[2])) in corners and moved == own


def _slices(texts: Sequence[str]) -> set[SiteRange]:
    return {span for text in texts if (span := parse_range(text)) is not None and span.kind == "SLICE"}
