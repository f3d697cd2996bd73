"""The coarse-grained floorplanning paper beside floorflow: its figures' captions, Tables II to IV, and its reuse.

    python -m benchmarks.coarse_grained [--parts figure4,granularity,tables,jobs,hours,reuse] [--plans FOLDER]
        [--timeout 600]

Prints Markdown. Plans are commands of their own, `floorflow plan MODEL -p xcku5p --fpgas N --preset max --granularity G
--effort fast`, judged by `check`, and kept in FOLDER: what is there is not planned again. The models are made by
examples/make_models.py. *flat* is one module an FPGA (`--granularity slot`): the same folding without module pblocks.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx

from benchmarks import coarse_grained_paper as paper
from benchmarks.reuse import GRANULARITIES, clustered, convolutions, folded_of, shares_of
from benchmarks.runs import Row, command_of, planned
from floorflow import api
from floorflow.backends.backend import backend_named
from floorflow.channels.implementations import Circuits, likenesses
from floorflow.facts.power import FIGURES
from floorflow.facts.run_times import Run, assembly_s, session_s, sessions, wall_s
from floorflow.hardware import load_platform
from floorflow.request import Request

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import make_models  # noqa: E402 - the examples are no package

OPTIONS = ("-p", "xcku5p", "--preset", "max", "--effort", "fast", "--no-plots")
PLAN_GRANULARITY = {"layer": "layer", "block": "block", "flat": "slot"}
FPGAS = (1, 2, 3, 4, 5)
RESOURCES = ("LUT", "FF", "BRAM18", "URAM", "DSP")
MODELS: Mapping[str, Any] = {
    "ResNet-34": lambda: make_models.resnet34(1, 4, 4),
    "ResNet-50": lambda: make_models.resnet50(1, 4, 4),
    "ResNet-50, strides in 1x1": lambda: make_models.resnet50(1, 4, 4, strided_first=True),
    "MobileNet-v1": lambda: make_models.mobilenet_v1(4),
}
WINDOW = {"IFMChannels": 64, "IFMDim": [58, 58], "OFMDim": [56, 56], "ConvKernelDim": [3, 3], "Stride": [1, 1]}
"""A 3x3 convolution of ResNet-50's first stage: 64 to 64 channels, 56x56, 1-bit weights, 4-bit activations."""
SIZES = (8, 16, 32, 64)


class Plans:
    """Plans of one folder, made when they are first asked for."""

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self.folder, self.timeout_s = folder, timeout_s

    def model(self, name: str) -> Path:
        """Return the file of a model, written if it is not there."""
        made = MODELS[name]()
        path = self.folder / f"{made.graph.name}{'_strided_first' if '1x1' in name else ''}.onnx"
        if not path.exists():
            onnx.save(made, path)
        return path

    def out(self, name: str, granularity: str, fpgas: int) -> Path:
        """Return the folder of a plan."""
        return self.folder / f"{self.model(name).stem}_{granularity}_{fpgas}"

    def row(self, name: str, granularity: str, fpgas: int) -> Row:
        """Return what is known about a plan's run, with its plan under ``plan`` if there is one."""
        out = self.out(name, granularity, fpgas)
        told = out.with_suffix(".json")
        if not told.exists():
            asked = [*OPTIONS, "--fpgas", str(fpgas), "--granularity", PLAN_GRANULARITY[granularity]]
            row = planned(command_of(None), [str(self.model(name)), *asked], out, self.timeout_s)
            told.write_text(json.dumps(row), encoding="utf-8")
        row = json.loads(told.read_text(encoding="utf-8"))
        plan = out / "plan.json"
        return row | ({"plan": json.loads(plan.read_text(encoding="utf-8"))} if plan.exists() else {})


def table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    """Print a table."""
    for row in (header, ["---"] * len(header), *rows):
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
    print()


def figure4_part(_: Plans) -> None:
    """Print PE and SIMD against what a convolution costs, by FINN's own numbers and by ours."""
    print("## Figure 4: PE and SIMD against a convolution's latency and resources\n")
    print(f"The caption: {paper.FIGURE_4}. Its layer is not given; here 64 to 64 channels, 3x3, 56x56, 1-bit")
    print("weights (stored in two), 4-bit activations; BRAM36 of window and of weights, LUT of both units.\n")
    lines: list[list[object]] = []
    for pe in SIZES:
        for simd in SIZES:
            theirs = _convolution(pe, simd, "finn", "ConvolutionInputGenerator_hls")
            ours = _convolution(pe, simd, "calibrated", "ConvolutionInputGenerator_rtl")
            cycles = max(one["cycles"] for one in theirs)
            lines.append([pe, simd, f"{cycles:,}", *_cells(theirs), *_cells(ours)])
    of = ("window", "weights", "LUT")
    table(["PE", "SIMD", "cycles", *(f"FINN's {name}" for name in of), *(f"calibrated {name}" for name in of)], lines)


def _convolution(pe: int, simd: int, costs: str, window: str) -> list[dict[str, Any]]:
    """Return cycles and resources of a convolution's window and of its matrix unit."""
    common = {"inputDataType": "UINT4", "outputDataType": "UINT4", "SIMD": simd}
    style = {"ram_style": "block", "parallel_window": 0, "depthwise": 0, "Dilation": [1, 1]}
    unit = {**common, "PE": pe, "MW": 576, "MH": 64, "numInputVectors": [1, 56, 56], "weightDataType": "INT2"}
    unit |= {"mem_mode": "internal_decoupled", "ram_style": "block", "noActivation": 0, "accDataType": "INT14"}
    engines = [
        {"op_type": window, "attrs": {**WINDOW, **common, **style}},
        {"op_type": "MVAU_hls", "attrs": {**unit, "resType": "lut"}},
    ]
    return list(api.cost(engines, part="xcku5p-ffvd900-2-i", costs=costs))  # type: ignore[arg-type]


def _cells(costs: Sequence[Mapping[str, Any]]) -> list[object]:
    window, unit = costs
    return [f"{one['BRAM_18K'] / 2:g}" for one in (window, unit)] + [f"{window['LUT'] + unit['LUT']:,}"]


def granularity_part(plans: Plans) -> None:
    """Print layer, block and flat on one to five FPGAs."""
    print("## Figure 6: granularity on 1 to 5 KU5P\n")
    print(f"The caption: {paper.FIGURE_6}. Latency: of the first frame through empty FIFOs, at 200 MHz.\n")
    lines = [
        [granularity, fpgas, *outcome(plans.row("ResNet-50", granularity, fpgas), granularity)]
        for granularity in PLAN_GRANULARITY
        for fpgas in FPGAS
    ]
    head = [
        "granularity",
        "FPGAs",
        "plan",
        "modules, of those clustered",
        "interval",
        "proven not below",
        "frames/s",
        "latency ms",
    ]
    table([*head, "KLUT", "KFF", "BRAM36", "URAM", "fullest, of its cap", "s"], lines)


def outcome(row: Row, granularity: str) -> list[object]:
    """Return the cells of a plan, or why there is none."""
    seconds = f"{row['wall_s']:.0f}"
    if "plan" not in row:
        why = {3: "proven infeasible", 5: "none found"}.get(row["exit"], f"exit {row['exit']}")
        return ["no plan in time" if row["timed_out"] else why, *["-"] * 10, seconds]
    plan = row["plan"]
    estimates, use = plan["phases"][0]["networks"][0]["estimates"], totals(plan)
    first = estimates["throughput"]["first_frame_cycles"]
    before = len(clustered(*folded_of(plan), granularity)) if granularity != "flat" else row["fpgas"]
    cells: list[object] = [row["check"], f"{len(plan['phases'][0]['modules'])} of {before}"]
    bound = max(row["bound_cycles"], row["joint_bound_cycles"] or 0)
    cells += [f"{row['interval_cycles']:,}", f"{bound:,}", f"{estimates['fps']:.0f}", f"{first / 200e3:.2f}"]
    cells += [f"{use['LUT'] / 1e3:.0f}", f"{use['FF'] / 1e3:.0f}", f"{use['BRAM18'] / 2:g}", use["URAM"]]
    return [*cells, f"{plan['phases'][0]['partition']['fullness']['objective']:.1%}", seconds]


def totals(plan: Mapping[str, Any]) -> dict[str, int]:
    """Return what all slots use."""
    slots = {slot["name"]: slot for fpga in plan["platform"]["fpgas"] for slot in fpga["slots"]}
    used = plan["phases"][0]["partition"]["utilisation"]
    return {
        name: round(sum(share[name] * slots[slot]["available"][name] for slot, share in used.items()))
        for name in RESOURCES
    }


def tables_part(plans: Plans) -> None:
    """Print Tables II and III beside plans on as many FPGAs, and how many the paper's own figures ask for."""
    print("## Table III: three KU5P, and what the paper's figures ask for by its own caps\n")
    lines = []
    for granularity, printed in paper.TABLE_3.items():
        shown = [f"{printed[key]:g}" for key in ("KLUT", "KFF", "BRAM36")]
        cycles = f"{printed['ms'] * printed['MHz'] * 1e3:,.0f}"
        lines.append([granularity, "paper", *shown, "-", f"{printed['ms']:g}", f"{printed['MHz']:g}", cycles])
        lines[-1].append(_by_the_caps(printed))
        lines += [
            [granularity, f"here, {fpgas}", *_table3_row(plans.row("ResNet-50", granularity, fpgas))]
            for fpgas in (paper.FPGAS, paper.FPGAS + 1)
        ]
    table(["granularity", "of", "KLUT", "KFF", "BRAM36", "URAM", "ms", "MHz", "cycles", "KU5P by the caps"], lines)
    _gains()
    print("## Table III: watts, and GOP/s of each\n")
    table(["granularity", "of", "W", "GOP/s", "GOP/s/W"], _power(plans))
    print("## Table II: milliseconds an image\n")
    rows = [[*(("-" if cell is None else cell) for cell in row)] for row in paper.TABLE_2]
    for granularity in ("layer", "block"):
        told = _table3_row(plans.row("ResNet-50", granularity, paper.FPGAS))
        rows.append([f"here, {granularity}", f"{paper.FPGAS} x xcku5p", "ResNet-50", "w1a4", told[5], told[4]])
    table(["work", "platform", "network", "precision", "MHz", "ms"], rows)


def needed_fpgas(printed: Mapping[str, float]) -> dict[str, float]:
    """Return how many KU5P each of the paper's figures fills to the paper's cap."""
    use = {"LUT": printed["KLUT"] * 1e3, "FF": printed["KFF"] * 1e3, "BRAM36": printed["BRAM36"]}
    return {name: amount / (paper.CAPS[name] * paper.KU5P[name]) for name, amount in use.items()}


def _by_the_caps(use: Mapping[str, float]) -> str:
    need = needed_fpgas(use)
    binding = max(need, key=lambda name: need[name])
    return f"{math.ceil(need[binding])} ({binding}: {need[binding]:.2f})"


def _table3_row(row: Row) -> list[str]:
    if "plan" not in row:
        return ["-"] * 8
    use = totals(row["plan"])
    cycles = row["plan"]["phases"][0]["networks"][0]["estimates"]["throughput"]["first_frame_cycles"]
    amounts = {"KLUT": use["LUT"] / 1e3, "KFF": use["FF"] / 1e3, "BRAM36": use["BRAM18"] / 2}
    shown = [f"{amounts['KLUT']:.0f}", f"{amounts['KFF']:.0f}", f"{amounts['BRAM36']:g}", str(use["URAM"])]
    return [*shown, f"{cycles / 200e3:.2f}", "200 asked", f"{cycles:,}", _by_the_caps(amounts)]


def _power(plans: Plans) -> list[list[str]]:
    """Return the paper's watts, what our figures make of what it uses at its clock, and those of plans."""
    lines = []
    for granularity, (watts, per_watt) in paper.TABLE_3_POWER.items():
        lines.append([granularity, "paper", f"{watts:g}", f"{watts * per_watt:,.0f}", f"{per_watt:g}"])
        lines.append([granularity, "paper's use, our figures", f"{watts_of(paper.TABLE_3[granularity]):.1f}", "-", "-"])
        row = plans.row("ResNet-50", granularity, paper.FPGAS)
        if "plan" in row:
            (network,), (part,) = row["plan"]["networks"], row["plan"]["phases"][0]["networks"]
            gop = 2 * sum(operation["macs"] for operation in network["operations"]) / 1e9
            own, gops = row["plan"]["power"]["likely_w"], gop * part["estimates"]["fps"]
            lines.append([granularity, f"here, {paper.FPGAS}", f"{own:.1f}", f"{gops:,.0f}", f"{gops / own:.0f}"])
    return lines


def watts_of(printed: Mapping[str, float]) -> float:
    """Return the watts of three KU5P that hold what the paper prints, at its clock."""
    figures, base = FIGURES["ultrascale+"], load_platform("xcku5p").fpgas[0].board.power
    use = {"LUT": printed["KLUT"] * 1e3, "FF": printed["KFF"] * 1e3, "BRAM18": printed["BRAM36"] * 2}
    at_rest = figures.leakage_nw_per_lut * paper.KU5P["LUT"] / 1e9 + (base.base_w if base else 0)
    in_use = sum(figures.dynamic_nw_per_mhz[name] * amount for name, amount in use.items())
    return paper.FPGAS * at_rest + printed["MHz"] * in_use / 1e9


def _gains() -> None:
    """Print the paper's gains beside those that its own figures give."""
    base = paper.TABLE_3["flat"]
    lines = []
    for granularity, printed in paper.PRINTED_GAIN.items():
        own = paper.TABLE_3[granularity]
        for name, percent in printed.items():
            less, more = 1 - own[name] / base[name], base[name] / own[name] - 1
            true = f"{-less:+.1%}" if name == "MHz" else f"{less:.1%}"
            lines.append([granularity, name, f"{percent}%", true, "-" if name == "MHz" else f"{more:.1%}"])
    table(["against the baseline", "of", "printed", "(base - own) / base", "base / own - 1"], lines)


def jobs_part(plans: Plans) -> None:
    """Print Table IV as counts of jobs: hours need Vivado."""
    print("## Table IV as jobs: what is synthesised and placed alone, what is put, what is routed between\n")
    lines = []
    for granularity, hours in paper.TABLE_4_HOURS.items():
        row = plans.row("ResNet-50", granularity, paper.FPGAS)
        parts = "; ".join(f"{name} {value:g}" for name, value in hours.items())
        if "plan" not in row:
            lines.append([granularity, *["-"] * 6, parts])
            continue
        phase = row["plan"]["phases"][0]
        modules, home = phase["modules"], {e: m["name"] for m in phase["modules"] for e in m["engines"]}
        between = [c for c in phase["channels"] if home.get(c["source"]) != home.get(c["target"])]
        links = sum(crossing["kind"] == "link" for crossing in phase["partition"]["crossings"])
        wires = sum(-(-c["width_bits"] // 8) * 8 + 2 for c in between)
        made = len({module["implementation"] for module in modules})
        alike = len({module["like"] for module in modules})
        lines.append([granularity, len(modules), alike, made, len(between), f"{wires:,}", links, parts])
    head = ["granularity", "modules put", "different by likeness", "jobs: implementations", "streams between", "wires"]
    table([*head, "passages over links", "the paper's hours"], lines)


AT_ONCE = (1, 16)
"""Runs of Vivado at once for which hours are predicted."""


def hours_part(plans: Plans) -> None:
    """Print Table IV as hours that are predicted, of each network's modules before placement merges any."""
    print("## Table IV as predicted hours: each network's modules, implemented alone and stitched\n")
    lines: list[list[object]] = []
    for name in MODELS:
        row = plans.row(name, "layer", paper.FPGAS + 1)
        for granularity in GRANULARITIES if "plan" in row else ():
            runs, lut = predicted_runs(row["plan"], granularity)
            held = [session_s(session) for session in sessions(runs)]
            hours = [f"{wall_s(held, count) / 3600:.2f}" for count in AT_ONCE]
            cards = assembly_s(lut // row["fpgas"]) / 3600
            placed = sum(run.places for run in runs)
            lines.append([name, granularity, placed, len(runs), len(held), f"{lut / 1e3:.0f}", *hours, f"{cards:.2f}"])
    head = ["network", "granularity", "modules", "implementations", "runs", "KLUT"]
    table([*head, *(f"library h, {count} at once" for count in AT_ONCE), "a card's assembly h"], lines)
    for granularity, hours_of in paper.TABLE_4_HOURS.items():
        print(f"The paper, {granularity}: {'; '.join(f'{part} {value:g}' for part, value in hours_of.items())}.")


def predicted_runs(plan: dict[str, Any], granularity: str) -> tuple[list[Run], int]:
    """Return a run for each implementation of a plan's modules as they are clustered, and the LUTs of all modules."""
    folded, channels = folded_of(plan)
    backend = backend_named(plan["options"]["backend"])
    modules = clustered(folded, channels, granularity)
    in_logic = {e.name: backend.in_logic(e, folded.options[e.name]) for e in folded.dataflow.engines}
    alike = likenesses(Circuits(modules, folded, channels, in_logic))
    need: dict[str, int] = {name: option.resources.lut for name, option in folded.options.items()}
    for one in channels:  # a stream's FIFO and converter stand beside its source, else beside its target
        home = one.stream.target if one.stream.from_outside else one.stream.source
        need[home] += one.fifo_resources.lut + one.converter_resources.lut
    made: dict[str, list[int]] = {}
    for module, like in zip(modules, alike, strict=True):
        made.setdefault(like.implementation, []).append(sum(need[engine] for engine in module.engines))
    return [Run(name, max(luts), len(luts)) for name, luts in made.items()], sum(need.values())


def reuse_part(plans: Plans) -> None:
    """Print topological beside true shares of reuse."""
    print("## Reuse: convolutions by shape, modules by topology and truly\n")
    lines = []
    for name in MODELS:
        count, shapes = convolutions(_network(plans.model(name)))
        lines.append([name, count, shapes, f"{1 - shapes / count:.1%}"])
    table(["network", "convolutions", "shapes", "reused"], lines)
    lines = []
    for name in MODELS:
        row = plans.row(name, "layer", paper.FPGAS + 1)
        for granularity in GRANULARITIES if "plan" in row else ():
            found = shares_of(plans.out(name, "layer", paper.FPGAS + 1) / "plan.json", granularity)
            shares = [f"{share:.1%}" for share in (found.shapes, found.topology, found.implementations)]
            lines.append([name, granularity, found.instances, *shares, found.in_logic])
    head = ["network", "granularity", "modules", "equal shapes", "topological: equal folding too"]
    table([*head, "true: FIFOs too, no constants in logic", "with constants in logic"], lines)


def _network(model: Path) -> Any:
    request = Request(model=str(model), platform="xcku5p")
    return backend_named(request.backend).read(model, request.backend_options).network


def main() -> None:
    """Print the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="figure4,granularity,tables,jobs,hours,reuse")
    parser.add_argument("--plans", type=Path, help="folder of plans that are kept")
    parser.add_argument("--timeout", type=float, default=600, help="seconds a plan")
    asked = parser.parse_args()
    parts = {"figure4": figure4_part, "granularity": granularity_part, "tables": tables_part}
    parts |= {"jobs": jobs_part, "hours": hours_part, "reuse": reuse_part}
    with tempfile.TemporaryDirectory() as folder:
        kept = asked.plans or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        for name in asked.parts.split(","):
            parts[name](Plans(kept, asked.timeout))


if __name__ == "__main__":
    main()
