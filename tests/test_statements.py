"""What docs/statements.md says of other tools has its place and source; what was built is what the data say."""

import gzip
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from floorflow import flow
from floorflow.backends.finn.attributes import bits_of
from floorflow.backends.finn.roles import KNOWN_PRODUCTS
from floorflow.request import Request, at_width, preset_value, products_from
from tests.plans import CNV, ROOT, TFC

LIST = ROOT / "docs" / "statements.md"
ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split(" | ")]
    for line in LIST.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| statement")
]
DEGREES = ("measured", "true", "assumed")
AMD = re.compile(r"\b(?:UG|PG|XAPP|DS)\d{3,4}\b")
TELLING = ("README.md", "docs/*.md", "platforms/README.md", "examples/README.md", "floorflow/**/*.py", "tcl/*.tcl")
"""Files whose statements the list has; those of boards and dies stand beside each fact in their own files."""
OWN = re.compile(r"`((?:tests|benchmarks|platforms|floorflow|docs)/[^`]*)`")
"""A source that lies in this repository."""


@cache
def spaced(path: Path) -> str:
    """Return a file's text with one space between two words, as lines may end anywhere."""
    return " ".join(path.read_text(encoding="utf-8").split())


def test_each_statement_stands_where_it_is_said_to_and_has_a_source() -> None:
    for said, place, degree, source in ROWS:
        where = re.fullmatch(r'`([^`]+)` "(.+)"', place)
        assert where, place
        assert where[2] in spaced(ROOT / where[1]), said
        assert degree in DEGREES, said
        for name in OWN.findall(source):
            assert (ROOT / name).exists(), name
        if degree == "measured":
            assert OWN.search(source), f"{said}: no test and no benchmark"
        if degree == "true":
            document = r"FINN|qonnx|AMD|UG\d|DS\d|https?:|\(\d{4}\)|20\d\d|XDC"
            assert re.search(document, source), f"{said}: no document"


def test_each_number_of_an_amd_document_is_in_the_list() -> None:
    listed = set(AMD.findall(LIST.read_text(encoding="utf-8")))
    said = {
        n for pattern in TELLING for path in ROOT.glob(pattern) for n in AMD.findall(path.read_text(encoding="utf-8"))
    }
    assert said <= listed, sorted(said - listed)


def built() -> Iterator[tuple[int, int]]:
    """Yield the wider operand's bits and the products at once of each matrix and vector unit in HLS that was built."""
    with gzip.open(ROOT / "benchmarks" / "data" / "builds.jsonl.gz", "rt", encoding="utf-8") as lines:
        for build in map(json.loads, lines):
            for kind, has, *_ in build["engines"]:
                if kind in ("MVAU_hls", "VVAU_hls"):
                    bits = max(bits_of(has[name]) for name in ("inputDataType", "weightDataType"))
                    yield bits, has["PE"] * has["SIMD"] * has.get("M", 1)


def test_what_is_known_to_have_been_built_is_what_the_builds_say() -> None:
    rows = list(built())
    widest = max(bits for bits, _ in rows)
    for width in range(1, widest + 2):
        largest = max((products for bits, products in rows if bits >= width), default=0)
        assert at_width(KNOWN_PRODUCTS, width) == largest


@pytest.mark.parametrize("preset", ["safe", "balanced"])
def test_the_limit_of_no_width_is_below_what_was_built(preset: str) -> None:
    limit = products_from(preset_value(preset, "max_products"))  # type: ignore[arg-type]
    assert limit is not None
    for width in range(1, 17):
        assert at_width(limit, width) >= at_width(KNOWN_PRODUCTS, width)


@pytest.mark.parametrize(
    ("asked", "read"),
    [("none", None), (100, {1: 100}), ("100", {1: 100}), ("1:8192,4:64", {1: 8192, 4: 64}), (None, None)],
)
def test_limits_on_products_are_read_by_width(asked: object, read: dict[int, int] | None) -> None:
    request = Request(TFC, "u250", max_products=asked)  # type: ignore[arg-type]
    assert products_from(request.max_products) == read


@pytest.mark.parametrize(
    "asked", ["", "0", "-1", True, "2:5", "1:5,1:6", "1:0", "1:5,", "4:5,1:6", "1:x", "1.5", "9" * 19, "1:5,99999:6"]
)
def test_other_limits_on_products_are_refused(asked: object) -> None:
    with pytest.raises(Exception, match="--max-products"):
        Request(TFC, "u250", max_products=asked)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_limit_by_width_holds_for_the_wider_operand() -> None:
    request = Request(CNV, "u250", max_products="1:64,2:32,8:16", plots=False, effort="fast")
    part = flow.plan(request).plan
    engines = {engine.name: engine for engine in part.only_network.engines}
    widths = {name: max(engine.weight_bits, engine.input_bits) for name, engine in engines.items()}
    products = {name: entry.products for name, entry in part.phases[0].engines.items() if entry.products}
    assert products
    assert {widths[name] for name in products} >= {2, 8}
    assert all(count <= at_width({1: 64, 2: 32, 8: 16}, widths[name]) for name, count in products.items())
