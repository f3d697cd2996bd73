"""FINN's ``estimate_layer_resources.json`` (its formulas) and ``estimate_layer_resources_hls.json`` (Vitis HLS)."""

from __future__ import annotations

from floorflow.backends.finn.reports.node_json import amount, line_of, nodes
from floorflow.backends.reports import Report, Row, malformed
from floorflow.resources import Resources

HLS = "hls"
"""Vitis HLS' own guess before Vivado; without the memories and streamers that FINN puts around the kernel."""
FINN = "finn"
"""FINN's formulas."""
FORMATS = {FINN: "FINN's estimate_layer_resources.json", HLS: "FINN's estimate_layer_resources_hls.json"}
_TOTALS = ("total",)
"""Sums that some releases add behind the nodes."""


def read(text: str, file: str, evidence: str) -> Report:
    """Return a row a node; ``evidence`` is FINN or HLS. FINN's formulas know no flip-flops.

    Raises
    ------
    InputError
        If it is no such JSON, or an amount is missing or no number; names file, line and node.

    """
    rows = []
    for node, entry in nodes(text, file).items():
        if node in _TOTALS:
            continue
        if "LUT" not in entry:
            raise malformed(file, line_of(text, node), f"{node} has no LUT; is this estimate_layer_resources.json?")
        lut, ff, bram18, uram, dsp = (
            amount(entry, name, node, text, file) for name in ("LUT", "FF", "BRAM_18K", "URAM", "DSP")
        )
        rows.append(Row((node,), Resources(lut, ff, bram18, uram, dsp)))
    return Report(file, FORMATS[evidence], evidence, tuple(rows))
