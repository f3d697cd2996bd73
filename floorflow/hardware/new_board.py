"""A board's file made from its part alone: what the die tells is stated, what it does not is assumed or left open."""

import re
from pathlib import Path

from floorflow.assets import PARTS, BarePart, bare_part, how_to_bring, shipped_file
from floorflow.errors import PlatformError
from floorflow.hardware.device import Device
from floorflow.hardware.device_file import read_device
from floorflow.hardware.geometry import Rect
from floorflow.hardware.reading import NAME, read_text

CLOCK_MHZ = {"7series": 100, "ultrascale+": 200}
"""Clocks that FINN's networks reach on boards of these families."""
_PROCESSOR = "s"
"""How the device files show the column at which a Zynq's processor meets the fabric."""
_TEXT = Path(__file__).with_name("new_board.yaml.in").read_text(encoding="utf-8")


def new_board(name: str, part: str) -> str:
    """Return the text of a board's file for a part, such as ``xck26-sfvc784-2LV-c``, or a name of one.

    PlatformError if no die is known for the part, or the name is none for a board.
    """
    if re.fullmatch(NAME, name) is None:
        raise PlatformError(f"board '{name}': expected small letters, digits, '.', '_' and '-'", "such as my-board")
    found = bare_part(part)
    if found is None:
        hint = f"known are {', '.join(PARTS)}, each with package and speed grade as well; {how_to_bring(part)}"
        raise PlatformError(f"part '{part}': its die is not known", hint)
    return board_text(name, found)


def board_text(name: str, found: BarePart) -> str:
    """Return the text of a board's file for a part whose die is known."""
    path = shipped_file("devices", found.device)
    device = read_device(read_text(path), str(path))
    port = _processor_port(device)
    assumed = ["part"] * found.assumed + ["clock_mhz"] + ["host_port"] * (port is not None)
    assumed += ["crossing_registers"] * bool(device.sll_wires) + ["cell_pattern"]
    return _TEXT.format(
        name=name,
        part=found.part,
        device=found.device,
        silicon=_silicon(device),
        assumed=", ".join(assumed),
        clock_mhz=CLOCK_MHZ.get(device.architecture, 200),
        slrs=", ".join(slr.name for slr in device.slrs),
        port="# host_port: none" if port is None else f"host_port: {_written(port)}",
        region_top=device.rows_per_clock_region - 1,
        sll=_boundaries(device),
    )


def _boundaries(device: Device) -> str:
    """Say how many wires SLR boundaries have, for the comment."""
    if not device.sll_wires:
        return " (this die has none)"
    return f" of {max(device.sll_wires):,} wires (sll_wires: fewer if a shell takes some)"


def _processor_port(device: Device) -> Rect | None:
    """Return the column at which the processor meets the fabric; None on a die without one, or one of several SLRs."""
    height = device.rows_per_clock_region
    places = [(row, layout.index(_PROCESSOR)) for row, layout in enumerate(device.layouts) if _PROCESSOR in layout]
    if not places or len(device.slrs) > 1 or device.legend[_PROCESSOR].kind != "other":
        return None
    rows, column = [row for row, _ in places], places[0][1]
    return Rect(column, rows[0] * height, column, (rows[-1] + 1) * height - 1)


def _written(rect: Rect) -> str:
    return f"{{left: {rect.left}, bottom: {rect.bottom}, right: {rect.right}, top: {rect.top}}}"


def _silicon(device: Device) -> str:
    held = device.resources(device.bounds).as_dict()
    return ", ".join(f"{amount:,} {name}" for name, amount in held.items() if amount)
