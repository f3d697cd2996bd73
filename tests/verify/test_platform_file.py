"""A plan on boards that differ: legal as planned, and every mistake about its platform file is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from floorflow.request import DEFAULT_CAP, Request
from floorflow.verify import check
from tests.conftest import make_plan
from tests.plans import TFC
from tests.verify.tiny import found_after, read_folder

MIXED = Path(__file__).resolve().parent.parent / "hardware" / "mixed" / "u250-and-u280.yaml"
FILE = "platform/platforms/u250-and-u280.yaml"
Plan = dict[str, Any]
Files = dict[str, str]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cap = {**DEFAULT_CAP, "LUT": 0.008}
    # The least scarce design crosses SLRs on both boards.
    request = Request(TFC, str(MIXED), cap=cap, tie_break="scarcity", effort="fast", plots=False)
    return make_plan(tmp_path_factory.mktemp("mixed") / "out", request)


@pytest.fixture(scope="module")
def legal(mixed: Path) -> tuple[Plan, Files]:
    return read_folder(mixed)


def test_a_u250_and_a_bare_xcu280_joined_in_yaml_are_planned_and_legal(mixed: Path, legal: tuple[Plan, Files]) -> None:
    assert check(mixed) == []
    plan, files = legal
    boards = [fpga["board"] for fpga in plan["platform"]["fpgas"]]
    assert (boards, plan["options"]["fpgas"], plan["options"]["clock_mhz"]) == (["alveo-u250", "xcu280"], 2, 220)
    assert files[FILE] == MIXED.read_text()
    used = {slot.partition(".")[0] for slot in plan["phases"][0]["partition"]["assignment"].values()}
    assert used == {"fpga0", "fpga1"}


def edited(change: Callable[[Any], None], file: str = FILE) -> Callable[[Plan, Files], None]:
    def spoil(plan: Plan, files: Files) -> None:
        content = yaml.safe_load(files[file])
        change(content)
        files[file] = yaml.safe_dump(content)

    spoil.__name__ = change.__name__
    return spoil


def boards_exchanged(content: Any) -> None:
    content["fpgas"].reverse()


def one_fpga_more(content: Any) -> None:
    content["fpgas"].append({"board": "alveo-u250"})


def of_another_kind(content: Any) -> None:
    content["links"][0]["kind"] = "pcie"


def without_its_end(content: Any) -> None:
    del content["links"][0]["ends"]


def ending_elsewhere(content: Any) -> None:
    content["links"][0]["ends"] = {"fpga1": "SLR0"}


def ending_nowhere(content: Any) -> None:
    content["links"][0]["ends"] = {"fpga1": "SLR7"}


def end_that_the_board_states(content: Any) -> None:
    content["links"][0]["ends"]["fpga0"] = "SLR3"


def end_of_another_fpga(content: Any) -> None:
    content["links"][0]["ends"]["fpga2"] = "SLR0"


def joined_twice(content: Any) -> None:
    content["links"] *= 2


def joined_to_itself(content: Any) -> None:
    content["links"][0]["between"] = ["fpga1", "fpga1"]


def not_joined(content: Any) -> None:
    content["links"] = []


def called_otherwise(content: Any) -> None:
    content["name"] = "another"


def without_fpgas(content: Any) -> None:
    del content["fpgas"]


def of_another_schema(content: Any) -> None:
    content["schema"] = "floorflow-platform/9"


def link_file_called_otherwise(content: Any) -> None:
    content["name"] = "another"


def ends_no_link(content: Any) -> None:
    content["link"]["max_links"] = 0


def file_not_listed(plan: Plan, files: Files) -> None:
    plan["platform"]["files"].remove("platforms/u250-and-u280.yaml")


def file_missing(plan: Plan, files: Files) -> None:
    del files[FILE]


def link_file_not_listed(plan: Plan, files: Files) -> None:
    plan["platform"]["files"].remove("links/aurora-100g.yaml")


def link_asked_for_as_well(plan: Plan, files: Files) -> None:
    plan["options"]["link"] = "aurora-100g"


def link_not_in_the_plan(plan: Plan, files: Files) -> None:
    plan["platform"]["links"].clear()


def faster_link(plan: Plan, files: Files) -> None:
    plan["platform"]["links"][0]["gbps"] *= 2


def link_at_another_slot(plan: Plan, files: Files) -> None:
    plan["platform"]["links"][0]["target"] = plan["platform"]["fpgas"][1]["slots"][0]["name"]


def no_core_at_the_bare_board(plan: Plan, files: Files) -> None:
    platform = plan["platform"]
    slots = {slot["name"] for slot in platform["fpgas"][1]["slots"]}
    at_end = [i for i in platform["infrastructure"] if i["slot"] in slots and i["name"].startswith("link core")]
    platform["infrastructure"].remove(at_end[0])


def first_and_last_left_out(plan: Plan, files: Files) -> None:
    infrastructure = plan["platform"]["infrastructure"]
    infrastructure.remove(next(item for item in infrastructure if item["name"] == "dma"))


def registers_of_the_other_board(plan: Plan, files: Files) -> None:
    slots = [{slot["name"] for slot in fpga["slots"]} for fpga in plan["platform"]["fpgas"]]
    channels = plan["phases"][0]["channels"]
    channel = next(c for c in channels if c["crossing_resources"] and {*c["crossing_resources"]} <= slots[1])
    assert channel["crossing_registers"] % 4 == 0
    channel["crossing_registers"] //= 2


def two_slots_of_one_name(plan: Plan, files: Files) -> None:
    slots = plan["platform"]["fpgas"][1]["slots"]
    slots[2]["name"] = slots[1]["name"]


def of_two_families(plan: Plan, files: Files) -> None:
    content = yaml.safe_load(files["platform/devices/xcu280.yaml"])
    content["architecture"] = "7series"
    files["platform/devices/xcu280.yaml"] = yaml.safe_dump(content)


MUTANTS: dict[Callable[..., None], str] = {
    edited(boards_exchanged): "platform-mismatch",
    edited(one_fpga_more): "platform-malformed",
    edited(of_another_kind): "file-missing",
    edited(without_its_end): "platform-malformed",
    edited(ending_elsewhere): "wrong-link",
    edited(ending_nowhere): "platform-malformed",
    edited(end_that_the_board_states): "platform-malformed",
    edited(end_of_another_fpga): "platform-malformed",
    edited(joined_twice): "platform-malformed",
    edited(joined_to_itself): "platform-malformed",
    edited(not_joined): "platform-malformed",
    edited(called_otherwise): "platform-mismatch",
    edited(without_fpgas): "platform-malformed",
    edited(of_another_schema): "platform-malformed",
    edited(link_file_called_otherwise, "platform/links/aurora-100g.yaml"): "platform-mismatch",
    edited(ends_no_link, "platform/boards/alveo-u250.yaml"): "wrong-link",
    file_not_listed: "platform-mismatch",
    file_missing: "file-missing",
    link_file_not_listed: "platform-mismatch",
    link_asked_for_as_well: "wrong-link",
    link_not_in_the_plan: "wrong-link",
    faster_link: "wrong-link",
    link_at_another_slot: "wrong-link",
    no_core_at_the_bare_board: "infrastructure-mismatch",
    first_and_last_left_out: "infrastructure-mismatch",
    registers_of_the_other_board: "wrong-crossing-registers",
    two_slots_of_one_name: "platform-mismatch",
    of_two_families: "platform-mismatch",
}


@pytest.mark.parametrize("spoil", MUTANTS, ids=lambda spoil: spoil.__name__)
def test_a_mistake_about_the_platform_is_found(
    spoil: Callable[[Plan, Files], None], legal: tuple[Plan, Files], tmp_path: Path
) -> None:
    assert MUTANTS[spoil] in found_after(spoil, *legal, tmp_path)


@pytest.fixture(scope="module")
def halved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("halved")
    text = "schema: floorflow-platform/1\nname: halves\nfpgas: [{board: xcku5p, halves: {SLR0: 120}}]\n"
    (folder / "halves.yaml").write_text(text, encoding="utf-8")
    cap = {**DEFAULT_CAP, "LUT": 0.02}
    request = Request(TFC, str(folder / "halves.yaml"), cap=cap, tie_break="scarcity", effort="fast", plots=False)
    return make_plan(folder / "out", request)


def upper_slot(plan: Plan) -> dict[str, Any]:
    return plan["platform"]["fpgas"][0]["slots"][1]


def half_of_another_name(plan: Plan, _: Files) -> None:
    upper_slot(plan)["half"] = "lower"


def half_as_large_as_the_slr(plan: Plan, _: Files) -> None:
    upper_slot(plan)["capacity"]["LUT"] *= 2


def more_left_than_lies_in_the_half(plan: Plan, _: Files) -> None:
    upper_slot(plan)["available"]["DSP"] += 1


def wires_between_halves_like_slls(plan: Plan, _: Files) -> None:
    plan["platform"]["boundaries"][0]["wires"] = 23040


def line_called_a_boundary(plan: Plan, _: Files) -> None:
    plan["platform"]["boundaries"][0]["kind"] = "sll"


def stream_from_half_to_half_forgotten(plan: Plan, _: Files) -> None:
    plan["phases"][0]["partition"]["crossings"].pop()


def line_that_counts_as_a_hop(plan: Plan, _: Files) -> None:
    plan["phases"][0]["partition"]["crossings"][0].update(kind="sll", hops=1)


def line_without_cost(plan: Plan, _: Files) -> None:
    plan["phases"][0]["partition"]["cost"] = 0


def line_without_load(plan: Plan, _: Files) -> None:
    plan["phases"][0]["partition"]["loads"][0]["use"] = 0.0


def module_in_the_other_half(plan: Plan, _: Files) -> None:
    pblocks = plan["phases"][0]["floorplan"]["fpga0"]["pblocks"]
    next(block for block in pblocks.values() if block["slot"].endswith("lower"))["rectangles"][0]["top"] += 120


def cut_elsewhere(content: Any) -> None:
    content["fpgas"][0]["halves"] = {"SLR0": 60}


def cut_inside_a_clock_region(content: Any) -> None:
    content["fpgas"][0]["halves"] = {"SLR0": 100}


HALF_FILE = "platform/platforms/halves.yaml"


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (half_of_another_name, "platform-mismatch"),
        (half_as_large_as_the_slr, "capacity-mismatch"),
        (more_left_than_lies_in_the_half, "available-mismatch"),
        (wires_between_halves_like_slls, "sll-capacity-mismatch"),
        (line_called_a_boundary, "sll-capacity-mismatch"),
        (stream_from_half_to_half_forgotten, "crossing-missing"),
        (line_that_counts_as_a_hop, "wrong-crossing"),
        (line_without_cost, "wrong-cost"),
        (line_without_load, "wrong-load"),
        (module_in_the_other_half, "slr-mismatch"),
        (edited(cut_elsewhere, HALF_FILE), "capacity-mismatch"),
        (edited(cut_inside_a_clock_region, HALF_FILE), "platform-malformed"),
    ],
    ids=lambda item: getattr(item, "__name__", item),
)
def test_a_plan_on_halves_is_legal_and_mistakes_in_it_are_found(
    halved: Path, spoil: Callable[[Plan, Files], None], expected: str, tmp_path: Path
) -> None:
    assert check(halved) == []
    plan, texts = read_folder(halved)
    assert {crossing["kind"] for crossing in plan["phases"][0]["partition"]["crossings"]} == {"half"}
    assert expected in found_after(spoil, plan, texts, tmp_path)
