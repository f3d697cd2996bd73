"""report.html without a browser: it is well-formed, asks for nothing, holds the whole plan, names are names."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest

import floorflow as ff
from floorflow.facts import Plan
from tests.conftest import Planned
from tests.plans import PLANS

HOSTILE = "<script>alert('1')</script> & \"b\""
MOST_SCRIPT, LEAST_PT = 8_000, 7.0


@pytest.fixture(scope="module")
def cnv(cnv_on_u250: Path) -> ff.Plan:
    return ff.load(cnv_on_u250)


@pytest.fixture(scope="module")
def page(cnv: ff.Plan) -> str:
    return cnv.page


@pytest.fixture(scope="module")
def tree(page: str) -> minidom.Document:
    return read(page)


def read(page: str) -> minidom.Document:
    """Read a page as XML, which is stricter than HTML; style and script are no elements' content."""
    head, body = page.split("\n", maxsplit=1)
    assert head == "<!DOCTYPE html>"
    without = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", body, flags=re.DOTALL)
    return minidom.parseString(without)  # noqa: S318  (of our own making)


def elements(tree: minidom.Document, tag: str = "*") -> list[minidom.Element]:
    return list(tree.getElementsByTagName(tag))


def text_of(node: Any) -> str:
    return str(node.data) if node.nodeType == node.TEXT_NODE else "".join(map(text_of, node.childNodes))


def marked(tree: minidom.Document, tag: str) -> Iterator[str]:
    """Yield the keys of all rows, or of all that is drawn."""
    yield from (e.getAttribute("data-m") for e in elements(tree) if e.hasAttribute("data-m") and (e.tagName == tag))


def test_each_identifier_is_there_once_and_links_lead_to_sections(tree: minidom.Document) -> None:
    names = [each.getAttribute("id") for each in elements(tree) if each.hasAttribute("id")]
    assert len(names) == len(set(names))
    links = [each.getAttribute("href") for each in elements(tree, "a")]
    assert links[:3] == ["#summary", "#floorplan", "#network"]
    assert {link.removeprefix("#") for link in links} <= set(names)


def test_nothing_is_asked_of_any_server(page: str) -> None:
    assert not re.search(r"https?:|src=|@import|url\((?!#)|\bfetch\b|XMLHttp|import\(", page)


def test_the_policy_knows_the_style_and_the_script_by_their_digests(page: str, tree: minidom.Document) -> None:
    (policy,) = [m.getAttribute("content") for m in elements(tree, "meta") if m.getAttribute("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    for name in ("style", "script"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", page, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    # What the policy would refuse is not there.
    attributes = {name for each in elements(tree) for name in dict(each.attributes.items())}
    assert not {name for name in attributes if name == "style" or name.startswith("on")}


def test_the_script_is_small(page: str) -> None:
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    assert len(script.encode()) <= MOST_SCRIPT


def test_equal_plans_have_equal_pages(cnv_on_u250: Path, page: str) -> None:
    assert ff.load(cnv_on_u250).page == page


def test_each_module_is_on_its_die_in_the_table_and_among_the_layers(cnv: ff.Plan, tree: minidom.Document) -> None:
    drawn = [*marked(tree, "rect"), *marked(tree, "path")]
    assert sorted(drawn) == sorted(f"0.{number}" for number in range(1, len(cnv.modules) + 1))
    rows = list(marked(tree, "tr"))
    assert all(rows.count(key) >= 2 for key in drawn), "its own row, and those of its layers"
    told = [e.getAttribute("aria-label") for e in elements(tree) if e.getAttribute("class") == "m"]
    for row in cnv.modules:
        (own,) = [text for text in told if f" {row['module']} ·" in text]
        assert f"in {row['slot']} ·" in own
        assert f"{row['LUT']:,} LUT" in own


def test_each_layer_has_its_cycles_and_the_one_that_limits_says_so(cnv: ff.Plan, tree: minidom.Document) -> None:
    (section,) = [each for each in elements(tree, "section") if each.getAttribute("id") == "network"]
    rows = [[text_of(cell).strip() for cell in row.getElementsByTagName("td")] for row in elements(section, "tr")][1:]
    assert {row[1] for row in rows} == {engine["operation"] for engine in cnv.engines}
    by_layer = {row[1]: row for row in rows}
    for engine in cnv.engines:
        assert int(by_layer[engine["operation"]][6].replace(",", "")) >= engine["cycles"]
    slowest = max(engine["cycles"] for engine in cnv.engines)
    assert [row[6] for row in rows if "sets the rate" in row[7]] == [f"{slowest:,}"]


def test_names_are_text_whatever_is_in_them(cnv: ff.Plan, page: str) -> None:
    content = cnv.plan.model_dump(by_alias=True)
    (engine,) = [
        each for each in content["networks"][0]["engines"] if each["name"] == cnv.plan.phases[0].modules[0].name
    ]
    for each in (engine, *content["networks"][0]["operations"]):
        key = "operation" if "operation" in each else "name"
        each[key] = HOSTILE
    content["warnings"].append(HOSTILE)
    made = ff.Plan(Plan.model_validate(content), cnv.files, cnv._platform).page
    tree = read(made)
    assert len(elements(tree, "script")) == 1
    assert made.count("alert") > 3
    assert HOSTILE in [text_of(cell) for cell in elements(tree, "td")]
    assert HOSTILE in [text_of(cell) for cell in elements(tree, "li")]
    assert any(HOSTILE in each.getAttribute("aria-label") for each in elements(tree))


def test_no_text_of_a_drawing_is_smaller_than_seven_points(tree: minidom.Document) -> None:
    drawings = [each for each in elements(tree, "svg") if each.getElementsByTagName("text")]
    assert len(drawings) == 2
    for drawing in drawings:
        width = float(drawing.getAttribute("width").removesuffix("pt"))
        scale = width / float(drawing.getAttribute("viewBox").split()[2])
        sizes = [float(text.getAttribute("font-size")) * scale for text in elements(drawing, "text")]
        assert min(sizes) >= LEAST_PT - 0.05


def test_what_cannot_be_built_stands_above_all(branches_on_two_u250: Path) -> None:
    plan = ff.load(branches_on_two_u250)
    page = plan.page
    first = next(each for each in elements(read(page), "section")).childNodes[1]
    assert text_of(first).lower().startswith("cannot be built yet: ")
    assert len(elements(read(page), "figure")) == 2


def test_the_knee_of_bargains_is_marked(planned: Planned) -> None:
    plan = ff.load(planned(PLANS["TFC on a Zynq and what less rate would free"]))
    assert plan.extras is not None
    found = plan.extras.bargains
    assert found is not None
    assert knees(plan.page) == [], "nothing is freed by a little"
    rows = [
        each.model_copy(update={"figures": found.now.model_copy(update={"share": found.now.share * share})})
        for each, share in zip(found.rows, (1.0, 0.9, 0.5, 0.4, 0.3), strict=True)
    ]
    plan._known_extras[:] = [plan.extras.model_copy(update={"bargains": found.model_copy(update={"rows": rows})})]
    assert knees(plan.page) == [f"{rows[2].less:.0%}"], "a tenth of the rate frees less for what it costs"


def knees(page: str) -> list[str]:
    rows = [each for each in elements(read(page), "tr") if text_of(each).endswith(" knee")]
    return [text_of(each.childNodes[0]) for each in rows]
