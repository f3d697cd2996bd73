"""Plans with reconfigurable regions, as far as the judge of regions reads them."""

import json
from functools import cache
from typing import Any

import yaml

from floorflow.assets import asset_folder
from floorflow.hardware import load_platform
from floorflow.placement.region import RegionNeed, choose_regions
from floorflow.record.in_time import reconfigurable_entry
from floorflow.resources import Resources
from floorflow.search.many.regions import region_problem, static_parts
from floorflow.verify.facts import PhaseFacts
from floorflow.verify.hardware.boards import Board
from floorflow.verify.violations import Findings
from tests.verify.dies import device

Plan = dict[str, Any]
DECOUPLER = Resources(lut=300, ff=600)
NEEDS = {
    "pynq-z1, one small": ("pynq-z1", [Resources(lut=6000, ff=8000, bram18=30)]),
    "pynq-z1, one over the clock column": ("pynq-z1", [Resources(lut=21000, ff=20000, bram18=100, dsp=40)]),
    "pynq-z1, most of the die": ("pynq-z1", [Resources(lut=33000, ff=30000, bram18=170)]),
    "pynq-z1, two": ("pynq-z1", [Resources(lut=8000, bram18=30), Resources(lut=11000, ff=9000, dsp=60)]),
    "zcu104, one with a gap": ("zcu104", [Resources(lut=90000, ff=90000, bram18=200, dsp=500)]),
    "zcu104, two": ("zcu104", [Resources(lut=40000, bram18=60), Resources(lut=30000, uram=40, dsp=100)]),
}


def case(name: str) -> Plan:
    """Return a plan of its own: two phases for each region, each with one module on all that the region owns."""
    board, needs = NEEDS[name]
    return {"reconfigurable": _entry(board, tuple(needs)), "phases": _phases(_entry(board, tuple(needs)))}


def boards_of(name: str) -> dict[str, Board]:
    return {"fpga0": board_of(NEEDS[name][0])}


@cache
def board_of(name: str) -> Board:
    path = asset_folder("platforms") / "boards" / f"{name}.yaml"
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Board(raw, device(raw["device"]))


@cache
def _chosen(board: str, needs: tuple[Resources, ...]) -> str:
    fpga = load_platform(board, 1).fpgas[0]
    names = [f"r{number}" for number in range(len(needs))]
    wanted = [RegionNeed(*pair) for pair in zip(names, needs, strict=True)]
    problem = region_problem(fpga, wanted, static_parts(fpga.board, names, DECOUPLER))
    cells = {name: f"top_i/{name}" for name in names}
    return reconfigurable_entry(
        choose_regions(problem), problem, fpga, cells, dict(zip(names, needs, strict=True))
    ).model_dump_json()


def _entry(board: str, needs: tuple[Resources, ...]) -> Plan:
    entry: Plan = json.loads(_chosen(board, needs))
    return entry


def _phases(entry: Plan) -> list[Plan]:
    phases, last = [], dict[str, str]()
    for number in range(2 * len(entry["regions"])):
        region = entry["regions"][number % len(entry["regions"])]
        name = f"p{number}"
        need = region["need"] if number < len(entry["regions"]) else {**region["need"], "LUT": 1}
        block = {"rectangles": [dict(area) for area in region["owned"]], "slot": region["slot"]}
        phases.append(
            {
                "name": name,
                "region": region["name"],
                "loads_after": last.get(region["name"]),
                "modules": [{"name": "m0", "resources": need}],
                "floorplan": {region["fpga"]: {"pblocks": {"m0": block}}},
            }
        )
        last[region["name"]] = name
    return phases


def facts_of(plan: Plan, findings: Findings | None = None) -> list[PhaseFacts]:
    told = Findings() if findings is None else findings
    return [PhaseFacts(f"phase {raw['name']}", raw, {}, {}, {}, {}, {}, 100.0, told) for raw in plan["phases"]]
