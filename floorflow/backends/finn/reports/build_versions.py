"""Which FINN, and which Vivado and HLS, made a build: from what they write, never from the age of files.

What tells FINNs apart, here and in `read.variant`, was compared in Xilinx/finn main (39f0c9a) and dev (73ba5ed) and
eki-project/finn-plus 1.6.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from floorflow.backends.builds import Told
from floorflow.backends.finn.read.variant import finn_of
from floorflow.backends.finn.reports.build_files import MOST_FILES, BuildFiles, in_scratch, steps_of
from floorflow.backends.finn.reports.built_graph import BuiltGraph
from floorflow.backends.vivado.vivado_text import hls_version, vivado_version
from floorflow.reading import read_head

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
    told = tool_versions(build)
    # The option says what HLS makes; it comes in the same release as Vivado.
    told = {**told, "vivado": told["hls"]} if "hls" in told else told
    finn = _finn(build, graph, settings)
    return {**told, **({} if finn is None else {"finn": finn})}


def tool_versions(build: BuildFiles) -> dict[str, Told]:
    """Return the versions of Vivado and HLS by the first file that names each: reports of the whole before others."""
    found: dict[str, Told] = {}
    for path in _witnesses(build):
        head = read_head(path, _HEAD_BYTES)
        for tool, version in (("hls", hls_version(head)), ("vivado", vivado_version(head))):
            if version and tool not in found:
                found[tool] = Told(version, path.relative_to(build.folder).as_posix())
        if len(found) == len(_TOOLS):
            break
    return found


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
