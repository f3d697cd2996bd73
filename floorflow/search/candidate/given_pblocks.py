"""Pblocks that are given: where the user states them, and those of an earlier plan near which another is to stay."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import numpy as np

from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.modules import Module
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError, Refusal, Refused, all_found, some
from floorflow.facts.plan import read_plan
from floorflow.facts.values import InputFile
from floorflow.hardware import Platform, Rect, StatedPblock, stated_pblock
from floorflow.reading import is_folder, read_bytes
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, scaled_down


def stated_pblocks(platform: Platform, request: Request) -> Mapping[str, StatedPblock]:
    """Return where the user wants pblocks, by the name of an engine or module.

    InputError if one cannot be drawn there, or two overlap.
    """
    found = {
        name: stated_pblock(platform, area, f"--fix-pblock {name}={area}") for name, area in request.fix_pblock.items()
    }
    for (name, one), (other, beside) in combinations(found.items(), 2):
        if one.slot == beside.slot and one.rect.overlaps(beside.rect):
            told = f"--fix-pblock {other}={beside.text}: it overlaps that of {name}, {one.text}"
            raise InputError(told, hint="give ranges that share nothing")
    return found


def by_module(
    stated: Mapping[str, StatedPblock], modules: Sequence[Module], earlier: Mapping[str, str]
) -> dict[str, StatedPblock]:
    """Return the pblocks by module; ``earlier`` are the names of engines before their kinds are chosen.

    InputError if a name is of no engine and no module, or two pblocks are of one module.
    """
    found: dict[str, StatedPblock] = {}
    names: dict[str, str] = {}
    for name, pblock in stated.items():
        module = next((m.name for m in modules if _is_of(name, m, earlier)), None)
        told = f"--fix-pblock {name}={pblock.text}"
        if module is None:
            known = some([module.name for module in modules])
            raise InputError(f"{told}: there is no engine or module of that name", hint=f"modules are {known}")
        if module in found:
            raise InputError(
                f"{told}: module {module} has a pblock already, by {names[module]}",
                hint="give each module one, or a finer --granularity",
            )
        found[module], names[module] = pblock, name
    return found


def _is_of(name: str, module: Module, earlier: Mapping[str, str]) -> bool:
    return name == module.name or any(name in (engine, earlier.get(engine)) for engine in module.engines)


def within_pblocks(
    groups: Iterable[OptionGroup], stated: Mapping[str, StatedPblock], platform: Platform, request: Request
) -> tuple[OptionGroup, ...] | Refused:
    """Keep the foldings of engines that fit the pblocks that are stated for them; refused if an engine has none."""
    return all_found(_within(group, stated, platform, request) for group in groups)


def _within(
    group: OptionGroup, stated: Mapping[str, StatedPblock], platform: Platform, request: Request
) -> OptionGroup | Refused:
    for position, engine in enumerate(group.engines):
        if engine not in stated:
            continue
        pblock = stated[engine]
        held = scaled_down(platform.fpga_of[pblock.slot].device.resources(pblock.rect), request.fullest_fill)
        use = group.engine_use[:, position]
        fits = np.asarray((use <= np.array(held.as_tuple())).all(axis=1))
        if not fits.any():
            least, most = use.min(axis=0).tolist(), held.as_tuple()
            over = [(n, h, w) for n, h, w in zip(RESOURCE_NAMES, most, least, strict=True) if w > h]
            name, have, wanted = over[0] if over else _nearest(use.tolist(), most)
            refusal = Refusal("fixed pblock", name, pblock.slot, wanted, have, proven=True, names=(engine,))
            return Refused(str(refusal), "give it a larger range", (refusal,), "proven")
        group = group.subset(fits)
    return group


def _nearest(uses: Sequence[Sequence[int]], most: Sequence[int]) -> tuple[str, int, int]:
    """Return what is short of the folding that comes nearest: resource, what there is and what it needs."""
    worst = [max(range(len(most)), key=lambda kind: use[kind] / max(most[kind], 1)) for use in uses]
    row = min(range(len(uses)), key=lambda row: uses[row][worst[row]] / max(most[worst[row]], 1))
    return RESOURCE_NAMES[worst[row]], most[worst[row]], uses[row][worst[row]]


@dataclass(frozen=True)
class Previous:
    """Modules of an earlier plan with the slot of each, and the rectangle of those that had just one.

    ``operations``: of each engine, in order, what it computes and its module's slot. ``file``: what was read.
    """

    modules: tuple[Module, ...] = ()
    slot_of: Mapping[str, str] = field(default_factory=dict)
    rects: Mapping[str, Rect] = field(default_factory=dict)
    file: InputFile | None = None
    operations: tuple[tuple[str, str], ...] = ()
    interval_cycles: int = 0

    @cached_property
    def names(self) -> Mapping[frozenset[str], str]:
        """What modules are called, by their engines."""
        return {frozenset(module.engines): module.name for module in self.modules}

    def of(self, modules: Sequence[Module], slot_of: Mapping[str, str]) -> dict[str, Rect]:
        """Return the rectangles of those modules that have the same engines and the same slot."""
        pairs = ((module.name, self.names.get(frozenset(module.engines), "")) for module in modules)
        return {n: self.rects[old] for n, old in pairs if old in self.rects and self.slot_of[old] == slot_of[n]}

    def clustered(self, engines: Collection[str]) -> tuple[Module, ...] | None:
        """Return the modules if they hold just these engines, else None."""
        held = [engine for module in self.modules for engine in module.engines]
        return self.modules if sorted(held) == sorted(engines) else None


NOT_BEFORE = Previous()


def read_previous(path: Path | None, platform: Platform, option: str = "--stay-near") -> Previous:
    """Read an earlier plan of the same FPGAs: a plan.json, or the folder that holds it.

    InputError if it cannot be read, is of other parts, or has several phases.
    """
    if path is None:
        return NOT_BEFORE
    file = path / "plan.json" if is_folder(path) else path
    plan = read_plan(file)
    told = f"{option} {path}"
    if len(plan.phases) > 1:
        raise InputError(f"{told}: its {len(plan.phases)} phases take turns", hint="give a plan of one design")
    earlier, now = [fpga.part for fpga in plan.platform.fpgas], [fpga.board.part for fpga in platform.fpgas]
    if earlier != now:
        raise InputError(
            f"{told}: it is of {', '.join(earlier)}, not of {', '.join(now)}",
            hint="ask for the same FPGAs, or leave it out",
        )
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
    homes = {engine: entries[module.name].slot for module in modules for engine in module.engines}
    engines = [
        (engine.operation, homes.get(engine.name, "")) for network in plan.networks for engine in network.engines
    ]
    intervals = [network.search.interval_cycles for network in plan.networks]
    slots = {name: entry.slot for name, entry in entries.items()}
    return Previous(modules, slots, rects, read, tuple(engines), max(intervals))


def slots_before(request: Request, before: Previous, dataflow: Dataflow) -> dict[str, str] | None:
    """Return the slots of engines in the plan to start from, None if there is none.

    InputError if that is of another network.
    """
    if request.start_from is None:
        return None
    if [operation for operation, _ in before.operations] != [engine.operation for engine in dataflow.engines]:
        told = f"--from {request.start_from}: it is of another network, or of other engines"
        raise InputError(told, hint="give the folder of an earlier plan of this model, or leave it out")
    return {engine.name: slot for engine, (_, slot) in zip(dataflow.engines, before.operations, strict=True)}
