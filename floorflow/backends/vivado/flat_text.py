"""Vivado's utilisation of a whole design as text: ``report_utilization``; the design may be one engine alone."""

from __future__ import annotations

from floorflow.backends.reports import SYNTHESIS, Report, Row, count, malformed
from floorflow.backends.vivado.vivado_text import Line, head_fields, tables
from floorflow.resources import Resources

FORMAT = "utilisation of a design, text"
_SITES = {
    "LUT": ("CLB LUTs", "Slice LUTs"),
    "FF": ("CLB Registers", "Slice Registers"),
    "RAMB36": ("RAMB36/FIFO",),
    "RAMB18": ("RAMB18",),
    "URAM": ("URAM",),
    "DSP": ("DSPs", "DSP Slices"),
}
"""Site types of UltraScale and of 7 series; a netlist that is only synthesised has a star after some."""


def recognises(text: str) -> bool:
    """Whether a text is the utilisation of a design, without hierarchy."""
    return "Utilization Design Information" in text and "Site Type" in text


def read(text: str, file: str) -> Report:
    """Return one row: the design.

    Raises
    ------
    InputError
        If the name of the design or a site type is missing; names file and line.

    """
    head, last = head_fields(text), len(text.splitlines())
    if "Design" not in head:
        raise malformed(file, 1, "the head of the report names no Design")
    sites = _sites(text)
    amounts = {}
    for name, spellings in _SITES.items():
        line = next((sites[spelling] for spelling in spellings if spelling in sites), None)
        if line is None and name != "URAM":
            raise malformed(file, last, f"no site type {spellings[0]!r}; use report_utilization without -pblocks")
        amounts[name] = 0 if line is None else _used(line, file)
    blocks = 2 * amounts["RAMB36"] + amounts["RAMB18"]
    row = Row((head["Design"],), Resources(amounts["LUT"], amounts["FF"], blocks, amounts["URAM"], amounts["DSP"]))
    return Report(file, FORMAT, SYNTHESIS, (row,), head.get("Design State", ""))


def _sites(text: str) -> dict[str, Line]:
    """Return the first row of each site type in the tables that count use."""
    first_rows: dict[str, Line] = {}
    for table in tables(text):
        if table[0].texts[:2] == ["Site Type", "Used"]:
            for line in table[1:]:
                first_rows.setdefault(line.texts[0].rstrip("*"), line)
    return first_rows


def _used(line: Line, file: str) -> int:
    if len(line.cells) < 2:
        raise malformed(file, line.number, "the row has no second cell, expected what is used")
    return count(line.cells[1], file, line.number, line.texts[0])
