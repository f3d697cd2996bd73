"""Pblocks that the user states: where they are, which modules they are of, and what their engines may be then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from floorflow.dataflow.modules import Module
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError, Refusal, Refused, some
from floorflow.hardware import Platform, StatedPblock, stated_pblock
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, scaled_down


def stated_pblocks(platform: Platform, request: Request) -> Mapping[str, StatedPblock]:
    """Return where the user wants pblocks, by the name of an engine or module.

    Raises
    ------
    InputError
        If one cannot be drawn there, or two overlap.

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

    Raises
    ------
    InputError
        If a name is of no engine and no module, or two pblocks are of one module.

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
    found = []
    for group in groups:
        kept = _within(group, stated, platform, request)
        if isinstance(kept, Refused):
            return kept
        found.append(kept)
    return tuple(found)


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
