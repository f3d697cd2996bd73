"""A strict model of Vivado's placement commands, to run what floorflow emits without Vivado."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .arguments import VivadoError
from .design import Streams
from .model import VivadoModel

__all__ = ["VivadoError", "VivadoModel", "run_outputs"]


def run_outputs(
    out: Path,
    fpga: str,
    cells: Iterable[str],
    device_yaml: Path,
    parents: Mapping[str, Sequence[str]],
    part: str | None = None,
    streams: Mapping[str, Streams] | None = None,
) -> dict[str, VivadoModel]:
    """Run ``OUT/<fpga>/pblocks.xdc`` and ``pblocks.tcl``, each in a model of its own; before binding the unbound one.

    ``parents`` are the shell's pblocks with their ranges, ``part`` is by default plan.json's. Returns the models as
    ``{"xdc": model, "tcl": model}``; raises VivadoError.
    """
    cells = list(cells)
    part = part or _planned_part(out, fpga)
    unbound = out / fpga / "pblocks.unbound.tcl"
    if unbound.exists():
        model = VivadoModel(device_yaml, cells, parents, part, streams)
        model.run_tcl(unbound, ["-unbound"])
        return {"unbound": model}
    xdc = VivadoModel(device_yaml, cells, parents, part, streams)
    xdc.run_xdc(out / fpga / "pblocks.xdc")
    tcl = VivadoModel(device_yaml, cells, parents, part, streams)
    tcl.run_tcl(out / fpga / "pblocks.tcl")
    return {"xdc": xdc, "tcl": tcl}


def _planned_part(out: Path, fpga: str) -> str:
    plan = json.loads((out / "plan.json").read_text(encoding="utf-8"))
    parts = {entry["name"]: str(entry["part"]) for entry in plan["platform"]["fpgas"]}
    return parts[fpga]
