"""Pblock constraints, as plain XDC and as Tcl calls with guards.

XDC allows no control flow (UG903), so the XDC is one command a line and names every cell in full; the Tcl script is
data and calls into ``tcl/floorflow.tcl``, whose guards stop the run if a name does not match exactly one cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[A-Za-z0-9_./:\- ]+")
"""Characters that need no escaping inside Tcl braces; names with others never get this far."""


@dataclass(frozen=True)
class Pblock:
    """A pblock to create: Vivado ranges, the shell's pblock that holds it (or None) and whole cell names."""

    name: str
    ranges: tuple[str, ...]
    parent: str | None
    cells: tuple[str, ...]


def tcl_word(text: str) -> str:
    """Quote one Tcl word in braces.

    Raises
    ------
    ValueError
        If the text holds a character that braces do not protect (names are checked when they are made).

    """
    if not _WORD.fullmatch(text):
        raise ValueError(f"{text!r} cannot be written as a Tcl word")
    return "{" + text + "}"


def xdc(header: str, pblocks: Sequence[Pblock]) -> str:
    """Return the XDC file: hard pblocks, one line a cell."""
    lines = [f"# {header}", "# Read it for implementation only: set_property USED_IN {implementation} [get_files ...]"]
    for pblock in pblocks:
        target = f"[get_pblocks {tcl_word(pblock.name)}]"
        lines += ["", f"create_pblock {tcl_word(pblock.name)}"]
        lines.append(f"resize_pblock {target} -add {tcl_word(' '.join(pblock.ranges))}")
        if pblock.parent is not None:
            lines.append(f"set_property PARENT {tcl_word(pblock.parent)} {target}")
        # Without this cells may leave the pblock: Vivado's default is soft (UG912).
        lines.append(f"set_property IS_SOFT FALSE {target}")
        lines += [f"add_cells_to_pblock {target} [get_cells {tcl_word(cell)}]" for cell in pblock.cells]
    return "\n".join(lines) + "\n"


def tcl(header: str, part: str, pblocks: Sequence[Pblock], library: str = "../vivado/floorflow.tcl") -> str:
    """Return the Tcl script that makes the same pblocks through the guarded library, given by its path from there."""
    lines = [
        f"# {header}",
        f"source [file join [file dirname [file normalize [info script]]] {' '.join(library.split('/'))}]",
        "",
        f"floorflow::begin -part {tcl_word(part)}",
    ]
    for pblock in pblocks:
        call = [f"floorflow::pblock {tcl_word(pblock.name)}", f"-ranges {tcl_word(' '.join(pblock.ranges))}"]
        if pblock.parent is not None:
            call.append(f"-parent {tcl_word(pblock.parent)}")
        call.append(f"-cells {tcl_word(' '.join(pblock.cells))}")
        lines.append(" \\\n    ".join(call))
    # With the count a script that lost a call stops, and one for an FPGA without modules does not.
    lines.append(f"floorflow::end -pblocks {len(pblocks)}")
    return "\n".join(lines) + "\n"
