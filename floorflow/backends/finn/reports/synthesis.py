"""FINN's ``post_synth_resources.json``: what Vivado counted for each node of the final graph."""

from __future__ import annotations

from floorflow.backends.finn.reports.node_json import amount, line_of, nodes
from floorflow.backends.reports import SYNTHESIS, Report, Row, malformed
from floorflow.resources import Resources

FORMAT = "FINN's post_synth_resources.json"
_NEEDED = ("LUT", "FF")


def read(text: str, file: str) -> Report:
    """Return a row a node; LUTs count memory and shift registers, a RAMB36 is two BRAM18.

    Raises
    ------
    InputError
        If it is no such JSON, or an amount is missing or no number; names file, line and node.

    """
    rows = []
    for node, entry in nodes(text, file).items():
        missing = [name for name in _NEEDED if name not in entry]
        if missing:
            raise malformed(
                file, line_of(text, node), f"{node} has no {missing[0]}; is this post_synth_resources.json?"
            )
        lut, ff, ramb36, ramb18, uram, dsp = (
            amount(entry, name, node, text, file) for name in ("LUT", "FF", "BRAM_36K", "BRAM_18K", "URAM", "DSP")
        )
        rows.append(Row((node,), Resources(lut, ff, 2 * ramb36 + ramb18, uram, dsp)))
    return Report(file, FORMAT, SYNTHESIS, tuple(rows))
