"""Several cards can be built if FINN+ joins them: in a row, each to the next by one stream."""

from pathlib import Path
from typing import Any

import pytest

from floorflow.backends.finn.card_links import unjoined
from floorflow.backends.finn.step_files import unbuilt
from floorflow.facts import Plan, read_plan
from floorflow.facts.partition import CrossingEntry
from floorflow.facts.platform import PlatformEntry
from floorflow.facts.topology import linked_streams

Streams = list[tuple[str, int, int]]
"""Name, sending card and receiving card."""


@pytest.fixture(scope="module")
def two(branches_on_two_u250: Path) -> Plan:
    return read_plan(branches_on_two_u250 / "plan.json")


def row_of(platform: PlatformEntry, cards: int, **link: Any) -> PlatformEntry:
    """Return as many cards as the first, each linked to each."""
    first = platform.fpgas[0].model_dump()
    slots = first["slots"]
    fpgas = [
        {**first, "name": f"fpga{card}"}
        | {"slots": [{**slot, "fpga": f"fpga{card}", "name": f"fpga{card}.{slot['slr']}"} for slot in slots]}
        for card in range(cards)
    ]
    ends = [(low, high) for high in range(cards) for low in range(high)]
    links = [
        {**platform.links[0].model_dump(), "name": f"fpga{low}-fpga{high}", **link}
        | {"source": f"fpga{low}.SLR2", "target": f"fpga{high}.SLR2"}
        for low, high in ends
    ]
    return PlatformEntry.model_validate({**platform.model_dump(), "fpgas": fpgas, "links": links})


def told(plan: Plan, streams: Streams, *, bits: int = 8, cards: int = 4, host: int = 1, **link: Any) -> list[str]:
    """Return what FINN+ cannot join of a plan with some streams over links, and so many outputs to the host."""
    phase = plan.phases[0]
    rows = [
        CrossingEntry(
            channel=name,
            source=f"fpga{source}.SLR2",
            target=f"fpga{target}.SLR2",
            width_bits=bits,
            gbps=1.0,
            hops=1,
            kind="link",
        )
        for name, source, target in streams
    ]
    partition = phase.partition.model_copy(update={"crossings": rows})
    inputs = [channel for channel in phase.channels if channel.source.startswith("host:")]
    outputs = [channel for channel in phase.channels if channel.target.startswith("host:")]
    channels = [channel.model_copy(update={"link": None}) for channel in inputs[:1] + outputs[:1] * host]
    changed = phase.model_copy(update={"partition": partition, "channels": channels})
    return unjoined(row_of(plan.platform, cards, **link), [changed])


def test_cards_in_a_row_are_joined_by_a_stream_each(two: Plan) -> None:
    assert told(two, [("a", 0, 1), ("b", 1, 2), ("c", 2, 3)]) == []
    assert told(two, [("a", 0, 1)], cards=2, kind="aurora-100g") == []


@pytest.mark.parametrize(
    ("streams", "more", "words"),
    [
        ([("a", 0, 1), ("b", 0, 1)], {}, "this plan 2 from fpga0 to fpga1 (a, b): --link-streams 1"),
        ([("a", 0, 1), ("a", 1, 2)], {}, "stream a passes 2 links"),
        ([("a", 0, 1), ("b", 0, 2)], {}, "fpga0 sends to 2 others"),
        ([("a", 0, 2), ("b", 1, 2)], {}, "fpga2 receives from 2 others"),
        ([("a", 0, 1), ("b", 1, 0)], {}, "streams go back: fpga1 to fpga0"),
        ([("a", 0, 1)], {"bits": 4089}, "a has 4096 where it leaves a card"),
        ([("a", 0, 1)], {"kind": "ethernet-100g"}, "this plan by ethernet-100g: --link aurora-100g"),
        ([("a", 0, 1)], {"host": 2}, "joins one output to the host, this plan has 2"),
    ],
)
def test_what_finn_plus_does_not_join_is_told(two: Plan, streams: Streams, more: dict[str, Any], words: str) -> None:
    (clause,) = told(two, streams, **more)
    assert words in clause


def test_cards_of_several_kinds_or_unknown_to_finn_plus_are_told(two: Plan) -> None:
    platform = row_of(two.platform, 2)
    boards = ("alveo-u200", "alveo-u250")
    cards = [fpga.model_copy(update={"board": board}) for fpga, board in zip(platform.fpgas, boards, strict=True)]
    found = unjoined(platform.model_copy(update={"fpgas": cards}), [])
    assert found == [
        "FINN+ links cards of one kind, this plan has alveo-u200, alveo-u250",
        "FINN+ links alveo-u250, alveo-u280, alveo-u50, alveo-u55c, and not alveo-u200",
    ]


def test_of_several_cards_finn_main_names_the_option_that_builds_them() -> None:
    (clause,) = unbuilt(["alveo-u250"] * 2, 1, in_regions=False)
    assert "--finn plus plans for FINN+" in clause
    assert unbuilt(["alveo-u250"] * 2, 1, in_regions=False, joins_cards=True) == []


def test_cages_are_counted_by_the_cards_at_the_other_ends(two: Plan) -> None:
    platform, phase = row_of(two.platform, 3), two.phases[0]
    rows = [
        phase.partition.crossings[0].model_copy(
            update={"channel": name, "kind": "link", "source": f"fpga{a}.SLR2", "target": f"fpga{b}.SLR2"}
        )
        for name, a, b in (("late", 1, 2), ("early", 0, 1))
    ]
    changed = phase.model_copy(update={"partition": phase.partition.model_copy(update={"crossings": rows})})
    cages = {one.stream.channel: dict(one.cable.cages) for one in linked_streams(platform, changed)}
    assert cages == {"late": {"fpga1": 1, "fpga2": 0}, "early": {"fpga0": 0, "fpga1": 0}}
