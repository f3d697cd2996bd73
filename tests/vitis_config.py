"""A strict reader of v++'s configuration files, by the syntax of UG1393: what it refuses or leaves unconnected.

A file has options by themselves, then sections; each line is ``key=value``. In [connectivity]: ``nk=<kernel>:<count>``
with ``:<unit>`` for each joined by dots, ``sc=<unit>.<port>:<unit>.<port>`` (``stream_connect`` is the same),
``sp=<unit>.<port>:<bank>``, ``slr=<unit>:<SLR>`` and ``connect=<pin>:<pin>``; in [clock]
``freqHz=<hertz>:<unit>.<pin>``. Several files are read as one, as v++ reads several ``--config``.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

Way = Literal["in", "out", "memory"]

KEYS = {
    "": {"platform", "debug", "kernel_frequency", "optimize", "report_level", "save-temps", "target", "temp_dir"},
    "advanced": {"misc", "param", "prop"},
    "clock": {"defaultFreqHz", "defaultID", "defaultTolerance", "freqHz", "id", "tolerance"},
    "connectivity": {"connect", "nk", "sc", "slr", "sp", "stream_connect"},
    "debug": {"chipscope", "list_ports", "protocol"},
    "vivado": {"impl.jobs", "impl.strategies", "param", "prop", "synth.jobs"},
}
"""Options of each section for the linker (Vitis Compiler Configuration File, table 1); of none before the first."""
_NAME = r"[A-Za-z_]\w*"
_UNIT = re.compile(rf"({_NAME}):(\d+)(?::({_NAME}(?:\.{_NAME})*))?")
_STREAM = re.compile(rf"({_NAME})\.({_NAME}):({_NAME})\.({_NAME})(?::\d+)?")
_PORT = re.compile(rf"({_NAME})\.({_NAME}):(\S+)")
_PLACE = re.compile(rf"({_NAME}):SLR(\d+)")
_PIN = re.compile(rf"({_NAME})/\w+")
_CAGE = re.compile(r"io_\w*qsfp(\d+)\w*")
_RANGE = re.compile(r"(\w+)\[(\d+)(?::(\d+))?\]")
_SETTING = re.compile(r"[\w.]+=\S.*")


@dataclass(frozen=True)
class Card:
    """What is on a card: ports of each kernel and their ways, memory banks of each kind, SLRs, cages."""

    kernels: Mapping[str, Mapping[str, Way]]
    banks: Mapping[str, int]
    slrs: int
    cages: int


@dataclass
class Read:
    """What a configuration says so far."""

    card: Card
    units: dict[str, str] = field(default_factory=dict)
    joined: Counter[tuple[str, str]] = field(default_factory=Counter)
    placed: Counter[str] = field(default_factory=Counter)

    def port(self, unit: str, port: str, ways: set[Way]) -> Iterator[str]:
        """Yield what is wrong with a port of a unit that is to be one of some ways."""
        if unit not in self.units:
            yield f"no compute unit {unit}"
            return
        found = self.card.kernels.get(self.units[unit], {}).get(port)
        if found is None:
            yield f"{unit} has no port {port}"
        elif found not in ways:
            yield f"{unit}.{port} goes {found}, not {' or '.join(sorted(ways))}"


def problems(text: str, card: Card) -> list[str]:
    """Return what v++ would refuse, or leave unconnected, a sentence each."""
    found, rows = [], []
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if re.fullmatch(r"\[.*\]", content):
            section = content[1:-1]
            found += [] if section and section in KEYS else [f"line {number}: no section {content}"]
        elif content:
            key, equals, value = (part.strip() for part in content.partition("="))
            if not equals or not value:
                found.append(f"line {number}: expected key=value")
            elif key not in KEYS.get(section, {key}):
                found.append(f"line {number}: [{section}] has no {key}")
            else:
                rows.append((number, key, value))
    read = Read(card)
    # Units are known to the whole file, wherever they are named.
    for number, key, value in sorted(rows, key=lambda row: row[1] != "nk"):
        found += [f"line {number}: {told}" for told in READERS.get(key, _nothing)(value, read)]
    return found + list(_left(read))


def _left(read: Read) -> Iterator[str]:
    """Yield ports that nothing is joined to; memory's bank v++ chooses itself."""
    for unit, kernel in read.units.items():
        for port, way in read.card.kernels.get(kernel, {}).items():
            if way != "memory" and not read.joined[unit, port]:
                yield f"{unit}.{port} is joined to nothing"


def _nothing(_value: str, _read: Read) -> Iterator[str]:
    yield from ()


def _units(value: str, read: Read) -> Iterator[str]:
    match = _UNIT.fullmatch(value)
    if match is None:
        yield f"nk={value}: expected kernel:count:units"
        return
    kernel, count = match[1], int(match[2])
    names = match[3].split(".") if match[3] else [f"{kernel}_{number}" for number in range(1, count + 1)]
    if kernel not in read.card.kernels:
        yield f"no kernel {kernel}"
    if count != len(names) or not count:
        yield f"{count} units of {kernel} have {len(names)} names"
    for name in names:
        if name in read.units:
            yield f"compute unit {name} is there twice"
        read.units[name] = kernel


def _stream(value: str, read: Read) -> Iterator[str]:
    match = _STREAM.fullmatch(value)
    if match is None:
        yield f"sc={value}: expected unit.port:unit.port"
        return
    ends: tuple[tuple[str, str, set[Way]], ...] = ((match[1], match[2], {"out"}), (match[3], match[4], {"in"}))
    for unit, port, ways in ends:
        yield from read.port(unit, port, ways)
        if read.joined[unit, port]:
            yield f"{unit}.{port} is joined twice"
        read.joined[unit, port] += 1


def _memory(value: str, read: Read) -> Iterator[str]:
    match = _PORT.fullmatch(value)
    if match is None:
        yield f"sp={value}: expected unit.port:bank"
        return
    yield from read.port(match[1], match[2], {"memory"})
    bank = _RANGE.fullmatch(match[3])
    most = read.card.banks.get(bank[1], 0) if bank else 0
    if bank is None or not int(bank[2]) <= int(bank[3] or bank[2]) < most:
        yield f"no memory bank {match[3]}"
    if read.joined[match[1], match[2]]:
        yield f"{match[1]}.{match[2]} has two banks"
    read.joined[match[1], match[2]] += 1


def _place(value: str, read: Read) -> Iterator[str]:
    match = _PLACE.fullmatch(value)
    if match is None:
        yield f"slr={value}: expected unit:SLR"
        return
    if match[1] not in read.units:
        yield f"no compute unit {match[1]}"
    if int(match[2]) >= read.card.slrs:
        yield f"no SLR{match[2]}"
    if read.placed[match[1]]:
        yield f"{match[1]} is placed twice"
    read.placed[match[1]] += 1


def _wire(value: str, read: Read) -> Iterator[str]:
    ends = value.split(":")
    if len(ends) != 2:
        yield f"connect={value}: expected pin:pin"
    for end in ends:
        pin, cage = _PIN.fullmatch(end), _CAGE.fullmatch(end)
        if pin is not None and pin[1] not in read.units and not pin[1].startswith("ii_"):
            yield f"no compute unit {pin[1]}"
        if cage is not None and int(cage[1]) >= read.card.cages:
            yield f"no cage {cage[1]}"


def _clocked(value: str, read: Read) -> Iterator[str]:
    hertz, _, pins = value.partition(":")
    if not hertz.isdigit() or not pins:
        yield f"freqHz={value}: expected hertz:unit.pin"
    for unit in (pin.partition(".")[0] for pin in pins.split(",") if pin):
        if unit not in read.units:
            yield f"no compute unit {unit}"


def _setting(value: str, _read: Read) -> Iterator[str]:
    if not _SETTING.fullmatch(value):
        yield f"{value}: expected a name and a value"


READERS: dict[str, Callable[[str, Read], Iterator[str]]] = {
    "nk": _units,
    "sc": _stream,
    "stream_connect": _stream,
    "sp": _memory,
    "slr": _place,
    "connect": _wire,
    "freqHz": _clocked,
    "prop": _setting,
    "param": _setting,
}
