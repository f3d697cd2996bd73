"""Find FINN's kernels in a build folder and bind a plan to them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from floorflow.backends.binding import Binding
from floorflow.backends.finn import export
from floorflow.backends.finn.step.bind import as_files, bind_kernels
from floorflow.backends.finn.step.kernel_files import Kernels, read_partitions, read_whole
from floorflow.errors import InputError
from floorflow.facts import Plan
from floorflow.reading import exists, is_file, parse_json

_KERNELS = ("", "kernel_partitions", "intermediate_models/kernel_partitions")
"""Where FINN keeps the kernels, below the folder that a user may give."""
_WHOLE = (
    "step_create_stitched_ip.onnx",
    "step_set_fifo_depths.onnx",
    "step_generate_hardware.onnx",
    "floorflow_fifos.onnx",
    "graph_with_fifos.onnx",
)
"""FINN's models with FIFOs and without kernels, the last one first."""
_HINT = "Give FINN's output_dir, its intermediate_models/kernel_partitions, or the graph behind a stitched IP."


def bind(plan: Plan, files: Mapping[str, bytes], build: Path) -> Binding:
    """Return the constraints of a plan of one network by the names of FINN's kernels.

    Raises
    ------
    InputError
        If the kernels are not those of the plan, or an engine may be several nodes; names both.

    """
    network, phase = plan.only_network, plan.only_phase
    name = f"{export.folder_of(plan, network.name)}/floorflow_plan.json"
    if name not in files:
        raise InputError(f"the plan has no {name}", hint="make the plan again with this version")
    hint = "the plan's folder was changed; make the plan again"
    data: dict[str, Any] = parse_json(files[name].decode("utf-8", "replace"), name, hint)
    try:
        found = bind_kernels(data, _kernels(data, build))
    except (AttributeError, LookupError, TypeError) as problem:
        raise InputError(f"{name}: is none that plan wrote ({problem!r})", hint) from problem
    except ValueError as problem:
        raise InputError(
            f"{build}: {problem}", hint=f"the plan is of phase {phase.name}, network {network.name}"
        ) from problem
    return Binding(as_files(found), found.cells, found.renamed, found.notes)


def _kernels(data: Mapping[str, Any], build: Path) -> Kernels:
    if not exists(build):
        raise InputError(f"{build}: no such folder", hint=_HINT)
    if any("{partition}" in fpga["cell_pattern"] for fpga in data["fpgas"]):
        return read_partitions(_kernel_folder(build))
    return read_whole(build if is_file(build) else _whole_model(build))


def _kernel_folder(build: Path) -> Path:
    folders = [build / place for place in _KERNELS]
    found = next((folder for folder in folders if any(folder.glob("partition_*.onnx"))), None)
    if found is None:
        raise InputError(f"{build}: holds no kernels (partition_<number>.onnx)", hint=_HINT)
    return found


def _whole_model(build: Path) -> Path:
    paths = [folder / name for name in _WHOLE for folder in (build, build / "intermediate_models")]
    found = next((path for path in paths if is_file(path)), None)
    if found is None:
        raise InputError(f"{build}: holds no graph with FIFOs ({', '.join(_WHOLE)})", hint=_HINT)
    return found
