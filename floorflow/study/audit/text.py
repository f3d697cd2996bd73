"""An audit for a person: audit.txt, and what the command prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floorflow.errors import some
from floorflow.resources import RESOURCE_NAMES

Data = Mapping[str, Any]
"""An audit as audit.json holds it, or a part of it."""


def audit_text(audit: Data) -> str:
    """Return the whole of it in lines: the design, what is around the network, kinds, nodes, FIFOs, rates, clock."""
    return "\n".join(line.rstrip() for line in _lines(audit)) + "\n"


def _lines(audit: Data) -> Iterator[str]:
    target, options = audit["target"], audit["options"]
    part = f"{target['part']}: " if target["part"] else ""
    yield f"audit of {audit['build']}: {audit['network']} on {target['name']} ({part}{target['how']})"
    told = ", ".join(f"{name} {options[name]}" for name in ("costs", "finn", "vivado") if options.get(name))
    yield f"priced with {told}; foldings and FIFOs as built, {audit['clock']['used_mhz']:g} MHz"
    yield ""
    yield from _files(audit)
    yield ""
    yield from _table(_resource_rows(audit), ("", "", *_used(audit)), names=2)
    yield ""
    yield from _table(_kind_rows(audit), ("kind", "in graph", "in report", *_used(audit)), names=1)
    yield ""
    yield from _table(_node_rows(audit), ("node", "cycles", *_used(audit), "LUT in band"), names=1)
    yield ""
    yield from _unmatched(audit)
    yield ""
    if audit["fifos"]:
        fifos = [_fifo_row(row) for row in audit["fifos"]]
        yield from _table(fifos, ("FIFOs, in words", "bits", "built", "needed", "planned"), names=1)
        yield ""
    yield from _rates(audit)
    yield from _latency(audit["latency"])
    yield from _clock(audit["clock"])


def _files(audit: Data) -> Iterator[str]:
    for role, entry in audit["files"].items():
        others = f" (not {some(entry['others'])})" if entry["others"] else ""
        yield f"{role + ':':<17} {entry['file']}{others}"
    for sentence in (*audit["missing"], *audit["notes"]):
        yield f"note: {sentence}"


def _used(audit: Data) -> list[str]:
    """Return the resources that the build or the prediction has any of."""
    whole = audit["whole"]
    entries = [whole["network"], whole["design"], audit["around"]]
    sides = [entry[side] for entry in entries for side in ("built", "predicted") if entry[side]]
    return [name for name in RESOURCE_NAMES if any(side[name] for side in sides)]


def _resource_rows(audit: Data) -> Iterator[list[str]]:
    """Yield built, predicted and error of the design, the network and what is around it."""
    whole, names = audit["whole"], _used(audit)
    for title, entry in (
        ("whole design", whole["design"]),
        ("network", whole["network"]),
        ("shell and DMA", audit["around"]),
    ):
        yield [title, "built", *_amounts(entry["built"], names)]
        yield ["", "predicted", *_amounts(entry["predicted"], names)]
        if entry["error"] is not None:
            yield ["", "error", *(percent(entry["error"][name]) for name in names)]
    yield ["as plan --keep-folding", "network", *_amounts(whole["network_as_planned"], names)]
    if whole["network_band"] is not None:
        low, high = whole["network_band"]
        yield ["the model's band", "network", *(f"{low[n]:,} to {high[n]:,}" for n in names)]
    for dma in audit["around"]["dma"]:
        width = "" if dma["width_bits"] is None else f"{dma['width_bits']} bit"
        yield [dma["name"], width, *_amounts(dma["built"], names)]
    if audit["around"]["shell"] is not None:
        yield ["all else (shell)", "built", *_amounts(audit["around"]["shell"], names)]


def _amounts(amounts: Mapping[str, int] | None, names: Sequence[str]) -> list[str]:
    return ["not known" if amounts is None else f"{amounts[name]:,}" for name in names]


def percent(share: float | None) -> str:
    """Return an error with its sign; nothing where there is none."""
    return "" if share is None else f"{share:+.0%}"


def _kind_rows(audit: Data) -> Iterator[list[str]]:
    names = _used(audit)
    for kind, entry in audit["kinds"].items():
        yield [kind, f"{entry['count']:,}", f"{entry['rows']:,}", *(_pair(entry, name) for name in names)]


def _node_rows(audit: Data) -> Iterator[list[str]]:
    """Yield every node, that with the largest error in LUTs first; what has neither row nor price is listed below."""
    names, priced = _used(audit), any(node["predicted"] for node in audit["nodes"])
    for node in sorted(audit["nodes"], key=lambda node: (-_size(node), node["name"])):
        if node["built"] is None and node["predicted"] is None:
            continue
        tool, own = node["cycles"]["tool"], node["cycles"]["floorflow"]
        cycles = "" if own is None else f"{own:,}" if own == tool or tool is None else f"{tool:,} > {own:,}"
        held = (node["in_band"] or {}).get("LUT")
        band = "" if held is None else "yes" if held else "no"
        folding = " ".join(f"{key} {value}" for key, value in node["folding"].items()) if not priced else ""
        yield [f"{node['name']} {folding}".rstrip(), cycles, *(_pair(node, name) for name in names), band]


def _size(node: Data) -> int:
    """Return how far a node is off in LUTs; where nothing was predicted, how large it is."""
    if node["predicted"] is None:
        return 0 if node["built"] is None else int(node["built"]["LUT"])
    return abs(difference(node, "LUT"))


def difference(entry: Data, resource: str) -> int:
    """Return how much more was predicted than built; 0 where one of the two is not known."""
    if entry["built"] is None or entry["predicted"] is None:
        return 0
    return int(entry["predicted"][resource] - entry["built"][resource])


def _pair(entry: Data, resource: str) -> str:
    """Return built > predicted, with the error; nothing where neither has any."""
    built, said = (None if entry[side] is None else entry[side][resource] for side in ("built", "predicted"))
    if not built and not said:
        return ""
    pair = " > ".join("?" if amount is None else f"{amount:,}" for amount in (built, said))
    return f"{pair} {percent(None if entry['error'] is None else entry['error'][resource])}".rstrip()


def _unmatched(audit: Data) -> Iterator[str]:
    left = audit["unmatched"]
    rows = [f"{row['instance']} ({row['resources']['LUT']:,} LUT)" for row in left["report"] if row["resources"]]
    yield f"in the report, but no engine, converter, FIFO, DMA engine or the design: {some(rows) or 'nothing'}"
    if audit["whole"]["network_as_planned"] is not None or left["graph"]:
        yield f"in the graph, but not in the report (dissolved by Vivado?): {some(left['graph']) or 'nothing'}"
    if left["in_doubt"]:
        doubt = (
            "their numbers may be those of other engines on parallel branches, for the graph is not that of a kernel"
        )
        yield f"in doubt: {some(left['in_doubt'])}: {doubt}"
    if left["unpriced"]:
        yield f"without a price: {some(left['unpriced'])}"


def _fifo_row(row: Data) -> list[str]:
    words = (row["built_words"], row["needed_words"], row["planned_words"])
    return [row["channel"], f"{row['width_bits']:,}", *("?" if one is None else f"{one:,}" for one in words)]


def _rates(audit: Data) -> Iterator[str]:
    rates = audit["rates"]
    yield f"interval in cycles: {_told(rates, ('planned', 'sustained', 'expected', 'simulated'))}"
    yield f"    the tool's own estimate {_known(rates['tool_cycles'])}; {rates['note']}"
    errors = [f"{name} {percent(error)}" for name, error in rates["error"].items() if error is not None]
    if errors:
        yield f"    against the simulation: {', '.join(errors)}"
    if rates["deadlock"]:
        yield f"    the FIFOs as built deadlock: {some(rates['deadlock'])}"
    if rates["not_analysed"]:
        yield f"    not analysed: {rates['not_analysed']}"


def _told(rates: Data, names: Sequence[str]) -> str:
    return ", ".join(f"{name} {_known(rates[f'{name}_cycles'])}" for name in names)


def _known(amount: float | None) -> str:
    return "not known" if amount is None else f"{amount:,.10g}"


def _latency(latency: Data) -> Iterator[str]:
    error = "" if latency["error"] is None else f" ({percent(latency['error'])})"
    predicted, simulated = (_known(latency[f"{name}_cycles"]) for name in ("predicted", "simulated"))
    yield f"first frame in cycles: predicted {predicted}{error}, simulated {simulated}"
    yield f"    the tool's own estimate {_known(latency['tool_cycles'])}"


def _clock(clock: Data) -> Iterator[str]:
    asked, slack, fmax = clock["asked_mhz"], clock["worst_slack_ns"], clock["fmax_mhz"]
    told = "not known" if slack is None else f"{slack:+.3f} ns"
    most = "not known" if fmax is None else f"{fmax:,.1f} MHz"
    yield f"clock: asked for {'not known' if asked is None else f'{asked:g} MHz'}, worst slack {told}, Fmax {most}"


def _table(rows: Iterator[list[str]] | Sequence[list[str]], headings: Sequence[str], names: int) -> Iterator[str]:
    """Yield lines of columns: the first ``names`` from the left, all others from the right."""
    held = [list(headings), *rows]
    widths = [max(len(row[column]) for row in held) for column in range(len(headings))]
    for row in held:
        cells = (
            cell.ljust(width) if column < names else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells)
