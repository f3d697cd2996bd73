"""Which file of a FINN or FINN+ build folder is what, by its name, wherever below the folder it lies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from floorflow.errors import InputError
from floorflow.reading import files_below, is_folder, read_json

ROLES: Mapping[str, tuple[str, ...]] = {
    "synthesis": ("*post_synth_resources*.json",),
    "estimates": ("*estimate_layer_resources.json",),
    "cycles": ("*estimate_layer_cycles.json",),
    "performance": ("*estimate_network_performance.json",),
    "simulation": ("*rtlsim_performance*.json",),
    "timing": ("*post_route_timing*.rpt", "*timing_summary_routed*.rpt"),
    "out of context": ("*ooc_synth_and_timing.json",),
    "hardware handoff": ("*.hwh",),
    "build settings": ("*dataflow_build_config*.json", "*build_config*.yaml", "*build_config*.yml", "settings.yaml"),
}
"""Files of a build by what they are for; names as FINN's steps write them, with what people put before them."""
GRAPH_NAMES = ("kernel_partitions/partition_*.onnx", "step_*.onnx", "any other *.onnx that holds FINN's engines")
"""What is looked for as the graph, for people."""
SCRATCH = ("bitfile", "code_gen", "deploy", "driver", "stitched_ip", "verification_output", "vivado")
"""Starts of the names of folders in which tools keep what is no report of the whole build."""
MODELS = "intermediate_models"
"""FINN's folder of the graphs after each step."""
_REPORTS_IN_SCRATCH = ("hardware handoff",)
_KERNELS = "kernel_partitions"
_STEP = re.compile(r"step_[a-z0-9_]+")
_STEPS = (
    *("step_qonnx_to_finn", "step_tidy_up", "step_streamline", "step_convert_to_hw", "step_specialize_layers"),
    *("step_create_dataflow_partition", "step_target_fps_parallelization", "step_apply_folding_config"),
    *("step_minimize_bit_width", "step_generate_estimate_reports", "step_hw_codegen", "step_hw_ipgen"),
    *("step_set_fifo_depths", "step_create_stitched_ip", "step_measure_rtlsim_performance", "step_make_driver"),
    *("step_out_of_context_synthesis", "step_synthesize_bitfile", "step_deployment_package"),
)
"""FINN's default steps in order, for folders without time_per_step.json."""
_SYNTHESIS_STEP = "step_synthesize_bitfile"


@dataclass(frozen=True)
class FoundFile:
    """The file of a role, and the others whose names would do as well."""

    path: Path
    others: tuple[Path, ...] = ()


def all_files(folder: Path) -> list[Path]:
    """Return all files below a folder, by their paths."""
    return files_below(folder)


def in_scratch(path: Path, folder: Path) -> bool:
    """Whether a file lies where tools keep scratch, or in a folder of that kind below the build's."""
    return any(part.startswith(SCRATCH) for part in path.relative_to(folder).parts[:-1])


def report_files(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Return the files that may be reports of a whole build.

    Only an ``output_dir`` with its steps' models has scratch folders: people may call a folder of reports ``vivado``.
    Of several files of a role the one is taken that `files_by_role` finds.
    """
    if not is_folder(folder / MODELS):
        return list(files)
    second = {path for found in files_by_role(folder, files).values() for path in found.others}
    models = folder / MODELS
    return [p for p in files if not in_scratch(p, folder) and p not in second and models not in p.parents]


def files_by_role(folder: Path, files: Sequence[Path]) -> dict[str, FoundFile]:
    """Return the file of each role that is there: of several the one nearest to the top, then the first by name."""
    found = {}
    for role, patterns in ROLES.items():
        held = [p for p in files if role in _REPORTS_IN_SCRATCH or not in_scratch(p, folder)]
        named = [path for path in held if any(fnmatchcase(path.name, pattern) for pattern in patterns)]
        if named:
            first, *others = sorted(named, key=lambda path: (_in_report(path), len(path.parts), str(path)))
            found[role] = FoundFile(first, tuple(others))
    return found


def _in_report(path: Path) -> int:
    """Return 0 for a file of FINN's own report folder, which goes before a copy elsewhere."""
    return 0 if path.parent.name == "report" else 1


def kernels(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Return the graphs of the kernels as they were synthesised, of which each is a file."""
    return [p for p in files if p.suffix == ".onnx" and p.parent.name == _KERNELS and not in_scratch(p, folder)]


def graphs_before_kernels(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Return the graphs of steps whose parts are the kernels, the latest first."""
    order = _step_order(files)
    return [p for p in _step_graphs(folder, files, order) if _rank(p, order) >= _rank_of(_SYNTHESIS_STEP, order)]


def graphs_after_kernels(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Return the graphs of earlier steps, the latest first, and then all other graphs by name."""
    order = _step_order(files)
    steps = _step_graphs(folder, files, order)
    late = set(graphs_before_kernels(folder, files)) | set(kernels(folder, files))
    others = (p for p in files if p.suffix == ".onnx" and p not in steps and not in_scratch(p, folder))
    return [p for p in (*steps, *_with_fifos_first(others)) if p not in late]


def _with_fifos_first(paths: Iterator[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: ("fifo" not in path.name, str(path)))


def _step_graphs(folder: Path, files: Sequence[Path], order: Sequence[str]) -> list[Path]:
    named = [p for p in files if p.suffix == ".onnx" and _STEP.search(p.name) and not in_scratch(p, folder)]
    return sorted(named, key=lambda path: (-_rank(path, order), str(path)))


def _rank(path: Path, order: Sequence[str]) -> int:
    """Return how late the step of a graph is; its file may have words around the step's name."""
    name = PurePosixPath(path.name).name
    return max((place for place, step in enumerate(order) if step in name), default=-1)


def _rank_of(step: str, order: Sequence[str]) -> int:
    return order.index(step) if step in order else len(order)


def _step_order(files: Sequence[Path]) -> tuple[str, ...]:
    """Return the steps of the build in order: those of time_per_step.json if it is there, else FINN's default ones."""
    timed = next((path for path in files if path.name == "time_per_step.json"), None)
    if timed is None:
        return _STEPS
    try:
        steps = read_json(timed, "report", "")
    except InputError:  # the order is FINN's own, then
        return _STEPS
    names = tuple(str(step) for step in steps if _STEP.fullmatch(str(step))) if isinstance(steps, dict) else ()
    return names or _STEPS
