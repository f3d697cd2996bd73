"""Turn die descriptions of the schema ``fpga-geometry/1`` (JSON) into ``devices/<part>.yaml``.

Usage: ``python platforms/convert_devices.py SOURCE_DIR``, where SOURCE_DIR holds ``xc*.json``.

Only geometry and its evidence are kept; shells belong to ``boards/``. Every clock region is counted again from the
layouts, and a die whose counts differ from the source's own table is refused.
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

Die = dict[str, Any]
Tile = dict[str, Any]

HEADER = """\
# Geometry of the {die} die, schema floorflow-device/1: see platforms/README.md.
# Column data derive from byteman by FPGA-Research-Manchester (Apache-2.0),
# https://github.com/FPGA-Research-Manchester/byteman, commit f30700a4.
# Written by platforms/convert_devices.py; do not edit by hand.
"""
CONTENT_FIELDS = ("LUT", "FF", "LUTRAM", "BRAM18", "URAM", "DSP")
LINE_WIDTH = 110
NO_BREAK = "\N{NO-BREAK SPACE}"


def _tile(kind: str, tile_rows: int, sites: dict[str, int], resources: dict[str, int], first_row: int = 0) -> Tile:
    return {
        "kind": kind,
        "tile_rows": tile_rows,
        "first_row": first_row,
        "sites": sites,
        "resources": resources,
    }


def _slices(count: int, lutram: int, first_row: int = 0) -> Tile:
    """Return a CLB column: both architectures have 8 LUT and 16 FF a column and row."""
    memory = {"LUTRAM": lutram} if lutram else {}
    return _tile("clb", 1, {"SLICE": count}, {"LUT": 8, "FF": 16, **memory}, first_row)


def _block_ram(first_row: int = 0) -> Tile:
    return _tile("bram", 5, {"RAMB18": 2, "RAMB36": 1}, {"BRAM18": 2}, first_row)


def _dsp(site: str, first_row: int = 0) -> Tile:
    return _tile("dsp", 5, {site: 2}, {"DSP": 2}, first_row)


TILES: dict[str, dict[str, Tile]] = {
    "ultrascale+": {
        "I": {"kind": "interconnect"},
        "L": _slices(1, 0),
        "l": _slices(1, 0),
        "M": _slices(1, 8),
        "m": _slices(1, 8),
        "G": _tile("laguna", 1, {"LAGUNA": 4}, {}),
        "D": _dsp("DSP48E2"),
        "H": _dsp("DSP48E2", first_row=15),
        "B": _block_ram(),
        "U": _tile("uram", 15, {"URAM288": 4}, {"URAM": 4}),
    },
    "7series": {
        "n": _slices(2, 0),
        "N": _slices(2, 0),
        "m": _slices(2, 4),
        "M": _slices(2, 4),
        "q": _slices(2, 4, first_row=25),
        "Q": _slices(2, 0, first_row=25),
        "d": _dsp("DSP48"),
        "D": _dsp("DSP48"),
        "b": _block_ram(),
        "B": _block_ram(),
        "c": _block_ram(first_row=25),
    },
}


def legend_of(die: Die) -> dict[str, Tile]:
    """Return what each layout character stands for: its description and, for fabric, its tiles."""
    tiles = TILES[die["arch"]]
    return {
        char: {**tiles.get(char, {"kind": "other"}), "description": description}
        for char, description in die["legend"].items()
    }


def column_content(tile: Tile, rows: int) -> dict[str, int]:
    """Count the resources of one column in one clock region of ``rows`` CLB rows."""
    if not tile.get("resources"):
        return {}
    tiles = (rows - tile["first_row"]) // tile["tile_rows"]
    return {name: tiles * amount for name, amount in tile["resources"].items()}


def region_content(die: Die, layout: str, first: int, last: int) -> list[int]:
    """Count the resources of one clock region, in the order of `CONTENT_FIELDS`."""
    legend, rows = legend_of(die), die["rows_per_clock_region"]
    total = dict.fromkeys(CONTENT_FIELDS, 0)
    for char in layout[first : last + 1]:
        for name, amount in column_content(legend[char], rows).items():
            total[name] += amount
    return list(total.values())


def _source_content(die: Die, amounts: list[int]) -> list[int]:
    named = dict(zip(die["cr_content"]["fields"], amounts, strict=True))
    named["BRAM18"] = 2 * named["RAMB36"]
    return [named.get(field, 0) for field in CONTENT_FIELDS]


def verified_contents(die: Die) -> dict[str, list[list[int]]]:
    """Return the content of every clock region, by layout and column, after comparing it with the source's table.

    Raises
    ------
    SystemExit
        If a clock region counted from the layouts differs from the source.

    """
    contents: dict[str, list[list[int]]] = {}
    for y, name in enumerate(die["cr_row_layout"]):
        spans = [column["pos"] for column in die["clock_regions"]["columns"]]
        counted = [region_content(die, die["layouts"][name], first, last) for first, last in spans]
        for x, content in enumerate(counted):
            expected = _source_content(die, die["cr_content"][f"X{x}Y{y}"])
            if content != expected:
                raise SystemExit(f"{die['part']} clock region X{x}Y{y}: counted {content}, source says {expected}")
        contents[name] = counted
    return contents


def site_columns_of(die: Die) -> dict[str, list[int]]:
    """Return for each site type the physical column of X = 0, 1, ...; a column with two X stands there twice."""
    source = die["site_cols"]
    columns = {"SLICE": source["SLICE"] if "SLICE" in source else [p for p in source["CLB"] for _ in range(2)]}
    for name in ("DSP48", "DSP48E2", "URAM288"):
        columns[name] = source.get(name, [])
    columns["RAMB18"] = columns["RAMB36"] = source["RAMB36"]
    columns["LAGUNA"] = [p for p in source.get("LAGUNA", []) for _ in range(2)]
    return {name: positions for name, positions in columns.items() if positions}


def totals_of(source: Die) -> dict[str, int]:
    """Return totals under floorflow's names: 18 Kb blocks instead of 36 Kb ones."""
    named = {**source, "BRAM18": 2 * source["BRAM36" if "BRAM36" in source else "RAMB36"]}
    return {name: named[name] for name in CONTENT_FIELDS if name in named}


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _flow(value: Any) -> str:
    """Write a value in YAML's flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if value is None:
        return "null"
    return _text(value) if isinstance(value, str) else str(value)


def _wrapped(key: str, values: list[Any]) -> str:
    """Write ``  key: [...]`` in flow style, broken into lines between items."""
    unbroken = [_flow(value).replace(" ", NO_BREAK) for value in values]
    text = f"  {key}: [{', '.join(unbroken)}]"
    return "\n".join(textwrap.wrap(text, LINE_WIDTH, subsequent_indent="    ")).replace(NO_BREAK, " ")


def _strings(key: str, values: list[str]) -> list[str]:
    return [f"{key}:", *(f"  - {_text(value)}" for value in values)] if values else [f"{key}: []"]


def _legend_line(char: str, tile: Tile) -> str:
    facts = {key: value for key, value in tile.items() if key != "description"}
    inner = _flow(facts)[1:-1].replace(f'kind: "{tile["kind"]}"', f"kind: {tile['kind']}")
    return f"  {_text(char)}: {{{inner}, description: {_text(tile['description'])}}}"


def _sll_lines(die: Die) -> list[str]:
    if "sll" not in die:
        return []
    source = die["sll"]
    columns = sorted(set(site_columns_of(die)["LAGUNA"]))
    return [
        "sll:",
        f"  wires_per_column: {source['per_column_per_boundary']}",
        _wrapped("columns", columns),
        f"  boundaries: {_flow(source['usable_cr_row_pairs'])}",
    ]


def _geometry_lines(die: Die) -> list[str]:
    columns = site_columns_of(die)
    region = die["clock_regions"]
    return [
        f"rows_per_clock_region: {die['rows_per_clock_region']}",
        "clock_regions:",
        f"  rows: {region['rows']}",
        _wrapped("columns", [column["pos"] for column in region["columns"]]),
        "slrs:",
        *(f"  - {{name: {slr['name']}, clock_region_rows: {_flow(slr['cr_rows'])}}}" for slr in die["slrs"]),
        "layouts:",
        *(f"  {name}: {_text(layout)}" for name, layout in die["layouts"].items()),
        f"clock_region_layouts: [{', '.join(die['cr_row_layout'])}]",
        "legend:",
        *(_legend_line(char, tile) for char, tile in legend_of(die).items()),
        "site_columns:",
        *(_wrapped(name, positions) for name, positions in columns.items()),
        "site_rows:",
        *(_wrapped(name, die["site_rows"][name]) for name in columns),
        *_sll_lines(die),
    ]


def _evidence_lines(die: Die) -> list[str]:
    official = totals_of(die["official_totals"])
    hbm = [f"HBM, {key}: {text}" for key, text in die.get("hbm", {}).items()]
    return [
        "clock_region_content:",
        f"  fields: [{', '.join(CONTENT_FIELDS)}]",
        "  layouts:",
        *(f"    {name}: {_flow(content)}" for name, content in verified_contents(die).items()),
        f"totals: {_flow(totals_of(die['totals']))}",
        f"official_totals: {_flow(official)}",
        f"official_totals_source: {_text(die['official_totals']['source'])}",
        *_strings("provenance", die["provenance"]),
        "confidence:",
        *(f"  {name}: {_text(text)}" for name, text in die["confidence"].items()),
        *_strings("validation", [text.replace(" (scripts/validate_pblocks.py)", "") for text in die["validation"]]),
        *_strings("notes", die["notes"] + hbm),
    ]


def device_yaml(die: Die) -> str:
    """Return the YAML text of one die."""
    lines = [
        "schema: floorflow-device/1",
        f"part: {die['part']}",
        f"die: {die['die']}",
        *_strings("aliases", die["aliases"]),
        f"family: {_text(die['family'])}",
        f"architecture: {die['arch']}",
        *_geometry_lines(die),
        *_evidence_lines(die),
    ]
    return HEADER.format(die=die["die"]) + "\n".join(lines) + "\n"


def main(source_folder: Path) -> None:
    """Write one YAML file a die beside this script."""
    target = Path(__file__).resolve().parent / "devices"
    target.mkdir(exist_ok=True)
    for path in sorted(source_folder.glob("xc*.json")):
        die = json.loads(path.read_text(encoding="utf-8"))
        (target / f"{die['part']}.yaml").write_text(device_yaml(die), encoding="utf-8")
        print(f"{die['part']}: {len(die['cr_row_layout'])} clock-region rows")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
