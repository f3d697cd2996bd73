"""Which part, board and clock a build is for, and which FINN, Vivado and HLS made it: from what these write.

The age of files tells nothing. What tells FINNs apart, here and in `finn_of`, was compared in Xilinx/finn main
(39f0c9a) and dev (73ba5ed) and eki-project/finn-plus 1.6.1.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from floorflow.backends.builds import Told
from floorflow.backends.finn.read.dataflow import finn_of
from floorflow.backends.finn.reports.build_files import MOST_FILES, BuildFiles, in_scratch, steps_of
from floorflow.backends.finn.reports.built_graph import BuiltGraph
from floorflow.backends.vivado.reports import hls_version, vivado_version
from floorflow.reading import read_head

PART_OF_BOARD: Mapping[str, str] = {
    "pynq-z1": "xc7z020clg400-1",
    "pynq-z2": "xc7z020clg400-1",
    "ultra96": "xczu3eg-sbva484-1-e",
    "ultra96-v2": "xczu3eg-sbva484-1-i",
    "aup-zu3_8gb": "xczu3eg-sfvc784-2-e",
    "zcu102": "xczu9eg-ffvb1156-2-e",
    "zcu104": "xczu7ev-ffvc1156-2-e",
    "zcu111": "xczu28dr-ffvg1517-2-e",
    "rfsoc2x2": "xczu28dr-ffvg1517-2-e",
    "rfsoc4x2": "xczu48dr-ffvg1517-2-e",
    "kv260_som": "xck26-sfvc784-2lv-c",
    "u50": "xcu50-fsvh2104-2l-e",
    "u55c": "xcu55c-fsvh2892-2l-e",
    "u200": "xcu200-fsgd2104-2-e",
    "u250": "xcu250-figd2104-2l-e",
    "u280": "xcu280-fsvh2892-2l-e",
}
"""FINN's names of boards, in small letters, and the parts that it takes for them."""

_ZYNQ_PORT_BITS, _ZYNQ_ULTRASCALE_PORT_BITS, _VITIS_PORT_BITS = 64, 128, 512
"""Widest words of DMA engines: FINN's ``pynq_native_port_width``, and what it gives Vitis (``InsertIODMA(512)``)."""

_SYSTEM = re.compile(r"<SYSTEMINFO\b[^>]*>")
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_MOST_HANDOFF_CHARACTERS = 65536
"""The element stands at the top of the file."""


def settings(text: str, file: str) -> dict[str, Any]:
    """Return the settings in a JSON or YAML file; none if they cannot be read, for they are not needed."""
    try:
        content = json.loads(text) if file.endswith(".json") else yaml.safe_load(text)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, yaml.YAMLError):
        return {}
    return content if isinstance(content, dict) else {}


def board_in(content: Mapping[str, Any]) -> tuple[str, str]:
    """Return board and part as FINN's build configuration names them; empty where it does not."""
    board, part = (
        str(held).lower() if isinstance(held := content.get(key), str) else "" for key in ("board", "fpga_part")
    )
    return board, part or PART_OF_BOARD.get(board, "")


def asked_clock_mhz(content: Mapping[str, Any]) -> float | None:
    """Return the clock of FINN's build configuration, which is a period in ns."""
    period_ns = content.get("synth_clk_period_ns")
    if isinstance(period_ns, bool) or not isinstance(period_ns, int | float) or not 1e-3 <= period_ns <= 1e6:
        return None
    return round(1000 / period_ns, 6)


def handed_off(text: str) -> tuple[str, str]:
    """Return board and part of a hardware handoff (.hwh): its SYSTEMINFO has die, package and speed grade.

    7-series parts are written in one word (``xc7z020clg400-1``), later ones with dashes between the fields.
    """
    element = _SYSTEM.search(text[:_MOST_HANDOFF_CHARACTERS])
    if element is None:
        return "", ""
    fields = {name: value.lower() for name, value in _ATTRIBUTE.findall(element[0])}
    named = fields.get("BOARD", "").split(":")
    board = named[1] if len(named) > 1 else ""
    device, package, speed = (fields.get(name, "") for name in ("DEVICE", "PACKAGE", "SPEEDGRADE"))
    if not device:
        return board, PART_OF_BOARD.get(board, "")
    device = device if device.startswith("x") else f"xc{device}"
    seven = device.startswith(("xc7", "xa7", "xq7"))
    return board, f"{device}{package}{speed}" if seven else f"{device}-{package}{speed}"


def host_port_bits(board: str, part: str) -> int | None:
    """Return the width of the memory port that FINN gives DMA engines on a board, at most."""
    name = (PART_OF_BOARD.get(board.lower(), "") or part).lower()
    if name.startswith("xc7z"):
        return _ZYNQ_PORT_BITS
    if name.startswith(("xczu", "xck26", "xck24")):
        return _ZYNQ_ULTRASCALE_PORT_BITS
    return _VITIS_PORT_BITS if name.startswith("xcu") else None


_PLUS_STEPS = frozenset({"step_generate_hardware", "step_prepare_synthesis", "step_minimize_bit_width_initial"})
_MAIN_STEPS = frozenset({"step_make_pynq_driver"})
_PLUS_SETTINGS = frozenset(
    {
        *("enable_instrumentation", "single_stream_network", "ideal_utilization", "partition_strategy", "topology"),
        *("communication_kernel", "parallel_synthesis_workers", "separate_iodmas", "vitis_iodma_intf_max_width"),
    }
)
_HEAD_BYTES = 4096
_ENDS = (".rpt", ".txt", ".log", ".jou", ".xml", ".xpr", ".hwh", ".json")
_TOOLS = ("vivado", "hls")


def told_options(build: BuildFiles, graph: BuiltGraph | None, settings: Mapping[str, object]) -> dict[str, Told]:
    """Return which ``finn`` and ``vivado`` a build tells, as the options are called, and ``hls``."""
    # By the first file that names each: reports of the whole before others.
    told: dict[str, Told] = {}
    for path in _witnesses(build):
        head = read_head(path, _HEAD_BYTES)
        for tool, version in (("hls", hls_version(head)), ("vivado", vivado_version(head))):
            if version and tool not in told:
                told[tool] = Told(version, path.relative_to(build.folder).as_posix())
        if len(told) == len(_TOOLS):
            break
    # The option says what HLS makes; it comes in the same release as Vivado.
    told = {**told, "vivado": told["hls"]} if "hls" in told else told
    finn = _finn(build, graph, settings)
    return {**told, **({} if finn is None else {"finn": finn})}


def _witnesses(build: BuildFiles) -> Iterator[Path]:
    """Yield files that may name a version, those of the whole build first."""
    order = ("timing", "utilisation", "utilisation by hierarchy", "out of context", "hardware handoff")
    first = [build.by_role[role].path for role in order if role in build.by_role]
    yield from first
    rest = [p for p in build.files if p.suffix.lower() in _ENDS and p not in first]
    yield from sorted(rest, key=lambda path: (in_scratch(path, build.folder), len(path.parts), str(path)))[:MOST_FILES]


def _finn(build: BuildFiles, graph: BuiltGraph | None, settings: Mapping[str, object]) -> Told | None:
    """Return the FINN that made a build; None if nothing tells it from the others."""
    votes = [
        (_of_settings(settings.keys()), "build settings"),
        (_of_steps(steps_of(build)), "step times"),
        (None if graph is None else finn_of(graph.graph.flat.nodes), "graph"),
    ]
    for finn, role in votes:
        if finn is not None:
            path = graph.path if role == "graph" and graph is not None else build.by_role[role].path
            return Told(finn, path.relative_to(build.folder).as_posix())
    return None


def _of_settings(keys: Collection[str]) -> str | None:
    return "plus" if _PLUS_SETTINGS & set(keys) else None


def _of_steps(steps: Collection[str]) -> str | None:
    if _PLUS_STEPS & set(steps):
        return "plus"
    return "main" if _MAIN_STEPS & set(steps) else None
