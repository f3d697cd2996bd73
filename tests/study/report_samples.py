"""Small reports in the shape of Vivado's and FINN's, written from rows of ``(indent, instance, resources)``."""

import json
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

from floorflow.resources import Resources

HEADINGS = (
    "Instance",
    "Module",
    "Total LUTs",
    "Logic LUTs",
    "LUTRAMs",
    "SRLs",
    "FFs",
    "RAMB36",
    "RAMB18",
    "URAM",
    "DSP Blocks",
)
Line = tuple[int, str, Resources]

HEAD = """Copyright 1986-2022 Xilinx, Inc. All Rights Reserved.
----------------------------------------------------------------
| Tool Version : Vivado v.2022.2 (lin64) Build 3671981
| Command      : {command}
| Design       : {design}
| Device       : xczu7ev-ffvc1156-2-e
| Design State : {state}
----------------------------------------------------------------

"""


def cells(line: Line) -> list[str]:
    indent, name, use = line
    blocks = use.bram18 // 2, use.bram18 % 2
    amounts = (use.lut, use.lut, 0, 0, use.ff, *blocks, use.uram, use.dsp)
    return ["  " * indent + name, "module", *(str(amount) for amount in amounts)]


def hierarchy_xml(lines: Sequence[Line], state: str = "Physopt postRoute", headings: Sequence[str] = HEADINGS) -> str:
    rows = [("tableheader", list(headings)), *(("tablecell", cells(line)) for line in lines)]
    body = "".join(
        '      <tablerow class="">\n'
        + "".join(f"        <{tag} contents={quoteattr(c)}/>\n" for c in row)
        + "      </tablerow>\n"
        for tag, row in rows
    )
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="no" ?>\n'
        f'<RptDoc cmdline="report_utilization" designname="top_wrapper" designstate="{state}">\n'
        f'  <section title="Utilization by Hierarchy">\n    <table>\n{body}    </table>\n  </section>\n</RptDoc>\n'
    )


def hierarchy_text(lines: Sequence[Line], state: str = "Routed", headings: Sequence[str] = HEADINGS) -> str:
    table = [list(headings), *map(cells, lines)]
    widths = [max(len(row[i]) for row in table) for i in range(len(headings))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    drawn = [
        "|" + "|".join(f" {cell:<{width}} " for cell, width in zip(row, widths, strict=True)) + "|" for row in table
    ]
    head = HEAD.format(command="report_utilization -hierarchical", design="top_wrapper", state=state)
    title = "1. Utilization by Hierarchy\n---------------------------\n"
    return (
        head
        + title
        + "\n".join(["", rule, drawn[0], rule, *drawn[1:], rule])
        + "\n* Note: cross-hierarchy LUT combining\n"
    )


def flat_text(design: str, use: Resources, state: str = "Synthesized") -> str:
    rows = {
        "CLB LUTs*": use.lut, "  LUT as Logic": use.lut, "CLB Registers": use.ff, "Block RAM Tile": use.bram18 / 2,
        "  RAMB36/FIFO*": use.bram18 // 2, "  RAMB18": use.bram18 % 2, "URAM": use.uram, "DSPs": use.dsp,
    }  # fmt: skip
    rule = "+------------------+--------+-------+-----------+-------+"
    drawn = [f"| {name:<16} | {used:>6} |     0 |      1000 |  1.00 |" for name, used in rows.items()]
    table = [rule, "| Site Type        |   Used | Fixed | Available | Util% |", rule, *drawn, rule]
    head = HEAD.format(command="report_utilization", design=design, state=state)
    return head + "Utilization Design Information\n\n1. CLB Logic\n------------\n\n" + "\n".join(table) + "\n"


def power_text(lines: Sequence[tuple[int, str, str]]) -> str:
    rule = "+--------------------------------------+-----------+"
    drawn = [f"| {'  ' * indent + name:<36} | {watts:>9} |" for indent, name, watts in lines]
    summary = "| Total On-Chip Power (W)  | 4.2          |\n| Dynamic (W)              | 3.6          |\n\n"
    table = [rule, f"| {'Name':<36} | Power (W) |", rule, *drawn, rule]
    head = HEAD.format(command="report_power", design="top_wrapper", state="routed")
    return f"{head}Power Report\n\n{summary}3.1 By Hierarchy\n----------------\n\n" + "\n".join(table) + "\n"


def synthesis_json(uses: Mapping[str, Resources]) -> str:
    return json.dumps(
        {
            name: {
                "LUT": use.lut, "SRL": 0, "FF": use.ff, "BRAM_36K": use.bram18 // 2,
                "BRAM_18K": use.bram18 % 2, "URAM": use.uram, "DSP": use.dsp,
            }
            for name, use in uses.items()
        },
        indent=2,
    )  # fmt: skip
