"""Mistakes in emitted files and in extras.json that are no row of the table."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from tests.verify.planting import (
    TWO_FPGAS,
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    Spoil,
    board_of,
    constraint_files,
    crossing,
    edit_json,
    edit_lines,
    first,
    mutant,
    part_of,
    pblocks,
    phase_of,
    xdc,
)
from tests.verify.tiny_network import RESOURCES


@mutant("cell-misplaced")
def cell_in_another_pblock(plan: Plan, files: Files) -> None:
    names = [f"pblock_{name}" for name in pblocks(plan)]
    if len(names) < 2:
        raise NotApplicable
    added, get = "add_cells_to_pblock [get_pblocks {%s}]", files[xdc(plan)]
    files[xdc(plan)] = get.replace(added % names[1], added % names[0], 1)
    if files[xdc(plan)] == get:
        raise NotApplicable


@mutant("finn-kernel-split", TWO_SLRS)
def one_partition_in_two_slrs(plan: Plan, files: Files) -> None:
    crossing(plan)

    def merge(content: Plan) -> None:
        for name, entry in content.items():
            if name != "Defaults":
                entry["partition_id"] = 1

    edit_json(files, "finn/floorplan.json", merge)


def _a_fifo(plan: Plan, **entry: object) -> None:
    """Let a FIFO be what it is not, with as much of every resource as that could need."""
    channel = phase_of(plan)["channels"][1]
    channel |= {"fifo_depth": 34, **entry}


@mutant("wrong-fifo-style")
def ultra_ram_that_the_part_lacks(plan: Plan, files: Files) -> None:
    fpga = plan["platform"]["fpgas"][0]
    if fpga["part"].startswith("xcku5p"):
        fpga["part"] = "xcku9p-ffve900-2-e"
    elif not fpga["part"].startswith("xc7"):
        raise NotApplicable
    resources = {"LUT": 90, "FF": 90, "BRAM18": 0, "URAM": 1, "DSP": 0}
    _a_fifo(plan, fifo_style="ultra", fifo_resources=resources)


FIFOS = "finn/fifo_config.json"


def _with_fifo_file(plan: Plan, files: Files) -> Plan:
    """Let the depths be known to keep the rate, so that FINN is told of them; return what it is told."""
    interval = part_of(plan)["interval_cycles"]
    known = {"full_rate_cycles": interval, "interval_cycles": interval, "not_analysed": ""}
    known |= {"first_word_cycles": 9, "first_frame_cycles": interval, "deadlock": [], "shallow": []}
    part_of(plan)["estimates"]["throughput"] = known
    channels = phase_of(plan)["channels"]
    depths = [depth for c in channels for depth in ([2] if c["converter"] else []) + [c["fifo_depth"]]]
    styled = {"impl_style": "rtl", "ram_style": "auto"}
    fifos = {f"StreamingFIFO_rtl_{n}": {"depth": depth, **styled} for n, depth in enumerate(depths)}
    return fifos | json.loads(files["finn/folding_config.json"])


STYLES = "finn/specialize_layers_config.json"
STYLED = {"weightDataType": "INT4", "inputDataType": "UINT4", "noActivation": 1}


def _last_unit(plan: Plan) -> Plan:
    """Return a matrix unit without thresholds, of types that FINN makes rtl, lowered from a layer."""
    engines = plan["networks"][0]["engines"]
    matrix_unit: Plan = first(
        e for e in engines if e["kind"] == "MVAU_hls" and e["attributes"].get("noActivation") == 1
    )
    matrix_unit["attributes"] |= STYLED
    operation = {"name": matrix_unit["operation"], "type": "conv", "inputs": [], "outputs": [], "macs": 0}
    plan["networks"][0]["operations"].append(operation)
    return matrix_unit


def _styled(plan: Plan, files: Files) -> str:
    """Let that unit be hls against FINN's own choice, with the file that says so; return the name of its layer."""
    unit = _last_unit(plan)
    unit["attributes"]["preferred_impl_style"] = "hls"
    units = [engine for engine in plan["networks"][0]["engines"] if engine["kind"].startswith("MVAU")]
    layer = f"MVAU_{units.index(unit)}"
    files[STYLES] = json.dumps({"Defaults": {}, layer: {"preferred_impl_style": "hls"}})
    return layer


@mutant("wrong-impl-style")
def unit_in_hls_that_finn_makes_rtl(plan: Plan, files: Files) -> None:
    if plan["platform"]["fpgas"][0]["part"].startswith("xc7"):
        raise NotApplicable  # there it depends on the weights, which a plan does not hold
    _last_unit(plan)["attributes"].pop("preferred_impl_style", None)


@mutant("wrong-engine-name")
def engines_not_numbered_by_their_styles(plan: Plan, files: Files) -> None:
    _styled(plan, files)
    engines = plan["networks"][0]["engines"]
    places = [place for place, engine in enumerate(engines) if engine["kind"] == "MVAU_hls"]
    if len(places) < 2:
        raise NotApplicable
    one, other = places[:2]
    engines[one], engines[other] = engines[other], engines[one]


@mutant("flow-file-differs", TWO_FPGAS)
def memory_of_a_unit_on_another_card(plan: Plan, files: Files) -> None:
    if len(plan["platform"]["fpgas"]) < 2:
        raise NotApplicable
    files["fpga0/vitis/floorflow.cfg"] = "sp=odma0.m_axi_gmem0:DDR[0]\n"


@mutant("links-differ", TWO_FPGAS)
def link_kernels_where_there_are_none(plan: Plan, files: Files) -> None:
    if len(plan["platform"]["fpgas"]) < 2:
        raise NotApplicable
    files["fpga0/links.cfg"] = "nk=part_fpga0:1:part_0\n"


TOPOLOGY: dict[str, Callable[[Plan], object]] = {
    "another_card_in_topology": lambda told: told["cards"][0].update(part="xc7z020clg400-1"),
    "cable_in_another_cage": lambda told: told["cables"][0]["ends"][0].update(cage=7),
    "stream_over_another_link": lambda told: told["streams"][0].update(link="fpga8-fpga9"),
    "stream_that_no_card_sends": lambda told: told["streams"].clear(),
    "sender_started_first": lambda told: told["start_order"].reverse(),
    "card_that_is_never_started": lambda told: told["start_order"].pop(),
}
"""What may be wrong in topology.json, by title."""


def _topology(title: str) -> Spoil:
    def spoil(plan: Plan, files: Files) -> None:
        if len(plan["platform"]["fpgas"]) < 2:
            raise NotApplicable
        edit_json(files, "topology.json", TOPOLOGY[title])

    spoil.__name__ = title
    return spoil


for _title in TOPOLOGY:
    mutant("wrong-topology", TWO_FPGAS)(_topology(_title))


@mutant("flow-file-differs", TWO_SLRS)
def reports_before_the_last_step(plan: Plan, files: Files) -> None:
    crossing(plan)
    hooks = (
        "OPT_DESIGN.TCL.PRE=@HOOK@",
        "ROUTE_DESIGN.TCL.POST=@REPORT@",
        "POST_ROUTE_PHYS_OPT_DESIGN.IS_ENABLED=true",
    )
    lines = [
        f"# platform: {board_of(plan, files)['shell']['name']}",
        "[vivado]",
        *(f"prop=run.impl_1.STEPS.{hook}" for hook in hooks),
    ]
    files["vitis/floorflow.cfg"] = "\n".join(lines) + "\n"


def slices_asked(plan: Plan, files: Files) -> list[str]:
    """Ask for AMD's slices and write what v++ needs of them; return the rows, a stream over SLR boundaries each."""
    crossing(plan)
    plan["options"]["backend_options"]["crossings"] = "vendor"
    rows = []
    for entry in phase_of(plan)["partition"]["crossings"]:
        channel = first(c for c in phase_of(plan)["channels"] if c["name"] == entry["channel"])
        here = phase_of(plan)["partition"]["assignment"].get(channel["converter_module"] or "") == entry["source"]
        bits = channel["target_width_bits" if here else "source_width_bits"]
        slrs = (entry[end].rpartition(".")[2] for end in ("source", "target"))
        rows.append(f"    {{{' '.join(slrs)} {-(-bits // 8)} {{{channel['name']}}}}}")
    library = "floorflow_crossings.tcl"
    files[f"vivado/{library}"] = (Path(__file__).parents[2] / "tcl" / library).read_text(encoding="utf-8")
    files["vitis/floorflow.cfg"] = "[advanced]\nparam=compiler.userPostSysLinkOverlayTcl=@INSERT@\n"
    slices_told(files, rows)
    return rows


def slices_told(files: Files, rows: list[str]) -> None:
    """Let the script have these rows."""
    here = "[file join [file dirname [file normalize [info script]]] .. vivado floorflow_crossings.tcl]"
    told = "\n".join(rows)
    files["vitis/crossings.tcl"] = f"source {here}\nfloorflow::crossings {{\n{told}\n}}\n"


@mutant("library-missing")
def library_sourced_twice(plan: Plan, files: Files) -> None:
    def repeat(lines: list[str]) -> list[str]:
        at = first(i for i, line in enumerate(lines) if line.startswith("source"))
        return [*lines[: at + 1], *lines[at:]]

    edit_lines(files, constraint_files(plan)[1], repeat)


LESS = (0.01, 0.02, 0.05, 0.1, 0.2)


def extras(plan: Plan) -> Plan:
    """Return extras of a plan of one network: bargains that change nothing, and limits that cost nothing."""
    if len(plan["phases"]) > 1 or len(plan["networks"]) > 1:
        raise NotApplicable
    (phase,), (network,) = plan["phases"], plan["networks"]
    search, fullest = network["search"], plan["summary"]["fullness"]
    rate = plan["options"]["clock_mhz"] * 1e6 / search["interval_cycles"]
    name, engine = next(iter(phase["networks"][0]["folding"]["engines"].items()))
    used, slots = phase["partition"]["utilisation"], [s for f in plan["platform"]["fpgas"] for s in f["slots"]]
    now = {key: fullest[key] for key in ("slot", "resource", "share")} | {
        "engine": name,
        "engine_resource": "LUT",
        "amount": engine["resources"]["LUT"],
        "resources": {r: sum(round(used[s["name"]][r] * s["available"][r]) for s in slots) for r in RESOURCES},
        "hpwl": sum(held["hpwl"] for held in phase["floorplan"].values()),
    }
    rows = [
        {"less": less, "fps": rate * (1 - less), "interval_cycles": search["interval_cycles"], "figures": None}
        for less in LESS
    ]
    beside = [f"--fpgas {len(plan['platform']['fpgas'])}"] if plan["options"]["fpgas"] == "auto" else []
    return {
        "schema": "floorflow-extras/1",
        "without_limits": None,
        "bargains": {"planned": False, "beside": beside, "now": now, "rows": rows},
        "left_out": [],
    }


def add_extras(plan: Plan, files: Files, told: Plan) -> None:
    """Lay extras beside a plan as the tests write it."""
    digest = hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()
    files["extras.json"] = json.dumps({"plan_sha256": digest, **told})


def beside(spoil: Spoil) -> Spoil:
    """Return the mistake that a row makes in a plan or in its extras."""

    def spoiled(plan: Plan, files: Files) -> None:
        told = extras(plan)
        spoil(plan, told)
        add_extras(plan, files, told)

    return spoiled


def bound(plan: Plan) -> int:
    return int(plan["networks"][0]["search"]["bound_cycles"])
