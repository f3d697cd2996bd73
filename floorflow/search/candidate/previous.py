"""An earlier plan near which another is to stay: its modules, their slots and their rectangles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from floorflow.dataflow.modules import Module
from floorflow.errors import InputError
from floorflow.facts import InputFile, read_plan
from floorflow.hardware import Platform, Rect
from floorflow.reading import is_folder, read_bytes


@dataclass(frozen=True)
class Previous:
    """Modules of an earlier plan with the slot of each, and the rectangle of those that had just one.

    ``file``: what was read.
    """

    modules: tuple[Module, ...] = ()
    slot_of: Mapping[str, str] = field(default_factory=dict)
    rects: Mapping[str, Rect] = field(default_factory=dict)
    file: InputFile | None = None

    def of(self, modules: Sequence[Module], slot_of: Mapping[str, str]) -> dict[str, Rect]:
        """Return the rectangles of those modules that have the same engines and the same slot."""
        same = {frozenset(m.engines): m.name for m in self.modules}
        pairs = ((module.name, same.get(frozenset(module.engines), "")) for module in modules)
        return {n: self.rects[old] for n, old in pairs if old in self.rects and self.slot_of[old] == slot_of[n]}

    def clustered(self, engines: Collection[str]) -> tuple[Module, ...] | None:
        """Return the modules if they hold just these engines, else None."""
        held = [engine for module in self.modules for engine in module.engines]
        return self.modules if sorted(held) == sorted(engines) else None


NOT_BEFORE = Previous()


def read_previous(path: Path | None, platform: Platform) -> Previous:
    """Read an earlier plan of the same FPGAs: a plan.json, or the folder that holds it.

    Raises
    ------
    InputError
        If it cannot be read, is of other parts, or has several phases.

    """
    if path is None:
        return NOT_BEFORE
    file = path / "plan.json" if is_folder(path) else path
    plan = read_plan(file)
    told = f"--stay-near {path}"
    if len(plan.phases) > 1:
        raise InputError(f"{told}: its {len(plan.phases)} phases take turns", hint="give a plan of one design")
    earlier, now = [fpga.part for fpga in plan.platform.fpgas], [fpga.board.part for fpga in platform.fpgas]
    if earlier != now:
        raise InputError(f"{told}: it is of {', '.join(earlier)}, not of {', '.join(now)}", hint="leave it out")
    (phase,) = plan.phases
    read = InputFile(
        path=file.name, sha256=sha256(read_bytes(file, "plan", "give a folder that plan wrote")).hexdigest()
    )
    entries = {name: entry for held in phase.floorplan.values() for name, entry in held.pblocks.items()}
    rects = {
        name: Rect(r.left, r.bottom, r.right, r.top)
        for name, entry in entries.items()
        for r in entry.rectangles
        if len(entry.rectangles) == 1
    }
    modules = tuple(Module(module.name, tuple(module.engines)) for module in phase.modules)
    return Previous(modules, {name: entry.slot for name, entry in entries.items()}, rects, read)
