"""Runs inside a Python with pynq 3.0.1: host/run.py loads and runs two cards that are simulated below pynq.

    python driven_by_pynq.py FOLDER OPTION...

FOLDER is a plan's, of two cards in a row; its bitstreams are written here, by the ctypes that pynq brings along. What
pynq asks of XRT's library is answered here: buffers, registers, and commands, whose frames are turned round bit by bit.
"""

from __future__ import annotations

import ctypes
import json
import runpy
import struct
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pynq
from pynq._3rdparty import ert, xclbin
from pynq.pl_server.device import Device
from pynq.pl_server.xrt_device import XrtDevice, xrt

STATUS_OK = 0x11FF
UNITS = (
    ("dma", {"in0_V": ("0x10", "1", "ap_uint&lt;512&gt;*"), "numReps": ("0x1C", "0", "uint")}),
    ("aurora_flow_0", {}),
    ("StreamingDataflowPartition_1", {}),
)


def metadata(dma: str) -> str:
    """Return an xclbin's description of its kernels, each at the base 0x10000 times its number."""
    kernels = []
    for number, (name, arguments) in enumerate(UNITS, 1):
        unit = dma if name == "dma" else name
        told = "".join(
            f'<arg name="{key}" addressQualifier="{qualifier}" id="{place}" port="p" size="0x8" offset="{offset}" '
            f'hostSize="0x8" type="{kind}"/>'
            for place, (key, (offset, qualifier, kind)) in enumerate(arguments.items())
        )
        port = '<port name="s_axi_control" mode="slave" range="0x1000"/>'
        control = "ap_ctrl_chain" if arguments else "ap_ctrl_none"
        kernels.append(
            f'<kernel name="k{number}" vlnv="x:k:k{number}:1.0" hwControlProtocol="{control}">{port}{told}'
            f'<instance name="{unit}"><addrRemap base="{number << 16:#x}"/></instance></kernel>'
        )
    return f"<project><platform><device><core>{''.join(kernels)}</core></device></platform></project>"


def rows(kind: Any, row: Any, values: list[Any]) -> bytes:
    """Return a section: a count, and rows of a structure."""
    head = bytes(kind(len(values)))[: ctypes.sizeof(kind) - ctypes.sizeof(row)]
    return head + b"".join(bytes(one) for one in values)


def write(file: Path, card: int, dma: str) -> None:
    """Write a bitstream with its sections; DMA engines have the second of two banks."""
    names = [dma if name == "dma" else name for name, _ in UNITS]
    full = [f"k{n}:{name}".encode().ljust(64, b"\0") for n, name in enumerate(names, 1)]
    units = [xclbin.ip_data(1, 0, n << 16, (ctypes.c_uint8 * 64)(*name)) for n, name in enumerate(full, 1)]
    banks = [xclbin.mem_data(2, 1, m_tag=f"DDR[{n}]".encode()) for n in range(2)]
    kinds = xclbin.AXLF_SECTION_KIND
    sections = [
        (kinds.EMBEDDED_METADATA, metadata(dma).encode()),
        (kinds.IP_LAYOUT, rows(xclbin.ip_layout, xclbin.ip_data, units)),
        (kinds.CONNECTIVITY, rows(xclbin.connectivity, xclbin.connection, [xclbin.connection(0, 0, 1)])),
        (kinds.MEM_TOPOLOGY, rows(xclbin.mem_topology, xclbin.mem_data, banks)),
    ]
    one = ctypes.sizeof(xclbin.axlf_section_header)
    begin = xclbin.axlf.m_sections.offset + one * len(sections)
    headers, content = b"", b""
    for kind, text in sections:
        headers += bytes(xclbin.axlf_section_header(kind, b"", begin + len(content), len(text)))
        content += text
    head = xclbin.axlf(m_magic=b"xclbin2")
    head.m_header.m_numSections = len(sections)
    head.m_header.u2.uuid = (ctypes.c_ubyte * 16)(*UUID(int=card + 1).bytes)
    file.write_bytes(bytes(head)[: xclbin.axlf.m_sections.offset] + headers + content)


class Done:
    """A command that is through once both ends were started."""

    def __init__(self, act: Any) -> None:
        self.wait = act


class Packet:
    """Memory for one command."""

    def __init__(self) -> None:
        self.memory = ctypes.create_string_buffer(256)

    def as_packet(self, kind: Any) -> Any:
        return ctypes.cast(self.memory, ctypes.POINTER(kind))[0]


class Card(XrtDevice):  # type: ignore[misc]
    """A card of which pynq thinks that XRT drives it."""

    _probe_priority_ = 100
    name, clocks = "simulated", {}
    loaded: list[int] = []  # noqa: RUF012 - of all cards together, as are the two below
    started: dict[int, tuple[int, int]] = {}  # noqa: RUF012
    buffers: list[tuple[Any, bytearray, int]] = []  # noqa: RUF012

    @classmethod
    def _probe_(cls) -> list[Card]:
        return [Card(number) for number in range(2)]

    def __init__(self, number: int) -> None:
        Device.__init__(self, f"card{number}")
        self.capabilities = {"REGISTER_RW": True, "CALLABLE": True, "ERT": True}
        self.number, self.handle, self.contexts, self._streams, self.registers = number, 1, {}, {}, {}

    def open_context(self, description: Any, shared: bool = True) -> int:
        return int(description["cu_index"])

    def _xrt_download(self, data: bytes) -> None:
        self.loaded.append(self.number)

    def allocate_bo(self, size: int, idx: int, cacheable: int) -> int:
        self.buffers.append((ctypes.create_string_buffer(size), bytearray(size), idx))
        return len(self.buffers) - 1

    def map_bo(self, bo: int) -> Any:
        return (ctypes.c_char * len(self.buffers[bo][0])).from_buffer(self.buffers[bo][0])

    def get_device_address(self, bo: int) -> int:
        return bo << 32

    def flush(self, bo: int, offset: int, ptr: int, size: int) -> None:
        self.buffers[bo][1][offset : offset + size] = ctypes.string_at(ptr, size)

    def invalidate(self, bo: int, offset: int, ptr: int, size: int) -> None:
        ctypes.memmove(ptr, bytes(self.buffers[bo][1][offset : offset + size]), size)

    def read_registers(self, address: int, length: int) -> bytes:
        up = STATUS_OK if {*self.loaded} == {0, 1} else 0
        return struct.pack("<I", up if address == 0x20020 else self.registers.get(address, 0))

    def write_registers(self, address: int, data: bytes) -> None:
        for place in range(0, len(data), 4):
            self.registers[address + place] = struct.unpack_from("<I", data, place)[0]

    def get_exec_bo(self, size: int = 1024) -> Packet:
        return Packet()

    def execute_bo(self, bo: Packet) -> Done:
        arguments = bytes(bo.memory)[ert.ert_start_kernel_cmd.data.offset :]
        address, frames = struct.unpack_from("<Q", arguments, 0x10)[0], struct.unpack_from("<I", arguments, 0x1C)[0]
        self.started[self.number] = address >> 32, frames
        return Done(self._run)

    def _run(self) -> None:
        if len(self.started) == 2:
            (read, frames), (written, other) = self.started.pop(0), self.started.pop(1)
            source, target = self.buffers[read][1], self.buffers[written][1]
            assert frames == other
            assert {self.buffers[one][2] for one in (read, written)} == {1}
            each, out = len(source) // frames, len(target) // frames
            for frame in range(frames):
                target[frame * out : (frame + 1) * out] = bytes(b ^ 0xFF for b in source[frame * each :][:out])


def main(folder: Path, options: list[str]) -> int:
    xrt.xclFreeBO = lambda *_: 0  # what is left of XRT's library where there is none
    for card, dma in enumerate(("idma_0", "odma_0")):
        write(folder / f"finn/build/bitfile/finn-accel-{card}.xclbin", card, dma)
    status: int = runpy.run_path(str(folder / "host/run.py"))["main"](["--driver", "pynq", *options])
    print(
        json.dumps(
            {"loaded": Card.loaded, "registers": [sorted(card.registers.items()) for card in pynq.Device.devices]}
        )
    )
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
