"""Cells in the place of members in a plan's constraints."""

import re
from collections.abc import Mapping, Sequence

MEMBERS = "members:"
"""What stands in the plan's constraints for the cells of a module, before its name."""
_MEMBERS = re.compile(rf"{MEMBERS}([^ }}]+)")
Ports = Mapping[str, tuple[Sequence[int], Sequence[int]]]
"""Bits of the streams into and out of each engine's cell."""


def filled(text: str, members: Mapping[str, Sequence[str]], ports: Ports) -> str:
    """Put cells for members: in a Tcl list all at once, in XDC a line each; and count those assigned to SLRs.

    A Tcl script also compares the streams of the engines' cells before it makes anything.
    """

    def cells(match: re.Match[str]) -> str:
        return " ".join(members[match[1]])

    lines: list[str] = []
    for line in text.splitlines():
        tokens = _MEMBERS.findall(line)
        if not tokens or "get_cells" not in line:
            lines.append(_MEMBERS.sub(cells, line))
            if line.startswith("floorflow::begin "):
                lines += [_port_call(cell, ports[cell]) for cell in ports]
            continue
        lines += [line.replace(f"{MEMBERS}{tokens[0]}", cell) for cell in members[tokens[0]]]
    filled = "\n".join(lines) + "\n"
    assigned = re.findall(r"floorflow::slr \{[^}]*\} \\\n\s+-cells \{([^}]*)\}", filled)
    count = sum(len(one.split()) for one in assigned)
    return re.sub(r"-assigned \d+", f"-assigned {count}" + (f" -ports {len(ports)}" if ports else ""), filled)


def _port_call(cell: str, widths: tuple[Sequence[int], Sequence[int]]) -> str:
    into, out = (" ".join(map(str, bits)) for bits in widths)
    return f"floorflow::ports {{{cell}}} -in {{{into}}} -out {{{out}}}"
