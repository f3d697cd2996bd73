"""Any die at once: a part's name is enough to plan on, and what is then assumed is said."""

from pathlib import Path

import pytest

from floorflow.assets import PARTS, asset_folder, bare_part, is_bare, link_path
from floorflow.errors import PlatformError
from floorflow.hardware import Rect, assumed_facts, doubts_of, load_platform
from floorflow.hardware.catalogue import file_named_in
from tests.hardware.conftest import DEVICES, raw_die


@pytest.mark.parametrize("name", PARTS)
def test_every_part_has_the_silicon_that_is_published_for_its_die(name: str) -> None:
    bare = bare_part(name)
    assert bare is not None
    data = raw_die(bare.device).data
    official = {key: value for key, value in data["official_totals"].items() if key != "LUTRAM"}
    platform = load_platform(bare.part)
    assert {key: platform.silicon.as_dict()[key] for key in official} == official
    assert [slot.available for slot in platform.slots] == [slot.capacity for slot in platform.slots]
    names = [data["part"], *(alias.split()[0] for alias in data["aliases"])]
    assert bare.part.startswith(tuple(names)), "check takes the part for one of the die's"


def test_every_die_that_ships_can_be_planned_on_by_its_name() -> None:
    assert {path.stem for path in DEVICES.glob("*.yaml")} == {device for device, _ in PARTS.values()}
    assert {path.stem for path in DEVICES.glob("*.yaml")} <= {*PARTS}


@pytest.mark.parametrize(
    ("name", "part", "assumed"),
    [
        ("xczu7ev", "xczu7ev-ffvc1156-2-e", True),
        ("XCZU7EV", "xczu7ev-ffvc1156-2-e", True),
        ("XCZU7EV-FFVC1156-3-E", "xczu7ev-ffvc1156-3-e", False),
        ("xck26-sfvc784-2lv-C", "xck26-sfvc784-2LV-c", False),
        ("xcu250-figd2104-2l-e", "xcu250-figd2104-2L-e", False),
        ("XC7Z020CLG484-1", "xc7z020clg484-1", False),
    ],
)
def test_a_part_may_be_named_in_any_case_and_with_its_package(name: str, part: str, assumed: bool) -> None:
    board = load_platform(name).fpgas[0].board
    assert (board.name, board.part, "part" in board.assumed) == (name.lower(), part, assumed)


def test_a_boards_name_comes_first() -> None:
    assert not is_bare("xcku5p")
    assert load_platform("XCKU5P").fpgas[0].board.assumed == ()


@pytest.mark.parametrize("name", ["xczu4ev-sfvc784-1-e", "xc7z010clg400-1", "xczu7ev-ffvc1156", "xcvu19p", "x"])
def test_what_is_sold_with_less_than_its_die_or_is_not_known_is_refused(name: str) -> None:
    with pytest.raises(PlatformError, match="unknown platform"):
        load_platform(name)


def test_an_unknown_name_is_answered_with_the_nearest_boards_and_parts() -> None:
    with pytest.raises(PlatformError) as caught:
        load_platform("xczu4ev")
    assert "did you mean" in caught.value.hint
    meant = caught.value.hint.split("?")[0]
    assert all(name in meant for name in ("zcu104", "xczu7ev", "xczu5ev"))
    assert "boards: alveo-u200, " in caught.value.hint
    assert "bare parts: xc7z020, " in caught.value.hint


@pytest.mark.parametrize("name", ["xc7a35t", "xqku040", "xczu4ev-sfvc784-1-e", "zcu106", "nexys"])
def test_an_unknown_part_or_board_is_answered_with_how_to_bring_it(name: str) -> None:
    with pytest.raises(PlatformError) as caught:
        load_platform(name)
    words = " ".join(caught.value.hint.split())
    assert all(
        told in words
        for told in ("floorflow platforms --new NAME --part ", "-o NAME.yaml", "platforms --check NAME.yaml")
    )
    assert ("no file of" in words) == name.startswith("x")


def test_a_part_without_its_speed_grade_is_told_of_it() -> None:
    with pytest.raises(PlatformError) as caught:
        load_platform("xczu7ev-ffvc1156")
    assert "package and speed grade too, such as xczu7ev-ffvc1156-2-e" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "file", "told"),
    [
        ("zcu106", "zcu106.yaml", "there is ./zcu106.yaml; give -p zcu106.yaml"),
        ("ZCU106", "zcu106.yml", "there is ./zcu106.yml; give -p zcu106.yml"),
        ("zcu106.yml", "zcu106.yaml", "there is ./zcu106.yaml; give -p zcu106.yaml"),
        ("my.board", "my.board.yaml", "there is ./my.board.yaml; give -p my.board.yaml"),
        ("boards/zcu106", "boards/zcu106.yaml", "there is boards/zcu106.yaml; give -p boards/zcu106.yaml"),
        ("./zcu106", "zcu106.yaml", "there is ./zcu106.yaml; give -p zcu106.yaml"),
    ],
)
def test_a_name_that_is_that_of_a_file_is_answered_with_the_file(
    name: str, file: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("name: zcu106\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PlatformError) as caught:
        load_platform(name)
    assert caught.value.hint == told


@pytest.mark.parametrize("name", ["", ".", "/", "a\0b", "../", "zcu106"])
def test_a_name_of_no_file_is_refused_whatever_it_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zcu106.yaml").mkdir()
    with pytest.raises(PlatformError) as caught:
        load_platform(name)
    assert "there is ./" not in caught.value.hint


def test_a_link_and_a_die_are_answered_with_the_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cable.yaml").write_text("name: cable\n")
    with pytest.raises(PlatformError) as caught:
        link_path("cable")
    assert caught.value.hint == "there is ./cable.yaml; give --link cable.yaml"
    with pytest.raises(PlatformError) as caught:
        link_path("aurora-10g")
    assert caught.value.hint.startswith("did you mean aurora-100g?")
    (tmp_path / "xc7a35t.yaml").write_text("part: xc7a35t\n")
    with pytest.raises(PlatformError) as caught:
        file_named_in(tmp_path / "board.yaml", "devices", "xc7a35t", "device")
    assert caught.value.hint == f"there is {tmp_path / 'xc7a35t.yaml'}; say xc7a35t.yaml"


def test_what_is_assumed_is_said_with_what_hangs_on_it() -> None:
    board = load_platform("xczu7ev").fpgas[0].board
    told = {doubt.fact: str(doubt) for doubt in assumed_facts(board)}
    assert {*told} == {"part", "clock_mhz", "host_port", "cell_pattern"}
    assert (
        told["clock_mhz"]
        == "clock_mhz: assumed to be 200; uncertain: every rate and latency, and whether timing closes"
    )
    assert board.unstated == ("shell", "infrastructure")
    several = load_platform("xcvu13p").fpgas[0].board
    assert {"crossing_registers", "part"} <= {*several.assumed}, "a die of several SLRs has boundaries to cross"


def test_the_processors_interface_is_the_port_of_a_zynqs_die() -> None:
    assert load_platform("xczu9eg").fpgas[0].host_port == Rect(73, 0, 73, 179)
    assert load_platform("xc7z020").fpgas[0].host_port == load_platform("pynq-z1").fpgas[0].host_port
    assert "host_port" in load_platform("xcvu9p").fpgas[0].board.unstated


def test_doubts_are_those_of_file_evidence_and_die(tmp_path: Path) -> None:
    fpga = load_platform("kv260").fpgas[0]
    facts = [doubt.fact for doubt in doubts_of(fpga.board, fpga.device)]
    assert facts == ["host_port", "reconfiguration", "memory_gbps", "power", "die xczu5ev: clock_region_columns"]
    text = (asset_folder("platforms") / "boards" / "alveo-u280.yaml").read_text(encoding="utf-8")
    text = (
        text.split("evidence:")[0].replace("name: alveo-u280", "name: mine").replace("sll_wires: [18640, 18640]\n", "")
    )
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    fpga = load_platform(tmp_path / "mine.yaml").fpgas[0]
    doubts = {doubt.fact: doubt for doubt in doubts_of(fpga.board, fpga.device)}
    assert {*doubts} == {"sll_wires", "link aurora-100g"}, "evidence may be left out, and is no doubt then"
    assert doubts["sll_wires"].uncertain == "whether streams between SLRs find enough wires"


def test_a_fact_that_is_called_assumed_must_be_stated(tmp_path: Path) -> None:
    text = (asset_folder("platforms") / "boards" / "xcku5p.yaml").read_text(encoding="utf-8")
    text = text.replace("name: xcku5p", "name: mine\nassumed: [memories]", 1)
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PlatformError, match="memories is called assumed, but not stated"):
        load_platform(tmp_path / "mine.yaml")
