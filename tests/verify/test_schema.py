"""The judge's own schema beside that which floorflow's models give: neither is made from the other, and they agree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from floorflow.facts import json_schema
from floorflow.verify.hardware.routes import TOPOLOGIES
from floorflow.verify.schema import departures, is_a, records, scalars
from floorflow.verify.verify import SCHEMA

MODELS = json.loads(json_schema())
NOT_ALWAYS = {".targets", ".memory_schedule", ".options.rates", ".options.min_rate"}
"""What plans of one network do not hold, though the models have it."""
BY_RULE: dict[str, tuple[str, ...] | None] = {
    ".schema": (SCHEMA,),
    ".options.objective": ("throughput", "latency", "resources"),
    ".options.tie_break": ("fullness", "scarcity"),
    ".options.topology": TOPOLOGIES,
    ".schedule.kind": ("reconfigure",),
    ".schedule.objective": ("latency", "throughput"),
    ".limits_lifted[].reason": ("folding kept", "none of the engine", "none of the network", "no plan found"),
    ".memory_schedule.fairness": ("fps-error", "throughput-error"),
    ".phases[].floorplan{}.congestion.unit": ("bit-tiles",),
    ".phases[].memories[].kind": ("weights", "fifo"),
    ".phases[].partition.crossings[].kind": ("sll", "link"),
    ".phases[].partition.loads[].kind": ("sll", "link"),
    ".reconfigurable.regions[].snapping_mode": ("ON", "ROUTING"),
}
"""Words that a rule judges, under a name of its own."""
STATUSES = ("optimal", "feasible", "infeasible", "heuristic")
WIDER = {".phases[].partition.cost"}
"""Numbers that the models have as integers."""

STRICTER = {".options.confidence", ".options.fpgas", ".options.max_products"}
"""Options whose words the models take apart by code, and the judge by its schema."""

Fact = tuple[set[str], bool, tuple[str, ...]]
"""Types of a place, whether it may be null, and the words that it may hold."""


def of_models(node: dict[str, Any], place: str = "", null: bool = False) -> Iterator[tuple[str, Fact, set[str]]]:
    """Yield each place of the models' schema with its fact and, of an object, its required fields."""
    node = MODELS["$defs"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    branches = [branch for branch in node.get("anyOf", ()) if branch.get("type") != "null"]
    if len(branches) == 1:
        yield from of_models(branches[0], place, null=True)
        return
    types = {str(branch["type"]) for branch in branches} or {str(node.get("type", "any"))}
    words = node.get("enum") or [branch["const"] for branch in [*branches, node] if "const" in branch]
    yield place, (types, null or len(branches) < len(node.get("anyOf", ())), tuple(words)), {*node.get("required", ())}
    for name, inner in node.get("properties", {}).items():
        yield from of_models(inner, f"{place}.{name}")
    others = node.get("additionalProperties")
    if isinstance(others, dict) and others:
        yield from of_models(others, f"{place}{{}}")
    inside = node.get("items") or next(iter(node.get("prefixItems", ())), None)
    if inside:
        yield from of_models(inside, f"{place}[]")


def of_judge(shape: Any, place: str = "", null: bool = False) -> Iterator[tuple[str, Fact, set[str]]]:
    """Yield the same of the judge's schema."""
    if isinstance(shape, str):
        name = shape.removesuffix(" or null")
        if name in records():
            yield from of_judge(records()[name], place, name != shape)
            return
        kind = scalars()[name]
        types = {kind["type"]} if "type" in kind else set()
        types |= {"string"} if {"pattern", "enum"} & kind.keys() else set()
        yield place, (types or {"any"}, null or name != shape, tuple(kind.get("enum", ()))), set()
    elif isinstance(shape, list):
        yield place, ({"array"}, None in shape, ()), set()
        yield from of_judge(shape[0], f"{place}[]")
    else:
        required = {field for field in shape if not field.endswith("?") and not field.startswith("*")}
        yield place, ({"object"}, null, ()), required
        for field, inner in shape.items():
            if inner != "anything":
                name = "{}" if field.startswith("*") else f".{field.removesuffix('?')}"
                yield from of_judge(inner, f"{place}{name}")


IN_MODELS = {place: (fact, required) for place, fact, required in of_models(MODELS)}
IN_JUDGE = {place: (fact, required) for place, fact, required in of_judge("plan")}


def is_by_key(place: str) -> bool:
    """Whether one side has a table of any keys where the other lists them: fractions, and sides of a window."""
    return place.startswith((".reconfigurable.fill", ".phases[].implementations[].window"))


def test_every_field_known_to_one_is_known_to_the_other() -> None:
    assert len(IN_JUDGE) > 700
    assert {place for place in IN_MODELS.keys() ^ IN_JUDGE.keys() if not is_by_key(place)} <= {
        place for place in IN_MODELS if place.endswith(".attributes{}")
    }


@pytest.mark.parametrize("part", sorted({place.split(".")[1] for place in IN_JUDGE if place}))
def test_types_nulls_and_words_are_the_same(part: str) -> None:
    places = [p for p in IN_JUDGE.keys() & IN_MODELS.keys() if p.startswith(f".{part}") and p not in WIDER]
    for place in places:
        (own_types, own_null, own_words), (types, null, words) = IN_JUDGE[place][0], IN_MODELS[place][0]
        ruled = BY_RULE.get(place) or (STATUSES if place.endswith(".status") else own_words)
        plain = {"number"} if "number" in types else types
        assert (plain - {"any"} <= own_types, own_null) == (True, null), place
        assert {*words} == {*ruled} or place in STRICTER, place


def test_what_one_requires_the_other_requires_or_always_writes() -> None:
    for place in IN_JUDGE.keys() & IN_MODELS.keys():
        own, models = IN_JUDGE[place][1], IN_MODELS[place][1]
        assert models <= own, place
        assert not {f"{place}.{field}" for field in own} & NOT_ALWAYS, place


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("count", [0, 2**63 - 1], [-1, True, 1.0, 2**63, "1", None]),
        ("integer", [-5], [True, 0.5, "0"]),
        ("number", [1, -0.5], [True, float("inf"), "1"]),
        ("flag", [True, False], [0, "true"]),
        ("share", [0, 1.5], [-1e-9]),
        ("positive", [0.1], [0]),
        ("confidence", ["none", 0.9], [0, 1, "some", True]),
        ("fpga_count", ["auto", 2], ["all", -1, True]),
        ("most_products", ["none", 9, "1:7168,9:3"], ["9:3", 0, "all", True, 2**63]),
        ("plain_name", ["a.b-c", "..."], [".", "..", "", "a/b"]),
        ("engine_id", ["net.1/MVAU_0", "MVAU_0"], ["../up", "a/b/c", "a/", "/a", ""]),
        ("report", ["a", "a/b.rpt", ".../x"], ["", "/a", "a/", "a/../b", ".", "a//b"]),
        ("file", ["a b"], ["", "a/b"]),
        ("anything", [None, {}, [1]], []),
    ],
)
def test_scalars_take_what_they_are_to_and_nothing_else(kind: str, good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if not is_a(kind, value)] == []
    assert [value for value in bad if is_a(kind, value)] == []


def test_departures_name_the_place_and_what_was_expected() -> None:
    told = dict(departures({"name": 1, "window": [], "ports": {}, "extra": 1}, "summary", "x"))
    assert told["x.platform"] == "is missing"
    rows = {"schema": "s", "platforms": {"p": {"board": 1, "memory_gbps": 1, "ms": 1, "resources": []}}}
    assert list(departures(rows, "samo_file")) == [
        ("platforms.p.board", "expected a string, found 1"),
        ("platforms.p.resources", "expected an object, found []"),
    ]
    assert list(departures([], "plan")) == [("", "expected an object, found []")]
    assert next(iter(departures({"a/b/c": 1}, "floorplan"))) == ("pblocks", "is missing")
