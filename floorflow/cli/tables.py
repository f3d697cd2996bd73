"""Tables and short texts for a person at a terminal; the same facts as plain data for ``--json``."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Table

from floorflow.dataflow.model import Attributes, Dataflow
from floorflow.hardware import Board, Platform, known_links
from floorflow.network import Network
from floorflow.resources import RESOURCE_NAMES
from floorflow.schema import PhaseEntry, Plan, Stats


def summary(plan: Plan) -> str:
    """Return what a user wants to see first: rate, bottleneck, fullness, every gap."""
    phase = plan.phases[0]
    e = phase.estimates
    rate = f"{frames_per_s(e.fps)} frames/s (interval {e.cycles:,} cycles at {e.clock_mhz:g} MHz"
    lines = [f"{plan.networks[0].name} on {_boards(plan)}: {rate}, bottleneck {e.bottleneck})"]
    if plan.options.objective == "throughput":
        lines.append(f"  interval  bound {plan.search.bound_cycles:,} cycles, gap {plan.search.gap:.1%}")
    if plan.options.objective == "latency":
        lines.append(f"  latency   {_latency(phase)}")
    lines.append(f"            {plan.search.ended_by}")
    lines += [
        f"  folding   {_stats(phase.folding.stats)}",
        f"  partition {_stats(phase.partition.stats)}; {_crossings(phase)}",
    ]
    lines += [
        f"  placement {_stats(floorplan.stats)}; {len(floorplan.pblocks)} pblocks, HPWL {floorplan.hpwl:,.0f}"
        for floorplan in phase.floorplan.values()
    ]
    for slot, shares in phase.partition.utilisation.items():
        caps = plan.options.cap.model_dump()
        used = [f"{name} {shares[name]:.0%} of {caps[name]:.0%}" for name in RESOURCE_NAMES if shares[name] > 0]
        lines.append(f"  {slot}  {', '.join(used) or 'empty'}")
    lines += [f"  note: {warning}" for warning in plan.warnings]
    return "\n".join(lines)


def _latency(phase: PhaseEntry) -> str:
    """Tell the latency, and the bound on its cycles."""
    cycles, bound = phase.folding.stats.objective, phase.folding.whole_budget_bound
    known = "" if bound is None or not cycles else f", bound {bound:,.0f}, gap {max(0.0, cycles - bound) / cycles:.1%}"
    return f"{phase.estimates.latency_us:,.1f} us: {cycles or 0:,.0f} cycles along the longest path{known}"


def _boards(plan: Plan) -> str:
    """Return ``alveo-u250`` or ``2 x alveo-u250``."""
    count = len(plan.platform.fpgas)
    return plan.platform.name if count == 1 else f"{count} x {plan.platform.name}"


def frames_per_s(fps: float) -> str:
    """Write a rate rounded down, so that what is printed can be asked for."""
    return f"{floor(fps):,}" if fps >= 100 else f"{floor(fps * 10) / 10:,.1f}"


def _crossings(phase: PhaseEntry) -> str:
    kinds = [crossing.kind for crossing in phase.partition.crossings]
    links = f", {kinds.count('link')} over links" if "link" in kinds else ""
    return f"{kinds.count('sll')} SLR crossings{links}"


def _stats(stats: Stats) -> str:
    gap = "gap unknown" if stats.gap is None else f"gap {stats.gap:.1%}"
    return f"{stats.status} ({stats.method}, {gap})"


def inspection(network: Network, dataflow: Dataflow, part: str, refusal: str = "") -> dict[str, Any]:
    """Return what was read and what it becomes on a part, as plain data; ``refusal`` says why it has no engines."""
    return {
        "name": network.name,
        "part": part,
        "refusal": refusal,
        "totals": {
            "layers": len(network.layers),
            "parameters": sum(network.weights(layer).elements for layer in network.layers),
            "macs": network.macs,
            "weight_bits": _counted(_weight_bits(network)),
            "activation_bits": _counted(_activation_bits(network)),
        },
        "operations": [{"name": o.name, "type": o.type, "macs": o.macs} for o in network.operations],
        "engines": [
            {
                "name": e.name,
                "kind": e.kind,
                "operation": e.operation,
                "attributes": _plain(e.attributes),
                "folding": _plain(e.folding),
                "weight_bits": e.weight_bits,
                "input_bits": e.input_bits,
                "output_bits": e.output_bits,
            }
            for e in dataflow.engines
        ],
        "notes": list(dataflow.notes),
    }


def _plain(attributes: Attributes) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in attributes.items()}


def _weight_bits(network: Network) -> list[int]:
    return [network.weights(layer).datatype.bits for layer in network.layers]


def _activation_bits(network: Network) -> list[int]:
    return [network.tensor(layer.inputs[0]).datatype.bits for layer in network.layers]


def _counted(bits: Sequence[int]) -> dict[str, int]:
    """Return how many layers have each width, as ``{"8": 2, "4": 19}``."""
    return {str(width): bits.count(width) for width in sorted(set(bits))}


def inspection_tables(network: Network, dataflow: Dataflow, part: str, refusal: str = "") -> list[Table | str]:
    """Return the engines as a table, or the layers of a network that has none, and what was assumed."""
    title = f"{network.name} on {part}: {len(dataflow.engines)} engines, {network.macs:,} MACs a frame"
    table = (_layer_table if refusal else _engine_table)(network, dataflow, escape(title))
    refused = [escape(f"cannot be planned: {refusal}")] if refusal else []
    return [table, _totals(network), *refused, *(escape(f"assumed: {note}") for note in dataflow.notes)]


def _engine_table(network: Network, dataflow: Dataflow, title: str) -> Table:
    macs = {o.name: o.macs for o in network.operations}
    table = _table(title, ("engine", "operation"), ("MACs", "weights", "in", "out"))
    for engine in dataflow.engines:
        count = macs.get(engine.operation, 0) if engine.weight_bits else 0
        bits = [_bits(b) for b in (engine.weight_bits, engine.input_bits, engine.output_bits)]
        table.add_row(engine.name, escape(engine.operation), f"{count:,}" if count else "", *bits)
    return table


def _layer_table(network: Network, _dataflow: Dataflow, title: str) -> Table:
    table = _table(title, ("layer", "type"), ("MACs", "weights", "in"))
    for layer, weights, inputs in zip(network.layers, _weight_bits(network), _activation_bits(network), strict=True):
        table.add_row(escape(layer.name), layer.type, f"{layer.macs:,}", _bits(weights), _bits(inputs))
    return table


def _bits(width: int) -> str:
    return f"{width} bit" if width else ""


def _totals(network: Network) -> str:
    parameters = sum(network.weights(layer).elements for layer in network.layers)
    weights, inputs = (
        ", ".join(f"{bits} bit x {count}" for bits, count in _counted(widths).items())
        for widths in (_weight_bits(network), _activation_bits(network))
    )
    return f"{len(network.layers)} layers, {parameters:,} parameters; weights {weights}; activations {inputs}"


def _table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    """Start a table whose names are never cut: they are what a user types next."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE, pad_edge=False)
    for heading in names:
        table.add_column(heading, no_wrap=True, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def platforms_table(platforms: Sequence[Platform]) -> Table:
    """Return the known platforms, a row each."""
    table = _table("platforms", ("name", "part"), ("clock MHz", "slots", *RESOURCE_NAMES))
    for platform in platforms:
        board = platform.fpgas[0].board
        amounts = [f"{n:,}" for n in platform.silicon.as_tuple()]
        table.add_row(platform.name, board.part, f"{board.clock_mhz:g}", str(len(platform.slots)), *amounts)
    return table


def platform_tables(platform: Platform) -> list[Table | str]:
    """Return the slots of one platform and what shell and infrastructure take."""
    board = platform.fpgas[0].board
    slots = _table(f"{platform.name} ({board.part}, {board.clock_mhz:g} MHz)", ("slot", ""), RESOURCE_NAMES)
    for slot in platform.slots:
        slots.add_row(slot.name, "silicon", *(f"{n:,}" for n in slot.capacity.as_tuple()))
        slots.add_row("", "available", *(f"{n:,}" for n in slot.available.as_tuple()))
    lines: list[Table | str] = [slots]
    for item in platform.infrastructure:
        taken = ", ".join(f"{n:,} {name}" for name, n in item.resources.as_dict().items() if n)
        lines.append(f"infrastructure {item.name} in {item.slot}: {taken}")
    lines += [f"{b.lower} to {b.upper}: {b.wires:,} SLL wires" for b in platform.boundaries]
    return [*lines, _link_text(board)]


def _link_text(board: Board) -> str:
    """Say how several such boards are joined."""
    link = board.link
    if link is None:
        return "links: none, one FPGA only"
    each = "" if link.max_links is None else f", at most {link.max_links} in one FPGA"
    assumed = " (assumed)" if link.assumed else ""
    figures = f"{link.kind} in {link.slr}, {link.gbps:g} Gb/s each way, {link.latency_us:g} us{assumed}"
    others = ", ".join(kind for kind in known_links() if kind != link.kind)
    return f"links: {figures}{each}; up to {board.max_fpgas} FPGAs; other kinds for --link: {others}"


def platform_entry(platform: Platform) -> dict[str, Any]:
    """Return one platform as plain data."""
    board = platform.fpgas[0].board
    return {
        "name": platform.name,
        "part": board.part,
        "clock_mhz": board.clock_mhz,
        "slots": [
            {"name": s.name, "capacity": s.capacity.as_dict(), "available": s.available.as_dict()}
            for s in platform.slots
        ],
        "infrastructure": [
            {"name": i.name, "slot": i.slot, "resources": i.resources.as_dict()} for i in platform.infrastructure
        ],
        "slls": [{"lower": b.lower, "upper": b.upper, "wires": b.wires} for b in platform.boundaries],
        "max_fpgas": board.max_fpgas,
        "link": board.link
        and {
            "kind": board.link.kind,
            "slr": board.link.slr,
            "gbps": board.link.gbps,
            "latency_us": board.link.latency_us,
            "max_links": board.link.max_links,
            "assumed": board.link.assumed,
        },
    }
