#!/usr/bin/env python3
"""Run a network in chunks on a board whose regions are loaded one after another; written by floorflow.

    run_chunks.py --bitstreams FOLDER --input IN.bin --output OUT.bin

IN.bin holds whole batches of packed input words, OUT.bin gets those of the output. chunks.json beside this file says
which chunk is loaded into which region, and who writes and reads which bytes. Needs pynq, and the numpy that it brings.
The static design is expected to have, for each region R, a decoupler called decoupler_R (a register at 0, whose bit 0
cuts the region off) and for its n-th input and output a DMA engine called dma_R_n, in simple mode.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

Chunks = dict[str, Any]
DECOUPLED, COUPLED = 1, 0


class Device(Protocol):
    """The board, as far as running chunks needs it."""

    def load_all(self, file: Path) -> None:
        """Load the whole device."""

    def load_part(self, file: Path) -> None:
        """Load one region; return when it is loaded."""

    def decouple(self, region: str, value: int) -> None:
        """Cut a region off from what stays, or join it again."""

    def memory(self, size: int) -> Any:
        """Return that much memory which the device sees, as bytes that can be sliced and written."""

    def start(self, region: str, loads: Sequence[Any], stores: Sequence[Any]) -> None:
        """Send these slices of memory through a region into those, and return at once."""

    def wait(self, region: str) -> None:
        """Return when all that was sent through a region has come out."""


class Runner:
    """Loads chunks and runs batches; a chunk is loaded while another region runs."""

    def __init__(self, chunks: Chunks, bitstreams: Path, device: Device) -> None:
        self._chunks, self._bitstreams, self._device = chunks, bitstreams, device
        self._areas = {entry["name"]: entry for entry in chunks["buffers"]}
        self._places = {
            name: slice(entry["offset"], entry["offset"] + entry["bytes"]) for name, entry in self._areas.items()
        }
        names = [chunks["full"], *(step["bitstream"] for step in chunks["steps"])]
        missing = [name for name in names if not (bitstreams / name).is_file()]
        if missing:
            raise SystemExit(f"{bitstreams} has no {', '.join(dict.fromkeys(missing))}; run dfx/dfx.tcl first")
        device.load_all(bitstreams / chunks["full"])
        self._loaded: dict[str, str] = dict(chunks["reference"])
        self._memory = device.memory(chunks["memory_bytes"])

    def batch(self, inputs: bytes) -> bytes:
        """Run one batch and return its output."""
        self._write(inputs)
        steps = self._chunks["steps"]
        for number, step in enumerate(steps):
            self._load(step)
            for row in step["loads"]:
                self._pack(row["area"])
            places = ([self._memory[self._places[row["area"]]] for row in step[side]] for side in ("loads", "stores"))
            self._device.start(step["region"], *places)
            following = steps[(number + 1) % len(steps)]
            if following["region"] != step["region"]:
                self._load(following)
            self._device.wait(step["region"])
        return self._read()

    def _load(self, step: Chunks) -> None:
        """Load a chunk unless it is there; its region is cut off meanwhile, so that nothing stray leaves it."""
        region = step["region"]
        if self._loaded.get(region) == step["phase"]:
            return
        self._device.decouple(region, DECOUPLED)
        self._loaded.pop(region, None)
        self._device.load_part(self._bitstreams / step["bitstream"])
        self._device.decouple(region, COUPLED)
        self._loaded[region] = step["phase"]

    def _pack(self, area: str) -> None:
        """Fill an area whose reader takes words of another width than the writer of its buffer left."""
        entry = self._areas[area]
        if entry["packed_from"] is not None:
            stored = self._areas[entry["packed_from"]]
            left = bytes(self._memory[self._places[stored["name"]]])
            self._memory[self._places[area]] = packed(left, stored["width_bits"], entry["width_bits"])

    def _ends(self, side: str) -> list[slice]:
        return [self._places[name] for name in sorted(self._places) if name.startswith(f"host:{side}")]

    def _write(self, inputs: bytes) -> None:
        begin = 0
        for place in self._ends("in"):
            size = place.stop - place.start
            self._memory[place] = inputs[begin : begin + size]
            begin += size

    def _read(self) -> bytes:
        return b"".join(bytes(self._memory[place]) for place in self._ends("out"))

    @property
    def input_bytes(self) -> int:
        """Bytes of one batch of inputs."""
        return sum(place.stop - place.start for place in self._ends("in"))


def packed(left: bytes, width_bits: int, other_bits: int) -> Any:
    """Return the same bits, the first in the lowest bit, in words of another width; each begins at a whole byte."""
    numpy = import_module("numpy")
    words = numpy.frombuffer(left, dtype="u1").reshape(-1, -(-width_bits // 8))
    bits = numpy.unpackbits(words, axis=1, bitorder="little")[:, :width_bits].reshape(-1, other_bits)
    return numpy.packbits(bits, axis=1, bitorder="little").reshape(-1)


class PynqDevice:
    """A board with pynq on it."""

    def __init__(self) -> None:
        self._pynq = import_module("pynq")
        self._overlay: Any = None
        self._waiting: dict[str, list[Any]] = {}

    def load_all(self, file: Path) -> None:
        """Load the whole device, with the hand-off file beside its bitstream."""
        self._overlay = self._pynq.Overlay(str(file))

    def load_part(self, file: Path) -> None:
        """Load one region through the processor's port."""
        self._pynq.Bitstream(str(file), partial=True).download()

    def decouple(self, region: str, value: int) -> None:
        """Write the decoupler's register."""
        getattr(self._overlay, f"decoupler_{region}").write(0, value)

    def memory(self, size: int) -> Any:
        """Return contiguous memory."""
        return self._pynq.allocate(shape=(size,), dtype="u1")

    def start(self, region: str, loads: Sequence[Any], stores: Sequence[Any]) -> None:
        """Start the DMA engines, those that write to memory first."""
        channels = []
        for number, part in enumerate(stores):
            channel = getattr(self._overlay, f"dma_{region}_{number}").recvchannel
            channel.transfer(part)
            channels.append(channel)
        for number, part in enumerate(loads):
            channel = getattr(self._overlay, f"dma_{region}_{number}").sendchannel
            channel.transfer(part)
            channels.append(channel)
        self._waiting[region] = channels

    def wait(self, region: str) -> None:
        """Wait for the DMA engines of a region."""
        for channel in self._waiting.pop(region, []):
            channel.wait()


def main(arguments: Sequence[str], device: Device | None = None) -> int:
    """Run all batches of a file."""
    parser = argparse.ArgumentParser(description="run a network in chunks")
    parser.add_argument("--bitstreams", type=Path, required=True, help="folder of full.bit and <phase>.bit")
    parser.add_argument("--input", type=Path, required=True, help="packed input words of whole batches")
    parser.add_argument("--output", type=Path, required=True, help="where the packed output words go")
    given = parser.parse_args(arguments)
    chunks = json.loads(Path(__file__).with_name("chunks.json").read_text(encoding="utf-8"))
    inputs = given.input.read_bytes()
    runner = Runner(chunks, given.bitstreams, PynqDevice() if device is None else device)
    size = runner.input_bytes
    if not inputs or len(inputs) % size:
        raise SystemExit(f"{given.input} has {len(inputs)} bytes, expected a multiple of the {size} of a batch")
    with given.output.open("wb") as output:
        for begin in range(0, len(inputs), size):
            output.write(runner.batch(inputs[begin : begin + size]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
