"""FINN's part of the judge: every answer that the rules on a plan of the back end ``finn`` ask for."""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from floorflow.verify.back_end import Files, Port, Row
from floorflow.verify.finn.build import FINDINGS, judge_build
from floorflow.verify.finn.copies import Places
from floorflow.verify.finn.engines import (
    AttributeProblem,
    FoldedEngine,
    folded_engine,
    networks_of,
    width_objections,
)
from floorflow.verify.finn.fifos import (
    STEP_PLAN,
    as_built,
    check_fifo_file,
    check_step_plan,
    engines_when_placed,
    fifo_objections,
    fifos_cross,
)
from floorflow.verify.finn.fifos import builds_slices as slices_are_built
from floorflow.verify.finn.files import (
    FLOORPLAN_FILE,
    FLOW_FINDINGS,
    FOLDING_FILE,
    check_fifo_depths,
    check_floorplan_file,
    check_flow_files,
    check_folding_file,
    check_links,
    is_place,
)
from floorflow.verify.finn.foldings import MAX_HLS_STREAM_BITS, objections, window_objections
from floorflow.verify.finn.kinds import KINDS, SAMO_CYCLES, reads_only_padding, window_fill
from floorflow.verify.finn.styles import check_style_file, check_styles, constants_in_logic
from floorflow.verify.finn.verification import FINDINGS as VERIFICATION_FINDINGS
from floorflow.verify.finn.verification import NAME as VERIFIES_OTHERWISE
from floorflow.verify.finn.verification import OF_BUILD, places_of_thresholds, vector_faults, verification_faults
from floorflow.verify.phase_records import ChannelRecord, ParallelismRecord, PhaseRecord
from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.violations import VIOLATIONS, Findings

Problem = tuple[str, str]

CHOICES = {
    "costs": ("calibrated", "estimated", "finn", "samo"),
    "crossings": ("fifo", "vendor", "none"),
    "fifo_sizing": ("floorflow", "finn"),
    "finn": ("main", "dev", "plus"),
    "flow": ("auto", "vitis", "zynq", "stitch"),
    "impl_style": ("auto", "default", "free"),
    "runtime_weights": ("auto", "never", "always"),
    "thresholds": ("fused", "apart"),
}
"""Options with a list of values."""
_LATER = {"thresholds": "fused"}
"""What is meant where a plan leaves out an option that came later."""

WHOLE = {"PE": ("MH", "Channels", "NumChannels", "Labels"), "SIMD": ("MW", "IFMChannels", "NumChannels")}
"""Attributes of which the first that an engine has is the most of a way to fold it."""

KNOWN_PRODUCTS = {1: 7168, 2: 784, 3: 320, 9: 0}
"""Products of the largest HLS unit in a build at hand, by the bits of its wider operand from which that holds."""

findings: Mapping[str, str] = {
    "wrong-impl-style": "an engine is hls or rtl, and FINN would make it the other",
    "wrong-engine-name": "an engine has another name than FINN gives it once hls and rtl are chosen",
    "finn-node-missing": "FINN's file has no entry for an engine",
    "finn-node-unknown": "FINN's file has an entry for something that is no engine",
    "finn-folding-differs": "folding_config.json differs from the plan's folding",
    "finn-fifo-differs": "fifo_config.json gives a FIFO another depth or memory than the plan, or is no file of FINN",
    "finn-slices-differ": "floorflow_plan.json does not tell FINN's steps of the plan's register slices",
    "finn-style-differs": "specialize_layers_config.json does not tell FINN which engines of the plan are hls or rtl",
    "finn-slr-differs": "floorplan.json puts an engine in another SLR or device than the plan",
    "finn-entry-malformed": "an entry of FINN's file lacks a key or holds a value of the wrong type",
    "finn-kernel-split": "one partition id stands for two SLRs or devices",
    **FINDINGS,
    **FLOW_FINDINGS,
    **VERIFICATION_FINDINGS,
}
names_are_read = True
"""What cells are called is known only from a build."""


def option_objections(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with FINN's own options of a plan."""
    for name, allowed in CHOICES.items():
        if options.get(name, _LATER.get(name)) not in allowed:
            yield f"{name} is {options.get(name)!r:.60}, expected one of {', '.join(allowed)}"
    release = options.get("vivado")
    if release is not None and not (isinstance(release, str) and re.fullmatch(r"20[0-9]{2}\.[1-9]", release)):
        yield f"vivado is {release!r:.60}, expected a year and a release such as 2022.2, or null"


def may_cost_nothing(options: Mapping[str, Any]) -> bool:
    """Whether engines may be free: in FINN's own estimates some are."""
    return options.get("costs") in ("finn", "samo")


def streams_a_cable(options: Mapping[str, Any]) -> int | None:
    """Return 1 for FINN+, whose Aurora kernels send one stream each; None: FINN has no links of its own."""
    return 1 if options.get("finn") == "plus" else None


def stitches(options: Mapping[str, Any]) -> bool:
    """Whether modules are implemented one by one and stitched."""
    return options.get("flow") == "stitch"


def engine(row: Row, context: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what follows from an engine's kind, attributes and folding, None for a kind that FINN does not have."""
    folded = folded_engine(row, context["options"])
    if folded.kind not in KINDS:
        return None
    found: list[Problem] = [("type-width-mismatch", message) for message in width_objections(folded.entry)]
    found += _parallelism_objections(folded, row["folding"]["parallelism"])
    illegal = objections(folded)
    found += [("illegal-folding", message) for message in illegal]
    written = folded.choice("runtime_writeable_weights", 0) == 1
    if written and context["options"].get("runtime_weights") == "never":
        found.append(("illegal-folding", "its weights are written at run time, which the options rule out"))
    cycles = None
    try:
        samo = SAMO_CYCLES if context["options"].get("costs") == "samo" else {}
        cycles = samo.get(folded.kind, KINDS[folded.kind].cycles)(folded)
    except (AttributeProblem, ArithmeticError) as problem:
        if not illegal:
            found.append(("engine-malformed", str(problem)))
    told = {"objections": found, "cycles": cycles, "window_fill": window_fill(folded), **_ports(folded)}
    spared = context["options"].get("runtime_weights") == "auto"
    wires = folded.kind == "Reshape_rtl"
    circuit = {"own_circuit": constants_in_logic(folded, written_later=context.get("written_later", False))}
    return {**told, **_products(folded), **circuit, "host_writes": written, "host_spared": spared, "only_wires": wires}


def _products(folded: FoldedEngine) -> dict[str, Any]:
    """Return what an HLS unit with weights multiplies at once; nothing where the folding, reported already, is none."""
    if folded.kind not in ("MVAU_hls", "VVAU_hls"):
        return {}
    try:
        products = folded.pe * folded.simd * folded.number("M", 1)
    except AttributeProblem:
        return {}
    bits = max(1, folded.entry["weight_bits"], folded.entry["input_bits"])
    known = KNOWN_PRODUCTS[max(width for width in KNOWN_PRODUCTS if width <= bits)]
    return {"products": products, "beyond_known_builds": products > known}


def _parallelism_objections(folded: FoldedEngine, rows: list[ParallelismRecord]) -> Iterator[Problem]:
    """Yield where the rows are not PE, SIMD and parallel_window as folding and attributes have them."""
    has, chosen = folded.entry["attributes"], folded.folding
    expected = []
    for name, sizes in WHOLE.items():
        most = next((has[size] for size in sizes if size in has), None)
        if isinstance(chosen.get(name), int) and isinstance(most, int):
            expected.append((name, chosen[name], most))
    several = has.get("depthwise", 0) == 0 and has.get("ConvKernelDim") != [1, 1]
    if isinstance(chosen.get("parallel_window"), int) and several:
        expected.append(("parallel_window", chosen["parallel_window"], 1))
    stated = [(row["name"], row["value"], row["most"]) for row in rows]
    if stated != expected:
        yield "wrong-parallelism", f"rows of parallelism are {stated}, derived {expected}"


def _ports(folded: FoldedEngine) -> dict[str, Any]:
    """Return the ports, or nothing where the folding, reported already, gives none."""
    try:
        ports = KINDS[folded.kind].ports(folded)
    except (AttributeProblem, ArithmeticError):
        return {}
    return {
        "inputs": [_port(port, folded.input_type(number)) for number, port in enumerate(ports.inputs)],
        "outputs": [_port(port, folded.output_type) for port in ports.outputs],
    }


def _port(port: Port, data_type: str | None) -> dict[str, Any]:
    sizes = {"parallel": port.parallel, "element_bits": port.bits, "elements": port.elements}
    return {**sizes, "last_dimension": port.last_dimension, "type": data_type}


def joined(source: Row, target: Row, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a window or padding and the engine behind it do not agree on."""
    pair = [folded_engine(row, context["options"]) for row in (source, target)]
    try:
        problems = list(window_objections(*pair))
    except AttributeProblem:
        problems = []  # reported where the engine itself is judged
    return {
        "objections": [("illegal-folding", message) for message in problems],
        "target_reads_no_data": reads_only_padding(pair[1], pair[0]),
    }


def converter(narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
    """Return FINN's converter between two widths, and whether it would be too wide inside."""
    if narrow_bits and wide_bits % narrow_bits == 0:
        return "StreamingDataWidthConverter_rtl", []
    inside = math.lcm(narrow_bits, wide_bits)
    needs = f"{narrow_bits} and {wide_bits} bits need {inside} inside"
    return "StreamingDataWidthConverter_hls", [needs] if inside > MAX_HLS_STREAM_BITS else []


def fifo(channel: ChannelRecord, part: str, context: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the memory of a channel's FIFO, on the part that it lies on."""
    return list(fifo_objections(channel, part, context["options"]))


def files(
    plan: PlanRecord, phase: PhaseRecord, folder: Files, context: Mapping[str, Any]
) -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """Judge FINN's files of a phase; what cells are called is read from a build."""
    found, phase = Findings(meanings={**VIOLATIONS, **findings}), as_built(phase, context)
    placed: dict[str, Places] = {}
    for built in networks_of(context):
        path = f"{built.folder}/{FOLDING_FILE}"
        folding = folder.json(path)
        if folding is not None:
            check_folding_file(folding, built, folder.path(path), found)
            check_fifo_depths(folding, phase, built, folder.path(path), found)
        path = f"{built.folder}/{FLOORPLAN_FILE}"
        places = folder.json(path)
        if places is not None:
            names = engines_when_placed(built, phase["channels"])
            check_floorplan_file(places, phase, built, names, folder.path(path), findings=found)
            entries = {name: entry for name, entry in places.items() if is_place(entry)}
            told = f"{built.folder}/{STEP_PLAN}"
            streams = ((folder.json(told) if folder.exists(told) else None) or {}).get("streams", ())
            slices = {one["name"]: [f"SLR{slr}" for _, slr in one["slices"]] for one in streams}
            placed[built.folder.partition("/")[2]] = (entries, names, slices)
        check_styles(folder, plan, built, found)
        check_fifo_file(folder, phase, built, context["options"], found)
        check_step_plan(folder, phase, built, context["slots"], found)
    cards, seed = [fpga["name"] for fpga in plan["platform"]["fpgas"]], plan["options"]["seed"]
    alone = len(cards) == 1 and len(plan["phases"]) == 1
    nets = networks_of(context)
    thresholds = {b.folder: places_of_thresholds(b.rows.values(), phase["channels"]) for b in nets if alone}
    for place in (*(built.folder for built in nets), *(f"{card}/finn" for card in cards)):
        for path, fault in verification_faults(folder, place, seed, thresholds.get(place), is_whole=alone):
            found.add(VERIFIES_OTHERWISE, folder.path(path), fault)
    check_flow_files(plan, phase, folder, context, placed, findings=found)
    check_links(phase, context, found)
    return [(problem.name, problem.where, problem.message) for problem in found.violations], {}


def builds_slices(phase: PhaseRecord, context: Mapping[str, Any]) -> bool:
    """Whether FINN builds the register slices of a phase."""
    return slices_are_built(phase, context["options"])


def crosses_by_fifos(context: Mapping[str, Any]) -> bool:
    """Whether FINN is to build FIFOs at SLR boundaries."""
    return fifos_cross(context["options"])


def crosses_by_slices(context: Mapping[str, Any]) -> bool:
    """Whether vitis/crossings.tcl is to insert AMD's register slices."""
    return bool(context["options"].get("crossings") == "vendor")


def unplaced_files(
    phase: PhaseRecord,  # noqa: ARG001 - the engines say all
    folder: Files,
    clock_mhz: float,  # noqa: ARG001 - FINN's files have no clock
    context: Mapping[str, Any],
) -> list[tuple[str, str, str]]:
    """Judge folding and styles of a part of a network that is placed nowhere."""
    found = Findings(meanings={**VIOLATIONS, **findings})
    for built in networks_of(context):
        path = f"{built.folder}/{FOLDING_FILE}"
        content = folder.json(path)
        if content is not None:
            check_folding_file(content, built, folder.path(path), found)
        check_style_file(folder, built, found)
    return [(problem.name, problem.where, problem.message) for problem in found.violations]


def is_stream_cell(cell: str) -> bool:
    """Whether a cell is a FIFO or width converter: by FINN's op type, inside a kernel or not."""
    name = re.sub(r"^StreamingDataflowPartition_\d+_", "", cell.rpartition("/")[2])
    return name.startswith(("StreamingFIFO", "StreamingDataWidthConverter", "Reshape"))


def reads_memory(row: Row) -> bool:
    """Whether an engine reads its weights from memory, over a stream of its own."""
    return bool({**row["entry"]["attributes"], **row["folding"]["attributes"]}.get("mem_mode") == "external")


def build(
    phase: PhaseRecord,
    folder: Path,
    told: tuple[Mapping[str, str], Mapping[str, str]],
    context: Mapping[str, Any],
) -> list[tuple[str, str, str]]:
    """Judge a phase, as it is bound, against a build: ``told`` are engines' cells and the modules of FIFOs' cells."""
    faults = vector_faults(folder, phase["channels"], context["engines"])
    found = [(OF_BUILD, str(folder), fault) for fault in faults]
    return [*found, *judge_build(as_built(phase, context), folder, told, context)]
