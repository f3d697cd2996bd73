"""Equal modules are told to be equal, and nothing else: against a comparison of every pair by hand."""

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from floorflow.channels import Channel
from floorflow.channels.implementations import Circuits, Likeness, held_alike, likenesses
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.dataflow.modules import Module
from floorflow.resources import Resources

Pair = tuple[str, int]
"""Kind and PE of an engine."""


def engine_of(name: str, kind: str) -> Engine:
    return Engine(name, kind, name, {"Channels": 8}, 0, 8, 8)


def option_of(pe: int) -> Option:
    return Option({"PE": pe}, 10, Resources(lut=10), (8 * pe,), (8 * pe,))


def chain(pairs: list[Pair], of: int = 1) -> tuple[tuple[Module, ...], FoldedDataflow, tuple[Channel, ...]]:
    """Make a chain of engines, so many a module, with a FIFO of two words behind each."""
    names = [f"e{i}" for i in range(len(pairs))]
    ends = ["host:in0", *names, "host:out0"]
    streams = tuple(Stream(a, 0, b, 0, 64, 8, 8) for a, b in pairwise(ends))
    engines = tuple(engine_of(name, kind) for name, (kind, _) in zip(names, pairs, strict=True))
    folded = FoldedDataflow(
        Dataflow("net", engines, streams), {n: option_of(pe) for n, (_, pe) in zip(names, pairs, strict=True)}
    )
    channels = tuple(Channel(stream, 8, 8, None, 2, Resources(), Resources()) for stream in streams)
    modules = tuple(Module(names[i], tuple(names[i : i + of])) for i in range(0, len(names), of))
    return modules, folded, channels


def found(pairs: list[Pair], in_logic: dict[str, str] | None = None, of: int = 1) -> list[Likeness]:
    return list(likenesses(Circuits(*chain(pairs, of), in_logic or {})))


def test_modules_of_equal_engines_are_made_once() -> None:
    alike = found([("H", 1), ("H", 1), ("A", 1), ("B", 1), ("A", 1), ("B", 1)], of=2)[1:]
    assert [(one.like, one.implementation, one.why_not) for one in alike] == [("e2", "e2", "")] * 2


def test_other_foldings_are_other_modules() -> None:
    assert [one.like for one in found([("A", 1), ("A", 2), ("A", 1)])] == ["e0", "e1", "e0"]
    assert not any(one.why_not for one in found([("A", 1), ("A", 2)]))


def test_constants_in_logic_leave_the_likeness_and_take_the_implementation() -> None:
    _, first, second, third = found([("H", 1), *[("A", 1)] * 3], {"e2": "weights of e2"})
    assert [one.like for one in (first, second, third)] == ["e1"] * 3
    assert [one.implementation for one in (first, second, third)] == ["e1", "e2", "e1"]
    assert second.why_not == "weights of e2 are part of the logic"
    assert not first.why_not
    assert not third.why_not


def test_another_fifo_is_another_implementation() -> None:
    modules, folded, channels = chain([("A", 1)] * 2)
    deeper = (*channels[:1], replace(channels[1], fifo_depth_words=32), *channels[2:])
    one, other = likenesses(Circuits(modules, folded, deeper, {}))
    assert (one.like, other.like) == ("e0", "e0")
    assert (one.implementation, other.implementation) == ("e0", "e1")
    assert other.why_not == "its FIFOs, converters or wires are not those of e0"


def test_the_first_module_holds_the_fifo_of_the_host_as_well() -> None:
    assert [one.implementation for one in found([("A", 1)] * 3)] == ["e0", "e1", "e1"]


def test_the_fifo_of_a_neighbour_is_no_part_of_a_module() -> None:
    modules, folded, channels = chain([("B", 1), ("A", 1), ("C", 1), ("A", 1)])
    deeper = (channels[0], replace(channels[1], fifo_depth_words=32), *channels[2:])
    assert [one.implementation for one in likenesses(Circuits(modules, folded, deeper, {}))] == ["e0", "e1", "e2", "e1"]


def test_modules_that_are_joined_otherwise_are_not_alike() -> None:
    modules, folded, channels = chain([("A", 1), ("B", 1), ("A", 1), ("B", 1)], of=2)
    turned = replace(channels[3].stream, source="e3", target="e2")
    streams = (*folded.dataflow.streams[:3], turned, *folded.dataflow.streams[4:])
    other = FoldedDataflow(replace(folded.dataflow, streams=streams), folded.options)
    swapped = (*channels[:3], replace(channels[3], stream=turned), *channels[4:])
    assert [one.like for one in likenesses(Circuits(modules, other, swapped, {}))] == ["e0", "e2"]


def test_networks_share_what_they_have_in_common_under_the_names_that_are_given() -> None:
    pairs = [("H", 1), ("A", 1)]
    first = Circuits(*chain(pairs), {}, {"e0": "one__e0", "e1": "one__e1"})
    second = Circuits(*chain(pairs), {"e1": "weights of two/e1"}, {"e0": "two__e0", "e1": "two__e1"})
    alike = likenesses(first, second)
    assert [one.implementation for one in alike] == ["one__e0", "one__e1", "one__e0", "two__e1"]
    assert alike[3].why_not == "weights of two/e1 are part of the logic"


@given(st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from([1, 2])), min_size=1, max_size=8), st.data())
def test_two_modules_are_one_where_all_of_them_is_equal(pairs: list[Pair], data: st.DataObject) -> None:
    depths = data.draw(st.lists(st.sampled_from([2, 32]), min_size=len(pairs) + 1, max_size=len(pairs) + 1))
    baked = data.draw(st.sets(st.sampled_from([f"e{i}" for i in range(len(pairs))])))
    modules, folded, plain = chain(pairs)
    channels = [replace(channel, fifo_depth_words=depth) for channel, depth in zip(plain, depths, strict=True)]
    alike = likenesses(Circuits(modules, folded, channels, dict.fromkeys(baked, "weights")))
    for i, one in enumerate(alike):
        for j, other in enumerate(alike):
            # The first engine holds the FIFO of the host's stream as well, which no other has.
            fifos = [depths[i + 1], depths[0] if i == 0 else None], [depths[j + 1], depths[0] if j == 0 else None]
            same = pairs[i] == pairs[j] and fifos[0] == fifos[1] and not {one.module, other.module} & baked
            assert (one.like == other.like) == (pairs[i] == pairs[j])
            assert (one.implementation == other.implementation) == (same or i == j)


def test_fifos_at_one_place_of_equal_modules_are_one_group() -> None:
    modules, folded, channels = chain([("A", 1), ("B", 1)] * 2, of=2)
    groups = held_alike(Circuits(modules, folded, channels, {}))
    assert sorted(groups) == [["e0.0->e1.0", "e2.0->e3.0"], ["e1.0->e2.0", "e3.0->host:out0.0"]]
    other = replace(folded, options={**folded.options, "e3": option_of(2)})
    assert not held_alike(Circuits(modules, other, channels, {}))
