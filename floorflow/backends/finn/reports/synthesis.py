"""FINN's ``post_synth_resources.json``: what Vivado counted for each node of the final graph."""

from __future__ import annotations

from floorflow.backends.finn.reports import performance
from floorflow.backends.finn.reports.build_contents import amounts_in
from floorflow.backends.finn.reports.node_json import amount, line_of, nodes
from floorflow.backends.reports import SYNTHESIS, Report, Row, json_of, malformed
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


def amounts(text: str, file: str) -> tuple[Row, ...]:
    """Return every object of a JSON file that counts LUTs and flip-flops, by the names on the way to it.

    What is not FINN's own has keys as people chose them: BRAM18 is taken for what it says, BRAM36 for two.
    """
    rows = []
    for path, entry in amounts_in(json_of(text, file)):
        known = {name: performance.number(entry, *spellings) or 0 for name, spellings in _SPELLINGS.items()}
        blocks = round(2 * known["ramb36"] + known["bram18"])
        lut, ff, uram, dsp = (round(known[name]) for name in ("lut", "ff", "uram", "dsp"))
        rows.append(Row(path or ("design",), Resources(lut, ff, blocks, uram, dsp)))
    return tuple(rows)


_SPELLINGS = {
    "lut": ("LUT",),
    "ff": ("FF",),
    "ramb36": ("BRAM_36K", "BRAM36", "RAMB36"),
    "bram18": ("BRAM_18K", "BRAM18", "RAMB18"),
    "uram": ("URAM",),
    "dsp": ("DSP", "DSP48E"),
}
