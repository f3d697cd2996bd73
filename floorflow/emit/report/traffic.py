"""What passes between slots in a phase, and how full boundaries and links are."""

from __future__ import annotations

from floorflow.emit.tables import number, table, wrapped
from floorflow.emit.use import share
from floorflow.facts import PhaseEntry, Plan
from floorflow.hardware import stream_wires


def crossings(phase: PhaseEntry) -> list[str]:
    """Return every run of SLR boundaries and every link that a stream passes."""
    rows = [("from", "to", "kind", "bits", "wires", "Gb/s", "channel")]
    for c in phase.partition.crossings:
        wires = f"{stream_wires(c.width_bits):,}" if c.kind == "sll" else ""
        rows.append((c.source, c.target, c.kind, f"{c.width_bits:,}", wires, f"{c.gbps:.3g}", c.channel))
    none = ["none: every module lies in the same slot as its neighbours"]
    return table(rows, left=2) if phase.partition.crossings else none


def far_streams(plan: Plan, phase: PhaseEntry) -> list[str]:
    """Return the streams over several SLR boundaries of an FPGA, the registers that they rely on, and why they may."""
    hops = phase.partition.hops
    if max(len(fpga.slots) for fpga in plan.platform.fpgas) < 3:
        return []
    if not hops.streams:
        return wrapped([f"no stream crosses more than one SLR boundary of an FPGA; {_why(plan, phase)}"])
    rows = [("from", "to", "boundaries", "flip-flops", "channel")]
    rows += [
        (s.source, s.target, str(s.hops), f"{sum(r.flip_flops for r in s.registers):,}", s.channel)
        for s in hops.streams
    ]
    stages = {r.boundary: r.stages for s in hops.streams for r in s.registers}
    places = ", ".join(f"{count} at {name}" for name, count in sorted(stages.items()))
    relies = f"they rely on register stages that no tool inserts by itself: {places}"
    return [*wrapped([_why(plan, phase), relies]), *table(rows, left=2)]


def _why(plan: Plan, phase: PhaseEntry) -> str:
    """Say what allows a stream to cross so many boundaries."""
    hops, asked = phase.partition.hops, plan.options.max_hops
    if hops.proof:
        return f"up to {hops.most} are allowed, for {hops.proof}"
    return f"--max-hops {asked} allows {asked}" if asked is not None else "--max-hops N would allow more"


def loads(phase: PhaseEntry) -> list[str]:
    """Return what every SLR boundary and link carries."""
    units = {"sll": "SLL wires", "link": "Gb/s"}
    rows = [("boundary or link", "used", "of", "share", "")]
    rows += [
        (load.name, number(load.use), number(load.capacity), f"{share(load):.1%}", units[load.kind])
        for load in phase.partition.loads
    ]
    return table(rows) if phase.partition.loads else []
