"""The judge's own types beside that which floorflow's models give: neither is made from the other, and they agree."""

import json
from collections.abc import Iterator
from typing import Any, NotRequired, get_args, get_origin

import pytest

from floorflow.facts import json_schema
from floorflow.verify import records
from floorflow.verify.hardware.routes import TOPOLOGIES
from floorflow.verify.phase_records import FloorplanRecord
from floorflow.verify.plan_records import PlanRecord, SummaryRecord
from floorflow.verify.schema import departures, fields_of, file_record, match_of, scalar_of, without_null
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
    ".phases[].partition.crossings[].kind": ("sll", "half", "link"),
    ".phases[].partition.loads[].kind": ("sll", "half", "link"),
    ".platform.boundaries[].kind": ("sll", "half"),
    ".reconfigurable.regions[].snapping_mode": ("ON", "ROUTING"),
}
"""Words that a rule judges, under a name of its own."""
STATUSES = ("optimal", "feasible", "infeasible", "heuristic")
WIDER = {".phases[].partition.cost"}
"""Numbers that the models have as integers."""

STRICTER = {".options.confidence", ".options.fpgas", ".options.max_products"}
"""Options whose words the models take apart by code, and the judge by its schema."""

JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}

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


def of_judge(hint: Any, place: str = "", null: bool = False) -> Iterator[tuple[str, Fact, set[str]]]:
    """Yield the same of the judge's types."""
    inner, scalar = without_null(hint), scalar_of(without_null(hint))
    null = null or inner is not hint
    fields = fields_of(inner)
    if inner is Any:
        yield place, ({"any"}, null, ()), set()
    elif scalar is not None:
        types = {JSON_TYPES[kind] for kind in scalar.types[-1:]}
        types |= {"string"} if scalar.pattern or scalar.words else set()
        yield place, (types, null, scalar.words), set()
    elif fields is not None:
        required = {name for name, field in fields.items() if get_origin(field) is not NotRequired}
        yield place, ({"object"}, null, ()), required
        for name, field in fields.items():
            yield from of_judge(field if name in required else get_args(field)[0], f"{place}.{name}")
    elif get_origin(inner) is list:
        yield place, ({"array"}, null, ()), set()
        yield from of_judge(get_args(inner)[0], f"{place}[]")
    else:
        yield place, ({"object"}, null, ()), set()
        if get_args(inner)[1] is not Any:
            yield from of_judge(get_args(inner)[1], f"{place}{{}}")


IN_MODELS = {place: (fact, required) for place, fact, required in of_models(MODELS)}
IN_JUDGE = {place: (fact, required) for place, fact, required in of_judge(PlanRecord)}


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
        (records.Count, [0, 2**63 - 1], [-1, True, 1.0, 2**63, "1", None]),
        (int, [-5], [True, 0.5, "0"]),
        (float, [1, -0.5], [True, float("inf"), "1"]),
        (bool, [True, False], [0, "true"]),
        (records.Share, [0, 1.5], [-1e-9]),
        (records.Positive, [0.1], [0]),
        (records.Confidence, ["none", 0.9], [0, 1, "some", True]),
        (records.FpgaCount, ["auto", 2], ["all", -1, True]),
        (records.MostProducts, ["none", 9, "1:7168,9:3"], ["9:3", 0, "all", True, 2**63]),
        (records.PlainName, ["a.b-c", "..."], [".", "..", "", "a/b"]),
        (records.EngineId, ["net.1/MVAU_0", "MVAU_0"], ["../up", "a/b/c", "a/", "/a", ""]),
        (records.ReportPath, ["a", "a/b.rpt", ".../x"], ["", "/a", "a/", "a/../b", ".", "a//b"]),
        (records.FileName, ["a b"], ["", "a/b"]),
        (Any, [None, {}, [1]], []),
    ],
)
def test_scalars_take_what_they_are_to_and_nothing_else(kind: Any, good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if [*match_of(kind)(value, "")]] == []
    assert [value for value in bad if not [*match_of(kind)(value, "")]] == []


def test_departures_name_the_place_and_what_was_expected() -> None:
    told = dict(departures({"name": 1, "window": [], "ports": {}, "extra": 1}, SummaryRecord, "x"))
    assert told["x.platform"] == "is missing"
    rows = {"schema": "s", "platforms": {"p": {"board": 1, "memory_gbps": 1, "ms": 1, "resources": []}}}
    assert list(departures(rows, file_record("samo_file"))) == [
        ("platforms.p.board", "expected a string, found 1"),
        ("platforms.p.resources", "expected an object, found []"),
    ]
    assert list(departures([], PlanRecord)) == [("", "expected an object, found []")]
    assert next(iter(departures({"a/b/c": 1}, FloorplanRecord))) == ("pblocks", "is missing")
