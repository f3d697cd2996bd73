"""Which part and board a build is for, and the clock that was asked for: from its settings and the hardware handoff."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

PART_OF_BOARD: Mapping[str, str] = {
    "pynq-z1": "xc7z020clg400-1",
    "pynq-z2": "xc7z020clg400-1",
    "ultra96": "xczu3eg-sbva484-1-e",
    "ultra96-v2": "xczu3eg-sbva484-1-i",
    "aup-zu3_8gb": "xczu3eg-sfvc784-2-e",
    "zcu102": "xczu9eg-ffvb1156-2-e",
    "zcu104": "xczu7ev-ffvc1156-2-e",
    "zcu111": "xczu28dr-ffvg1517-2-e",
    "rfsoc2x2": "xczu28dr-ffvg1517-2-e",
    "rfsoc4x2": "xczu48dr-ffvg1517-2-e",
    "kv260_som": "xck26-sfvc784-2lv-c",
    "u50": "xcu50-fsvh2104-2l-e",
    "u55c": "xcu55c-fsvh2892-2l-e",
    "u200": "xcu200-fsgd2104-2-e",
    "u250": "xcu250-figd2104-2l-e",
    "u280": "xcu280-fsvh2892-2l-e",
}
"""FINN's names of boards, in small letters, and the parts that it takes for them."""

_ZYNQ_PORT_BITS, _ZYNQ_ULTRASCALE_PORT_BITS, _VITIS_PORT_BITS = 64, 128, 512
"""Widest words of DMA engines: FINN's ``pynq_native_port_width``, and what it gives Vitis (``InsertIODMA(512)``)."""

_SYSTEM = re.compile(r"<SYSTEMINFO\b[^>]*>")
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_MOST_HANDOFF_CHARACTERS = 65536
"""The element stands at the top of the file."""


def settings(text: str, file: str) -> dict[str, Any]:
    """Return the settings in a JSON or YAML file; none if they cannot be read, for they are not needed."""
    try:
        content = json.loads(text) if file.endswith(".json") else yaml.safe_load(text)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, yaml.YAMLError):
        return {}
    return content if isinstance(content, dict) else {}


def board_in(content: Mapping[str, Any]) -> tuple[str, str]:
    """Return board and part as FINN's build configuration names them; empty where it does not."""
    board, part = (
        str(held).lower() if isinstance(held := content.get(key), str) else "" for key in ("board", "fpga_part")
    )
    return board, part or PART_OF_BOARD.get(board, "")


def asked_clock_mhz(content: Mapping[str, Any]) -> float | None:
    """Return the clock of FINN's build configuration, which is a period in ns."""
    period_ns = content.get("synth_clk_period_ns")
    if isinstance(period_ns, bool) or not isinstance(period_ns, int | float) or not 1e-3 <= period_ns <= 1e6:
        return None
    return round(1000 / period_ns, 6)


def handed_off(text: str) -> tuple[str, str]:
    """Return board and part of a hardware handoff (.hwh): its SYSTEMINFO has die, package and speed grade.

    7-series parts are written in one word (``xc7z020clg400-1``), later ones with dashes between the fields.
    """
    element = _SYSTEM.search(text[:_MOST_HANDOFF_CHARACTERS])
    if element is None:
        return "", ""
    fields = {name: value.lower() for name, value in _ATTRIBUTE.findall(element[0])}
    named = fields.get("BOARD", "").split(":")
    board = named[1] if len(named) > 1 else ""
    device, package, speed = (fields.get(name, "") for name in ("DEVICE", "PACKAGE", "SPEEDGRADE"))
    if not device:
        return board, PART_OF_BOARD.get(board, "")
    device = device if device.startswith("x") else f"xc{device}"
    seven = device.startswith(("xc7", "xa7", "xq7"))
    return board, f"{device}{package}{speed}" if seven else f"{device}-{package}{speed}"


def host_port_bits(board: str, part: str) -> int | None:
    """Return the width of the memory port that FINN gives DMA engines on a board, at most."""
    name = (PART_OF_BOARD.get(board.lower(), "") or part).lower()
    if name.startswith("xc7z"):
        return _ZYNQ_PORT_BITS
    if name.startswith(("xczu", "xck26", "xck24")):
        return _ZYNQ_ULTRASCALE_PORT_BITS
    return _VITIS_PORT_BITS if name.startswith("xcu") else None
