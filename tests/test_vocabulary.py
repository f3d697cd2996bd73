"""One word for a thing: the house words of before stay away, and the glossary names what there is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from floorflow.facts import Plan
from tests.sources import trees

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
TERMS = re.findall(r"^\* \*\*(.+?)\*\*: (.+)$", GLOSSARY, re.MULTILINE)

BETTER = {
    "Setting": "PlanningContext",
    "Found": "SearchResult, FoldingAnswer, ...",
    "Trials": "SearchState",
    "Attempt": "TraceRow",
    "remedy": "repair",
    "remedies": "repair",
    "barrier": "link_bound",
    "Passage": "RouteDelay",
    "roomiest": "largest",
    "rooms": "pblock_capacities",
    "picks": "selection",
    "tally": "evaluator",
    "Tally": "Evaluator",
    "Descent": "LocalSearch",
    "Kinds": "EqualGroups",
    "Relaxed": "LagrangianBound",
    "relaxed": "lagrangian",
    "Probes": "FeasibilityOracle",
    "probes": "oracle",
    "foldable": "is_feasible",
    "Answer": "FoldingAnswer, PartitionAnswer, ...",
    "links_first": "fpga_first",
    "Ground": "PreparedProblem",
    "pull": "attraction",
    "Doubt": "AmbiguousMatch",
    "Built": "MeasuredEngine",
    "PAPER_CAPS": "DEFAULT_CAP",
}
"""House words of version 0.1, and what the thing is called."""


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Yield every name that a file defines or uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg | ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield from (node.name.rsplit(".", 1)[-1], node.asname or "")


def test_house_words_do_not_come_back() -> None:
    back = [
        f"{file}: {name}, better {BETTER[name.lstrip('_')]}"
        for file, tree in trees().items()
        for name in sorted(set(identifiers(tree)))
        if name in BETTER
    ]
    assert not back


def test_terms_stand_in_order_and_once() -> None:
    names = [name.casefold() for name, _ in TERMS]
    assert len(names) > 50
    assert names == sorted(set(names))


def classes() -> set[str]:
    return {node.name for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def test_classes_of_the_glossary_exist() -> None:
    named = [name for _, text in TERMS for name in re.findall(r"class `(\w+)`", text)]
    assert len(named) > 30
    assert set(named) <= classes()


FIELDS = [path for _, text in TERMS for path in re.findall(r"plan\.json `([^`]+)`", text)]


def test_keys_of_the_glossary_stand_in_the_plan() -> None:
    for path in FIELDS:
        kind: Any = Plan
        for part in path.split("."):
            key = re.sub(r"(\[\]|\{\})*$", "", part)
            assert issubclass(kind, BaseModel), f"{path}: nothing below {kind}"
            assert key in kind.model_fields, f"{path}: {kind.__name__} has no {key}"
            kind = _value(get_type_hints(kind)[key], part.removeprefix(key))


def _value(kind: Any, brackets: str) -> Any:
    """Return what a list or a mapping holds, where the path goes into it, and what may also be null otherwise."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    for bracket in re.findall(r"\[\]|\{\}", brackets):
        assert get_origin(kind) is {"[]": list, "{}": dict}[bracket]
        kind = get_args(kind)[-1]
    return kind
