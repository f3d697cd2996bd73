"""A board's file made from its part alone: what the die tells is stated, what it does not is assumed or left open."""

import re

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
_TEXT = """\
# {name}: written from the part {part} alone; schema floorflow-board/1, see platforms/README.md.
# Facts that are listed under "assumed" are guesses: mend them, then take them off the list.
# Lines that begin with "# " hold what the die cannot tell. floorflow platforms --check FILE says what is open.
schema: floorflow-board/1
name: {name}
part: {part}
device: {device}  # {silicon}

# What is only a guess below.
assumed: [{assumed}]

# Clock of the design in MHz, and how many such boards can be linked (more than one need a link).
clock_mhz: {clock_mhz}
max_fpgas: 1

# Where the streams of the host enter and leave: an SLR ({slrs}), and a rectangle of columns and
# CLB rows in it, such as the processor's interface, a PCIe block or a memory controller. "none": its right edge.
host_slr: SLR0
{port}
# Or, in their place, the memory channels at which the streams may end, the default first, with their controllers.
# memories:
#   - name: "DDR[0]"
#     slr: SLR0
#     port: {{left: 0, bottom: 0, right: 0, top: {region_top}}}
#     controller:
#       resources: {{LUT: 33256, FF: 44889, BRAM18: 199, DSP: 3}}
#       reserved: "CLOCKREGION_X0Y0:CLOCKREGION_X0Y0"
#     assumed: true

# Flip-flop stages in each wire at each SLR boundary{sll}.
crossing_registers: 2

# Hierarchical cell of an engine in Vivado, with {{engine}} and FINN's {{partition}}. FINN's Zynq flow has
# top_i/StreamingDataflowPartition_{{partition}}/inst/StreamingDataflowPartition_{{partition}}_{{engine}}
cell_pattern: "finn_design_i/{{engine}}"

# The vendor's part of the design, "none" if there is none; until it is stated all silicon counts as available.
# shell:
#   name: my_shell
#   hierarchy: my_top/my_region
#   static: {{SLR0: ["CLOCKREGION_X0Y0:CLOCKREGION_X0Y0"]}}

# Logic beside the network, "none" if there is none: DMA engines, interconnect, a processor's interface.
# infrastructure:
#   - {{name: processor_interface, slr: SLR0, per: every, resources: {{LUT: 5337, FF: 7329}}}}
#   - {{name: input_dma, slr: SLR0, per: every, resources: {{LUT: 1589, FF: 2024, BRAM18: 1}}}}
#   - {{name: output_dma, slr: SLR0, per: every, resources: {{LUT: 1265, FF: 1784, BRAM18: 1}}}}

# Only for --reconfigure: loading the device anew, and what the memory of the host's streams carries, in Gb/s.
# reconfiguration: {{kind: partial, ms: 100}}
# memory_gbps: 100

# Watts beside the die's leakage and the network: processor, memories, supplies; and what the board may draw, if known.
# power: {{base_w: 3, limit_w: 75}}
"""


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
