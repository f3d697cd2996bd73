"""Constraints on where cells lie, as plain XDC and as Tcl calls with guards: pblocks, or the SLR of each cell.

XDC allows no control flow (UG903), so the XDC is one command a line and names every cell in full; the Tcl script is
data and calls into ``tcl/floorflow.tcl``, whose guards stop the run if a name does not match exactly one cell.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[A-Za-z0-9_./:\- ]+")
"""Characters that need no escaping inside Tcl braces; names with others never get this far."""


@dataclass(frozen=True)
class Pblock:
    """A pblock to create: Vivado ranges, the shell's pblock that holds it (or None) and whole cell names.

    Cells may leave a ``soft`` one.
    """

    name: str
    ranges: tuple[str, ...]
    parent: str | None
    cells: tuple[str, ...]
    soft: bool = False


@dataclass(frozen=True)
class Assigned:
    """Whole names of cells to assign to an SLR, without a pblock."""

    slr: str
    cells: tuple[str, ...]


Constraint = Pblock | Assigned


def tcl_word(text: str) -> str:
    """Quote one Tcl word in braces.

    Raises ValueError if the text holds a character that braces do not protect (names are checked when they are made).
    """
    if not _WORD.fullmatch(text):
        raise ValueError(f"{text!r} cannot be written as a Tcl word")
    return "{" + text + "}"


def xdc(header: str, styles: Sequence[str], constraints: Sequence[Constraint]) -> str:
    """Return the XDC file, one line a cell; ``styles``: what is said of each slot, as comments."""
    lines = [f"# {header}", "# Read it for implementation only: set_property USED_IN {implementation} [get_files ...]"]
    lines += [f"# {style}" for style in styles]
    for one in constraints:
        lines += ["", *(_xdc_pblock(one) if isinstance(one, Pblock) else _xdc_assigned(one))]
    return "\n".join(lines) + "\n"


def _xdc_pblock(pblock: Pblock) -> Iterator[str]:
    target = f"[get_pblocks {tcl_word(pblock.name)}]"
    yield f"create_pblock {tcl_word(pblock.name)}"
    yield f"resize_pblock {target} -add {tcl_word(' '.join(pblock.ranges))}"
    if pblock.parent is not None:
        yield f"set_property PARENT {tcl_word(pblock.parent)} {target}"
    # Vivado's default is soft (UG912); what is meant is said either way.
    yield f"set_property IS_SOFT {'TRUE' if pblock.soft else 'FALSE'} {target}"
    yield from (f"add_cells_to_pblock {target} [get_cells {tcl_word(cell)}]" for cell in pblock.cells)


def _xdc_assigned(assigned: Assigned) -> Iterator[str]:
    slr = tcl_word(assigned.slr)
    yield from (f"set_property USER_SLR_ASSIGNMENT {slr} [get_cells {tcl_word(cell)}]" for cell in assigned.cells)


def tcl(
    header: str,
    styles: Sequence[str],
    part: str,
    constraints: Sequence[Constraint],
    library: str = "../vivado/floorflow.tcl",
    *,
    unbound: bool = False,
) -> str:
    """Return the Tcl script that says the same through the guarded library, given by its path from there.

    ``unbound``: the cells are not those of a build, so that it runs only if asked for, and makes pblocks without cells.
    """
    lines = [
        "# tclint-disable line-length",  # lists of ranges and cells are data
        f"# {header}",
        *(f"# {style}" for style in styles),
        f"source [file join [file dirname [file normalize [info script]]] {' '.join(library.split('/'))}]",
        "",
        f"floorflow::begin -part {tcl_word(part)}{' -unbound TRUE' if unbound else ''}",
    ]
    lines += [" \\\n    ".join(_call(one)) for one in constraints]
    # With the counts a script that lost a call stops, and one for an FPGA without modules does not.
    pblocks = sum(isinstance(one, Pblock) for one in constraints)
    assigned = sum(len(one.cells) for one in constraints if isinstance(one, Assigned))
    lines.append(f"floorflow::end -pblocks {pblocks} -assigned {assigned}")
    return "\n".join(lines) + "\n"


def _call(one: Constraint) -> Iterator[str]:
    if isinstance(one, Assigned):
        yield f"floorflow::slr {tcl_word(one.slr)}"
    else:
        yield f"floorflow::pblock {tcl_word(one.name)}"
        yield f"-ranges {tcl_word(' '.join(one.ranges))}"
        if one.soft:
            yield "-soft TRUE"
        if one.parent is not None:
            yield f"-parent {tcl_word(one.parent)}"
    yield f"-cells {tcl_word(' '.join(one.cells))}"
