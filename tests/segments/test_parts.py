"""Parts leave stages and tied engines whole, depend on one another without a circle, and stand in several orders."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorflow.dataflow.model import Dataflow, Engine, Stream
from floorflow.dataflow.modules import stages
from floorflow.dataflow.options import OptionGroup
from floorflow.segments import orders_of, parts_of
from tests.plans import EXAMPLES
from tests.segments.cases import COSTS, lowered, random_network, random_segments

seeds = st.integers(0, 10**6)


def drawn(*streams: str) -> Dataflow:
    """Return engines, each a stage of its own, joined as ``"ab"`` says: from a to b."""
    names = sorted(set("".join(streams)))
    engines = tuple(Engine(name, "Kind", "", {}, 0, 2, 2, role="core") for name in names)
    return Dataflow("drawn", engines, tuple(Stream(a, 0, b, 0, 8, 8, 2) for a, b in streams))


def letters(parts: tuple[tuple[str, ...], ...]) -> list[str]:
    return ["".join(part) for part in parts]


def group(names: str) -> OptionGroup:
    return OptionGroup(tuple(names), ())


def assert_forwards(dataflow: Dataflow, parts: tuple[tuple[str, ...], ...]) -> None:
    assert sorted(chain.from_iterable(parts)) == sorted(engine.name for engine in dataflow.engines)
    home = {name: position for position, names in enumerate(parts) for name in names}
    assert all(home[source] <= home[target] for source, target in dataflow.engine_pairs)


@given(seeds)
def test_no_order_leads_back_and_none_cuts_stages_or_tied_engines(seed: int) -> None:
    segments = random_segments(seed)
    dataflow = segments.dataflow
    parts = parts_of(dataflow, segments.groups)
    for order in (parts, *orders_of(dataflow, parts)):
        assert_forwards(dataflow, order)
        assert sorted(order) == sorted(parts)
    whole = [set(part) for part in parts]
    for kept in (*stages(dataflow.engines, dataflow.engine_pairs), *(set(g.engines) for g in segments.groups)):
        assert any(kept <= part for part in whole)


def test_a_chain_of_cores_has_one_order_of_its_stages() -> None:
    dataflow = lowered(EXAMPLES / "cnv_2w2a.onnx")
    parts = parts_of(dataflow, COSTS.groups(dataflow))
    assert len(parts) == sum(engine.role == "core" for engine in dataflow.engines)
    assert orders_of(dataflow, parts) == (parts,)


def test_what_lies_between_tied_engines_is_of_their_part() -> None:
    dataflow = drawn("ab", "bc", "cd", "de", "bf", "fe")
    assert letters(parts_of(dataflow, [group("bd")])) == ["a", "bcd", "f", "e"]
    assert letters(parts_of(dataflow, [group("be")])) == ["a", "bcdef"]
    assert letters(parts_of(dataflow, [group("cf")])) == ["a", "b", "cf", "d", "e"]


def test_branches_come_one_by_one_or_side_by_side() -> None:
    # A long branch b, c, d and a short one x between a and e.
    dataflow = drawn("ab", "bc", "cd", "de", "ax", "xy", "ye")
    parts = parts_of(dataflow, [])
    orders = {"".join(letters(order)) for order in orders_of(dataflow, parts)}
    assert orders == {"abcdxye", "axybcde", "abxcyde"}


@pytest.mark.parametrize("seed", range(3, 9))
def test_orders_are_the_same_every_time(seed: int) -> None:
    dataflow = random_network(seed)
    parts = parts_of(dataflow, [])
    assert parts == parts_of(dataflow, [])
    assert orders_of(dataflow, parts) == orders_of(dataflow, parts)
