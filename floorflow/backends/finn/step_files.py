"""The files with which FINN builds a plan: the steps, what they have to know, a build, the way into Vitis or Vivado.

FINN's project is linked or implemented again, with a hook: FINN writes neither a hook nor the memory bank of the
output's DMA engine, and starts v++ and Vivado at once.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from floorflow.assets import asset_folder
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.step.bundle import bundled
from floorflow.backends.finn.step.early import BRANCHES
from floorflow.backends.finn.step.vectors import VECTORS
from floorflow.backends.finn.step_data import NetworkInPhase, step_data
from floorflow.backends.finn.tool_depths import LARGEST_VIVADO
from floorflow.errors import InputError, some

BOARDS = {
    "alveo-u50": "U50",
    "alveo-u55c": "U55C",
    "alveo-u200": "U200",
    "alveo-u250": "U250",
    "alveo-u280": "U280",
    "kv260": "KV260_SOM",
    "pynq-z1": "Pynq-Z1",
    "pynq-z2": "Pynq-Z2",
    "ultra96": "Ultra96",
    "zcu102": "ZCU102",
    "zcu104": "ZCU104",
    "zcu111": "ZCU111",
}
"""FINN's names of boards."""
FRONT = (
    "step_qonnx_to_finn",
    "step_tidy_up",
    "step_streamline",
    "step_convert_to_hw",
    "step_create_dataflow_partition",
)
"""FINN's default way from a network to a dataflow graph."""
BACK_MAIN = (
    "step_specialize_layers",
    "floorflow_fold",
    "floorflow_cppsim",
    "step_minimize_bit_width",
    "step_generate_estimate_reports",
    "floorflow_fifos",
    "step_hw_codegen",
    "step_hw_ipgen",
    "step_set_fifo_depths",
    "step_create_stitched_ip",
    "floorflow_verified",
    "floorflow_modules",
    "floorflow_place",
    "floorflow_constrain",
    "step_synthesize_bitfile",
    "step_make_pynq_driver",
    "step_deployment_package",
)
OVER_CARDS = {"step_prepare_synthesis": "floorflow_cards"}
"""Steps of floorflow in the place of FINN+'s where a plan has several cards."""
ON_A_CARD = {"step_synthesize_bitfile": "floorflow_card_kernels"}
NOT_ON_A_CARD = {"step_create_stitched_ip", "step_make_pynq_driver", "step_deployment_package"}
"""Where FINN main builds the part of a network on one of several cards: kernels alone, for v++ to link."""
BESIDE_OTHERS = {"main": "step_synthesize_bitfile", "plus": "step_prepare_synthesis"}
"""In the place of which step floorflow_kernels stands where networks share a card: v++ links the kernels of all."""
BACK_PLUS = (
    "step_specialize_layers",
    "floorflow_fold",
    "step_minimize_bit_width",
    "step_transpose_decomposition",
    "step_generate_estimate_reports",
    "step_assign_ddr_weight_offsets",
    "floorflow_fifos",
    "step_generate_hardware",
    "step_create_stitched_ip",
    "floorflow_verified",
    "floorflow_modules",
    "floorflow_place",
    "step_prepare_synthesis",
    "floorflow_constrain",
    "floorflow_link",
    "step_synthesize_bitfile",
    "step_make_driver",
    "step_deployment_package",
)

OUTPUT = "build"
"""The folder that FINN+ builds into, and FINN main if no other is given."""
VECTOR_KEYS = ("verify_input_npy", "verify_expected_output_npy")
VERIFYING = {
    "step_qonnx_to_finn": "finn_onnx_python",
    "step_tidy_up": "initial_python",
    "step_streamline": "streamlined_python",
    "floorflow_cppsim": "folded_hls_cppsim",
    "step_create_stitched_ip": "stitched_ip_rtlsim",
}
"""At the end of which steps FINN main verifies, and what it calls that: its VerificationStepType."""
VERIFYING_PLUS = {
    **{step: name for step, name in VERIFYING.items() if step != "floorflow_cppsim"},
    "step_minimize_bit_width": "folded_hls_cppsim",
}
"""The same of FINN+. Its node_by_node_rtlsim is left out: the stitched IP has the same nodes, and FIFOs."""


def step_files(
    one: NetworkInPhase, fpgas: Sequence[Mapping[str, Any]], library: str, *, known_fifos: bool
) -> dict[str, str]:
    """Return floorflow_step.py, floorflow_plan.json, build.yaml and, where FINN main could build it, build.py.

    ``library`` is the Tcl that the constraints call. ``fpgas`` have ``name``, ``board``, ``part``, ``platform`` (or an
    empty text), ``cell_pattern`` and ``constraints``; ``known_fifos``: the plan has depths, so FINN need not seek
    them.
    """
    data = {**step_data(one, fpgas), "known_fifos": known_fifos, "library": library}
    # FINN main would make one design of all cards.
    for_plus_alone = len(data["fpgas"]) > 1 and not data["stops"]
    return {
        "floorflow_step.py": bundled(one.plan.version),
        "floorflow_plan.json": json.dumps(data, indent=1, sort_keys=True) + "\n",
        **({} if for_plus_alone else {"build.py": _build_py(data)}),
        "build.yaml": _build_yaml(data),
    }


def steps(data: Mapping[str, Any], *, plus: bool) -> list[str]:
    """Return the names of the steps of a build, FINN's and floorflow's."""
    found = _in_place(data, plus=plus)
    left_out = set() if data["known_fifos"] else {"floorflow_fifos"}
    if "kernel_prefix" in data:
        # What all cells are called, and the bitstream, is known to the link of all networks alone.
        left_out |= {"floorflow_constrain", "floorflow_link", "step_synthesize_bitfile", "step_deployment_package"}
    verified = verify_steps(found, plus=plus)
    if verified:
        found.insert(0, "floorflow_vectors")
    else:
        left_out |= {"floorflow_verified"}
    if "folded_hls_cppsim" not in verified:
        left_out |= {"floorflow_cppsim"}
    if "stitched" not in data:
        left_out |= {"floorflow_modules"}
    if _flow(data) != "vitis_alveo":
        left_out |= {"floorflow_link"}
    if "part_of_a_design" in data or "stitched" in data:
        left_out |= {"floorflow_constrain"}  # what cells are called there is known to that design alone
    if _flow(data) is None:
        left_out |= {"floorflow_place", "step_prepare_synthesis", "step_synthesize_bitfile"}
        left_out |= {"step_make_pynq_driver", "step_make_driver", "step_deployment_package"}
    return [name for name in found if name not in left_out]


def _in_place(data: Mapping[str, Any], *, plus: bool) -> list[str]:
    """Return the steps that a build of its kind has, floorflow's in the place of FINN's."""
    front = ["floorflow_flatten", *FRONT]
    if plus:
        front[5:5] = ["floorflow_host", "step_minimize_bit_width_initial"]
    kinds = {engine["kind"].split("_")[0] for engine in data["engines"]}
    if kinds & ({"VVAU", "GlobalAccPool", *BRANCHES} if plus else {"VVAU"}):
        front.insert(front.index("step_streamline"), "floorflow_scales")
    if plus and kinds & {"GlobalAccPool", "UpsampleNearestNeighbour", *BRANCHES}:
        front.insert(front.index("step_convert_to_hw"), "floorflow_integers")
    if len(_thresholds_apart(data)) > 1:
        front.insert(front.index("step_convert_to_hw"), "floorflow_thresholds")
    if any(engine["kind"] == "FMPadding_Pixel_hls" for engine in data["engines"]):
        front.insert(front.index("step_convert_to_hw"), "floorflow_deconv")
    cut = ["floorflow_cut"] if "whole" in data else []
    back = BACK_PLUS if plus else BACK_MAIN
    found = [*([] if data["ports_of_finn"] else front), *cut, "floorflow_specialise", *back]
    instead: Mapping[str, str] = {}
    if len(data["fpgas"]) > 1:
        instead, found = OVER_CARDS, [name for name in found if name != "step_create_stitched_ip"]
    if "kernels_only" in data:
        instead, found = ON_A_CARD, [name for name in found if name not in NOT_ON_A_CARD]
    if "kernel_prefix" in data:
        instead = {BESIDE_OTHERS["plus" if plus else "main"]: "floorflow_kernels"}
    return [instead.get(name, name) for name in found]


def verify_steps(names: Sequence[str], *, plus: bool) -> list[str]:
    """Return where FINN verifies, in the order of a build's steps: of a phase only what lies ahead of the cut.

    Behind it FINN would give the network's input to a part of the network.
    """
    whole = names[: names.index("floorflow_cut")] if "floorflow_cut" in names else names
    where = VERIFYING_PLUS if plus else VERIFYING
    return [where[name] for name in whole if name in where]


def _flow(data: Mapping[str, Any]) -> str | None:
    """Return FINN's shell flow; None where a stitched IP is the end: an unknown board, or a part of a design."""
    first = data["fpgas"][0]
    if first["board"] not in BOARDS or "part_of_a_design" in data:
        return None
    return "vitis_alveo" if first["platform"] else "vivado_zynq"


def _settings(data: Mapping[str, Any], *, plus: bool) -> dict[str, Any]:
    """Return FINN's configuration as plain values, paths relative to the folder."""
    first, flow = data["fpgas"][0], _flow(data)
    several = len(data["fpgas"]) > 1
    apart = several or "kernels_only" in data
    outputs = ["estimate_reports", *([] if apart else ["stitched_ip"])]  # each kernel is one, no card holds all
    if flow is not None and "kernels_only" not in data:
        outputs += ["pynq_driver"] if "kernel_prefix" in data else ["bitfile", "pynq_driver", "deployment_package"]
    verified = verify_steps(steps(data, plus=plus), plus=plus)
    found: dict[str, Any] = {
        "output_dir": OUTPUT,
        "synth_clk_period_ns": round(1000 / data["clock_mhz"], 6),
        "generate_outputs": outputs,
        "standalone_thresholds": _thresholds_apart(data) == {True},
        "folding_config_file": "folding_config.json",
        "auto_fifo_depths": not data["known_fifos"],
    }
    if verified:
        files = (f"{OUTPUT}/{name}" for name in VECTORS)
        found |= {"verify_steps": verified, **dict(zip(VECTOR_KEYS, files, strict=True))}
    if flow is None:
        found["fpga_part"] = first["part"]
    else:
        found |= {"board": BOARDS[first["board"]], "fpga_part": first["part"], "shell_flow_type": flow}
    if flow == "vitis_alveo":
        found |= {"vitis_platform": first["platform"], "vitis_floorplan_file": "floorplan.json"}
        found["vitis_opt_strategy"] = "3" if plus else "performance_best"
    if any("preferred_impl_style" in engine["attributes"] for engine in data["engines"]):
        found["specialize_layers_config_file"] = "specialize_layers_config.json"
    if plus and data["known_fifos"]:
        found["fifo_config_file"] = "fifo_config.json"
    if plus and several:
        links = Counter(link[end]["device"] for link in data["card_links"] for end in ("source", "target"))
        found["partitioning_configuration"] = {
            "num_fpgas": len(data["fpgas"]),
            "ports_per_device": max(links.values(), default=1),
            "topology": "chain",
            "communication_kernel": "aurora",
            "parallel_synthesis_workers": 1,
        }
    if not plus:
        # Main rounds AMD's FIFO up to a power of two, as it is priced. Splitting would leave pieces in shift registers.
        found["split_large_fifos"] = any(stream["depth"] > LARGEST_VIVADO for stream in data["streams"])
    return found


def _thresholds_apart(data: Mapping[str, Any]) -> set[bool]:
    """Return whether thresholds behind a matrix or vector unit are an engine of their own, both where some are."""
    kind = {engine["id"]: engine["kind"] for engine in data["engines"]}
    units = {engine["id"]: engine for engine in data["engines"] if engine["kind"].startswith(("MVAU", "VVAU"))}
    pairs = ((stream["source"], kind.get(stream["target"], "")) for stream in data["streams"])
    apart = {one for one, other in pairs if one in units and other.startswith("Thresholding")}
    fused = any(not unit["attributes"]["noActivation"] for unit in units.values())
    return {*([True] if apart else []), *([False] if fused else [])}


def _build_yaml(data: Mapping[str, Any]) -> str:
    """Return the configuration of FINN+; JSON's scalars are YAML's."""
    lines = [
        "# For FINN+, from this folder: PYTHONPATH=. finn build build.yaml MODEL.onnx",
        "# floorflow's steps set folding, FIFOs and places on the nodes that they find; the files are for reading.",
        *(f"# {line}" for line in _verified_told(data, plus=True)),
    ]
    for key, value in _settings(data, plus=True).items():
        if isinstance(value, list):
            lines += [f"{key}:", *(f"  - {item}" for item in value)]
        elif isinstance(value, dict):
            lines += [f"{key}:", *(f"  {name}: {json.dumps(item)}" for name, item in value.items())]
        else:
            lines.append(f"{key}: {json.dumps(value)}")
    own = (f"floorflow_step.{name}" if name.startswith("floorflow_") else name for name in steps(data, plus=True))
    return "\n".join([*lines, "steps:", *(f"  - {name}" for name in own)]) + "\n"


def _build_py(data: Mapping[str, Any]) -> str:
    """Return the script for FINN main."""
    found = _settings(data, plus=False)
    files = ("folding_config_file", "specialize_layers_config_file", "vitis_floorplan_file")
    lines = []
    for key, value in found.items():
        if key == "output_dir":
            continue
        text = repr(value)
        if key in files:
            text = f'str(HERE / "{value}")'
        elif key in VECTOR_KEYS:
            text = f'f"{{output_dir}}/{value.removeprefix(OUTPUT + "/")}"'
        elif key == "verify_steps":
            text = "[" + ", ".join(f'VerificationStepType("{name}")' for name in value) + "]"
        elif key == "generate_outputs":
            text = "[" + ", ".join(f"DataflowOutputType.{name.upper()}" for name in value) + "]"
        elif key == "shell_flow_type":
            text = f"ShellFlowType.{value.upper()}"
        elif key == "vitis_opt_strategy":
            text = f"VitisOptStrategyCfg.{value.upper()}"
        lines.append(f"        {key}={text},")
    names = steps(data, plus=False)
    listed = ",\n    ".join(f"floorflow_step.{n}" if n.startswith("floorflow_") else f'"{n}"' for n in names)
    told = "\n".join(_verified_told(data, plus=False))
    return _SCRIPT.replace("@STEPS@", listed).replace("@SETTINGS@", "\n".join(lines)).replace("@VERIFIED@", told)


def _verified_told(data: Mapping[str, Any], *, plus: bool) -> list[str]:
    """Return what verification sees of what floorflow's steps rewrite."""
    names = steps(data, plus=plus)
    found = verify_steps(names, plus=plus)
    if not found:
        return ["verify_steps: none, for FINN verifies whole networks, and a phase is a part of one."]
    seen = []
    if front := [name for name in found if name.endswith("_python")]:
        seen.append(f"verify_steps: {', '.join(front)} see the network ahead of its hardware.")
    if "folded_hls_cppsim" in found:
        seen.append("verify_steps: folded_hls_cppsim sees folding and HLS layers, no FIFO and no slice.")
    if "stitched_ip_rtlsim" in found:
        seen.append("verify_steps: stitched_ip_rtlsim alone sees FIFOs, memories, converters, slices and crossings.")
        if not plus:
            seen.append("AMD's FIFOs (impl_style vivado) are FINN's own in that simulation.")
    elif "floorflow_cut" in names:
        seen.append("No step sees hardware: FINN verifies whole networks, and a phase is a part of one.")
    else:
        seen.append("No step sees FIFOs, slices and links: no card holds all of the network, so that none is stitched.")
    return [*seen, "floorflow_vectors makes input and expected output of the model's own weights; without them: none."]


_SCRIPT = Path(__file__).with_name("build.py.in").read_text(encoding="utf-8")


VERSIONS = {"main": ("2022.2",), "dev": ("2022.2",), "plus": ("2022.2", "2024.2")}
"""Versions of Vivado and Vitis that each FINN is made for."""
_CONFIG = """\
# For v++, {beside} FINN's own configuration; relink.sh hands it over.
# platform: {platform}
# versions: {versions}
{told}[connectivity]
{ports}
{settings}"""
_STEPS = Path(__file__).with_name("floorflow.cfg.in").read_text(encoding="utf-8")
_PLACES = {
    True: (
        "EarlyBlockPlacement",
        "Memories and DSP blocks come first, and logic gathers around them.",
    ),
    False: ("SSI_SpreadLogic_high", "Logic is spread over the SLRs that the floorplan gives it, against congestion."),
}
"""By whether a die is one SLR: the directive of place_design, and why. Directives are those of UG904."""


def vivado_settings(*, single_slr: bool) -> str:
    """Return what v++ is to set for the steps of Vivado: hook, directives and report, with their reasons."""
    place, why = _PLACES[single_slr]
    return _STEPS.format(place=place, why=why)


_OVERLAY = """\
[advanced]
param=compiler.userPostSysLinkOverlayTcl=@INSERT@
"""
_CROSSINGS = """\
# The streams that cross SLR boundaries: {{SLR of the source, SLR of the target, bytes, stream}}. relink.sh lets v++
# insert register slices for exactly these behind its linker, and place their halves before opt_design.
source [file join [file dirname [file normalize [info script]]] .. vivado floorflow_crossings.tcl]
floorflow::crossings {{
{rows}}}
"""
_ZYNQ = """\
# Implements FINN's project again:
#   vivado -mode batch -source zynq_impl.tcl -tclargs PROJECT.xpr ?FOLDER?
set here [file dirname [file normalize [info script]]]
source [file join $here floorflow_zynq.tcl]
floorflow::implement -part {{{part}}} -versions {{{versions}}} \\
    -constraints [file join [file dirname $here] {fpga} pblocks.tcl] -arguments $argv
"""


def flow_of(board: str, shell: str) -> str | None:
    """Return the way that a board takes, None for a part that FINN has no shell for."""
    if board not in BOARDS:
        return None
    return "vitis" if shell else "zynq"


STITCHED = (
    "no Vivado has run the scripts that implement and stitch its modules, and what stands around the top of a card "
    "(pins, DMA, links) is yours to make (docs/stitching.md)"
)
"""What is said first of a plan that is stitched."""


def unbuilt(boards: Sequence[str], networks: int, *, in_regions: bool, joins_cards: bool = False) -> list[str]:
    """Return what keeps FINN from building a plan with these boards for its FPGAs, a clause each.

    ``joins_cards``: it is FINN+, which builds for several; whether for these `card_links` tells.
    """
    found = []
    if len(boards) > 1 and not joins_cards:
        found.append(
            f"FINN builds for one card, this plan has {len(boards)}: folding, FIFO depths, cut and pblocks are there "
            "to read; --finn plus plans for FINN+, which builds for several; over Aurora finn/ of each card's folder "
            "builds its part, and link.sh there links it (docs/links.md), which no Vitis has run yet"
        )
    if networks > 1:
        found.append(
            f"FINN makes one design of one network, this plan has {networks}, and only of one Alveo card does v++ link "
            "the kernels of all: each build ends at a stitched IP; the design that holds all of them, with their DMA "
            "engines, is yours to make (docs/several-networks.md)"
        )
    if in_regions:
        found.append(
            "each phase's build ends at a stitched IP; what stays, with DMA engines and decouplers, is yours to make "
            "(docs/reconfigure.md)"
        )
    bare = sorted({board for board in boards if board not in BOARDS})
    if bare and not found:
        found.append(
            f"FINN has no shell for {some(bare)}: the build ends at a stitched IP; the top design around it, with "
            "clock, reset and DMA, is yours to make"
        )
    return found


def check_flow(options: FinnOptions, boards: Mapping[str, str]) -> None:
    """Refuse a way that a board does not take; ``boards`` are shells (or nothing) by the boards' names.

    Raises InputError: names the way that fits.
    """
    for board, shell in boards.items():
        fitting = flow_of(board, shell)
        if options.crossing_slices and (fitting != "vitis" or options.flow == "zynq"):
            raise InputError(
                f"--crossings vendor: it is v++ that inserts AMD's register slices, and {board} is not built by it",
                hint="use --crossings fifo",
            )
        if options.flow == "auto" or (options.stitches and fitting is None and not shell):
            continue
        if fitting is None:
            known = some(sorted(BOARDS))
            raise InputError(
                f"--flow {options.flow}: FINN has no build for {board}, a bare part",
                hint=f"leave --flow out, or use --flow stitch; FINN builds for {known}",
            )
        if fitting != options.flow:
            raise InputError(f"--flow {options.flow}: {board} takes none of it", hint=f"use --flow {fitting}")


def flow_files(
    data: Mapping[str, Any],
    fpgas: Sequence[Mapping[str, Any]],
    *,
    with_slices: bool = False,
    copies: Sequence[str] | None = None,
) -> dict[str, str]:
    """Return the files of the way that the boards take; none where nothing is constrained, or FINN has no shell.

    ``with_slices``: a script inserts AMD's register slices at SLR boundaries. ``copies``: all connections of several
    copies, in the place of those that FINN writes for one.
    """
    made: dict[str, str] = {}
    for fpga in fpgas:
        flow = flow_of(str(fpga["board"]), str(fpga["platform"]))
        if data.get("stops") or not fpga["constraints"] or flow is None:
            continue
        versions = " ".join(VERSIONS[str(data["finn"])])
        made["vivado/floorflow_report.tcl"] = _shipped("floorflow_report.tcl")
        if flow == "vitis":
            made |= _vitis_files(data, fpga, versions, copies, with_slices=with_slices)
        else:
            made["vivado/floorflow_zynq.tcl"] = _shipped("floorflow_zynq.tcl")
            made["vivado/zynq_impl.tcl"] = _ZYNQ.format(part=fpga["part"], versions=versions, fpga=fpga["name"])
    return made


def _vitis_files(
    data: Mapping[str, Any], fpga: Mapping[str, Any], versions: str, copies: Sequence[str] | None, *, with_slices: bool
) -> dict[str, str]:
    """Return what links a card; of several each has a folder of its own."""
    folder = f"{fpga['name']}/vitis" if len(data["fpgas"]) > 1 else "vitis"
    ports = "\n".join(_memory_lines(data) if copies is None else copies)
    beside = "beside" if copies is None else "for several copies, in the place of the connections of"
    told = "" if copies is None else f"# copies: {copies[0].split(':')[1]}\n"
    about = {"platform": fpga["platform"], "versions": versions, "told": told, "ports": ports, "beside": beside}
    config = _CONFIG.format(**about, settings=vivado_settings(single_slr=data["single_slr"]))
    made = {f"{folder}/relink.sh": _shipped("relink.sh")}
    if with_slices:
        made["vivado/floorflow_crossings.tcl"] = _shipped("floorflow_crossings.tcl")
        found = crossings(data)
        rows = [f"    {{SLR{source} SLR{target} {size} {{{name}}}}}\n" for source, target, size, name in found]
        made["vitis/crossings.tcl"] = _CROSSINGS.format(rows="".join(rows))
        config += _OVERLAY
    return made | {f"{folder}/floorflow.cfg": config}


_LINK = """\
# For v++: the kernels of all networks of the plan; link.sh hands it over with them.
# platform: {platform}
# versions: {versions}
# mhz: {mhz}
{folders}[connectivity]
{ports}
{settings}"""


def link_files(
    data: Mapping[str, Any], fpga: Mapping[str, Any], lines: Sequence[str], folders: Sequence[str]
) -> dict[str, str]:
    """Return what links the kernels of several networks on a card; ``folders`` are those of their builds."""
    config = _LINK.format(
        platform=fpga["platform"],
        versions=" ".join(VERSIONS[str(data["finn"])]),
        mhz=round(data["clock_mhz"]),
        folders="".join(f"# build: {folder}\n" for folder in folders),
        ports="\n".join(lines),
        settings=vivado_settings(single_slr=data["single_slr"]),
    )
    return {**link_script("vitis"), "vitis/floorflow.cfg": config}


def link_script(folder: str) -> dict[str, str]:
    """Return the script that links what a configuration in that folder says, and what it reports with."""
    return {f"{folder}/link.sh": _shipped("link.sh"), "vivado/floorflow_report.tcl": _shipped("floorflow_report.tcl")}


Crossed = tuple[int, int, int, str]
"""SLRs of the two kernels that a stream joins, its width there in bytes, and its name."""


def crossings(data: Mapping[str, Any]) -> list[Crossed]:
    """Return the streams between kernels of different SLRs, those of DMA engines among them.

    Raises InputError where a FIFO has to lie in another SLR than the plan's: it makes crossings that have no price.
    """
    if data["moved"]:
        raise InputError(
            f"--crossings vendor: FIFOs of {some(sorted(data['moved']))} lie in another SLR than either end's, so that "
            "no kernel waits for itself, and cross boundaries that the plan does not have",
            hint="use --crossings fifo",
        )
    slr = {name: int(home["slr"]) for name, home in data["modules"].items()}
    home_of = {engine["id"]: slr[engine["module"]] for engine in data["engines"]}
    ends = {way: int(dma["slr"]) for way, dma in data["dma"].items()}
    found = []
    for stream in data["streams"]:
        source, target = (
            ends[way] if stream[end] is None else home_of[stream[end]]
            for end, way in (("source", "in"), ("target", "out"))
        )
        # A stream that is converted before it leaves its SLR is as wide there as at its target.
        converted = stream["converter_module"] is not None and slr[stream["converter_module"]] == source
        bits = int(stream["target_width" if converted else "source_width"])
        if source != target:
            found.append((source, target, -(-bits // 8), str(stream["name"])))
    return sorted(found)


def _memory_lines(data: Mapping[str, Any]) -> list[str]:
    """Return the bank of the output's DMA engine, which FINN main leaves to v++; FINN+ writes one itself."""
    port = str(data["dma"]["out"].get("mem_port", ""))
    if not port or data["finn"] == "plus":
        return []
    outputs = sum(stream["target"] is None for stream in data["streams"])
    return [f"sp=odma{number}.m_axi_gmem0:{port}" for number in range(outputs)]


def _shipped(name: str) -> str:
    return (asset_folder("tcl") / name).read_text(encoding="utf-8")
