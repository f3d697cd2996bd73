"""What planner and check both know stands once, in the tables of docs/plan.md, and both sides agree with them."""

from collections.abc import Callable
from dataclasses import astuple
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from floorflow import presets, request, resources
from floorflow.backends.finn import roles
from floorflow.backends.finn.kinds import kind, matrix_vector, weighted
from floorflow.backends.finn.lower import state
from floorflow.backends.finn.names import technology_for
from floorflow.channels import realise
from floorflow.dataflow import bands, fifo
from floorflow.facts import constraint, plan
from floorflow.folding import balance
from floorflow.hardware import TOPOLOGIES, Crossing, board, device_file, link_crossing, load, reach, routing, slot_graph
from floorflow.placement import objective
from floorflow.record import streams
from floorflow.search.candidate import context
from floorflow.search.policy import host_weights, other_requests
from floorflow.technology import technology_of
from floorflow.verify import facts as judged_facts
from floorflow.verify import records, verify
from floorflow.verify.finn import foldings, styles
from floorflow.verify.finn import judge as finn_judge
from floorflow.verify.finn.engines import is_versal
from floorflow.verify.hardware import boards, geometry, routes
from floorflow.verify.rules import claims, crossings, fifos, outcomes, slices, summary
from floorflow.verify.rules import pblocks as judged_room
from floorflow.verify.rules import ports as judged_ports
from floorflow.verify.rules import routing as judged_routing
from floorflow.verify.rules import throughput as judged_engines

ROOT = Path(__file__).resolve().parents[1]


def rows(start: str) -> dict[str, str]:
    """Return name and value of each row of the constants' table, or of that of the parts."""
    text = (ROOT / "docs" / "plan.md").read_text(encoding="utf-8").partition("## Constants of the specification")[2]
    lines = text.partition(start)[2].partition("|---|")[2].splitlines()[1:]
    cells = [line.strip("|").split("|") for line in _until_blank(lines)]
    return {name.strip().strip("`"): value.strip() for name, value, *_ in cells}


def _until_blank(lines: list[str]) -> list[str]:
    return lines[: lines.index("")] if "" in lines else lines


def schema_of(model: Any, field: str) -> str:
    return str(get_args(model.model_fields[field].annotation)[0])


def scarce() -> tuple[str, ...]:
    """Return the resources whose use alone makes something scarce."""
    silicon = resources.Resources(10, 10, 10, 10, 10)
    one_each = {name: resources.Resources.from_dict({name: 1}) for name in resources.RESOURCE_NAMES}
    return tuple(name for name, use in one_each.items() if resources.scarcity(use, silicon) > 0)


def step(padded: Callable[[int], int]) -> int:
    """Return the multiple to which widths are padded."""
    (found,) = {padded(width) for width in range(1, padded(1) + 1)}
    return found


LINK = link_crossing(gbps=1, latency_us=1, clock_mhz=100)
BOTH: dict[str, tuple[Any, Any]] = {
    "plan_schema": (plan.SCHEMA, verify.SCHEMA),
    "board_schema": (schema_of(board.BoardFile, "file_schema"), boards.BOARD_SCHEMA),
    "device_schema": (schema_of(device_file.DeviceModel, "file_schema"), geometry.DEVICE_SCHEMA),
    "link_schema": (schema_of(board.LinkKind, "file_schema"), boards.LINK_SCHEMA),
    "platform_schema": (schema_of(load.PlatformModel, "file_schema"), routes.PLATFORM_FILE_SCHEMA),
    "resources": (resources.RESOURCE_NAMES, records.RESOURCE_NAMES),
    "scarce_resources": (scarce(), claims.SCARCE),
    "topologies": (TOPOLOGIES, routes.TOPOLOGIES),
    "objectives": (get_args(request.Objective), claims.OBJECTIVES),
    "may_be_none": (board.STATED, boards.MAY_BE_NONE),
    "tie_breaks": (get_args(request.TieBreak), summary.TIE_BREAKS),
    "presets": (get_args(presets.Preset), get_args(records.Preset)),
    "fifo_words_inside": (realise.INSIDE_DEPTH_WORDS, fifos.DEPTH_INSIDE_A_MODULE),
    "fifo_words_between": (realise.BETWEEN_DEPTH_WORDS, fifos.DEPTH_BETWEEN_MODULES),
    "fifo_words_per_register": (Crossing("sll", registers=1, cycles=1).words_in_flight(1, 1), fifos.WORDS_PER_STAGE),
    "crossing_fifo_of_a_wire": ((slot_graph.FIFO.lut, slot_graph.FIFO.ff), (*judged_facts.FIFO_OF_A_WIRE.values(),)),
    "crossing_slice_stages": (slot_graph.SLICE_STAGES, judged_facts.STAGES_OF_A_SLICE),
    "link_round_trips": (LINK.words_in_flight(7, 7) // LINK.cycles, fifos.LINK_ROUND_TRIP),
    "byte_bits": (step(slot_graph.padded_width_bits), step(judged_facts.padded)),
    "handshake_wires": (slot_graph.HANDSHAKE_WIRES, judged_facts.SLL_HEADER_WIRES),
    "boundary_cost": (slot_graph.BOUNDARY_COST, routes.SLL_COST),
    "link_cost": (slot_graph.LINK_COST, routes.LINK_COST),
    "hops_unless_asked": (context.LEAST_HOPS, crossings.HOPS_UNLESS_ASKED),
    "infrastructure_per": (get_args(board.Occurrence), boards.PER),
    "host_slr_word": (board.HOST, boards.AT_HOST),
    "rate_tolerance": (context.RATE_TOLERANCE, claims.RATE_TOLERANCE),
    "finest_epsilon": (balance.FINEST, judged_engines.FINEST_EPSILON),
    "bargains": (other_requests.LESS, summary.LESS),
    "rounding": (resources.ROUNDING, records.ROUNDING),
    "most_hls_stream_bits": (kind.MAX_STREAM_BITS, foldings.MAX_HLS_STREAM_BITS),
    "most_hls_input_fold": (matrix_vector.MAX_HLS_INPUT_FOLD, foldings.MAX_HLS_INPUT_FOLD),
    "rtl_bits": (
        (state._LEAST_RTL_BITS, state._PREFERRED_RTL_BITS, state._MOST_RTL_BITS),
        (styles._LEAST_BITS, styles._PREFERRED_BITS, styles._MOST_BITS),
    ),
    "least_engine_lut": (request.LEAST_ENGINE_LIMITS["LUT"], judged_engines.LEAST_ALLOWED["LUT"]),
    "least_engine_dsp": (request.LEAST_ENGINE_LIMITS["DSP"], judged_engines.LEAST_ALLOWED["DSP"]),
    "known_products": (tuple(chain(*roles.KNOWN_PRODUCTS.items())), tuple(chain(*finn_judge.KNOWN_PRODUCTS.items()))),
    "host_weights_worth": (host_weights.WORTH, judged_engines.WORTH),
    "rectangle_fill": (tuple(request.DEFAULT_FILL.values()), tuple(judged_room.RECTANGLE_FILL.values())),
    "hard_fill": (tuple(request.HARD_FILL.values()), tuple(judged_room.HARD_FILL.values())),
    "large_lut": (request.LARGE_LUT, judged_room.LARGE_LUT),
    "large_lut_fill": (request.LARGE_LUT_FILL, judged_room.LARGE_LUT_FILL),
    "most_of_slot": (request.MOST_OF_SLOT, judged_room.MOST_OF_SLOT),
    "reach_tiles_mhz": (reach.REACH_TILES_MHZ, slices.TILES_AND_MHZ),
    "comfortable_reach": (reach.COMFORTABLE_SHARE, slices.COMFORTABLE),
    "least_weight": (slot_graph.LEAST_WEIGHT, judged_ports.NARROWEST),
    "slice_words": (fifo.SLICE_WORDS, slices.SLICE_WORDS),
    "longest_listed": (streams.LISTED, slices.LISTED),
    "most_of_fpga": (request.MOST_OF_FPGA, judged_room.MOST_OF_FPGA),
    "stream_bits": (objective.STREAM_BITS, judged_routing.STREAM_BITS),
    "bin_tiles": (routing.BIN_TILES, judged_routing.BIN_TILES),
    "long_wire_share": (routing.FREE_SHARE, judged_routing.FREE_SHARE),
    "long_wires": (astuple(routing.LONG_WIRES["ultrascale+"]), judged_routing.LONG_WIRES),
    "long_wires_7series": (astuple(routing.LONG_WIRES["7series"]), judged_routing.LONG_WIRES_7),
    "constraint_styles": (get_args(constraint.SlotStyle), get_args(records.Style)),
    "tenth_deviations": (bands._TENTH, outcomes.TENTH_DEVIATIONS),
    "most_told": (resources.MOST_TOLD, outcomes.MOST_TOLD),
    "memory_modes": (weighted._MEMORY_MODES, foldings.MEMORY_MODES),
}
"""What the planner has, and what the judge has, by the constant's name."""


@pytest.mark.parametrize("side", [0, 1], ids=["planner", "check"])
def test_both_sides_have_the_constants_of_the_table(side: int) -> None:
    held = {name: values[side] for name, values in BOTH.items()}
    spelt = {
        name: " ".join(map(str, value)) if isinstance(value, tuple) else str(value) for name, value in held.items()
    }
    assert spelt == rows("check` both have to know")


PARTS = {name: value.split() for name, value in rows("Parts by the beginning").items()}


@pytest.mark.parametrize("name", PARTS["without UltraRAM"])
def test_parts_without_ultraram_have_none_on_either_side(name: str) -> None:
    rest = {"xc7": "z020", "xcau": "25p-x", "xcku0": "40-x", "xcvu0": "95-x"}.get(name, "-x")
    for maker in ("xc", "xa", "xq"):
        part = f"{maker}{name[2:]}{rest}"
        assert technology_of(part).has_uram is boards.has_uram(part) is False


def test_check_knows_no_other_parts_without_ultraram() -> None:
    assert sorted(boards._WITHOUT_URAM) == sorted(PARTS["without UltraRAM"])


@pytest.mark.parametrize("name", PARTS["with UltraRAM"])
def test_parts_with_ultraram_have_it_on_both_sides(name: str) -> None:
    assert technology_of(f"{name}-x").has_uram is boards.has_uram(f"{name}-x") is True


@pytest.mark.parametrize("finn", ["main", "dev", "plus"])
def test_both_sides_take_the_same_parts_for_versal(finn: Any) -> None:
    newer = finn != "main"
    lists = [("Versal to every FINN", True), ("Versal since FINN dev", newer), ("no Versal to FINN", False)]
    for name, expected in lists:
        for start in PARTS[name]:
            part = f"{start}1902-x"
            assert (technology_for(part, finn).architecture == "versal") is is_versal(part, finn) is expected


@pytest.mark.parametrize("file", sorted((ROOT / "platforms" / "devices").glob("*.yaml")), ids=lambda path: path.stem)
def test_names_tell_of_ultraram_what_the_die_has(file: Path) -> None:
    die = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    part = f"{die['part']}-x"
    assert technology_of(part).has_uram is boards.has_uram(part) is ("URAM288" in die["site_columns"])
