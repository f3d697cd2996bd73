"""Platform files: boards that differ and the links between them, and every mistake with file and field."""

import shutil
from pathlib import Path

import pytest
import yaml

from floorflow.errors import InputError, PlatformError
from floorflow.hardware import described_fpgas, free_cells, load_platform
from floorflow.request import Request
from floorflow.resources import Resources
from floorflow.search.candidate.preparing import platform_of, settled
from floorflow.technology import technology_of
from floorflow.verify.hardware.boards import Board as Judged
from tests.verify.dies import device

MIXED = Path(__file__).parent / "mixed"
TEXT = (MIXED / "u250-and-u280.yaml").read_text(encoding="utf-8")
LINK = "schema: floorflow-link/1\nname: mine\ngbps: 25\nlatency_us: 0.5\ncore: {LUT: 7}\nassumed: true\nevidence: []\n"


def written(folder: Path, text: str) -> Path:
    shutil.copy(MIXED / "xcu280.yaml", folder / "xcu280.yaml")
    (folder / "mine.yaml").write_text(LINK, encoding="utf-8")
    path = folder / "u250-and-u280.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_boards_may_differ_and_the_slowest_clock_holds() -> None:
    platform = load_platform(MIXED / "u250-and-u280.yaml")
    assert [fpga.board.name for fpga in platform.fpgas] == ["alveo-u250", "xcu280"]
    assert [len(fpga.slots) for fpga in platform.fpgas] == [4, 3]
    assert (platform.clock_mhz, load_platform(MIXED / "u250-and-u280.yaml", clock_mhz=150).clock_mhz) == (220, 150)
    assert (platform.host_in_slot, platform.host_out_slot) == ("fpga0.SLR0", "fpga1.SLR0")
    (link,) = platform.links
    assert (link.name, link.kind, link.source, link.target) == (
        "fpga0-fpga1",
        "aurora-100g",
        "fpga0.SLR2",
        "fpga1.SLR2",
    )
    assert sorted(platform.files) == [
        *("boards/alveo-u250.yaml", "boards/xcu280.yaml", "devices/xcu250.yaml", "devices/xcu280.yaml"),
        *("links/aurora-100g.yaml", "platforms/u250-and-u280.yaml"),
    ]


def test_each_boundary_has_the_registers_of_its_own_board_and_each_end_a_core() -> None:
    platform = load_platform(MIXED / "u250-and-u280.yaml")
    registers = {(lower, upper): c.registers for (lower, upper), c in platform.crossings.items() if c.kind == "sll"}
    assert registers["fpga0.SLR0", "fpga0.SLR1"] == 2
    assert registers["fpga1.SLR0", "fpga1.SLR1"] == 4
    cores = [(item.slot, item.name) for item in platform.infrastructure]
    assert cores == [
        *(("fpga0.SLR0", name) for name in ("DDR[0] controller", "interconnect", "input_dma")),
        ("fpga0.SLR2", "link core fpga0-fpga1"),
        *(("fpga1.SLR0", "dma"), ("fpga1.SLR2", "link core fpga0-fpga1")),
    ]
    assert platform.slots[6].available == platform.slots[6].capacity - Resources(12000, 24000, 46)


def test_first_and_last_stand_on_the_ends_and_not_between(tmp_path: Path) -> None:
    text = TEXT.replace("  - {board: ./xcu280.yaml}\n", "  - {board: ./xcu280.yaml}\n  - {board: ./xcu280.yaml}\n")
    text += "  - {kind: pcie, between: [fpga2, fpga1], ends: {fpga1: SLR2, fpga2: SLR0}}\n"
    platform = load_platform(written(tmp_path, text))
    assert [item.slot for item in platform.infrastructure if item.name == "dma"] == ["fpga2.SLR0"]
    assert [link.name for link in platform.links] == ["fpga0-fpga1", "fpga1-fpga2"]
    assert [link.gbps for link in platform.links] == [100, 50]


def test_a_new_kind_of_link_is_one_file(tmp_path: Path) -> None:
    platform = load_platform(written(tmp_path, TEXT.replace("aurora-100g", "./mine.yaml")))
    assert (platform.links[0].kind, platform.links[0].gbps) == ("mine", 25)
    cores = [item.resources for item in platform.infrastructure if item.name.startswith("link core")]
    assert cores == [Resources(7)] * 2
    assert platform.files["links/mine.yaml"] == LINK


def test_a_plans_folder_holds_all_that_its_platform_file_names(tmp_path: Path) -> None:
    platform = load_platform(MIXED / "u250-and-u280.yaml")
    for name, text in platform.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    again = load_platform(tmp_path / "platforms" / "u250-and-u280.yaml")
    assert (again.links, again.infrastructure, again.files) == (platform.links, platform.infrastructure, platform.files)


def test_ultraram_counts_only_where_all_boards_have_it(tmp_path: Path) -> None:
    assert load_platform(MIXED / "u250-and-u280.yaml").technology.has_uram
    board = (MIXED / "xcu280.yaml").read_text(encoding="utf-8")
    small = board.replace("xcu280-fsvh2892-2L-e", "xczu9eg-ffvb1156-2-e").replace("xcu280", "small")
    path = written(tmp_path, TEXT.replace("xcu280.yaml", "small.yaml").replace("SLR2", "SLR0"))
    (tmp_path / "small.yaml").write_text(small.replace("device: small", "device: xczu9eg"), encoding="utf-8")
    assert not technology_of("xczu9eg-ffvb1156-2-e").has_uram
    assert not load_platform(path).technology.has_uram


HALVES = {"SLR0": 120, "SLR1": 360, "SLR3": 780}


def test_halves_of_slrs_are_slots_with_what_lies_in_them(tmp_path: Path) -> None:
    text = TEXT.replace("board: alveo-u250}", f"board: alveo-u250, halves: {HALVES}}}".replace("'", ""))
    assert text != TEXT
    platform, whole = load_platform(written(tmp_path, text)), load_platform(MIXED / "u250-and-u280.yaml")
    slots = {slot.name.removeprefix("fpga0."): slot for slot in platform.fpgas[0].slots}
    assert [*slots] == ["SLR0.lower", "SLR0.upper", "SLR1.lower", "SLR1.upper", "SLR2", "SLR3.lower", "SLR3.upper"]
    for slr, first in HALVES.items():
        one, lower, upper = whole.fpgas[0].slots[int(slr[3:])], slots[f"{slr}.lower"], slots[f"{slr}.upper"]
        assert (lower.half, upper.half, lower.slr, upper.slr) == ("lower", "upper", slr, slr)
        assert (lower.region.bottom, lower.region.top, upper.region.bottom) == (one.region.bottom, first - 1, first)
        assert lower.capacity + upper.capacity == one.capacity
    assert slots["SLR1.lower"].available + slots["SLR1.upper"].available == whole.fpgas[0].slots[1].available
    # The controller's middle lies in the upper half, and its range reaches down; the port of links is in SLR2.
    assert platform.host_in_slot == "fpga0.SLR0.upper"
    assert {i.slot for i in platform.infrastructure if "link" not in i.name} == {"fpga0.SLR0.upper", "fpga1.SLR0"}
    assert len(slots["SLR0.lower"].keep_outs) == len(slots["SLR0.upper"].keep_outs)
    assert slots["SLR0.lower"].available.lut < slots["SLR0.lower"].capacity.lut - 2000
    kinds = [(b.kind, b.wires) for b in platform.boundaries[:6]]
    assert [kind for kind, _ in kinds] == ["half", "sll", "half", "sll", "sll", "half"]
    assert [wires for kind, wires in kinds if kind == "sll"] == [11520, 11520, 23040]
    edge = platform.graph.edges[0].crossing
    assert (edge.registers, edge.cycles, edge.cost, edge.of_a_wire) == (0, 0, 1, Resources(ff=1))


def test_the_line_between_halves_costs_and_is_no_hop(tmp_path: Path) -> None:
    text = TEXT.replace("board: alveo-u250}", f"board: alveo-u250, halves: {HALVES}}}".replace("'", ""))
    graph = load_platform(written(tmp_path, text)).graph
    assert [(graph.hops(0, n), graph.cost(0, n)) for n in range(7)] == [
        *((0, 0), (0, 1), (1, 2), (1, 3), (2, 5), (3, 8), (3, 9))
    ]
    one, *others = load_platform(written(tmp_path, text)).route_steps("fpga0.SLR0.lower", "fpga0.SLR2")
    assert (one.kind, one.hops, len(one.crossings), others) == ("sll", 2, 4, [])
    (inside,) = load_platform(written(tmp_path, text)).route_steps("fpga0.SLR3.upper", "fpga0.SLR3.lower")
    assert (inside.kind, inside.hops, inside.register_slots) == ("half", 0, ())


@pytest.mark.parametrize("number", range(4))
def test_check_finds_the_same_left_of_each_half(tmp_path: Path, number: int) -> None:
    halves = {"SLR0": 60 * (number % 3 + 1), "SLR1": 360, "SLR2": 600 if number else 480 + 60, "SLR3": 840}
    text = f"schema: floorflow-platform/1\nname: halves\nfpgas: [{{board: alveo-u250, halves: {halves}}}]\n"
    (tmp_path / "halves.yaml").write_text(text, encoding="utf-8")
    platform = load_platform(tmp_path / "halves.yaml")
    raw = yaml.safe_load(platform.files["boards/alveo-u250.yaml"])
    judged = Judged(raw, device("xcu250"), halves=halves)
    for place, slot in enumerate(platform.slots):
        assert judged.capacities[place] == slot.capacity.as_dict()
        assert judged.available(place) == slot.available.as_dict()
        assert judged.floors[place // 2, slot.half].free_cells == free_cells(platform.fpgas[0].device, slot)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "alveo-u250}",
            "alveo-u250, halves: {SLR0: 100}}",
            r"fpgas\.0\.halves\.SLR0: expected the first row of a .*, of 60,",
        ),
        (
            "alveo-u250}",
            "alveo-u250, halves: {SLR0: 240}}",
            r"fpgas\.0\.halves\.SLR0: expected .* 60, 120, 180; found 240",
        ),
        ("alveo-u250}", "alveo-u250, halves: {SLR4: 60}}", r"fpgas\.0\.halves\.SLR4: xcu250 has no SLR4"),
        ("alveo-u250}", "alveo-u250, halves: {SLR0: left}}", r"fpgas\.0\.halves\.SLR0: .*integer"),
        ("name: u250-and-u280", "name: alveo-u250", r"yaml: name: 'alveo-u250' is a board that ships"),
        ("name: u250-and-u280", "name: Über", r"yaml: name: "),
        ("board: alveo-u250", "board: alveo-u999", r"yaml: fpgas\.0\.board: unknown board 'alveo-u999'"),
        ("./xcu280.yaml", "./none.yaml", r"yaml: fpgas\.1\.board: there is no file .*none\.yaml"),
        ("./xcu280.yaml", "./mine.yaml", r"mine\.yaml: schema: "),
        ("./xcu280.yaml", "pynq-z1", r"fpgas\.1\.board: xc7z020.* is 7series with DSP48E1, xcu250.* DSP48E2"),
        ("board: alveo-u250", "boards: alveo-u250", r"yaml: fpgas\.0\.board: the field is missing"),
        ("kind: aurora-100g", "kind: pigeon", r"yaml: links\.0\.kind: unknown kind of link 'pigeon'"),
        ("kind: aurora-100g", "kind: ./xcu280.yaml", r"xcu280\.yaml: schema: .*floorflow-link/1"),
        ("[fpga0, fpga1]", "[fpga0]", r"yaml: links\.0\.between: "),
        ("[fpga0, fpga1]", "[fpga0, fpga2]", r"yaml: links\.0\.between: expected FPGAs of the file, fpga0\.\.fpga1"),
        ("[fpga0, fpga1]", "[fpga1, fpga1]", r"yaml: links\.0\.between: expected two FPGAs, found fpga1 twice"),
        ("[fpga0, fpga1]", "[fpga0, u280]", r"yaml: links\.0\.between\.1: "),
        ("    ends: {fpga1: SLR2}\n", "", r"yaml: links\.0\.ends: fpga1 is missing, whose board xcu280 says nothing"),
        ("{fpga1: SLR2}", "{fpga1: SLR9}", r"yaml: links\.0\.ends: xcu280 of fpga1 has no SLR9"),
        (
            "{fpga1: SLR2}",
            "{fpga0: SLR0, fpga1: SLR2}",
            r"links\.0\.ends: links of fpga0 end in SLR2, its board's file",
        ),
        ("{fpga1: SLR2}", "{fpga1: SLR2, fpga7: SLR0}", r"links\.0\.ends: fpga7 is not at this link"),
        ("kind: aurora-100g", "kind: aurora-100g\n    gbps: 5", r"yaml: links\.0\.gbps: unknown field"),
        ("schema: floorflow-platform/1", "schema: floorflow-platform/2", r"schema: "),
    ],
)
def test_a_bad_platform_file_names_file_and_field(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in TEXT
    with pytest.raises(PlatformError, match=complaint):
        load_platform(written(tmp_path, TEXT.replace(old, new)))


LINKS = TEXT[TEXT.index("links:") :]


@pytest.mark.parametrize(
    ("links", "complaint"),
    [
        ("", r"yaml: links: no links lead from fpga0 to fpga1"),
        (LINKS + LINKS.removeprefix("links:\n"), r"yaml: links\.1\.between: fpga0-fpga1 stands twice"),
    ],
)
def test_all_fpgas_are_joined_and_no_two_twice(tmp_path: Path, links: str, complaint: str) -> None:
    with pytest.raises(PlatformError, match=complaint):
        load_platform(written(tmp_path, TEXT.replace(LINKS, links)))


def test_a_board_ends_no_more_links_than_it_can(tmp_path: Path) -> None:
    fpgas = "fpgas:\n" + "  - {board: alveo-u250}\n" * 4
    links = "links:\n" + "".join(f"  - {{kind: pcie, between: [fpga0, fpga{n}]}}\n" for n in (1, 2, 3))
    path = written(tmp_path, f"schema: floorflow-platform/1\nname: star\n{fpgas}{links}")
    with pytest.raises(PlatformError, match=r"links\.2: 3 links end at fpga0, its board allows 2 \(.*alveo-u250\.yaml"):
        load_platform(path)


def test_all_links_of_an_fpga_leave_it_at_one_port(tmp_path: Path) -> None:
    text = TEXT.replace("  - {board: ./xcu280.yaml}\n", "  - {board: ./xcu280.yaml}\n  - {board: alveo-u250}\n")
    path = written(tmp_path, text + "  - {kind: aurora-100g, between: [fpga1, fpga2], ends: {fpga1: SLR0}}\n")
    with pytest.raises(PlatformError, match=r"links\.1: all links of fpga1 must leave it at one port of one SLR"):
        load_platform(path)


def test_a_files_number_of_fpgas_is_the_requests() -> None:
    mixed = str(MIXED / "u250-and-u280.yaml")
    assert described_fpgas(mixed) == 2
    assert described_fpgas("alveo-u250") is None
    assert described_fpgas(str(MIXED / "xcu280.yaml")) is None
    asked = settled(Request("m.onnx", mixed))
    assert asked.fpgas == settled(asked).fpgas == 2
    platform = platform_of(asked)
    assert (len(platform.fpgas), platform.most_fpgas, platform.described) == (2, 2, True)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"fpgas": 3}, r"--fpgas 3: .*yaml: the file describes 2 FPGAs"),
        ({"fpgas": 1}, r"--fpgas 1: .*yaml: the file describes 2 FPGAs"),
        ({"fpgas": "auto"}, r"--fpgas auto: .*yaml: the file describes 2 FPGAs"),
        ({"link": "pcie"}, r"--link pcie: .*yaml: the file itself says"),
        ({"topology": "chain"}, r"--topology chain: .*yaml: the file itself says"),
    ],
)
def test_options_that_the_file_states_itself_are_refused(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        platform_of(settled(Request("m.onnx", str(MIXED / "u250-and-u280.yaml"), **options)))
    assert caught.value.exit_code == 2
    assert caught.value.hint
