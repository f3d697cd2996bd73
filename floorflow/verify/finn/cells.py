"""What FINN calls the cells of its nodes: inside each partition, a kernel of its own, nodes are counted anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from floorflow.verify.finn.built import BuiltNetwork

PARTITION = "{partition}"


def cells_of(
    built: BuiltNetwork, ids: Mapping[str, int], patterns: Mapping[str, str], *, several: bool
) -> dict[str, str]:
    """Return the cell of each engine, by the engine's id, on FPGAs of which the pattern of cells is known.

    Where the pattern has no partition, FINN's stitched design is one with the nodes' own names, below the network's
    name if the plan has several.
    """
    counted: Counter[tuple[int | None, str]] = Counter()
    cells: dict[str, str] = {}
    for name, node in built.nodes.items():
        row, number = built.rows[name], ids.get(name)
        inside = f"{node.kind}_{counted[number, node.kind]}" if number is not None else name
        counted[number, node.kind] += 1
        pattern = patterns.get(row["fpga"])
        if pattern is None:
            continue
        own = inside if PARTITION in pattern else f"{row['network']}/{name}" if several else name
        cells[row["id"]] = pattern.replace("{engine}", own).replace(PARTITION, "" if number is None else str(number))
    return cells
