"""host/run.py says its steps anywhere, in order; with cards of the test's own it takes them, and tells what fails."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from numpy import full, load, save, zeros
from numpy.random import default_rng

from floorflow.backends.finn.host import run as script
from floorflow.facts.topology import start_order
from tests.backends.finn.host.simulated import AURORA, RECORD, World, copies_in, pynq, pyxrt, xclbin

FRAME, ANSWER = 6, 4
"""Values of a frame and of what comes of it."""


def end(kind: str, bits: int, least: int | None, most: int | None, elements: int) -> dict[str, Any]:
    return {
        "type": kind,
        "element_bits": bits,
        "least": least,
        "most": most,
        "elements": elements,
        "elements_per_word": 2,
        "words": elements // 2,
    }


def uuid_of(card: int) -> str:
    return f"00000000-0000-0000-0000-{card + 1:012d}"


class Folder:
    """A plan's folder with the script, what it reads, and bitstreams if there are some."""

    def __init__(self, root: Path, count: int, *, streams: Sequence[tuple[int, int]] = (), **changed: Any) -> None:
        self.root, names = root, [f"fpga{number}" for number in range(count)]
        pairs = sorted({tuple(sorted(pair)) for pair in streams})
        links: dict[str, dict[str, str]] = {name: {} for name in names}
        for low, high in pairs:
            for card in (low, high):
                links[names[card]][f"aurora_flow_{len(links[names[card]])}"] = f"fpga{low}-fpga{high}"
        self.host: dict[str, Any] = {
            "schema": script.SCHEMA,
            "network": "net",
            "tool": "FINN+",
            "clock_mhz": 250.0,
            "zynq": False,
            "linked": bool(streams),
            "bitstreams": "finn/build/bitfile",
            "driver": "finn/build/driver",
            "linked_by": "link it again",
            "told": ["a note of the plan"],
            "written_weights": [],
            "cards": [
                {"name": n, "board": "alveo-u250", "bitstream": f"finn-accel-{k}.xclbin", "links": links[n]}
                for k, n in enumerate(names)
            ],
            "copies": [{"name": "net", "input": [names[0], "idma_0"], "output": [names[-1], "odma_0"], "suffix": ""}],
            "input": end("UINT8", 8, 0, 255, FRAME),
            "output": end("INT8", 8, -128, 127, ANSWER),
            "planned": {"fps": 1000.0, "latency_us": 5.0},
            **changed,
        }
        told = [
            {"link": f"fpga{min(a, b)}-fpga{max(a, b)}", "source": names[a], "target": names[b]} for a, b in streams
        ]
        order = start_order(names, {(row["source"], row["target"]) for row in told}, names[0])
        (root / "host").mkdir(parents=True)
        shutil.copy(Path(script.__file__), root / "host" / "run.py")
        self.write("host/host.json", self.host)
        if streams:
            self.write("topology.json", {"streams": told, "start_order": order})

    def write(self, name: str, content: Any) -> None:
        (self.root / name).write_text(json.dumps(content), encoding="utf-8")

    def build(self, *, clock_mhz: int = 250, but: str = "") -> None:
        """Write a bitstream for each card, without one unit."""
        ends = [tuple(copy[way]) for copy in copies_in(self.host) for way in ("input", "output")]
        units = [unit for card in self.host["cards"] for unit in card["links"]]
        tests = {card["name"]: [*card.get("tests", {})] for card in self.host["cards"]}
        (self.root / "finn/build/bitfile").mkdir(parents=True)
        for number, card in enumerate(self.host["cards"]):
            own = [unit for name, unit in ends if name == card["name"]]
            own += tests[card["name"]]
            own += [*card["links"], *(f"StreamingDataflowPartition_1{copy['suffix']}" for copy in copies_in(self.host))]
            held = [f"kernel:{unit}" for unit in own if unit != but]
            content = xclbin(uuid_of(number), held, clock_mhz)
            (self.root / "finn/build/bitfile" / card["bitstream"]).write_bytes(content)
        assert units or not self.host["linked"]

    def dry(self, *options: str) -> str:
        """Return what a dry run says, in a Python that has its standard library and nothing else."""
        command = [sys.executable, "-I", "-S", str(self.root / "host/run.py"), "--dry-run", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


def row(cards: int) -> list[tuple[int, int]]:
    return [(card, card + 1) for card in range(cards - 1)]


def copies(count: int) -> list[dict[str, Any]]:
    return [
        {"name": f"net_{k}", "input": ["fpga0", f"idma0_{k}"], "output": ["fpga0", f"odma0_{k}"], "suffix": f"_{k}"}
        for k in range(count)
    ]


def loads(said: str) -> list[str]:
    return [line.partition("load ")[2].split()[0] for line in said.splitlines() if ". load " in line]


TOPOLOGIES: dict[str, tuple[int, list[tuple[int, int]], list[str]]] = {
    "one card": (1, [], ["fpga0"]),
    "two cards": (2, row(2), ["fpga1", "fpga0"]),
    "three in a row": (3, row(3), ["fpga2", "fpga1", "fpga0"]),
    "a ring of four": (4, [*row(4), (3, 0)], ["fpga3", "fpga2", "fpga1", "fpga0"]),
    "a star": (4, [(0, 1), (1, 0), (0, 2), (2, 0), (0, 3)], ["fpga1", "fpga2", "fpga3", "fpga0"]),
}


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_a_dry_run_says_every_step_in_order(name: str, tmp_path: Path) -> None:
    cards, streams, order = TOPOLOGIES[name]
    said = Folder(tmp_path, cards, streams=streams).dry("--output", "out.npy")
    lines = said.splitlines()
    assert lines[0] == f"net on {cards} x alveo-u250, built by FINN+"
    assert ("note: no PRBS run: FINN+'s link kernel (AuroraFlow) has no generator" in lines[1]) == (cards > 1)
    assert loads(said) == order
    steps = [line.partition(". ")[2].split()[0] for line in lines if line[:2].strip().isdigit()]
    links = cards > 1
    wanted = (
        ["check"] * cards + ["compare"] + ["load"] * cards + ["wait"] * links + ["run", "run"] + ["read"] * (links + 1)
    )
    assert steps == [*wanted, "write"]
    assert "5.0 us planned" in said
    assert "1,000 frames/s planned" in said
    assert lines[-1] == "dry run: nothing was read or loaded"


def test_what_sends_back_is_said_with_its_reason(tmp_path: Path) -> None:
    said = Folder(tmp_path, 4, streams=[*row(4), (3, 0)]).dry()
    assert "load fpga3 (device 3); it sends back to fpga0, loaded later, and waits: no frame is in the circle" in said
    assert "load fpga0 (device 0) after fpga1, which it sends to" in said


def test_frames_are_dealt_round_copies_which_a_dry_run_says(tmp_path: Path) -> None:
    said = Folder(tmp_path, 1, copies=copies(4)).dry("--frames", "100")
    assert "run 100 frames, dealt round 4 copies and gathered in order" in said


Taken = Callable[..., tuple[int, str, str]]


@pytest.fixture
def take(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Taken:
    """Return what takes a folder's steps with modules for drivers, and tells status and what was said."""

    def run(folder: Folder, modules: Sequence[ModuleType], *options: str) -> tuple[int, str, str]:
        for name in ("pynq", "pyxrt"):
            monkeypatch.setitem(sys.modules, name, next((m for m in modules if m.__name__ == name), None))
        main = runpy.run_path(str(folder.root / "host/run.py"))["main"]
        status = main(["--repeats", "2", "--frames", "10", *options])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return status, said.out, said.err

    return run


def given(folder: Folder, shape: tuple[int, ...], dtype: str = "u1") -> tuple[Any, list[str]]:
    values = default_rng(1).integers(0, 256, shape).astype(dtype)
    save(folder.root / "in.npy", values)
    return values, ["--input", str(folder.root / "in.npy"), "--output", str(folder.root / "out.npy")]


def answer(folder: Folder, values: Any) -> bool:
    """Return whether every frame is turned round bit by bit, in the place of its own."""
    frames = values.reshape(len(values), -1)[:, :ANSWER].astype("u1")
    return bool((load(folder.root / "out.npy") == (frames ^ 0xFF).view("i1")).all())


@pytest.mark.parametrize("cards", [1, 2, 3])
def test_frames_go_through_cards_that_are_loaded_from_the_last(cards: int, tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, cards, streams=row(cards))
    folder.build()
    values, options = given(folder, (7, 3, 2))
    world = World(folder.host, cards)
    status, said, failed = take(folder, [pynq(world)], *options)
    assert (status, failed) == (0, "")
    assert world.loaded == [(n, f"finn-accel-{n}.xclbin") for n in reversed(range(cards))]
    assert answer(folder, values)
    assert "frames/s measured" in said
    assert f"UUID {uuid_of(0)}; has idma_0" in said
    assert ("is up" in said) == (cards > 1)
    assert "power" in said
    assert "there is no pyxrt" in said


def test_frames_are_dealt_round_copies_and_gathered_in_order(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 1, copies=copies(3))
    folder.build()
    values, options = given(folder, (8, FRAME))
    world = World(folder.host, 1)
    assert take(folder, [pynq(world)], *options)[0] == 0
    assert answer(folder, values)
    assert {*world.frames} == {("net_0", 1), ("net_0", 3), ("net_1", 3), ("net_2", 2)}


REAL = end("FLOAT32", 32, None, None, 2)
"""Two values in single precision: as many bytes as eight whole numbers, of a frame as many as go in."""


def test_floats_come_out_in_single_precision(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 1, input=end("UINT8", 8, 0, 255, 8), output=REAL)
    folder.build()
    values, options = given(folder, (7, 8))
    assert take(folder, [pynq(World(folder.host, 1))], *options)[0] == 0
    written = load(tmp_path / "out.npy")
    assert (written.shape, written.dtype) == ((7, 2), "float32")
    assert (written.view("u1") == values ^ 0xFF).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_floats_and_whole_numbers_go_into_a_network_that_takes_floats(dtype: str, tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 1, input=REAL, output=end("INT8", 8, -128, 127, 8))
    folder.build()
    values = (default_rng(4).standard_normal((7, 2)) * 100).astype(dtype)
    save(tmp_path / "in.npy", values)
    options = ["--input", str(tmp_path / "in.npy"), "--output", str(tmp_path / "out.npy")]
    assert take(folder, [pynq(World(folder.host, 1))], *options)[0] == 0
    assert (load(tmp_path / "out.npy").astype("i1").view("u1") == values.astype("<f4").view("u1") ^ 0xFF).all()
    assert take(folder, [pynq(World(folder.host, 1))])[0] == 0  # made up: zeros


def beside(**changed: Any) -> dict[str, Any]:
    """Return what host.json says of two networks, the second with frames twice as long and half the rate."""
    first, second = copies(2)
    second = second | {"name": "other"}
    wide = {"input": end("UINT8", 8, 0, 255, 2 * FRAME), "output": end("INT8", 8, -128, 127, 2 * FRAME)}
    other = {"network": "other", "driver": "finn/other/build/driver", "copies": [second], "written_weights": [], **wide}
    return {"copies": [first], "beside": [other | {"planned": {"fps": 500.0, "latency_us": 9.0}} | changed]}


def test_two_networks_run_alone_and_at_once(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 1, **beside())
    folder.build()
    frames = {"net": (8, FRAME), "other": (6, 2 * FRAME)}
    options, values = [], {}
    for name, shape in frames.items():
        values[name] = default_rng(2).integers(0, 256, shape).astype("u1")
        save(tmp_path / f"{name}.npy", values[name])
        options += ["--input", f"{name}={tmp_path / name}.npy", "--output", f"{name}={tmp_path / name}_out.npy"]
    world = World(folder.host, 1)
    status, said, failed = take(folder, [pynq(world)], *options)
    assert (status, failed) == (0, "")
    assert len(world.loaded) == 1
    for name, elements in (("net", ANSWER), ("other", 2 * FRAME)):
        written = load(tmp_path / f"{name}_out.npy")
        assert (written == (values[name][:, :elements] ^ 0xFF).view("i1")).all()
    # 8 frames take 7 ms and a latency, in which the other has one, and three more.
    assert "run 8 frames of net and 4 frames of other at once" in said
    assert {*world.frames} == {("net_0", 1), ("net_0", 8), ("other", 1), ("other", 6), ("other", 4)}
    assert said.count("frames/s measured") == 4


def test_of_two_networks_files_are_named_by_network(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 1, **beside())
    folder.build()
    module = pynq(World(folder.host, 1))
    for option in ("in.npy", "third=in.npy", "other="):
        status, _, failed = take(folder, [module], "--input", option)
        assert (status, "give --input NETWORK=..., once each, of net, other" in failed) == (2, True)
    folder.write("host/host.json", folder.host | beside(written_weights=["MVAU_hls_0"]))
    weights = tmp_path / "finn/other/build/driver/runtime_weights"
    weights.mkdir(parents=True)
    (weights / "1_0_MVAU_hls_0.dat").write_text("0000000a\n0000000b\n")
    world = World(folder.host, 1)
    status, said, _ = take(folder, [pynq(world)])
    assert status == 0
    assert "2 words in StreamingDataflowPartition_1_1 of fpga0" in said
    assert {unit for _, unit, _ in world.registers if "Partition" in unit} == {"StreamingDataflowPartition_1_1"}


def test_a_zynq_board_is_driven_by_registers(tmp_path: Path, take: Taken) -> None:
    cards = [{"name": "fpga0", "board": "pynq-z1", "bitstream": "finn-accel.bit", "links": {}}]
    ends = [{"name": "net", "input": ["fpga0", "idma0"], "output": ["fpga0", "odma0"], "suffix": ""}]
    folder = Folder(tmp_path, 1, cards=cards, copies=ends, zynq=True)
    folder.build()
    values, options = given(folder, (5, FRAME))
    module = pynq(World(folder.host, 1))
    status, _, failed = take(folder, [module], *options)
    assert status == 2
    assert "finn-accel.hwh, which pynq needs" in failed
    (tmp_path / "finn/build/bitfile/finn-accel.hwh").touch()
    status, said, _ = take(folder, [module], *options)
    assert (status, answer(folder, values)) == (0, True)
    assert module.Clocks.fclk0_mhz == 250.0
    assert "no power and no temperature" in said


def test_pyxrt_runs_batches_and_says_what_it_does_not_reach(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 2, streams=row(2))
    folder.build(clock_mhz=200)
    values, options = given(folder, (4, FRAME))
    world = World(folder.host, 2)
    status, said, failed = take(folder, [pyxrt(world, {n: uuid_of(n) for n in range(2)})], *options)
    assert (status, failed, answer(folder, values)) == (0, "", True)
    assert said.count("not read, pyxrt reaches no registers") == 4
    assert f"loaded, UUID {uuid_of(1)}" in said
    assert "fpga1: 41.250000 W; FPGA 57 C" in said
    assert "its clock is 200 MHz, 250 planned: 80% of the rate" in said
    other = pyxrt(world, dict.fromkeys(range(2), uuid_of(8)))
    status, _, failed = take(folder, [other], *options)
    assert status == 1
    assert f"fpga1 has the UUID {uuid_of(8)}, its file {uuid_of(1)}" in failed


@pytest.mark.parametrize(
    ("register", "value", "words"),
    [
        ("SOFT_ERR_COUNT_ADDRESS", 3, "aurora_flow_0 of fpga1 saw errors (fpga0-fpga1)"),
        ("CHANNEL_DOWN_COUNT_ADDRESS", 9, "aurora_flow_0 of fpga1 saw errors (fpga0-fpga1)"),
        ("RX_COUNT_ADDRESS", 7, "fpga0-fpga1 lost or made words"),
        ("CORE_STATUS_ADDRESS", 0x0FFF, "is not up: status 0x0fff, not 0x11ff; look at fpga0-fpga1"),
    ],
)
def test_a_bad_link_is_told(
    register: str, value: int, words: str, tmp_path: Path, take: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    folder = Folder(tmp_path, 2, streams=row(2))
    folder.build()
    world = World(folder.host, 2, faults={(1, "aurora_flow_0", AURORA[register]): value})
    text = (tmp_path / "host/run.py").read_text(encoding="utf-8").replace("LINK_SECONDS = 3.0", "LINK_SECONDS = 0.01")
    (tmp_path / "host/run.py").write_text(text, encoding="utf-8")
    status, _, failed = take(folder, [pynq(world)])
    assert status == 1
    assert words in failed


def with_tests(folder: Path) -> Folder:
    """Return a folder of three cards with link kernels of floorflow's own."""
    found = Folder(folder, 3, streams=row(3))
    for card in found.host["cards"]:
        card["tests"] = {unit.replace("aurora_flow", "link"): cable for unit, cable in card["links"].items()}
    found.write("host/host.json", found.host)
    found.build()
    return found


def test_link_kernels_of_floorflow_send_a_test_pattern_ahead_of_frames(
    tmp_path: Path, take: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    folder = with_tests(tmp_path)
    said = folder.dry()
    assert "no PRBS run" not in said
    told = "send PRBS-31 over links for 1 s and count wrong words: link_0 of fpga0 (fpga0-fpga1), link_0 of fpga1"
    assert said.index("wait until links are up") < said.index(told) < said.index("run a frame alone")
    values, options = given(folder, (4, FRAME))
    # Words are counted on from what was counted before, in 32 bits.
    world = World(folder.host, 3, registers={(0, "link_0", 0x08): 2**32 - 100})
    status, said, failed = take(folder, [pynq(world)], *options)
    assert (status, failed, answer(folder, values)) == (0, "", True)
    assert said.count("300 words came, 0 of them wrong") == 4
    # All stop sending.
    assert [world.read(card, unit, 0) for card, unit in ((0, "link_0"), (1, "link_0"), (1, "link_1"))] == [0, 0, 0]


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [
        (0x04, 0, "link_1 of fpga1 over fpga1-fpga2: the other side is not ready"),
        (0x04, 1 | 8, "link_1 of fpga1 over fpga1-fpga2: a reset of one side alone"),
        (0x08, 7, "link_1 of fpga1 over fpga1-fpga2: no word of the pattern came"),
    ],
)
def test_a_link_that_fails_its_test_is_told(
    offset: int, value: int, words: str, tmp_path: Path, take: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    folder = with_tests(tmp_path)
    status, _, failed = take(folder, [pynq(World(folder.host, 3, faults={(1, "link_1", offset): value}))])
    assert status == 1
    assert words in failed


def test_wrong_words_of_the_pattern_are_counted(tmp_path: Path, take: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = with_tests(tmp_path)
    world = World(folder.host, 3, registers={(2, "link_0", 0x0C): 5})
    monkeypatch.setattr("time.sleep", lambda _: world.registers.update({(2, "link_0", 0x0C): 7}))
    status, _, failed = take(folder, [pynq(world)])
    assert status == 1
    assert "link_0 of fpga2 over fpga1-fpga2: 2 words were wrong" in failed


def test_weights_are_written_to_every_copy_and_read_back(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 1, copies=copies(2), written_weights=["MVAU_rtl_0"])
    folder.build()
    assert f"write the weights of MVAU_rtl_0 from {tmp_path / 'finn/build/driver/runtime_weights'}" in folder.dry()
    world = World(folder.host, 1)
    status, _, failed = take(folder, [pynq(world)])
    assert status == 2
    assert "has no weights (*.dat), which FINN writes with its driver" in failed
    (tmp_path / "finn/build/driver/runtime_weights").mkdir(parents=True)
    (tmp_path / "finn/build/driver/runtime_weights/1_0_MVAU_rtl_0.dat").write_text(
        "0000000a\n0000ffff\n", encoding="ascii"
    )
    status, said, _ = take(folder, [pynq(world)])
    assert status == 0
    for copy in range(2):
        unit = f"StreamingDataflowPartition_1_{copy}"
        assert f"2 words in {unit} of fpga0" in said
        assert [world.registers[0, unit, place] for place in (0, 4)] == [0xA, 0xFFFF]
    world.faults[0, "StreamingDataflowPartition_1_1", 4] = 0xFFFE
    status, _, failed = take(folder, [pynq(world)])
    assert status == 1
    assert "word 1 reads as 0xfffe, written 0xffff" in failed


FINN_PLUS_SETTINGS = {
    "driver_information": {
        "driver_type": "FINNDMAOverlay",
        "io_shape_dict": {
            "idt": ["DataType['UINT8']"],
            "idma_names": ["idma0"],
            "ishape_normal": [[1, 6]],
            "ishape_folded": [[1, 3, 2]],
            "ishape_packed": [[1, 3, 2]],
            "odt": ["DataType['INT8']"],
            "odma_names": ["odma0"],
            "oshape_normal": [[1, 4]],
            "oshape_folded": [[1, 2, 2]],
            "oshape_packed": [[1, 2, 2]],
        },
    }
}
"""As MakePYNQDriver of FINN+ 1.6.1 writes settings.json, from get_driver_shapes."""
FINN_MAIN_DRIVER = """
io_shape_dict = {
    # FINN DataType for input and output tensors
    "idt" : [DataType['UINT8']],
    "odt" : [DataType['INT8']],
    # shapes for input and output tensors (NHWC layout)
    "ishape_normal" : [(1, 6)],
    "oshape_normal" : [(1, 4)],
    "ishape_folded" : [(1, 3, 2)],
    "oshape_folded" : [(1, 2, 2)],
    "ishape_packed" : [(1, 3, 2)],
    "oshape_packed" : [(1, 2, 2)],
"""
"""As MakePYNQDriver of FINN main fills template_driver.py (Xilinx/finn 39f0c9a)."""


@pytest.mark.parametrize(
    ("name", "text"), [("settings.json", json.dumps(FINN_PLUS_SETTINGS, indent=2)), ("driver.py", FINN_MAIN_DRIVER)]
)
def test_frames_that_finn_built_otherwise_are_refused(name: str, text: str, tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 1)
    folder.build()
    (tmp_path / "finn/build/driver").mkdir()
    driver = tmp_path / "finn/build/driver" / name
    driver.write_text(text, encoding="utf-8")
    status, said, _ = take(folder, [pynq(World(folder.host, 1))])
    assert status == 0
    assert "frames are those of FINN's driver" in said
    for old, new, words in (
        ("'INT8'", "'INT16'", "output is INT16 in 4 bytes, planned INT8 in 4"),
        ("'UINT8'", "'FIXED<8,2>'", "input is FIXED<8,2> in 6 bytes, planned UINT8 in 6"),
        ('"ishape_packed"', '"ishape_other"', "input is UINT8 in 1 bytes"),
    ):
        assert old in text
        driver.write_text(text.replace(old, new), encoding="utf-8")
        status, _, failed = take(folder, [pynq(World(folder.host, 1))])
        assert (status, words in failed) == (2, True), failed


@pytest.mark.parametrize("driver", ["pynq", "xrt"])
def test_a_batch_that_never_ends_is_told(driver: str, tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 1)
    folder.build()
    world = World(folder.host, 1, hangs=True)
    modules = [pynq(world), pyxrt(world, {0: uuid_of(0)})]
    status, _, failed = take(folder, modules, "--driver", driver, "--timeout", "0.1")
    assert status == 1
    assert "run.py: step 4 failed" in failed


def spoilt(folder: Folder) -> dict[str, tuple[list[str], str]]:
    """Return options that are mistakes, and what is said of them."""
    root = folder.root
    for name, values in {
        "short": zeros((3, 5), "u1"),
        "real": zeros((3, FRAME)),
        "wide": full((3, FRAME), 256, "<i4"),
    }.items():
        save(root / f"{name}.npy", values)
    (root / "text.npy").write_text("no array", encoding="ascii")
    (root / "text.xclbin").write_text("no design", encoding="ascii")
    bitfile = root / "finn/build/bitfile"
    return {
        "no bitstream": (["--bitstreams", str(root / "none")], "finn-accel-1.xclbin; build it, or give"),
        "no xclbin": (["--bitstream", f"fpga1={root / 'text.xclbin'}"], "text.xclbin is no xclbin: its first bytes"),
        "another card's design": (["--bitstream", f"fpga1={bitfile / 'finn-accel-0.xclbin'}"], "link it again"),
        "another UUID": (["--uuid", f"fpga1={uuid_of(7)}"], f"has the UUID {uuid_of(1)}, --uuid says {uuid_of(7)}"),
        "no such card": (["--uuid", f"fpga7={uuid_of(7)}"], "with a card of fpga0, fpga1"),
        "no such device": (["--device", "fpga1=5"], "there is no device 5: pynq sees 2"),
        "a device without number": (["--device", "fpga1=0000:3b:00.1"], "there is no device 0000:3b:00.1"),
        "no input": (["--input", str(root / "none.npy")], "none.npy: No such file"),
        "no array": (["--input", str(root / "text.npy")], "text.npy: it is no .npy file"),
        "another shape": (["--input", str(root / "short.npy")], "has the shape (3, 5); a frame is 6 values of UINT8"),
        "no whole numbers": (["--input", str(root / "real.npy")], "its type <f8 is none of whole numbers"),
        "values beyond": (["--input", str(root / "wide.npy")], "the input holds 256 to 256, UINT8 is 0 to 255"),
        "no pyxrt": (["--driver", "xrt"], "there is no pyxrt here"),
    }


def test_mistakes_are_told_with_status_2(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 2, streams=row(2))
    folder.build()
    for title, (options, words) in spoilt(folder).items():
        status, _, failed = take(folder, [pynq(World(folder.host, 2))], *options)
        assert (status, words in failed) == (2, True), f"{title}: {status}, {failed}"


def test_one_design_for_two_cards_of_a_row_is_refused(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 4, streams=row(4))
    folder.build()
    twice = f"fpga2={tmp_path / 'finn/build/bitfile/finn-accel-1.xclbin'}"
    status, _, failed = take(folder, [pynq(World(folder.host, 4))], "--bitstream", twice)
    assert status == 2
    assert f"fpga1 and fpga2 would be loaded with one design, UUID {uuid_of(1)}" in failed


def test_designs_of_other_cards_or_plans_are_refused(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 2, streams=row(2))
    folder.build(but="aurora_flow_0")
    status, _, failed = take(folder, [pynq(World(folder.host, 2))])
    assert status == 2
    assert "finn-accel-1.xclbin has no aurora_flow_0; link it again" in failed
    folder.write("host/host.json", folder.host | {"schema": "floorflow-host/0"})
    assert take(folder, [])[0] == 2
    (tmp_path / "host/host.json").unlink()
    status, _, failed = take(folder, [])
    assert status == 2
    assert "take the plan's whole folder" in failed


def test_files_that_were_changed_are_told_without_a_traceback(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 2, streams=row(2))
    topology = json.loads((tmp_path / "topology.json").read_text(encoding="utf-8"))
    for name, content in (("host/host.json", folder.host), ("topology.json", topology)):
        for key in content:
            for value in (None, 7, [7]):
                folder.write(name, content | {key: value})
                status, _, failed = take(folder, [], "--dry-run")
                assert status in (0, 2), f"{key} is {value}"
                assert (status == 2) == bool(failed)
            folder.write(name, {other: held for other, held in content.items() if other != key})
            assert take(folder, [], "--dry-run")[0] in (0, 2), key
        folder.write(name, content)


def test_spoilt_bitstreams_are_told(tmp_path: Path, take: Taken) -> None:
    folder = Folder(tmp_path, 1)
    folder.build()
    file = tmp_path / "finn/build/bitfile/finn-accel-0.xclbin"
    whole, draw = file.read_bytes(), default_rng(3)
    for size in (8, 440, 460, 500, len(whole) - 200):
        file.write_bytes(whole[:size])
        assert take(folder, [])[0] == 2
    for _ in range(30):
        other = bytearray(whole)
        for place in draw.integers(8, len(whole), 6):
            other[place] = draw.integers(0, 256)
        file.write_bytes(other)
        assert take(folder, [])[0] == 2  # at the latest there is no driver


def test_registers_of_the_link_kernel_are_those_of_its_header() -> None:
    assert AURORA["CORE_STATUS_ADDRESS"] == script.STATUS
    assert AURORA["CORE_STATUS_OK"] == script.STATUS_OK
    assert AURORA["COUNTER_RESET_ADDRESS"] == script.RESET_COUNTERS
    assert (AURORA["TX_COUNT_ADDRESS"], AURORA["RX_COUNT_ADDRESS"]) == (script.SENT, script.RECEIVED)
    names = ("HARD_ERR_COUNT", "SOFT_ERR_COUNT", "CHANNEL_DOWN_COUNT", "FIFO_RX_OVERFLOW_COUNT")
    assert [*script.ERRORS.values()] == [AURORA[f"{name}_ADDRESS"] for name in names]
    assert not [name for name in AURORA if "PRBS" in name]


def with_pynq(*arguments: object) -> str:
    """Return what a script says in the Python that FLOORFLOW_PYNQ names: its folder, with pynq 3.0.1 in it."""
    folder = os.environ.get("FLOORFLOW_PYNQ")
    if folder is None:
        pytest.skip("FLOORFLOW_PYNQ names no environment with pynq 3.0.1 (PyPI's source, numpy 1, pycparser 2.21)")
    command = [str(Path(folder) / "bin/python"), "-W", "ignore", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_recorded_is_what_pynq_says() -> None:
    """Ask pynq itself where it can be imported; the record was written by record_drivers.py."""
    here = Path(__file__).parent
    script = "import json, record_drivers as r; print(json.dumps([r.of_pynq(), r.of_xclbin()]))"
    said = with_pynq("-c", f"import sys; sys.path.append({str(here)!r}); {script}")
    assert json.loads(said) == [RECORD["pynq"], RECORD["xclbin"]]


def test_pynq_itself_drives_two_cards(tmp_path: Path) -> None:
    """Below pynq the cards are simulated; it parses xclbins, allocates, starts and waits by its own code."""
    folder = Folder(tmp_path, 2, streams=row(2), written_weights=["MVAU_rtl_0"])
    (tmp_path / "finn/build/bitfile").mkdir(parents=True)
    (tmp_path / "finn/build/driver/runtime_weights").mkdir(parents=True)
    (tmp_path / "finn/build/driver/runtime_weights/1_0_MVAU_rtl_0.dat").write_text("a\nffff\n", encoding="ascii")
    values, options = given(folder, (9, FRAME))
    said = with_pynq(Path(__file__).with_name("driven_by_pynq.py"), tmp_path, *options, "--repeats", "2")
    left = json.loads(said.splitlines()[-1])
    assert left["loaded"] == [1, 0]
    assert left["registers"][0][-2:] == [[0x30000, 0xA], [0x30004, 0xFFFF]]
    assert answer(folder, values)
    assert "aurora_flow_0 of fpga1 is up" in said
