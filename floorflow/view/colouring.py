"""What the colours of modules say: one of a table of colourings, each with its legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.errors import InputError
from floorflow.view.names import (
    Plan,
    core_rank,
    engines_by_id,
    module_networks,
    modules_in_order,
    network_names,
    slot_labels,
)
from floorflow.view.palette import APART, UNKNOWN, Colour, level_colour, module_colours

ORDER = "colour: along the dataflow"
_TICKS, _MOST_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 5
"""How far apart the samples of a scale may be, and into how many parts it is cut at most."""


@dataclass(frozen=True)
class Colouring:
    """The colour of each module in dataflow order, and what colours mean: ``says``, and samples with their texts."""

    says: str
    colours: tuple[Colour, ...]
    samples: tuple[tuple[str, Colour], ...]
    is_scale: bool = False

    def legend(self, shown: Iterable[Colour]) -> list[tuple[str, Colour]]:
        """Return the samples of a picture with modules of these colours: all of a scale, else those that are there."""
        there = set(shown)
        return [sample for sample in self.samples if self.is_scale or sample[1] in there]


def colouring_of(plan: Plan, phase: int, by: str | None) -> Colouring:
    """Colour the modules of a phase by one of `COLOURINGS`; by default by network, or by order if there is one.

    Raises InputError if there is no colouring of that name.
    """
    by = by or ("network" if len(plan["networks"]) > 1 else "order")
    if by not in COLOURINGS:
        raise InputError(f"no colouring is called '{by}'", hint=f"there are {', '.join(COLOURINGS)}")
    return COLOURINGS[by](plan, phase)


def _by_order(plan: Plan, phase: int) -> Colouring:
    count = len(plan["phases"][phase]["modules"])
    colours = module_colours(count)
    shown = sorted({1, (count + 1) // 2, count} - {0})
    samples = tuple((f"module {number}", colours[number - 1]) for number in shown)
    return Colouring(ORDER, colours, samples, is_scale=True)


def _by_kind(plan: Plan, phase: int) -> Colouring:
    """Colour by the label of what a module computes: its first engine of those that matter most."""
    known = engines_by_id(plan)

    def kind(names: Sequence[str]) -> str:
        return str(min((known[name] for name in names), key=core_rank)["label"])

    named = [kind(module["engines"]) for number in _phases(plan) for module in modules_in_order(plan, number)]
    own = [kind(module["engines"]) for module in modules_in_order(plan, phase)]
    return _named("colour: kind of the module's chief engine", own, dict.fromkeys(named))


def _by_slot(plan: Plan, phase: int) -> Colouring:
    homes = plan["phases"][phase]["partition"]["assignment"]
    own = [homes[module["name"]] for module in modules_in_order(plan, phase)]
    names = slot_labels(plan) if len(plan["platform"]["fpgas"]) == 1 else {name: name for name in slot_labels(plan)}
    return _named("colour: slot", [names[slot] for slot in own], names.values(), again=True)


def _by_network(plan: Plan, phase: int) -> Colouring:
    names = network_names(plan)
    return _named("colour: network", [names[place] for place in module_networks(plan, phase)], names, again=True)


def _by_fill(plan: Plan, phase: int) -> Colouring:
    pblocks = _pblocks(plan, phase)
    values = [
        max((needed / pblock["supply"][name] for name, needed in pblock["demand"].items() if pblock["supply"][name]),
            default=0.0)
        for pblock in pblocks
    ]  # fmt: skip
    return _scaled("colour: how full the pblock is of its scarcest resource", values)


def _by_interval(plan: Plan, phase: int) -> Colouring:
    shares: dict[str, float] = {}
    for network in plan["phases"][phase]["networks"]:
        cycles = network["folding"]["engines"]
        shares |= {name: entry["cycles"] / network["interval_cycles"] for name, entry in cycles.items()}
    own = [max(shares.get(name, 0.0) for name in module["engines"]) for module in modules_in_order(plan, phase)]
    return _scaled("colour: cycles of the module's slowest engine as a share of the interval", own)


def _by_likelihood(plan: Plan, phase: int) -> Colouring:
    return _scaled("colour: how likely the pblock holds the module", [p["likelihood"] for p in _pblocks(plan, phase)])


COLOURINGS: Mapping[str, Callable[[Plan, int], Colouring]] = {
    "kind": _by_kind,
    "order": _by_order,
    "slot": _by_slot,
    "fill": _by_fill,
    "interval": _by_interval,
    "likelihood": _by_likelihood,
    "network": _by_network,
}


def _phases(plan: Plan) -> range:
    return range(len(plan["phases"]))


def _pblocks(plan: Plan, phase: int) -> list[Mapping[str, Any]]:
    """Return the pblocks of all modules in dataflow order."""
    dies = plan["phases"][phase]["floorplan"].values()
    found = {name: pblock for die in dies for name, pblock in die["pblocks"].items()}
    return [found[module["name"]] for module in modules_in_order(plan, phase)]


def _named(says: str, own: Sequence[str], names: Iterable[str], *, again: bool = False) -> Colouring:
    """Give names colours in turn; where these end, ``again`` from the first, or the rest has none of its own."""
    turns = dict(zip(names, (APART * 99 if again else APART), strict=False))
    colours = tuple(turns.get(name, UNKNOWN) for name in own)
    samples = tuple((name, turns[name]) for name in dict.fromkeys(own) if name in turns)
    return Colouring(says, colours, (*samples, *([("others", UNKNOWN)] if UNKNOWN in colours else [])))


def _scaled(says: str, values: Sequence[float | None]) -> Colouring:
    """Colour shares by a scale from below the least to above the largest of them."""
    known = [value for value in values if value is not None] or [0.0]
    ends = [(math.floor(min(known) / tick), max(math.ceil(max(known) / tick - 1e-9), 1), tick) for tick in _TICKS]
    first, last, tick = next((each for each in ends if each[1] - each[0] <= _MOST_TICKS), ends[-1])
    last = max(last, first + 1)

    def colour(value: float) -> Colour:
        return level_colour((value / tick - first) / (last - first))

    colours = tuple(UNKNOWN if value is None else colour(value) for value in values)
    samples = [(f"{tick * number:.0%}", colour(tick * number)) for number in range(first, last + 1)]
    samples += [("not known", UNKNOWN)] if None in values else []
    return Colouring(says, colours, tuple(samples), is_scale=True)
