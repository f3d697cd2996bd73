"""Which files below a folder are those of one FINN or FINN+ build, and which of them is taken for what."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from floorflow.backends.finn.reports.build_contents import (
    GRAPH,
    HIERARCHY,
    NAMES,
    UTILISATION,
    VIVADO,
    role_of,
)
from floorflow.errors import InputError, some
from floorflow.reading import files_below, is_folder, linked_folders_below, read_bytes, read_head, read_json

GRAPH_NAMES = ("kernel_partitions/partition_*.onnx", "step_*.onnx", "any other *.onnx that holds FINN's engines")
"""What is looked for as the graph, for people."""
SCRATCH = ("bitfile", "code_gen_*", "deploy", "driver", "stitched_ip", "verification_output*", "vivado_*_proj*")
"""Folders in which tools keep what is no report of the whole build."""
MODELS = "intermediate_models"
"""FINN's folder of the graphs after each step."""
MOST_FILES = 5000
"""Files whose contents are looked at, the nearest to the top first: Vivado's projects have thousands."""
_INNER = (*SCRATCH, "report", MODELS, "kernel_partitions")
"""Folders inside a build: what holds them is the build's own."""
_PROJECTS = ("vivado_zynq_proj*", "vitis_link_proj*")
"""Folders of FINN's scratch, of which each is another build."""
_RESULTS = ("synthesis", "estimates", "cycles", "performance", "simulation", "out of context", "folding")
"""What a build has once: two folders that differ in one of them are two builds."""
_AT_THE_TOP = frozenset({"synthesis", "estimates", "cycles", "out of context", UTILISATION, HIERARCHY})
"""Of which a folder with builds below it has one if it is a build itself; other files may be anybody's."""
_IN_SCRATCH = ("hardware handoff", *VIVADO)
"""Roles that may lie in scratch; nearer to the top goes first."""
_KERNELS = "kernel_partitions"
_HEAD_BYTES = 65536
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


@dataclass(frozen=True)
class BuildFiles:
    """The files of one build below ``folder``: all of them, what each is for, and what was left aside."""

    folder: Path
    files: tuple[Path, ...]
    roles: Mapping[Path, str]
    notes: tuple[str, ...] = ()

    def of(self, role: str) -> list[Path]:
        """Return the files of a role, by their paths."""
        return [path for path in self.files if self.roles.get(path) == role]

    @cached_property
    def by_role(self) -> Mapping[str, FoundFile]:
        """The file of each role that is there, and the others.

        FINN's report folder goes first, then FINN's own name, then the nearest to the top; of Vivado's reports that of
        the latest state of the largest design.
        """
        found = {}
        for role in sorted({*self.roles.values()} - {GRAPH}):
            held = [p for p in self.of(role) if role in _IN_SCRATCH or not in_scratch(p, self.folder)]
            if held:
                first, *others = sorted(held, key=lambda path: self._preference(role, path))
                found[role] = FoundFile(first, tuple(others))
        return found

    def _preference(self, role: str, path: Path) -> tuple[Any, ...]:
        scratch = in_scratch(path, self.folder)
        late = _lateness(path) if role in VIVADO else (0,)
        exact = 0 if any(path.name == pattern.replace("*", "") for pattern in NAMES.get(role, ())) else 1
        fifos = 0 if role != "folding" or "StreamingFIFO" in read_head(path, _HEAD_BYTES) else 1
        report = 0 if path.parent.name == "report" else 1
        return (report, scratch if role not in VIVADO else 0, late, exact, fifos, len(path.parts), str(path))


_STATE = re.compile(r"Design State\s*[:|]\s*(\w[\w ]*)")
"""What a report of Vivado says of its own design: Synthesized, Optimized, Fully Placed, Physopt postRoute, Routed."""


def _lateness(path: Path) -> tuple[int, int]:
    """Return how far from the finished chip a report of Vivado's is, and how small: the least is the best."""
    head = read_head(path, _HEAD_BYTES)
    state = _STATE.search(head)
    text = (state[1] if state else f"{path.name} {head[:4096]}").lower()
    stage = next((place for place, word in enumerate(("route", "place", "opt")) if word in text), 3)
    luts = re.search(r"(?:LUTs\*?|LUT as Logic)\s*\|\s*(\d+)", head)
    return stage, -int(luts[1]) if luts else 0


def one_build(folder: Path, *, by_vivado: bool = True) -> BuildFiles:
    """Return the files of the build in a folder.

    Which folder is a build's own is told by FINN's folders in it (``report``, ...). A build may lie in several folders
    (its reports in one, its graphs in another) that have no role twice. ``by_vivado``: reports of Vivado tell builds
    apart, too; reports of modules that were synthesised alone do not.

    Raises InputError if it holds several builds; names them.
    """
    files = files_below(folder)
    looked_at = sorted(files, key=lambda path: (len(path.parts), str(path)))
    roles = {path: role for path in looked_at[:MOST_FILES] if (role := role_of(path)) is not None}
    notes: tuple[str, ...] = (
        () if len(files) <= MOST_FILES else (f"{len(files):,} files: only {MOST_FILES:,} near the top were read",)
    )
    if links := linked_folders_below(folder):
        named = some(link.relative_to(folder).as_posix() for link in links)
        notes = (*notes, f"links to folders are not followed: {named}")
    homes: dict[Path, dict[str, Path]] = defaultdict(dict)
    for path in sorted(roles):
        if roles[path] in _IN_SCRATCH or not in_scratch(path, folder):
            homes[_home(path, folder)].setdefault(_what(path, roles), path)
    aside = _aside(folder, homes, (*_RESULTS, *(VIVADO if by_vivado else ())))
    kept = tuple(path for path in files if not any(home in (_home(path, folder), *path.parents) for home in aside))
    if aside:
        named = ", ".join(home.relative_to(folder).as_posix() for home in aside)
        notes = (*notes, f"left aside, as other builds: {named}")
    found = BuildFiles(folder, kept, {path: roles[path] for path in kept if path in roles}, notes)
    _require_one(found)
    return found


def _what(path: Path, roles: Mapping[Path, str]) -> str:
    """Return a file's role; what was asked for, and a design that was never placed, are not what was built."""
    role = roles[path]
    if role == "folding" and path.name not in NAMES[role]:
        return "folding as asked for"
    return f"{role}, not placed" if role in VIVADO and _lateness(path)[0] > 1 else role


def _home(path: Path, folder: Path) -> Path:
    """Return the folder of the build that a file belongs to, if its own names tell."""
    home = folder
    for part in path.relative_to(folder).parts[:-1]:
        if any(fnmatchcase(part, pattern) for pattern in _PROJECTS):
            return home / part
        if any(fnmatchcase(part, pattern) for pattern in _INNER):
            return home
        home /= part
    return home


def _aside(folder: Path, homes: Mapping[Path, Mapping[str, Path]], once: Sequence[str]) -> list[Path]:
    """Return the folders that belong to other builds than the one at the top.

    Raises InputError if there are several, and none of them at the top.
    """
    results = {home: {role: path for role, path in held.items() if role in once} for home, held in homes.items()}
    results = _joined(folder, {home: held for home, held in results.items() if held})
    clashing = sorted({h for h in results for other in results if h != other and _clash(results[h], results[other])})
    below = [home for home in clashing if home != folder]
    if clashing and not _AT_THE_TOP & results.get(folder, {}).keys():
        raise several(folder, below)
    aside = below
    graphs = [home for home, held in homes.items() if GRAPH in held and not _below(home, aside)]
    own = [home for home in graphs if home in results or not results]
    if len(graphs) > 1 and not results and folder not in graphs:
        raise several(folder, sorted(graphs))
    foreign = [home for home in graphs if home not in own and home != folder]
    return [*aside, *(foreign if own or len(foreign) > 1 else ())]


def _below(home: Path, others: Sequence[Path]) -> bool:
    return any(other in (home, *home.parents) for other in others)


def _joined(folder: Path, results: Mapping[Path, Mapping[str, Path]]) -> dict[Path, dict[str, Path]]:
    """Join folders with the build above them, but the top, where that has none of their roles."""
    joined: dict[Path, dict[str, Path]] = {}
    for home in sorted(results, key=lambda home: (len(home.parts), str(home))):
        above = next((p for p in home.parents if p in joined and p != folder and folder in p.parents), None)
        if above is not None and not _clash(joined[above], results[home]):
            joined[above] |= results[home]
        else:
            joined[home] = dict(results[home])
    return joined


def _clash(one: Mapping[str, Path], other: Mapping[str, Path]) -> bool:
    """Whether two folders have files of one role that differ."""
    shared = one.keys() & other.keys()
    return any(_digest(one[role]) != _digest(other[role]) for role in shared)


def _digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, "report", "make it readable")).hexdigest()


def several(folder: Path, builds: Sequence[Path]) -> InputError:
    """Return the error for a folder of several builds."""
    names = [path.relative_to(folder).as_posix() for path in builds]
    name = f"name one of them, such as {builds[0]}; " if is_folder(builds[0]) else ""
    return InputError(
        f"{folder}: holds {len(builds)} builds: {', '.join(names)}",
        hint=f"{name}the files of one build belong into a folder of its own",
    )


def _require_one(build: BuildFiles) -> None:
    """Refuse different reports of synthesis beside each other, unless FINN's names say that they are of one build."""
    found = build.by_role.get("synthesis")
    if found is None or found.path.name.startswith("post_synth_resources"):
        return
    beside = [path for path in (found.path, *found.others) if path.parent == found.path.parent]
    if len({_digest(path) for path in beside}) > 1:
        raise several(build.folder, beside)


def in_scratch(path: Path, folder: Path) -> bool:
    """Whether a file lies where tools keep scratch, or in a folder of that kind below the build's."""
    parts = path.relative_to(folder).parts[:-1]
    return any(fnmatchcase(part, pattern) for part in parts for pattern in SCRATCH)


def report_files(folder: Path, *, several: bool = False) -> list[Path]:
    """Return the files that may be reports of a whole build, or of modules of it that were synthesised alone.

    Only an ``output_dir`` with its steps' models has scratch folders: people may call a folder of reports ``driver``.
    Of several files of FINN's of one role the first is taken. ``several``: the builds of several FPGAs are all read.
    """
    if several:
        return [path for path in files_below(folder) if not in_scratch(path, folder) and MODELS not in path.parts]
    build = one_build(folder, by_vivado=False)
    if not is_folder(folder / MODELS):
        return list(build.files)
    second = {path for role, found in build.by_role.items() if role not in VIVADO for path in found.others}
    models = folder / MODELS
    return [p for p in build.files if not in_scratch(p, folder) and p not in second and models not in p.parents]


def kernels(build: BuildFiles) -> list[Path]:
    """Return the graphs of the kernels as they were synthesised, of which each is a file."""
    return [
        p for p in build.files if p.suffix == ".onnx" and p.parent.name == _KERNELS and not in_scratch(p, build.folder)
    ]


def graphs_before_kernels(build: BuildFiles) -> list[Path]:
    """Return the graphs of steps whose parts are the kernels, the latest first."""
    order = _step_order(build)
    return [p for p in _step_graphs(build, order) if _rank(p, order) >= _rank_of(_SYNTHESIS_STEP, order)]


def graphs_after_kernels(build: BuildFiles) -> list[Path]:
    """Return the graphs of earlier steps, the latest first, and then all other graphs by name."""
    order = _step_order(build)
    steps = _step_graphs(build, order)
    late = set(graphs_before_kernels(build)) | set(kernels(build))
    others = (p for p in build.files if p.suffix == ".onnx" and p not in steps and not in_scratch(p, build.folder))
    return [p for p in (*steps, *_with_fifos_first(others)) if p not in late]


def _with_fifos_first(paths: Iterator[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: ("fifo" not in path.name, str(path)))


def _step_graphs(build: BuildFiles, order: Sequence[str]) -> list[Path]:
    named = [p for p in build.files if p.suffix == ".onnx" and _STEP.search(p.name) and not in_scratch(p, build.folder)]
    return sorted(named, key=lambda path: (-_rank(path, order), str(path)))


def _rank(path: Path, order: Sequence[str]) -> int:
    """Return how late the step of a graph is; its file may have words around the step's name."""
    name = PurePosixPath(path.name).name
    return max((place for place, step in enumerate(order) if step in name), default=-1)


def _rank_of(step: str, order: Sequence[str]) -> int:
    return order.index(step) if step in order else len(order)


def _step_order(build: BuildFiles) -> tuple[str, ...]:
    """Return the steps of the build in order: those of time_per_step.json if it is there, else FINN's default ones."""
    return steps_of(build) or _STEPS


def steps_of(build: BuildFiles) -> tuple[str, ...]:
    """Return the steps that time_per_step.json has, in order; none if it is not there, or is not readable."""
    timed = build.by_role.get("step times")
    try:
        steps = None if timed is None else read_json(timed.path, "report", "")
    except InputError:  # the order is FINN's own, then
        return ()
    return tuple(str(step) for step in steps if _STEP.fullmatch(str(step))) if isinstance(steps, dict) else ()
