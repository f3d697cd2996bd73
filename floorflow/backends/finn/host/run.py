#!/usr/bin/env python3
"""Load FINN's designs onto their cards, run batches, and print measured rate and latency beside the planned ones.

    run.py --dry-run                        say each step and take none; needs no card, no pynq and no XRT
    run.py --input IN.npy --output OUT.npy
    run.py --input camera=IN.npy --output camera=OUT.npy     (of several networks on a card)

Written by floorflow; host.json beside this file, and topology.json above it where there are several cards, say what
belongs together. A card's bitstream is looked for where FINN leaves it (--bitstreams FOLDER), or is told by
--bitstream CARD=FILE. Cards are devices 0, 1, ... unless --device CARD=NUMBER says otherwise. IN.npy holds whole
numbers (floats, too, where the network takes FLOAT32), a frame a row, in FINN's order of elements (channels last);
without it frames are made up.

pynq is what drives a card, as in FINN's own driver (Xilinx/finn 39f0c9a, driver_base.py); where there is none, pyxrt,
XRT's own Python, does (Xilinx/XRT, src/python/pybind11), which reaches no registers: no link status, no weights.
"""

# ruff: noqa: ARG002, D102, T201, TRY301 - a script: it prints, and an interface says what its methods return

from __future__ import annotations

import argparse
import ast
import json
import re
import signal
import statistics
import struct
import sys
import time
import uuid
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any, Protocol

Facts = Mapping[str, Any]

# AuroraFlow, the link kernel that FINN+ builds in: registers and the good status (pc2/AuroraFlow 6438de8,
# include/AuroraFlow.hpp). Errors are counted in cycles that saw one, words at the kernel's side.
STATUS, RESET_COUNTERS, SENT, RECEIVED, STATUS_OK = 0x20, 0x14, 0x40, 0x44, 0x11FF
ERRORS = {"hard errors": 0x70, "soft errors": 0x74, "cycles down": 0x78, "receiver overflows": 0x2C}
NO_PRBS = (
    "no PRBS run: FINN+'s link kernel (AuroraFlow) has no generator; its status, errors and words are read instead"
)
# floorflow's own link kernel (rtl/floorflow_link_registers.sv): sends PRBS-31 while bit 0 is 1; bits of the status;
# words of the pattern that came from the other side, and how many of them were wrong.
TEST, TEST_STATUS, TESTED, WRONG, OTHER_READY = 0x00, 0x04, 0x08, 0x0C, 1
SEEN = {2: "a header that is none", 4: "a FIFO overrun", 8: "a reset of one side alone"}
TEST_SECONDS = 1.0
LINK_SECONDS = 3.0
# FINN's DMA engines on Zynq: control, address, repetitions (driver_base.py, platform zynq-iodma).
CONTROL, ADDRESS, REPETITIONS, START, DONE = 0x00, 0x10, 0x1C, 1, 2
# A .npy file's types of whole numbers, by the codes of ``array``.
NPY = {"|u1": "B", "|i1": "b", "<u2": "H", "<i2": "h", "<u4": "I", "<i4": "i", "<u8": "Q", "<i8": "q"}
NPY_FLOATS = {"<f4": "f", "<f8": "d"}
FLOAT = "FLOAT32"
SCHEMA = "floorflow-host/1"
KERNEL = "StreamingDataflowPartition_"


class Stop(Exception):  # noqa: N818 - what it says is no mistake of the program
    """What the user has to change; the run ends with status 2."""


class Fault(Exception):  # noqa: N818
    """What went wrong on a card; the run ends with status 1."""


# Files


@dataclass(frozen=True)
class Design:
    """A bitstream: UUID, the full name of each unit (``kernel:unit``) and clock; none is told of a .bit."""

    file: Path
    uuid: str | None = None
    units: Mapping[str, str] | None = None
    clock_mhz: int | None = None

    def needs(self, units: Sequence[str], hint: str) -> None:
        """Stop unless these units are in it."""
        missing = [] if self.units is None else [unit for unit in units if unit not in self.units]
        if missing:
            raise Stop(f"{self.file} has no {', '.join(missing)}; {hint}")


def read_design(file: Path) -> Design:
    """Read what a bitstream says of itself."""
    if not file.is_file():
        raise Stop(f"there is no {file}; build it, or give --bitstreams FOLDER or --bitstream CARD=FILE")
    if file.suffix != ".xclbin":
        if not file.with_suffix(".hwh").is_file():
            raise Stop(f"there is no {file.with_suffix('.hwh')}, which pynq needs beside the bitstream")
        return Design(file)
    try:
        return _of_xclbin(file, file.read_bytes())
    except (struct.error, IndexError, ValueError) as problem:
        raise Stop(f"{file} is no xclbin: {problem}") from problem


def _of_xclbin(file: Path, data: bytes) -> Design:
    """Read the head and the sections IP_LAYOUT (8) and CLOCK_FREQ_TOPOLOGY (11), as XRT's xclbin.h has them."""
    if data[:8] != b"xclbin2\0":
        raise ValueError("its first bytes are not those of one")
    units: dict[str, str] = {}
    clock = None
    for number in range(*struct.unpack_from("<I", data, 448)):
        kind, begin, _ = struct.unpack_from("<I20xQQ", data, 456 + 40 * number)
        if kind == 8:
            for row in range(*struct.unpack_from("<i", data, begin)):
                name = struct.unpack_from("64s", data, begin + 24 + 80 * row)[0].partition(b"\0")[0].decode()
                units[name.rpartition(":")[2]] = name
        if kind == 11:
            rows = [struct.unpack_from("<Hb", data, begin + 2 + 136 * row) for row in range(data[begin])]
            clock = next((mhz for mhz, what in rows if what == 1), None)  # CT_DATA, the clock of kernels
    return Design(file, str(uuid.UUID(bytes=data[416:432])), units, clock)


def read_npy(file: Path, end: Facts) -> tuple[tuple[int, ...], Sequence[float]]:
    """Return shape and values of an array of whole numbers, or of floats for an end that takes them."""
    known = {**NPY, **NPY_FLOATS} if end["type"] == FLOAT else NPY
    try:
        data = file.read_bytes()
        if data[:6] != b"\x93NUMPY":
            raise ValueError("it is no .npy file")
        size = struct.unpack_from("<H" if data[6] == 1 else "<I", data, 8)[0]
        begin = 10 if data[6] == 1 else 12
        head = ast.literal_eval(data[begin : begin + size].decode("latin-1"))
        code, shape = known.get(head["descr"]), tuple(map(int, head["shape"]))
        if code is None:
            told = "whole numbers or floats" if end["type"] == FLOAT else "whole numbers: quantise it first"
            raise ValueError(f"its type {head['descr']} is none of {told}")
        if head["fortran_order"]:
            raise ValueError("it is in Fortran's order")
        values: array[Any] = array(code)
        values.frombytes(data[begin + size :])
        if len(values) != prod(shape):
            raise ValueError(f"it holds {len(values)} values, its shape {shape} says {prod(shape)}")
    except OSError as problem:
        raise Stop(f"{file}: {problem.strerror}") from problem
    except (ValueError, KeyError, IndexError, SyntaxError, struct.error, TypeError) as problem:
        raise Stop(f"{file}: {problem}") from problem
    return shape, values


def npy(values: Sequence[float], frames: int, end: Facts) -> bytes:
    """Return values as a .npy file of 64-bit numbers, or of floats in single precision, a frame a row."""
    descr, code = ("<f4", "f") if end["type"] == FLOAT else ("<i8", "q")
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({frames}, {len(values) // max(frames, 1)}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", len(head))
        + head.encode()
        + struct.pack(f"<{len(values)}{code}", *values)
    )


def packed(values: Sequence[Any], end: Facts) -> bytes:
    """Return values as the DMA engine reads them: the first in the lowest bits, each word from a whole byte on.

    That is FINN's ``finnpy_to_packed_bytearray`` with both orders reversed; -1 of a bipolar value is 0.
    """
    bits, each = end["element_bits"], end["elements_per_word"]
    if end["type"] == FLOAT:
        return struct.pack(f"<{len(values)}f", *values)
    low, high = end["least"], end["most"]
    if values and not low <= min(values) <= max(values) <= high:
        raise Stop(f"the input holds {min(values)} to {max(values)}, {end['type']} is {low} to {high}")
    if end["type"] == "BIPOLAR":
        values = [(value + 1) // 2 for value in values]
    if bits == 8:
        return bytes(value & 255 for value in values)
    size, mask = -(-bits * each // 8), (1 << bits) - 1
    words = (values[first : first + each] for first in range(0, len(values), each))
    return b"".join(
        sum((value & mask) << bits * place for place, value in enumerate(word)).to_bytes(size, "little")
        for word in words
    )


def unpacked(data: bytes, end: Facts) -> list[float]:
    """Return the values in words that the DMA engine wrote."""
    if end["type"] == FLOAT:
        return list(struct.unpack(f"<{len(data) // 4}f", data))
    bits, each = end["element_bits"], end["elements_per_word"]
    size, mask = -(-bits * each // 8), (1 << bits) - 1
    found: list[int] = []
    for first in range(0, len(data), size):
        word = int.from_bytes(data[first : first + size], "little")
        found += [word >> bits * place & mask for place in range(each)]
    if end["type"] == "BIPOLAR":
        return [2 * value - 1 for value in found]
    return [value - (1 << bits) if value > end["most"] else value for value in found]


# Cards


class Board(Protocol):
    """A card, as far as running batches needs it."""

    reaches_registers: bool

    def load(self, design: Design, clock_mhz: float) -> None:
        """Load a bitstream; on Zynq, where it has none of its own, with this clock."""

    def read(self, unit: str, offset: int) -> int:
        """Read a register of 32 bits."""

    def write(self, unit: str, offset: int, value: int | bytes) -> None:
        """Write a register, or several from an offset on."""

    def memory(self, unit: str, size: int) -> Any:
        """Return so many bytes in the bank that v++ joined to a DMA engine."""

    def fill(self, memory: Any, data: bytes) -> None:
        """Put data into memory."""

    def content(self, memory: Any) -> bytes:
        """Return what is in memory."""

    def start(self, unit: str, memory: Any, frames: int) -> Any:
        """Start a DMA engine; return what is waited for."""

    def wait(self, started: Any, seconds: float) -> None:
        """Return when it is through, and fail after so long."""


class PynqBoard:
    """A card or a Zynq board by pynq 3 (Xilinx/PYNQ: overlay.py, buffer.py, pl_server/xrt_device.py)."""

    reaches_registers = True

    def __init__(self, device: str) -> None:
        self._pynq = import_module("pynq")
        there = self._pynq.Device.devices
        if not device.isdigit() or int(device) >= len(there):
            raise Stop(f"there is no device {device}: pynq sees {len(there)}, from 0 on")
        self._device, self._is_zynq = there[int(device)], False
        self._overlay: Any = None

    def load(self, design: Design, clock_mhz: float) -> None:
        self._overlay = self._pynq.Overlay(str(design.file), device=self._device)
        self._is_zynq = design.file.suffix != ".xclbin"
        if self._is_zynq:
            self._pynq.Clocks.fclk0_mhz = clock_mhz

    def read(self, unit: str, offset: int) -> int:
        return int(getattr(self._overlay, unit).read(offset))

    def write(self, unit: str, offset: int, value: int | bytes) -> None:
        getattr(self._overlay, unit).write(offset, value)

    def memory(self, unit: str, size: int) -> Any:
        if self._is_zynq:
            return self._pynq.allocate(shape=(size,), dtype="u1", target=self._device, cacheable=True)
        bank = next(one.mem for one in getattr(self._overlay, unit).args.values() if one.mem is not None)
        return self._pynq.allocate(shape=(size,), dtype="u1", target=self._device.get_memory_by_name(bank))

    def fill(self, memory: Any, data: bytes) -> None:
        memory[: len(data)] = memoryview(data)
        memory.flush()

    def content(self, memory: Any) -> bytes:
        memory.invalidate()
        return bytes(memory)

    def start(self, unit: str, memory: Any, frames: int) -> Any:
        engine = getattr(self._overlay, unit)
        if not self._is_zynq:
            return engine.start(memory, frames)
        engine.write(ADDRESS, memory.device_address & 0xFFFFFFFF)
        engine.write(ADDRESS + 4, memory.device_address >> 32)
        engine.write(REPETITIONS, frames)
        engine.write(CONTROL, START)
        return engine

    def wait(self, started: Any, seconds: float) -> None:
        with _within(seconds):
            if not self._is_zynq:
                started.wait()
            while self._is_zynq and not started.read(CONTROL) & DONE:
                pass


class XrtBoard:
    """A card by pyxrt."""

    reaches_registers = False

    def __init__(self, device: str) -> None:
        self._xrt = import_module("pyxrt")
        count = self._xrt.enumerate_devices()
        if device.isdigit() and int(device) >= count:
            raise Stop(f"there is no device {device}: XRT sees {count}, from 0 on")
        self._device = self._xrt.device(int(device) if device.isdigit() else device)
        self._units: Mapping[str, str] | None = None
        self._uuid: Any = None

    def load(self, design: Design, clock_mhz: float) -> None:
        self._uuid, self._units = self._device.load_xclbin(str(design.file)), design.units

    def read(self, unit: str, offset: int) -> int:
        raise Fault(f"pyxrt reads no register of {unit} ({offset:#x}): install pynq")

    def write(self, unit: str, offset: int, value: int | bytes) -> None:
        raise Fault(f"pyxrt writes no register of {unit} ({offset:#x}): install pynq")

    def _kernel(self, unit: str) -> Any:
        kernel = (self._units or {})[unit].partition(":")[0]
        return self._xrt.kernel(self._device, self._uuid, f"{kernel}:{{{unit}}}")

    def memory(self, unit: str, size: int) -> Any:
        return self._xrt.bo(self._device, size, self._xrt.bo.normal, self._kernel(unit).group_id(0))

    def fill(self, memory: Any, data: bytes) -> None:
        memory.write(data, 0)
        memory.sync(self._xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, memory.size(), 0)

    def content(self, memory: Any) -> bytes:
        memory.sync(self._xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_FROM_DEVICE, memory.size(), 0)
        return bytes(memory.map())

    def start(self, unit: str, memory: Any, frames: int) -> Any:
        """Start a kernel: memory and repetitions are FINN's arguments (vitis_build.py, CreateVitisXO)."""
        return self._kernel(unit)(memory, frames)

    def wait(self, started: Any, seconds: float) -> None:
        state = started.wait(int(seconds * 1000))
        if state != self._xrt.ert_cmd_state.ERT_CMD_STATE_COMPLETED:
            raise Fault(f"a DMA engine ended as {state}, not completed, after at most {seconds:.0f} s")


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    def over(*_: Any) -> None:
        raise Fault(f"nothing came out in {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def driver(asked: str) -> type[PynqBoard] | type[XrtBoard]:
    """Return what drives cards: pynq, else pyxrt, or what is asked for."""
    if asked != "xrt" and _can_import("pynq"):
        return PynqBoard
    if asked != "pynq" and _can_import("pyxrt"):
        return XrtBoard
    wanted = {"auto": "no pynq and no pyxrt", "pynq": "no pynq", "xrt": "no pyxrt"}[asked]
    raise Stop(f"there is {wanted} here (source XRT's setup.sh); --dry-run needs neither")


def _can_import(module: str) -> bool:
    try:
        import_module(module)
    except ImportError:
        return False
    return True


# A run


@dataclass(frozen=True)
class Copy:
    """Where frames of a copy of the network go in and come out, and what its kernels' names end in."""

    name: str
    input: tuple[str, str]
    output: tuple[str, str]
    suffix: str


@dataclass(frozen=True)
class Step:
    """What is said, and what is done, which says more."""

    text: str
    act: Callable[[], Iterator[str]]


class Network:
    """A network on the cards: what a frame is, its copies, what goes in, and what came out."""

    def __init__(self, facts: Facts, source: Path | None, frames: int) -> None:
        self.facts, self.name = facts, str(facts["network"])
        self.copies = [Copy(c["name"], (*c["input"],), (*c["output"],), c["suffix"]) for c in facts["copies"]]
        shape: tuple[int, ...] = (frames,)
        self.values: Sequence[float] | None = None
        if source is not None:
            shape, self.values = read_npy(source, facts["input"])
        self.frames, self.out = shape[0] if shape else 0, list[float]()
        if source is not None and (self.frames < 1 or prod(shape[1:]) != facts["input"]["elements"]):
            wanted = facts["input"]["elements"]
            raise Stop(f"{source} has the shape {shape}; a frame is {wanted} values of {facts['input']['type']}")

    @property
    def driver(self) -> Path:
        """The folder where the build leaves FINN's driver."""
        return Path(__file__).resolve().parent.parent / str(self.facts["driver"])

    @cached_property
    def input(self) -> bytes:
        """All frames as the DMA engine reads them."""
        end = self.facts["input"]
        values = [end["least"] or 0] * (self.frames * end["elements"]) if self.values is None else self.values
        return packed(values, end)

    def seconds(self, frames: int) -> float:
        """Return how long a batch is planned to take, in which the first frame takes the latency."""
        planned, each = self.facts["planned"], -(-frames // len(self.copies))
        return float(planned["latency_us"] / 1e6 + (each - 1) * len(self.copies) / planned["fps"])

    def within(self, seconds: float) -> int:
        """Return how many frames are planned to take no longer, at least one in each copy."""
        planned, count = self.facts["planned"], len(self.copies)
        after = max(0.0, seconds - planned["latency_us"] / 1e6)
        return count * (1 + int(after * planned["fps"] / count + 1e-6))

    def batch(self, boards: Mapping[str, Board], frames: int) -> Batch:
        """Put some frames into memory, the n-th in that of copy n modulo their number."""
        sizes = [_bytes(self.facts[way]) for way in ("input", "output")]
        found = Batch(self, frames)
        for number, copy in enumerate(self.copies[: min(frames, len(self.copies))]):
            rows = range(number, frames, len(self.copies))
            sides = zip((copy.input, copy.output), sizes, strict=True)
            held = [boards[card].memory(unit, size * len(rows)) for (card, unit), size in sides]
            own = [self.input[f * sizes[0] : (f + 1) * sizes[0]] for f in rows]
            boards[copy.input[0]].fill(held[0], b"".join(own))
            # What writes to memory is there before what reads.
            found.engines += [(copy.output, held[1], len(rows)), (copy.input, held[0], len(rows))]
        return found


@dataclass
class Batch:
    """Some frames of a network in the cards' memory, by DMA engines: the output's of a copy ahead of its input's."""

    network: Network
    frames: int
    engines: list[tuple[tuple[str, str], Any, int]] = field(default_factory=list)
    waiting: list[tuple[str, Any]] = field(default_factory=list)

    def start(self, boards: Mapping[str, Board]) -> None:
        """Start all its DMA engines."""
        self.waiting = [(card, boards[card].start(unit, memory, n)) for (card, unit), memory, n in self.engines]

    def keep(self, boards: Mapping[str, Board]) -> None:
        """Take what was written."""
        own, end = self.network, self.network.facts["output"]
        own.out = [0] * (self.frames * end["elements"])
        for number, ((card, _), memory, _) in enumerate(self.engines[::2]):
            _gather(own.out, boards[card].content(memory), end, number, len(own.copies))


class Run:
    """All that happens, in order."""

    def __init__(self, host: Facts, topology: Facts | None, given: argparse.Namespace) -> None:
        self.host, self.topology, self.given = host, topology, given
        self.cards = {card["name"]: card for card in host["cards"]}
        names = list(self.cards)
        self.order = list(reversed(names)) if topology is None else topology["start_order"]
        self.devices = {name: str(number) for number, name in enumerate(names)} | _told(given.device, names, "--device")
        files = _told(given.bitstream, names, "--bitstream")
        folder = given.bitstreams or Path(__file__).resolve().parent.parent / host["bitstreams"]
        self.files = {name: Path(files.get(name, folder / card["bitstream"])) for name, card in self.cards.items()}
        self.uuids = _told(given.uuid, names, "--uuid")
        facts = [host, *host.get("beside", ())]
        called = [str(each["network"]) for each in facts]
        sources = _by_network(given.input, called, "--input")
        self.networks = [Network(each, sources.get(n), given.frames) for n, each in zip(called, facts, strict=True)]
        self.outputs = _by_network(given.output, called, "--output")
        self.weights = _by_network(given.weights, called, "--weights")
        self.copies = [copy for network in self.networks for copy in network.copies]
        self.links = {(name, unit): cable for name, card in self.cards.items() for unit, cable in card["links"].items()}
        tests = {name: card.get("tests", {}) for name, card in self.cards.items()}
        self.tests = {(name, unit): cable for name, own in tests.items() for unit, cable in own.items()}
        self.designs: dict[str, Design] = {}
        self.boards: dict[str, Board] = {}
        self.failures: list[str] = []

    def not_done(self) -> Iterator[str]:
        """Yield what this run does not do, which is said first."""
        if self.links and not self.tests:
            yield NO_PRBS
        elif not self.links and len(self.cards) > 1 and self.topology is not None:
            yield "no link status and no PRBS run: which kernels drive the links is not known"
        if self.host["zynq"]:
            yield "no power and no temperature: XRT reads them of Alveo cards alone"
        yield from self.host["told"]

    def steps(self) -> Iterator[Step]:
        """Yield them."""
        yield from self._loading()
        for one in self.networks:
            yield from self._measured(one)
        if len(self.networks) > 1:
            counts = [f"{frames:,} frames of {one.name}" for one, frames in self._together()]
            yield Step(f"run {' and '.join(counts)} at once, {self.given.repeats} times", self._all_at_once)
        if self.links:
            yield Step("read the links' errors, and words sent beside words received", self._link_errors)
        if not self.host["zynq"]:
            yield Step(f"read power and temperature of {', '.join(self.cards)}", self._sensors)
        for one in self.networks:
            if one.name in self.outputs:
                yield Step(f"write {self.outputs[one.name]}", partial(self._write_output, one))

    def _loading(self) -> Iterator[Step]:
        """Yield all up to the first frame."""
        for name in self.order:
            yield Step(f"check {self.files[name]} for {name}", partial(self._check, name))
        for one in self.networks:
            yield Step(f"compare frames with FINN's driver in {one.driver}", partial(self._check_frames, one))
        for place, name in enumerate(self.order):
            yield Step(self._why(name, self.order[:place]), partial(self._load, name))
        if self.links:
            ends = ", ".join(f"{unit} of {card} ({cable})" for (card, unit), cable in self.links.items())
            yield Step(f"wait until links are up: {ends}", self._links_up)
        if self.tests:
            ends = ", ".join(f"{unit} of {card} ({cable})" for (card, unit), cable in self.tests.items())
            yield Step(f"send PRBS-31 over links for {TEST_SECONDS:g} s and count wrong words: {ends}", self._prbs)
        for one in self.networks:
            if one.facts["written_weights"]:
                names = ", ".join(one.facts["written_weights"])
                told = f"write the weights of {names} from {self._weight_folder(one)}"
                yield Step(f"{told}{self._of(one)}", partial(self._write_weights, one))

    def _of(self, one: Network) -> str:
        """Return which network is meant, where there are several."""
        return f" ({one.name})" if len(self.networks) > 1 else ""

    def _measured(self, one: Network) -> Iterator[Step]:
        """Yield what measures a network alone."""
        frames, planned, of = f"{one.frames:,} frames", one.facts["planned"], self._of(one)
        dealt = "" if len(one.copies) == 1 else f", dealt round {len(one.copies)} copies and gathered in order"
        latency = f"run a frame alone {self.given.repeats} times: {planned['latency_us']:,.1f} us planned{of}"
        yield Step(latency, partial(self._latency, one))
        batch = one.frames / one.seconds(one.frames)
        rate = f"{planned['fps']:,.0f} frames/s planned, {batch:,.0f} with filling and emptying{of}"
        yield Step(f"run {frames}{dealt}, {self.given.repeats} times: {rate}", partial(self._rate, one))

    # Before anything is loaded

    def _check(self, name: str) -> Iterator[str]:
        found = self.designs[name] = read_design(self.files[name])
        twins = [o for o, d in self.designs.items() if o != name and d.uuid is not None and d.uuid == found.uuid]
        if twins and self.topology is not None:
            raise Stop(f"{name} and {twins[0]} would be loaded with one design, UUID {found.uuid}")
        wanted = self.uuids.get(name)
        if wanted is not None and wanted.lower() != found.uuid:
            raise Stop(f"{found.file} has the UUID {found.uuid}, --uuid says {wanted}")
        units = [unit for copy in self.copies for card, unit in (copy.input, copy.output) if card == name]
        units += [unit for card, unit in (*self.links, *self.tests) if card == name]
        found.needs(units, self.host["linked_by"])
        if found.uuid is not None:
            yield f"UUID {found.uuid}; has {', '.join(units)}"
        built, planned = found.clock_mhz, self.host["clock_mhz"]
        if built is not None and built != round(planned):
            yield f"its clock is {built} MHz, {planned:g} planned: {built / planned:.0%} of the rate"

    def _check_frames(self, one: Network) -> Iterator[str]:
        """Compare with what FINN built: settings.json of FINN+, driver.py of FINN main (``io_shape_dict`` of both)."""
        file = next((f for f in (one.driver / "settings.json", one.driver / "driver.py") if f.is_file()), None)
        if file is None:
            yield "not compared: it is not there"
            return
        text = file.read_text(encoding="utf-8")
        for way in ("input", "output"):
            end, told = one.facts[way], []
            for key, pattern in (("dt", r"DataType\['(.+?)'\]"), ("shape_packed", r"[\[(]([\d,\s]+)[\])]")):
                found = re.search(rf"[\"']{way[0]}{key}[\"']\s*:\s*\[\s*\"?{pattern}", text)
                told.append("nothing" if found is None else found[1])
            size = prod(int(number) for number in re.findall(r"\d+", told[1]))
            if (told[0], size) != (end["type"], _bytes(end)):
                raise Stop(f"{file}: {way} is {told[0]} in {size} bytes, planned {end['type']} in {_bytes(end)}")
        yield "frames are those of FINN's driver"

    # Loading

    def _why(self, name: str, before: Sequence[str]) -> str:
        streams = [] if self.topology is None else self.topology["streams"]
        targets = list(dict.fromkeys(row["target"] for row in streams if row["source"] == name))
        there = [one for one in targets if one in before]
        late = [one for one in targets if one not in before and one != name]
        told = f"load {name} (device {self.devices[name]})"
        if there:
            told += f" after {', '.join(there)}, which it sends to"
        if late:
            told += f"; it sends back to {', '.join(late)}, loaded later, and waits: no frame is in the circle yet"
        return told if targets or len(self.cards) == 1 else f"{told}: it sends to no other card"

    def _load(self, name: str) -> Iterator[str]:
        kind = driver(self.given.driver)
        if not kind.reaches_registers and any(one.facts["written_weights"] for one in self.networks):
            raise Stop("weights are written by registers, which pyxrt does not reach: install pynq")
        board = self.boards[name] = kind(self.devices[name])
        board.load(self.designs[name], self.host["clock_mhz"])
        there = self._info(name, lambda _, device: device.get_xclbin_uuid().to_string())
        if there is not None and there != self.designs[name].uuid:
            raise Fault(f"{name} has the UUID {there}, its file {self.designs[name].uuid}")
        yield "loaded" if there is None else f"loaded, UUID {there}"

    def _links_up(self) -> Iterator[str]:
        for (card, unit), cable in self.links.items():
            board = self.boards[card]
            if not board.reaches_registers:
                yield f"{unit} of {card}: not read, pyxrt reaches no registers"
                continue
            end = time.monotonic() + LINK_SECONDS
            while (status := board.read(unit, STATUS)) != STATUS_OK and time.monotonic() < end:
                time.sleep(0.01)
            if status != STATUS_OK:
                raise Fault(f"{unit} of {card} is not up: status {status:#06x}, not {STATUS_OK:#06x}; look at {cable}")
            for value in (1, 0):
                board.write(unit, RESET_COUNTERS, value)
            yield f"{unit} of {card} is up"

    def _prbs(self) -> Iterator[str]:
        """Let both ends of every link send the pattern; streams wait so long, and lose nothing."""
        boards = {(card, unit): self.boards[card] for card, unit in self.tests}
        blind = [f"{unit} of {card}" for (card, unit), board in boards.items() if not board.reaches_registers]
        if blind:
            yield f"not tested, pyxrt reaches no registers: {', '.join(blind)}"
            return
        before = {end: [b.read(end[1], offset) for offset in (TESTED, WRONG)] for end, b in boards.items()}
        for (_, unit), board in boards.items():
            board.write(unit, TEST, 1)
        time.sleep(TEST_SECONDS)
        for (_, unit), board in boards.items():
            board.write(unit, TEST, 0)
        for end, board in boards.items():
            (card, unit), cable = end, self.tests[end]
            status = board.read(unit, TEST_STATUS)
            tested, wrong = (
                (board.read(unit, offset) - old) % 2**32
                for offset, old in zip((TESTED, WRONG), before[end], strict=True)
            )
            seen = [] if status & OTHER_READY else ["the other side is not ready"]
            seen += [what for bit, what in SEEN.items() if status & bit]
            seen += ["no word of the pattern came"] * (not tested) + [f"{wrong:,} words were wrong"] * (wrong > 0)
            yield f"{unit} of {card}: {tested:,} words came, {wrong:,} of them wrong"
            if seen:
                raise Fault(f"{unit} of {card} over {cable}: {', '.join(seen)}")

    def _weight_folder(self, one: Network) -> Path:
        return self.weights.get(one.name) or one.driver / "runtime_weights"

    def _write_weights(self, one: Network) -> Iterator[str]:
        files = sorted(self._weight_folder(one).glob("*.dat"))
        if not files:
            raise Stop(f"{self._weight_folder(one)} has no weights (*.dat), which FINN writes with its driver")
        for file in files:
            data = struct.pack(f"<{len(words)}I", *words) if (words := _hexadecimal(file)) else b""
            unit = KERNEL + file.name.partition("_")[0]
            homes = [
                (name, unit + suffix)
                for name, design in self.designs.items()
                for suffix in dict.fromkeys(copy.suffix for copy in one.copies)
                if design.units is None or unit + suffix in design.units
            ]
            if not homes:
                raise Stop(f"{file}: no card has {unit}")
            for name, home in homes:
                self.boards[name].write(home, 0, data)
                for number, word in enumerate(words):
                    if (left := self.boards[name].read(home, 4 * number)) != word:
                        raise Fault(f"{home} of {name}: word {number} reads as {left:#x}, written {word:#x}")
                yield f"{file.name}: {len(words)} words in {home} of {name}"
        # FINN's driver runs a batch here, so that no old weight is left in a FIFO.
        yield from self._latency(one)

    # Frames

    def _batches(self, counts: Sequence[tuple[Network, int]], *, is_kept: bool = False) -> list[float]:
        """Run some frames of each network, all at once; return the seconds of each without copying.

        Those that are planned to end first are waited for first.
        """
        batches = [one.batch(self.boards, frames) for one, frames in counts]
        begin, taken = time.perf_counter(), dict[str, float]()
        for batch in batches:
            batch.start(self.boards)
        for batch in sorted(batches, key=lambda b: b.network.seconds(b.frames)):
            for card, started in batch.waiting:
                self.boards[card].wait(started, self.given.timeout)
            taken[batch.network.name] = time.perf_counter() - begin
        for batch in batches if is_kept else ():
            batch.keep(self.boards)
        return [taken[one.name] for one, _ in counts]

    def _latency(self, one: Network) -> Iterator[str]:
        taken = statistics.median(self._batches([(one, 1)])[0] for _ in range(self.given.repeats)) * 1e6
        planned = one.facts["planned"]["latency_us"]
        yield f"latency {taken:,.1f} us measured, starting and waiting in it; {planned:,.1f} us planned"

    def _rate(self, one: Network) -> Iterator[str]:
        runs = [self._batches([(one, one.frames)], is_kept=n == 0)[0] for n in range(self.given.repeats)]
        yield self._told(one, one.frames, statistics.median(runs))

    def _told(self, one: Network, frames: int, taken: float) -> str:
        measured, planned = frames / taken, frames / one.seconds(frames)
        told = f"{measured:,.0f} frames/s measured, {planned:,.0f} planned for such a batch ({measured / planned:.0%})"
        return f"{told}{self._of(one)}"

    def _together(self) -> list[tuple[Network, int]]:
        """Return frames of each network of which all are planned to take as long, no more than each has."""
        seconds = min(one.seconds(one.frames) for one in self.networks)
        return [(one, min(one.frames, one.within(seconds))) for one in self.networks]

    def _all_at_once(self) -> Iterator[str]:
        counts = self._together()
        runs = [self._batches(counts) for _ in range(self.given.repeats)]
        for place, (one, frames) in enumerate(counts):
            yield self._told(one, frames, statistics.median(run[place] for run in runs))

    def _link_errors(self) -> Iterator[str]:
        words: dict[tuple[str, str], list[int]] = {}
        for (card, unit), cable in self.links.items():
            board = self.boards[card]
            if not board.reaches_registers:
                yield f"{unit} of {card}: not read, pyxrt reaches no registers"
                continue
            counts = {what: board.read(unit, offset) for what, offset in ERRORS.items()}
            told = ", ".join(f"{count} {what}" for what, count in counts.items())
            yield f"{unit} of {card}: {told}"
            if any(counts.values()):
                self.failures.append(f"{unit} of {card} saw errors ({cable})")
            words[cable, card] = [board.read(unit, offset) for offset in (SENT, RECEIVED)]
        for row in () if self.topology is None else self.topology["streams"]:
            ends = [words.get((row["link"], row[side])) for side in ("source", "target")]
            if ends[0] is not None and ends[1] is not None:
                sent, received = ends[0][0], ends[1][1]
                yield f"{row['link']}: {sent:,} words sent by {row['source']}, {received:,} received by {row['target']}"
                if sent != received:
                    self.failures.append(f"{row['link']} lost or made words")

    def _sensors(self) -> Iterator[str]:
        """Read what XRT tells as JSON (src/runtime_src/core/common/sensor.cpp)."""
        for name in self.cards:
            info = self._info(
                name,
                lambda xrt, device: [
                    json.loads(device.get_info(key))
                    for key in (xrt.xrt_info_device.electrical, xrt.xrt_info_device.thermal)
                ],
            )
            if info is None:
                yield f"{name}: not read; there is no pyxrt (source XRT's setup.sh)"
                continue
            power = info[0].get("power_consumption_watts", "NA")
            hot = [
                f"{one['description']} {one['temp_C']} C"
                for one in info[1].get("thermals", ())
                if one["is_present"] == "true"
            ]
            yield f"{name}: {power} W; {', '.join(hot) or 'no temperature'}"

    def _info(self, name: str, ask: Callable[[Any, Any], Any]) -> Any:
        """Ask XRT of a card, None where there is no pyxrt or no card of its."""
        if self.host["zynq"]:
            return None
        try:
            xrt = import_module("pyxrt")
        except ImportError:
            return None
        device = self.devices[name]
        return ask(xrt, xrt.device(int(device) if device.isdigit() else device))

    def _write_output(self, one: Network) -> Iterator[str]:
        self.outputs[one.name].write_bytes(npy(one.out, one.frames, one.facts["output"]))
        end = one.facts["output"]
        yield f"{one.frames:,} frames of {end['elements']} values of {end['type']}"


def _bytes(end: Facts) -> int:
    """Return how many bytes a frame takes in memory."""
    return int(-(-end["element_bits"] * end["elements_per_word"] // 8) * end["words"])


def _gather(into: list[float], data: bytes, end: Facts, first: int, stride: int) -> None:
    """Put the frames of a copy where they belong."""
    values, each = unpacked(data, end), end["elements"]
    for number in range(len(values) // each):
        place = (first + number * stride) * each
        into[place : place + each] = values[number * each : (number + 1) * each]


def _hexadecimal(file: Path) -> list[int]:
    try:
        return [int(word, 16) for word in file.read_text(encoding="ascii").split()]
    except (ValueError, OSError) as problem:
        raise Stop(f"{file}: {problem}") from problem


def _told(texts: Sequence[str], cards: Sequence[str], option: str) -> dict[str, str]:
    found = dict(text.partition("=")[::2] for text in texts)
    for card, value in found.items():
        if card not in cards or not value:
            raise Stop(f"{option} {card}={value}: give CARD=..., with a card of {', '.join(cards)}")
    return found


def _by_network(texts: Sequence[str], networks: Sequence[str], option: str) -> dict[str, Path]:
    """Return the file of each network; where there is one it needs no name."""
    found = {}
    for text in texts:
        name, _, file = text.partition("=")
        if len(networks) == 1 and name not in networks:
            name, file = networks[0], text
        if name not in networks or not file or name in found:
            raise Stop(f"{option} {text}: give {option} NETWORK=..., once each, of {', '.join(networks)}")
        found[name] = Path(file)
    return found


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise Stop(f"{file}: {problem}; take the plan's whole folder") from problem
    if not isinstance(found, dict):
        raise Stop(f"{file}: is no object; take the plan's whole folder")
    return found


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    def count(text: str) -> int:
        if (found := int(text)) < 1:
            raise ValueError
        return found

    def seconds(text: str) -> float:
        if not 0 < (found := float(text)) < 1e6:
            raise ValueError
        return found

    parser = argparse.ArgumentParser(description="load FINN's designs, run batches, measure beside the plan")
    parser.add_argument("--dry-run", action="store_true", help="say each step and take none; anywhere")
    many: dict[str, Any] = {"action": "append", "default": [], "metavar": "[NETWORK=]PATH"}
    parser.add_argument("--input", **many, help=".npy of numbers, a frame a row; made up without it")
    parser.add_argument("--output", **many, help=".npy to write, a frame a row")
    parser.add_argument("--frames", type=count, default=1000, help="frames in a batch (%(default)s)")
    parser.add_argument("--repeats", type=count, default=5, help="runs, of which the median counts (%(default)s)")
    parser.add_argument("--bitstreams", type=Path, help="folder of the bitstreams, FINN's build/bitfile")
    parser.add_argument("--bitstream", action="append", default=[], metavar="CARD=FILE", help="that of a card")
    parser.add_argument("--uuid", action="append", default=[], metavar="CARD=UUID", help="what a bitstream has to be")
    parser.add_argument("--device", action="append", default=[], metavar="CARD=NUMBER", help="a card's device")
    parser.add_argument("--weights", **many, help="folder of run-time weights, FINN's driver/runtime_weights")
    parser.add_argument("--driver", choices=("auto", "pynq", "xrt"), default="auto", help="pynq, else XRT")
    parser.add_argument("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="longest batch (%(default)s)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Take or say all steps."""
    given = _arguments(arguments)
    try:
        here = Path(__file__).resolve().parent
        host = _json(here / "host.json")
        if host.get("schema") != SCHEMA:
            raise Stop(f"host.json has the schema {host.get('schema')}, not {SCHEMA}; take the plan's whole folder")
        run = Run(host, _json(here.parent / "topology.json") if host["linked"] else None, given)
        return _taken(run)
    except Stop as stop:
        print(f"run.py: {stop}", file=sys.stderr)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:  # of a step these are told where it fails
        kind = type(problem).__name__
        print(f"run.py: host.json or topology.json is not as floorflow wrote it ({kind}: {problem})", file=sys.stderr)
    return 2


def _taken(run: Run) -> int:
    host, given = run.host, run.given
    print(
        f"{' and '.join(one.name for one in run.networks)} on {len(run.cards)} x {host['cards'][0]['board']}, "
        f"built by {host['tool']}"
    )
    for told in run.not_done():
        print(f"  note: {told}")
    for number, step in enumerate(run.steps(), 1):
        print(f"{number:2}. {step.text}", flush=True)
        if given.dry_run:
            continue
        try:
            for line in step.act():
                print(f"    {line}", flush=True)
        except Stop:
            raise
        except Exception as problem:  # noqa: BLE001 - drivers raise what they like
            kind = "" if isinstance(problem, Fault) else f"{type(problem).__name__}: "
            print(f"run.py: step {number} failed: {kind}{problem}", file=sys.stderr)
            return 1
    if given.dry_run:
        print("dry run: nothing was read or loaded")
    for failure in run.failures:
        print(f"run.py: {failure}", file=sys.stderr)
    return 1 if run.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
