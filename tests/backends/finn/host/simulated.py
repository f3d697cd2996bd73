"""Cards that are not there: what xclbins hold, and pynq and pyxrt with the names and parameters that were recorded.

A call that the record does not have fails as the real one would. Behind it frames are turned round bit by bit.
"""

import json
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np

RECORD: dict[str, Any] = json.loads(Path(__file__).with_name("drivers.json").read_text(encoding="utf-8"))
AURORA: dict[str, int] = RECORD["aurora"]
UP, DOWN = AURORA["CORE_STATUS_OK"], AURORA["GT_POWERGOOD"]


def xclbin(name: str, units: Sequence[str], clock_mhz: int) -> bytes:
    """Return an xclbin by XRT's own layout: head, units and clocks, nothing to be loaded."""
    at = RECORD["xclbin"]
    rows = bytearray(at["ip_layout.m_ip_data"] + at["sizeof ip_data"] * len(units))
    struct.pack_into("<i", rows, at["ip_layout.m_count"], len(units))
    for number, unit in enumerate(units):
        begin = at["ip_layout.m_ip_data"] + number * at["sizeof ip_data"] + at["ip_data.m_name"]
        rows[begin : begin + len(unit)] = unit.encode()
    clocks = bytearray(at["clock_freq_topology.m_clock_freq"] + 2 * at["sizeof clock_freq"])
    struct.pack_into("<H", clocks, at["clock_freq_topology.m_count"], 2)
    for number, (mhz, kind) in enumerate([(500, 2), (clock_mhz, at["CT_DATA"])]):
        begin = at["clock_freq_topology.m_clock_freq"] + number * at["sizeof clock_freq"]
        struct.pack_into("<H", clocks, begin + at["clock_freq.m_freq_Mhz"], mhz)
        struct.pack_into("<B", clocks, begin + at["clock_freq.m_type"], kind)
    sections = [(0, b"bits"), (at["IP_LAYOUT"], bytes(rows)), (at["CLOCK_FREQ_TOPOLOGY"], bytes(clocks))]
    head = bytearray(at["axlf.m_sections"] + at["sizeof axlf_section_header"] * len(sections))
    head[:8] = b"xclbin2\0"
    begin = at["axlf.m_header"] + at["axlf_header.u2"]
    head[begin : begin + 16] = UUID(name).bytes
    struct.pack_into("<I", head, at["axlf.m_header"] + at["axlf_header.m_numSections"], len(sections))
    offset = len(head)
    for number, (kind, content) in enumerate(sections):
        begin = at["axlf.m_sections"] + number * at["sizeof axlf_section_header"]
        struct.pack_into("<I", head, begin + at["axlf_section_header.m_sectionKind"], kind)
        struct.pack_into("<Q", head, begin + at["axlf_section_header.m_sectionOffset"], offset)
        struct.pack_into("<Q", head, begin + at["axlf_section_header.m_sectionSize"], len(content))
        offset += len(content)
    return bytes(head) + b"".join(content for _, content in sections)


def copies_in(host: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the copies of all networks."""
    return [copy for network in (host, *host.get("beside", ())) for copy in network["copies"]]


@dataclass
class World:
    """Some cards, by number: what they were loaded with, in order, registers, and engines that were started.

    ``pairs``: where each input's frames come out. ``faults`` spoils what registers read.
    """

    host: Mapping[str, Any]
    cards: int
    loaded: list[tuple[int, str]] = field(default_factory=list)
    registers: dict[tuple[int, str, int], int] = field(default_factory=dict)
    faults: dict[tuple[int, str, int], int] = field(default_factory=dict)
    started: dict[tuple[int, str], tuple[Any, int]] = field(default_factory=dict)
    frames: list[tuple[str, int]] = field(default_factory=list)
    hangs: bool = False
    addresses: list[Any] = field(default_factory=list)

    def read(self, card: int, unit: str, offset: int) -> int:
        """Return a register; bit 1 of an engine's first one is set once it is through (FINN's driver_base.py)."""
        if unit in ("idma0", "odma0") and offset == 0 and not self.hangs:
            self.wait(card, unit)
            return 2 * ((card, unit) not in self.started)
        if (card, unit, offset) in self.faults:
            return self.faults[card, unit, offset]
        if unit.startswith("aurora_flow_") and offset == AURORA["CORE_STATUS_ADDRESS"]:
            return UP if {number for number, _ in self.loaded} == {*range(self.cards)} else DOWN
        if unit.startswith("link_") and offset == 4:
            return 1
        return self.registers.get((card, unit, offset), 0)

    def write(self, card: int, unit: str, offset: int, value: int | bytes) -> None:
        words = [value] if isinstance(value, int) else struct.unpack(f"<{len(value) // 4}I", value)
        for number, word in enumerate(words):
            self.registers[card, unit, offset + 4 * number] = word
        if unit.startswith("link_") and (offset, value) == (0, 1):
            cable = self.host["cards"][card]["tests"][unit]
            for number, other in enumerate(self.host["cards"]):
                for name in (n for n, own in other["tests"].items() if own == cable and number != card):
                    before = self.registers.get((number, name, 8), 0)
                    self.registers[number, name, 8] = (before + 300) % 2**32
        if unit in ("idma0", "odma0") and offset == 0 and value == 1:
            low, high, frames = (self.registers[card, unit, place] for place in (0x10, 0x14, 0x1C))
            assert high == 7
            self.start(card, unit, self.addresses[low], frames)

    def start(self, card: int, unit: str, memory: Any, frames: int) -> None:
        assert (card, unit) not in self.started, f"{unit} runs already"
        self.started[card, unit] = memory, frames

    def wait(self, card: int, unit: str) -> None:
        """Turn the frames round once both ends run."""
        end = time.monotonic() + 5
        while self.hangs and time.monotonic() < end:
            time.sleep(0.01)
        names = {name: number for number, name in enumerate(c["name"] for c in self.host["cards"])}
        for copy in copies_in(self.host):
            ends = [(names[copy[way][0]], copy[way][1]) for way in ("input", "output")]
            if (card, unit) in ends and {*ends} <= {*self.started}:
                (read, count), (written, other) = (self.started.pop(end) for end in ends)
                assert count == other
                self.frames.append((copy["name"], count))
                out = written.card_side.reshape(count, -1)
                out[:] = read.card_side.reshape(count, -1)[:, : out.shape[1]] ^ 0xFF


class Memory(np.ndarray):  # type: ignore[type-arg]
    """What the host sees; the card sees another piece, until it is flushed or invalidated."""

    card_side: Any
    bank: Any
    device_address: int

    def flush(self) -> None:
        self.card_side[:] = self

    def invalidate(self) -> None:
        self[:] = self.card_side


def memory(size: int) -> Memory:
    made = np.zeros(size, "u1").view(Memory)
    made.card_side = np.zeros(size, "u1")
    return made


def bound(name: str, act: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes only what pynq's of that name does."""
    given = RECORD["pynq"]["parameters"][name]
    taken = Signature(
        [
            Parameter(n, getattr(Parameter, kind), default=None if may_miss else Parameter.empty)
            for n, kind, may_miss in given
        ]
    )

    def call(*args: Any, **kwargs: Any) -> Any:
        taken.bind(*args, **kwargs)
        return act(*args, **kwargs)

    return call


def pynq(world: World) -> ModuleType:
    """Return pynq with these cards."""
    made, known = ModuleType("pynq"), RECORD["pynq"]
    assert {"Overlay", "Device", "Clocks", "allocate"} <= {*known["names"]}
    assert "devices" in known["Device"]
    assert "fclk0_mhz" in known["Clocks"]

    def unit(card: int, name: str) -> Any:
        blank = dict.fromkeys(known["XrtArgument"])
        arguments = {"in0_V": blank | {"mem": f"DDR[{card}]"}, "numReps": blank}
        handle = SimpleNamespace(wait=bound("ErtWaitHandle.wait", lambda: world.wait(card, name)))

        def start(buffer: Any, frames: int) -> Any:
            assert buffer.bank == f"DDR[{card}]"
            world.start(card, name, buffer, frames)
            return handle

        return SimpleNamespace(
            read=bound("DefaultIP.read", lambda offset: world.read(card, name, offset)),
            write=bound("DefaultIP.write", lambda offset, value: world.write(card, name, offset, value)),
            start=bound("DefaultIP.start", start),
            args={key: SimpleNamespace(**value) for key, value in arguments.items()},
        )

    class Units:
        def __init__(self, card: int) -> None:
            self._card, self._made = card, dict[str, Any]()

        def __getattr__(self, name: str) -> Any:
            return self._made.setdefault(name, unit(self._card, name))

    def overlay(bitfile_name: str, device: Any) -> Units:
        world.loaded.append((device.number, Path(bitfile_name).name))
        return Units(device.number)

    def allocate(shape: tuple[int], dtype: str, target: Any, *, cacheable: bool = False) -> Memory:
        found = memory(*shape)
        assert dtype == "u1"
        assert cacheable == (target in devices)  # FINN's driver: on Zynq
        found.bank, found.device_address = target, (7 << 32) + len(world.addresses)
        world.addresses.append(found)
        return found

    devices = [
        SimpleNamespace(number=n, get_memory_by_name=bound("XrtDevice.get_memory_by_name", lambda name: name))
        for n in range(world.cards)
    ]
    vars(made).update(
        Overlay=bound("Overlay", overlay),
        Device=SimpleNamespace(devices=devices),
        Clocks=SimpleNamespace(fclk0_mhz=100.0),
        allocate=bound("allocate", allocate),
    )
    return made


def pyxrt(world: World, uuids: Mapping[int, str]) -> ModuleType:  # noqa: C901 - a module's worth of small methods
    """Return pyxrt with these cards, which say that they hold designs of these UUIDs."""
    made, known = ModuleType("pyxrt"), RECORD["pyxrt"]["classes"]

    def way(one: str, method: str, *args: Any) -> None:
        ways = known[one]["methods"][method]
        assert any((w[:1] and w[0].startswith("*")) or len(w) == len(args) for w in ways), f"{one}.{method}{args}"

    def values(one: str) -> Any:
        return SimpleNamespace(**{name: name for name in known[one]["values"]})

    state, info, direction = values("ert_cmd_state"), values("xrt_info_device"), values("xclBOSyncDirection")

    class Device:
        def __init__(self, *args: Any) -> None:
            way("device", "__init__", *args)
            self.number = args[0]

        def load_xclbin(self, *args: Any) -> Any:
            way("device", "load_xclbin", *args)
            world.loaded.append((self.number, Path(args[0]).name))
            return self.get_xclbin_uuid()

        def get_xclbin_uuid(self) -> Any:
            way("device", "get_xclbin_uuid")
            way("uuid", "to_string")
            return SimpleNamespace(to_string=lambda: uuids[self.number])

        def get_info(self, *args: Any) -> str:
            way("device", "get_info", *args)
            return json.dumps(SENSORS[args[0]])

    class Buffer:
        normal = "normal"
        assert normal in known["bo"]["values"]

        def __init__(self, *args: Any) -> None:
            way("bo", "__init__", *args)
            self.held = memory(args[1])

        @property
        def card_side(self) -> Any:
            return self.held.card_side

        def write(self, *args: Any) -> None:
            way("bo", "write", *args)
            self.held[args[1] : args[1] + len(args[0])] = memoryview(args[0])

        def sync(self, *args: Any) -> None:
            way("bo", "sync", *args)
            {direction.XCL_BO_SYNC_BO_TO_DEVICE: self.held.flush}.get(args[0], self.held.invalidate)()

        def size(self) -> int:
            way("bo", "size")
            return self.held.size

        def map(self) -> memoryview:
            way("bo", "map")
            return memoryview(self.held)

    class Kernel:
        def __init__(self, *args: Any) -> None:
            way("kernel", "__init__", *args)
            self.card, self.unit = args[0].number, args[2].partition("{")[2].rstrip("}")

        def group_id(self, *args: Any) -> int:
            way("kernel", "group_id", *args)
            return 0

        def __call__(self, *args: Any) -> Any:
            way("kernel", "__call__", *args)
            world.start(self.card, self.unit, *args)

            def wait(*timeout: Any) -> str:
                way("run", "wait", *timeout)
                if world.hangs:
                    return str(state.ERT_CMD_STATE_TIMEOUT)
                world.wait(self.card, self.unit)
                return str(state.ERT_CMD_STATE_COMPLETED)

            return SimpleNamespace(wait=wait)

    assert "enumerate_devices" in RECORD["pyxrt"]["functions"]
    vars(made).update(
        device=Device,
        bo=Buffer,
        kernel=Kernel,
        enumerate_devices=lambda: world.cards,
        ert_cmd_state=state,
        xrt_info_device=info,
        xclBOSyncDirection=direction,
    )
    return made


SENSORS = {
    "electrical": {"power_rails": [], "power_consumption_max_watts": "225", "power_consumption_watts": "41.250000"},
    "thermal": {
        "thermals": [
            {"location_id": "fpga0", "description": "FPGA", "temp_C": "57", "is_present": "true"},
            {"location_id": "fpga_hbm", "description": "FPGA HBM", "temp_C": "0", "is_present": "false"},
        ]
    },
}
"""What XRT's sensor.cpp (read_legacy_electrical, read_legacy_thermals) makes of two sensors."""
