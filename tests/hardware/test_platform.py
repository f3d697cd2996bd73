import pytest

from floorflow.assets import asset_folder
from floorflow.errors import PlatformError
from floorflow.hardware import SllBoundary, known_platforms, load_platform
from floorflow.hardware.board import read_board
from floorflow.hardware.geometry import Rect
from floorflow.hardware.slots import Infrastructure
from floorflow.resources import Resources, total
from tests.hardware.conftest import shipped


def test_the_shipped_boards_are_known():
    alveo = ("alveo-u200", "alveo-u250", "alveo-u280", "alveo-u50", "alveo-u55c")
    zynq = ("kv260", "pynq-z1", "pynq-z2", "ultra96", "zcu102", "zcu104", "zedboard")
    assert {*alveo, *zynq, "aws-f1", "aws-f2", "vcu118", "xcku5p"} <= {*known_platforms()}


@pytest.mark.parametrize(
    ("name", "part", "device", "clock_mhz", "max_fpgas"),
    [
        ("pynq-z1", "xc7z020clg400-1", "xc7z020", 100, 1),
        ("pynq-z2", "xc7z020clg400-1", "xc7z020", 100, 1),
        ("zc706", "xc7z045ffg900-2", "xc7z045", 150, 1),
        ("zcu104", "xczu7ev-ffvc1156-2-e", "xczu7ev", 200, 1),
        ("alveo-u250", "xcu250-figd2104-2L-e", "xcu250", 250, 16),
        ("xcku5p", "xcku5p-ffvd900-2-i", "xcku5p", 200, 16),
    ],
)
def test_a_board_has_its_facts(name, part, device, clock_mhz, max_fpgas):
    platform = load_platform(name)
    board = platform.fpgas[0].board
    assert (platform.name, board.name, board.part, board.device) == (name, name, part, device)
    assert (platform.clock_mhz, board.max_fpgas, board.crossing_registers) == (clock_mhz, max_fpgas, 2)
    assert platform.fpgas[0].host_slot == "fpga0.SLR0"


def test_files_hold_what_was_read_verbatim():
    files = load_platform("alveo-u250").files
    folder = asset_folder("platforms")
    assert sorted(files) == ["boards/alveo-u250.yaml", "devices/xcu250.yaml"]
    assert all(text == (folder / path).read_text(encoding="utf-8") for path, text in files.items())


def test_a_bare_die_is_wholly_available():
    (slot,) = load_platform("xcku5p").slots
    assert slot.capacity == slot.available == Resources(216960, 433920, 960, 64, 1824)
    assert (slot.name, slot.fpga, slot.slr, slot.region) == ("fpga0.SLR0", "fpga0", "SLR0", Rect(0, 0, 229, 239))


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("pynq-z1", Resources(lut=7295, ff=11169, bram18=3)),
        ("pynq-z2", Resources(lut=7295, ff=11169, bram18=3)),
        ("zc706", Resources(lut=7295, ff=11169, bram18=3)),
        ("zcu104", Resources(lut=8191, ff=11137, bram18=2)),
    ],
)
def test_zynq_boards_lose_dma_engines_and_the_processors_interface(name: str, taken: Resources) -> None:
    platform = load_platform(name)
    (slot,) = platform.slots
    assert slot.capacity - slot.available == taken
    assert [(item.slot, item.reserved) for item in platform.infrastructure] == [("fpga0.SLR0", None)] * 3
    assert slot.keep_outs == ()


def test_u250_slots_have_what_shell_and_memory_controller_leave():
    platform = load_platform("alveo-u250")
    ddr = Resources(33256, 44889, 199, 0, 3)
    beside = [("interconnect", Resources(5337, 7329)), ("input_dma", Resources(4508, 8640, 15))]
    beside += [("output_dma", Resources(1850, 3960, 8))]
    assert [slot.available for slot in platform.slots] == [
        Resources(216960 + 206880, 2 * 423840, 1344, 320, 3072) - ddr - total(each for _, each in beside),
        Resources(213120, 426240, 768, 128, 1536),
        Resources(216960 + 202200, 2 * 419160, 1344, 320, 3072),
        Resources(432000, 864000, 1344, 320, 3072),
    ]
    assert {slot.capacity for slot in platform.slots} == {Resources(432000, 864000, 1344, 320, 3072)}
    assert platform.silicon == Resources(1728000, 3456000, 5376, 1280, 12288)
    assert platform.infrastructure == (
        Infrastructure("DDR[0] controller", "fpga0.SLR0", ddr, Rect(226, 60, 280, 239)),
        *(Infrastructure(name, "fpga0.SLR0", each, None) for name, each in beside),
    )


def test_without_measurements_u250_slots_have_the_published_shell_table(write_board):
    text = shipped("alveo-u250")
    measured = text[text.index("  # Left and right half") : text.index("infrastructure:")]
    platform = load_platform(write_board(measured, ""))
    added_back = [slot.available for slot in platform.slots]
    added_back[0] = added_back[0] + total(item.resources for item in platform.infrastructure)
    assert [(a.lut, a.dsp, a.bram18 // 2, a.uram) for a in added_back] == [
        (427520, 3072, 672, 320),
        (213120, 1536, 384, 128),
        (424608, 3072, 672, 320),
        (432000, 3072, 672, 320),
    ]


def test_u250_keep_outs_are_the_shell_and_the_reserved_area():
    slots = load_platform("alveo-u250").slots
    device = load_platform("alveo-u250").fpgas[0].device
    assert slots[0].keep_outs == (Rect(226, 60, 280, 239), Rect(281, 230, 390, 239))
    assert slots[1].keep_outs == (Rect(219, 240, 221, 479), Rect(226, 240, 445, 479))
    assert slots[2].keep_outs == (Rect(233, 480, 386, 491),)
    assert slots[3].keep_outs == ()
    assert all(slot.region.contains(rect) for slot in slots for rect in slot.keep_outs)
    assert slots[0].keep_outs[0].contains(device.clock_region(4, 2))


def test_u250_boundaries_have_the_wires_that_the_shell_leaves():
    assert load_platform("alveo-u250").boundaries == (
        SllBoundary("fpga0.SLR0", "fpga0.SLR1", 11520),
        SllBoundary("fpga0.SLR1", "fpga0.SLR2", 11520),
        SllBoundary("fpga0.SLR2", "fpga0.SLR3", 23040),
    )


def test_without_sll_wires_the_boundaries_have_all_of_the_die(write_board):
    path = write_board("sll_wires: [11520, 11520, 23040]\n", "")
    assert [boundary.wires for boundary in load_platform(path).boundaries] == [23040] * 3


@pytest.mark.parametrize(
    ("name", "cell", "parent"),
    [
        ("zcu104", "top_i/StreamingDataflowPartition_1/inst/StreamingDataflowPartition_1_MVAU_hls_0", None),
        (
            "alveo-u250",
            "level0_i/level1/level1_i/ulp/StreamingDataflowPartition_1/inst/StreamingDataflowPartition_1_MVAU_hls_0",
            "pblock_dynamic_SLR2",
        ),
        ("xcku5p", "finn_design_i/MVAU_hls_0", None),
    ],
)
def test_cells_and_parent_pblocks_follow_the_board(name, cell, parent):
    board = load_platform(name).fpgas[0].board
    assert board.cell_pattern.format(engine="MVAU_hls_0", partition=1) == cell
    assert board.parent_pblock("SLR2") == parent


def test_the_clock_can_be_overridden():
    assert load_platform("zcu104", clock_mhz=150).clock_mhz == 150
    for clock_mhz in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(PlatformError, match="clock_mhz: expected a clock above 0"):
            load_platform("zcu104", clock_mhz=clock_mhz)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(PlatformError, match="unknown platform 'alveo-u25'") as caught:
        load_platform("alveo-u25")
    assert "did you mean alveo-u250 or " in caught.value.hint
    assert "zcu104" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "fpgas", "complaint"),
    [
        ("pynq-z1", 2, "no link to one another"),
        ("zcu104", 3, "no link to one another"),
        ("alveo-u250", 17, "at most 16 can be linked"),
        ("xcku5p", 0, "at least 1"),
    ],
)
def test_fpgas_that_cannot_be_linked_are_refused(name, fpgas, complaint):
    with pytest.raises(PlatformError, match=complaint) as caught:
        load_platform(name, fpgas=fpgas)
    assert caught.value.exit_code == 2
    assert fpgas < 1 or caught.value.hint.startswith("use ")


def test_a_user_board_may_bring_its_own_die(write_board, tmp_path):
    die = (asset_folder("platforms") / "devices" / "xcku5p.yaml").read_text(encoding="utf-8")
    (tmp_path / "dies").mkdir()
    (tmp_path / "dies" / "other.yaml").write_text(die.replace("part: xcku5p", "part: xcau25p", 1), encoding="utf-8")
    path = write_board("device: xcku5p", "device: dies/other.yaml", base="xcku5p")
    platform = load_platform(path)
    assert platform.name == "mine"
    assert sorted(platform.files) == ["boards/mine.yaml", "devices/xcau25p.yaml"]
    assert platform.fpgas[0].board.device == platform.fpgas[0].device.part == "xcau25p"


def test_a_copy_of_a_shipped_board_is_accepted_and_a_changed_one_is_not(tmp_path):
    path = tmp_path / "copy.yaml"
    path.write_text(shipped("zcu104"), encoding="utf-8")
    assert load_platform(path).name == "zcu104"
    path.write_text(shipped("zcu104").replace("clock_mhz: 200", "clock_mhz: 300"), encoding="utf-8")
    with pytest.raises(PlatformError, match="'zcu104' is a file that ships with floorflow"):
        load_platform(path)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("schema: floorflow-board/1", "schema: floorflow-device/1", "schema: .*floorflow-board/1"),
        ("part: xcu250-figd2104-2L-e", "part: xcu250", "part: String should match pattern"),
        ("part: xcu250-figd2104-2L-e", "part: xc7z020clg400-1", "part: xc7z020clg400-1 is 7series, its die xcu250"),
        ("device: xcu250", "device: xcu25", "device: unknown die 'xcu25'"),
        ("clock_mhz: 250", "clock_mhz: 0", "clock_mhz: .*greater than 0; found 0"),
        ("clock_mhz: 250\n", "", "clock_mhz: the field is missing"),
        ("    slr: SLR0\n", "    slr: SLR7\n", r"memories\.DDR\[0\]\.slr: xcu250 has no SLR7"),
        (
            "{left: 226, bottom: 60,",
            "{left: 281, bottom: 60,",
            r"memories\.0\.port: expected left <= right and bottom <= top",
        ),
        (
            "right: 280, top: 239",
            "right: 280, top: 240",
            r"memories\.DDR\[0\]\.port: expected a rectangle inside SLR0, 0\.\.445 x 0\.\.239",
        ),
        ("memories:\n", "host_slr: SLR0\nmemories:\n", "the file: expected host_slr, or memories in its place"),
        (
            "memories:\n",
            'host_port: none\nmemories:\n  - {name: "DDR[1]", slr: SLR0, assumed: true}\n',
            "the file: memories: expected each name once",
        ),
        ("bottom: 660, right: 25,", "bottom: 400, right: 25,", r"link\.ports\.ethernet-100g: expected .* inside SLR2"),
        ("[11520, 11520, 23040]", "[11520, 11520]", "sll_wires: expected for each boundary at most"),
        ("[11520, 11520, 23040]", "[11520, 11520, 30000]", "sll_wires: expected for each boundary at most"),
        ("partition}_{engine}", "partition}_{node}", "cell_pattern: expected only the placeholders"),
        ("partition}_{engine}", "partition}", "cell_pattern: expected the placeholder"),
        ("pblock_dynamic_{slr}", "pblock_{die}", r"shell\.parent_pblock: expected only the placeholders"),
        (
            "hierarchy: level0_i/level1/level1_i/ulp",
            "hierarchy: level0_i/level1/level1_i/ulp\n  colour: red",
            r"shell\.colour: unknown field",
        ),
        ("SLICE_X146Y230", "SLICE_X146Y330", r"shell\.static\.SLR0: .*lower left"),
        (
            "SLICE_X146Y230:SLICE_X205Y239",
            "SLICE_X146Y230:SLICE_X205Y249",
            r"shell\.static\.SLR0: .* is not inside SLR0",
        ),
        (
            "X4Y9:CLOCKREGION_X4Y11",
            "X4Y9:CLOCKREGION_X9Y11",
            r"memories\.DDR\[2\]\.controller\.reserved: .*CLOCKREGION_X9Y9",
        ),
        (
            "interconnect\n    slr: host",
            "interconnect\n    slr: SLR9",
            r"infrastructure\.interconnect\.slr: .* no SLR9",
        ),
        ("crossing_registers: 2", "crossing_registers: 2000", "crossing_registers: Input should be less than"),
        ("crossing_registers: 2", "crossing_registers: -1", "crossing_registers: Input should be greater than"),
        ("max_fpgas: 16", "max_fpgas: 2000000", "max_fpgas: Input should be less than or equal to 64"),
        ("latency_us: 1\n", "latency_us: 1.0e+30\n", r"link\.latency_us: Input should be less than or equal to"),
        ("per: first_and_last", "per: sometimes", r"infrastructure\.0\.per: .*'first_and_last'"),
        ("LUT: 33256", "LUT: 9933256", r"infrastructure: fpga0.SLR0 cannot hold DDR\[0\] controller"),
        ("LUT: 5337", "LUT: -1", r"infrastructure\.0\.resources\.LUT: .*greater than or equal to 0"),
        ("SLR2: {LUT: 419160", "SLR4: {LUT: 419160", r"shell\.measured_available: xcu250 has no SLR4"),
    ],
)
def test_a_bad_board_names_file_and_field(write_board, old, new, complaint):
    path = write_board(old, new)
    with pytest.raises(PlatformError, match=rf"mine\.yaml: {complaint}"):
        load_platform(path)


def test_read_board_needs_no_die():
    assert read_board(shipped("xcku5p"), "x").sll_wires is None
