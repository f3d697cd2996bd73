"""What passes between slots in a phase, and how full boundaries and links are."""

from __future__ import annotations

from floorflow.emit.tables import number, table
from floorflow.emit.use import share
from floorflow.hardware import stream_wires
from floorflow.schema import PhaseEntry


def crossings(phase: PhaseEntry) -> list[str]:
    """Return every run of SLR boundaries and every link that a stream passes."""
    rows = [("from", "to", "kind", "bits", "wires", "Gb/s", "channel")]
    for c in phase.partition.crossings:
        wires = f"{stream_wires(c.width_bits):,}" if c.kind == "sll" else ""
        rows.append((c.source, c.target, c.kind, f"{c.width_bits:,}", wires, f"{c.gbps:.3g}", c.channel))
    none = ["none: every module lies in the same slot as its neighbours"]
    return table(rows, left=2) if phase.partition.crossings else none


def loads(phase: PhaseEntry) -> list[str]:
    """Return what every SLR boundary and link carries."""
    units = {"sll": "SLL wires", "link": "Gb/s"}
    rows = [("boundary or link", "used", "of", "share", "")]
    rows += [
        (load.name, number(load.use), number(load.capacity), f"{share(load):.1%}", units[load.kind])
        for load in phase.partition.loads
    ]
    return table(rows) if phase.partition.loads else []
