"""The whole bundle of an output folder: the plan, the platform's files, and what is emitted for other tools."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from floorflow import __version__
from floorflow.assets import asset_folder
from floorflow.emit.buffers import buffers
from floorflow.emit.chunks import chunk_files
from floorflow.emit.constraints import Assigned, Constraint, Pblock, tcl, xdc
from floorflow.emit.dfx import dfx_files, region_pblock
from floorflow.emit.links import link_kernel_files
from floorflow.emit.stitch import stitch_files
from floorflow.emit.topology import TOPOLOGY, topology
from floorflow.facts import Extras, PhaseEntry, Plan, report
from floorflow.facts.brief import NEXT_FILE
from floorflow.facts.constraint import STYLE_WORDS
from floorflow.facts.context import Context, PlanTexts
from floorflow.facts.extras import EXTRAS_FILE
from floorflow.facts.guide import BuildStep, Place, guide
from floorflow.facts.links import CardKernels
from floorflow.facts.platform import PlatformFacts
from floorflow.hardware import Fpga, Platform, free_cells, free_supply, stream_wires

_LIBRARY = "vivado/floorflow.tcl"
BUFFERS = "buffers.json"


class PlanBackend(PlanTexts, Protocol):
    """The part of a back end that a finished plan needs; a phase goes by its number."""

    @property
    def names_are_read(self) -> bool:
        """Whether what cells are called is known only from a build."""

    def files(self, plan: Plan, phase: int, /) -> Mapping[str, str]:
        """Return its own files of a phase, by their paths in the phase's folder."""

    def cells(self, plan: Plan, phase: int, cell_pattern: str, hierarchy: str, /) -> Mapping[str, str]:
        """Return every engine's cell, by its id, on a board with FINN's cells named so and kernels in ``hierarchy``."""

    def card_kernels(self, plan: Plan, phase: int, fpga: Mapping[str, Any], /) -> CardKernels | None:
        """Return the kernels that its build makes of a card's part, None where that is the user's to package."""

    def build_steps(self, plan: Plan, place: Place, /) -> Iterable[BuildStep]:
        """Return the way from a plan that lies in a place to what its tool makes of it."""

    def bound_files(
        self, plan: Plan, phase: int, fpgas: Sequence[Mapping[str, Any]], library: str, /
    ) -> Mapping[str, str]:
        """Return files for a build that tells what cells are called; of FPGAs their facts and constraints."""


def platform_facts(plan: Plan, platform: Platform) -> PlatformFacts:
    """Return what the platform's files say beside the plan and the report tells."""
    board = platform.fpgas[0].board
    slots = [(fpga.device, slot) for fpga in platform.fpgas for slot in fpga.slots]
    return PlatformFacts(
        free={slot.name: free_supply(device, slot) for device, slot in slots},
        free_cells={slot.name: free_cells(device, slot) for device, slot in slots},
        dies={fpga.name: len(fpga.device.slrs) for fpga in platform.fpgas},
        own_mhz=platform.own_mhz(plan.options.preset_mhz),
        most_fpgas=platform.most_fpgas if board.link is not None else len(platform.fpgas),
        described=platform.described,
        host_slots=(platform.host_in_slot, platform.host_out_slot),
        host_slr=board.host_slr,
        host=board.at_host,
        memories=board.memories,
        stream_wires=stream_wires,
    )


def bundle(plan: Plan, platform: Platform, backend: PlanBackend) -> dict[str, str | bytes]:
    """Return every file of the output folder but pictures and run.json."""
    files: dict[str, str | bytes] = {"plan.json": plan.to_json()}
    files |= {f"platform/{name}": content for name, content in platform.files.items()}
    return files | emit(plan, platform, backend, plan_digest(files))


def plan_digest(files: Mapping[str, str | bytes]) -> str:
    """Return the SHA-256 of plan.json, by which other files name it."""
    text = files["plan.json"]
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def extra_files(plan: Plan, extras: Extras, platform: Platform, backend: PlanBackend) -> dict[str, str]:
    """Return what follows once the plan stands: its extras, and the report with them, which no tool reads."""
    return {EXTRAS_FILE: extras.to_json(), "report.txt": report_text(plan, platform, backend, extras)}


def report_text(plan: Plan, platform: Platform, backend: PlanBackend, extras: Extras | None = None) -> str:
    """Return report.txt; ``extras``: once they are worked out."""
    return report(contexts(plan, platform, backend, extras))


def contexts(plan: Plan, platform: Platform, backend: PlanTexts, extras: Extras | None = None) -> list[Context]:
    """Return each phase of a plan with all that is told of it."""
    facts = platform_facts(plan, platform)
    return [Context(plan, phase, facts, backend, extras) for phase in plan.phases]


def emit(plan: Plan, platform: Platform, backend: PlanBackend, plan_sha256: str) -> dict[str, str]:
    """Return every emitted file: the report, the Tcl library, and of each phase constraints and the back end's files.

    ``plan_sha256`` stands in each header, so that a file can be traced to the plan that it came from.
    """
    header = f"Generated by floorflow {__version__} from plan.json sha256 {plan_sha256}; do not edit."
    files = {"report.txt": report_text(plan, platform, backend)}
    library = (asset_folder("tcl") / "floorflow.tcl").read_text(encoding="utf-8")
    if any(constrained_fpgas(phase, platform.fpgas) for phase in plan.phases):
        files[_LIBRARY] = library
    files |= dfx_files(plan, header) | chunk_files(plan) | stitch_files(plan, platform, header, plan_sha256)
    for number in range(len(plan.phases)):
        folder = plan.phase_folder(number)
        own = dict(backend.files(plan, number)) | _constraints(plan, number, platform, backend, header)
        fpgas = [_unbound(plan, number, fpga, header) for fpga in platform.fpgas]
        held = buffers(plan, number)
        own |= {} if held is None else {BUFFERS: held}
        joined = topology(plan, plan.phases[number], platform)
        kernels_of = {str(fpga["name"]): partial(backend.card_kernels, plan, number, fpga) for fpga in fpgas}
        linked = link_kernel_files(plan, plan.phases[number], kernels_of) if joined else {}
        own |= {} if joined is None else {TOPOLOGY: joined, **linked}
        own |= backend.bound_files(plan, number, fpgas, library)
        files |= {folder + name: content for name, content in own.items()}
    names = frozenset({"plan.json", *(f"platform/{name}" for name in platform.files), *files})
    place = Place(names)
    return files | {NEXT_FILE: guide(plan, backend.build_steps(plan, place), place)}


def _constraints(plan: Plan, number: int, platform: Platform, backend: PlanBackend, header: str) -> dict[str, str]:
    """Return the constraint files of a phase, for FPGAs of which anything is said.

    ``<fpga>/pblocks.xdc`` and ``<fpga>/pblocks.tcl``; where a build has yet to tell the names of cells, only
    ``<fpga>/pblocks.unbound.tcl``.
    """
    library = "../" * (1 + plan.phase_folder(number).count("/")) + _LIBRARY
    phase, files = plan.phases[number], {}
    for fpga in constrained_fpgas(phase, platform.fpgas):
        board, styles = fpga.board, _styles(phase, fpga)
        if backend.names_are_read:
            constraints = list(_of_fpga(phase, fpga, _members(phase)))
            text = tcl(header, styles, board.part, constraints, library, unbound=True)
            files[f"{fpga.name}/pblocks.unbound.tcl"] = text
            continue
        cells = backend.cells(plan, number, board.cell_pattern, board.shell.hierarchy if board.shell else "")
        constraints = list(_of_fpga(phase, fpga, cells))
        files[f"{fpga.name}/pblocks.xdc"] = xdc(header, styles, constraints)
        files[f"{fpga.name}/pblocks.tcl"] = tcl(header, styles, board.part, constraints, library)
    return files


def _unbound(plan: Plan, number: int, fpga: Fpga, header: str) -> dict[str, object]:
    """Return an FPGA's constraints with ``members:<module>`` in the place of cells, and what a build needs to know."""
    board, phase = fpga.board, plan.phases[number]
    texts = {}
    if fpga in constrained_fpgas(phase, [fpga]):
        styles, constraints = _styles(phase, fpga), list(_of_fpga(phase, fpga, _built(plan, phase)))
        texts["pblocks.tcl"] = tcl(header, styles, board.part, constraints)
        texts["pblocks.xdc"] = xdc(header, styles, constraints)
    return {
        "name": fpga.name,
        "board": board.name,
        "part": board.part,
        "platform": board.shell.name if board.shell else "",
        "cell_pattern": board.cell_pattern,
        "constraints": texts,
    }


def _members(phase: PhaseEntry) -> dict[str, str]:
    """Return, for every engine, what stands for the cells of its module until a build tells them."""
    return {engine: f"members:{module.name}" for module in phase.modules for engine in module.engines}


def _built(plan: Plan, phase: PhaseEntry) -> dict[str, str]:
    """Return the same of what one build makes: of copies the engines of the first."""
    members = _members(phase)
    if plan.replicas is None or len(plan.networks) == 1:
        return members
    return {engine: cells for engine, cells in members.items() if engine.startswith(f"{plan.networks[0].name}/")}


def _styles(phase: PhaseEntry, fpga: Fpga) -> list[str]:
    return [f"{slot.name}: {STYLE_WORDS[phase.constraint_styles[slot.name]]}" for slot in fpga.slots]


def constrained_fpgas(phase: PhaseEntry, fpgas: Sequence[Fpga]) -> list[Fpga]:
    """Return the FPGAs that have constraint files: those with a slot of another style than ``none``."""
    styles = phase.constraint_styles
    return [fpga for fpga in fpgas if any(styles[slot.name] != "none" for slot in fpga.slots)]


def _of_fpga(phase: PhaseEntry, fpga: Fpga, cells: Mapping[str, str]) -> Iterator[Constraint]:
    """Yield pblocks in the order of modules, then the SLRs of what has none."""
    slots = {slot.name: slot for slot in fpga.slots}
    entries, styles = phase.floorplan[fpga.name].pblocks, phase.constraint_styles
    alone: dict[str, list[str]] = {}
    for module in phase.modules:
        if module.name not in entries or module.engines[0] not in cells:
            continue
        entry = entries[module.name]
        slr, style = slots[entry.slot].slr, styles[entry.slot]
        own = tuple(dict.fromkeys(cells[engine] for engine in module.engines))
        if style in {"soft", "hard"}:
            parent = region_pblock(phase.region) if phase.region else fpga.board.parent_pblock(slr)
            yield Pblock(f"pblock_{module.name}", tuple(entry.ranges), parent, own, soft=style == "soft")
        elif style == "slr":
            alone.setdefault(slr, []).extend(own)
    yield from (Assigned(slr, tuple(own)) for slr, own in alone.items())
