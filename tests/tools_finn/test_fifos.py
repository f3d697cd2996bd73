"""FINN+ itself makes the FIFOs of a plan: between the same engines, as deep and wide, and in the memory of the plan."""

import json
import random
from itertools import cycle
from pathlib import Path
from typing import Any

import onnx
import pytest

from floorflow.backends.finn.export import files
from floorflow.backends.finn.kinds.fifo import fifo_choices
from floorflow.backends.finn.tool_depths import searched_depth
from floorflow.facts import ChannelEntry, Plan
from floorflow.technology import technology_of
from tests.gated_models import MODELS
from tests.tools_finn.oracle import FinnPlus
from tests.tools_finn.test_estimates import fire_modules, plan, saved

pytestmark = pytest.mark.tools
STYLES = ("distributed", "block", "ultra")
CONVERTER = "StreamingDataWidthConverter"


def with_every_style(outcome: Plan) -> Plan:
    """Return a plan whose FIFOs that have a choice are in every memory in turn."""
    (phase,), styles = outcome.phases, cycle(STYLES)
    channels = [c.model_copy(update={"fifo_style": next(styles)}) if has_choice(c) else c for c in phase.channels]
    return outcome.model_copy(update={"phases": [phase.model_copy(update={"channels": channels})]})


def has_choice(channel: ChannelEntry) -> bool:
    return channel.fifo_style in STYLES


def fifos_of(planned: Plan, graph: Path, folder: Path, finn_plus: FinnPlus) -> dict[tuple[str, str], Any]:
    """Let FINN+ make the FIFOs of a plan, and return them by the engines that each one joins, without converters."""
    for name, content in files(planned, 0).items():
        (folder / Path(name).name).write_text(content, encoding="utf-8")
    part = planned.platform.fpgas[0].part
    made = finn_plus.fifos(graph, folder / "folding_config.json", folder / "fifo_config.json", part)
    joined = {tuple(node["ends"]): node for node in made.values()}
    assert len(joined) == len(made)
    return joined


def ends(channel: ChannelEntry) -> tuple[str | None, str | None]:
    outside = [end.outside is not None for end in channel.ends]
    return (None if outside[0] else channel.source), (None if outside[1] else channel.target)


def fifo_of(channel: ChannelEntry, joined: dict[tuple[Any, Any], Any]) -> Any:
    """Return the FIFO of a channel: where there is a converter, the one on its wide side."""
    source, target = ends(channel)
    if channel.converter is None:
        return joined.pop((source, target))
    converters = [pair[1] for pair in joined if pair[0] == source and str(pair[1]).startswith(CONVERTER)]
    (converter,) = [name for name in converters if (name, target) in joined]

    two = [joined.pop((source, converter)), joined.pop((converter, target))]
    wide, narrow = two if channel.source_width_bits > channel.target_width_bits else two[::-1]
    assert narrow["depth"] == 2
    return wide


def assert_made_as_planned(planned: Plan, made: dict[tuple[str, str], Any]) -> None:
    channels, joined = planned.phases[0].channels, dict(made)
    technology = technology_of(planned.platform.fpgas[0].part)
    for channel in channels:
        fifo = fifo_of(channel, joined)
        assert (fifo["depth"], fifo["width"]) == (channel.fifo_depth, channel.width_bits), channel.name
        assert fifo["ram_style"] == channel.fifo_style
        choices = fifo_choices(channel.width_bits, channel.fifo_depth, technology, "finn", "plus")
        use = next(choice.resources for choice in choices if choice.style == channel.fifo_style)
        assert fifo["resources"] == {"LUT": use.lut, "BRAM_18K": use.bram18, "URAM": use.uram}
    assert not joined


@pytest.mark.parametrize(
    ("name", "platform", "options", "deep"),
    [
        pytest.param("cnv_2w2a", "zcu104", {"fps": 3000.0}, 0, marks=pytest.mark.slow),
        pytest.param("mobilenet_v1_w4a4", "alveo-u250", {"fps": 200.0}, 0, marks=pytest.mark.slow),
        pytest.param("rn18", "alveo-u250", {"fps": 400.0}, 12, marks=pytest.mark.slow),
        ("part", "alveo-u250", {"granularity": "slot", "fps": 10.0}, 3),
    ],
)
def test_finn_plus_makes_every_fifo_as_planned_and_in_the_memory_that_is_asked_for(
    name: str, platform: str, options: dict[str, Any], deep: int, tmp_path: Path, finn_plus: FinnPlus
) -> None:
    graph = fire_modules(tmp_path, 0, 16) if name == "part" else saved(name, tmp_path)
    planned = with_every_style(plan(graph, platform, costs="calibrated", **options).plan)
    assert sum(map(has_choice, planned.phases[0].channels)) >= deep
    joined = fifos_of(planned, graph, tmp_path, finn_plus)
    assert_made_as_planned(planned, joined)
    made = joined.values()
    stated = json.loads((tmp_path / "fifo_config.json").read_text(encoding="utf-8"))["ram_style"]
    assert all(fifo["made_in"] == fifo["ram_style"] for fifo in made if fifo["ram_style"] != "auto")
    assert len(stated) == len(made)
    if deep:
        assert {fifo["made_in"] for fifo in made} == {"srl", *STYLES}


def test_finn_plus_makes_the_fifos_of_a_product_of_two_branches(tmp_path: Path, finn_plus: FinnPlus) -> None:
    """FINN+ itself turns the network into engines; its nodes are in the order of levels."""
    onnx.save(MODELS["gated_vector"], tmp_path / "model.onnx")
    graph = tmp_path / "graph.onnx"
    finn_plus.convert(tmp_path / "model.onnx", graph, image=False)
    planned = plan(graph, "zcu104", costs="calibrated").plan
    assert_made_as_planned(planned, fifos_of(planned, graph, tmp_path, finn_plus))


def test_finn_plus_lowers_fifos_to_the_depths_that_are_foreseen(finn_plus: FinnPlus) -> None:
    rng = random.Random(0)
    widths = (1, 2, 3, 4, 7, 8, 9, 16, 18, 24, 36, 64, 72, 216)
    needed = [int(2 ** rng.uniform(1, 13)) for _ in range(300)]
    rows = [(int(words * 2 ** rng.uniform(0, 6)), words, rng.choice(widths)) for words in needed]
    told = finn_plus.lowered(rows)
    for row, depth in zip(rows, told, strict=True):
        assert searched_depth(*row) == depth, row
