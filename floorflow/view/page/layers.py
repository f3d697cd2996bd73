"""The network on the page, layer by layer: streams, the slot of each layer, how it is folded, and its rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from floorflow.facts.folding import FoldedEntry
from floorflow.facts.phase import PhaseEntry, PhaseNetworkEntry
from floorflow.facts.plan import Plan as PlanFacts
from floorflow.facts.text import rate
from floorflow.view.names import Plan, modules_in_order, slot_labels
from floorflow.view.page.dies import key_of, slot_colours
from floorflow.view.page.html import Html, bar, element, joined, table
from floorflow.view.palette import Colour, darker

_HEIGHT, _LANE = 24, 10
"""Pixels: height of a row, and the distance of two streams that pass it side by side."""


@dataclass(frozen=True)
class Layer:
    """A layer of the model: engines that compute it, one after another, the number and the slot of their module."""

    name: str
    engines: Mapping[str, FoldedEntry]
    kinds: str
    module: int
    slot: str

    @property
    def slowest(self) -> FoldedEntry:
        """The engine that takes most cycles."""
        return max(self.engines.values(), key=lambda entry: entry.cycles)


def network_table(facts: PlanFacts, plan: Plan, phase: int, part: PhaseNetworkEntry) -> Html:
    """Return a row a layer of a network, as far as it runs in a phase."""
    layers = _layers(facts, plan, phase, part)
    colours, labels = slot_colours(plan), slot_labels(plan)
    several = len(plan["platform"]["fpgas"]) > 1
    clock_hz = part.estimates.clock_mhz * 1e6
    rows, keys = [], []
    for drawing, layer in zip(_drawn(layers, _edges(layers, facts.phases[phase]), colours), layers, strict=True):
        slowest, sets = layer.slowest, layer.slowest.cycles == part.interval_cycles
        place = layer.slot if several else labels[layer.slot]
        cycles = joined([bar(slowest.cycles / part.interval_cycles), f" {slowest.cycles:,}"])
        fps = rate(clock_hz / slowest.cycles) if slowest.cycles else "-"
        told = element("b", f"{fps} sets the rate") if sets else fps
        rows.append((drawing, layer.name, str(layer.module), place, layer.kinds, slowest.width or "-", cycles, told))
        keys.append(f' data-m="{key_of(phase, layer.module)}"' + ' class="sets"' * sets)
    heading = ("", "layer", "module", "slot", "engines", "folding of the slowest", "cycles a frame", "frames/s alone")
    made = table(f"layers of {part.network}", heading, rows, numbers="  n     ", of_rows=keys)
    return Html(made.replace('class="box"', 'class="box network"', 1))


def _layers(facts: PlanFacts, plan: Plan, phase: int, part: PhaseNetworkEntry) -> list[Layer]:
    """Return the layers of a network in a phase by their first engines; one in several modules is several."""
    slot_of = facts.phases[phase].slot_of
    number_of = {name: n for n, m in enumerate(modules_in_order(plan, phase), start=1) for name in m["engines"]}
    found: dict[tuple[str, int], dict[str, str]] = {}
    for name, engine in facts.engines.items():
        if name in part.folding.engines and name in number_of:
            found.setdefault((engine.operation, number_of[name]), {})[name] = engine.label
    return [
        Layer(
            operation,
            {name: part.folding.engines[name] for name in labels},
            ", ".join(_counted([*labels.values()])),
            number,
            slot_of[next(iter(labels))],
        )
        for (operation, number), labels in found.items()
    ]


def _counted(labels: Sequence[str]) -> Iterator[str]:
    for label in dict.fromkeys(labels):
        count = labels.count(label)
        yield label if count == 1 else f"{count} {label}"


def _edges(layers: Sequence[Layer], phase: PhaseEntry) -> set[tuple[int, int]]:
    """Return from which layer to which a stream goes, by their numbers."""
    number_of = {name: number for number, layer in enumerate(layers) for name in layer.engines}
    ends = [(number_of.get(c.source), number_of.get(c.target)) for c in phase.channels]
    return {(min(a, b), max(a, b)) for a, b in ends if a is not None and b is not None and a != b}


def _drawn(layers: Sequence[Layer], edges: set[tuple[int, int]], colours: Mapping[str, Colour]) -> Iterator[Html]:
    """Yield of each layer its part of the drawing: a dot in its slot's colour, and the streams beside it.

    Streams to the next layer run straight down, others in lanes, the first that is free.
    """
    lanes = _lanes(edge for edge in sorted(edges) if edge[1] - edge[0] > 1)
    width = (max(lanes.values(), default=0) + 1) * _LANE + 16
    for number, layer in enumerate(layers):
        half, paths = _HEIGHT // 2, []
        paths += [f"M10 0V{half}"] * ((number - 1, number) in edges)
        paths += [f"M10 {half}V{_HEIGHT + 1}"] * ((number, number + 1) in edges)
        for (first, last), lane in lanes.items():
            x = 10 + lane * _LANE
            if first == number:
                paths.append(f"M10 {half}Q{x} {half} {x} {_HEIGHT}")
            elif last == number:
                paths.append(f"M{x} 0Q{x} {half} 10 {half}")
            elif first < number < last:
                paths.append(f"M{x} 0V{_HEIGHT + 1}")
        colour = colours[layer.slot]
        dot = f'<circle cx="10" cy="{half}" r="6" fill="{colour}" stroke="{darker(colour)}"/>'
        size = f'width="{width}" height="{_HEIGHT}"'
        yield Html(f'<svg {size} aria-hidden="true"><path d="{"".join(paths)}"/>{dot}</svg>')


def _lanes(edges: Iterator[tuple[int, int]] | Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return a lane for each stream that passes layers, from 1: none has two at a time."""
    lanes: dict[tuple[int, int], int] = {}
    ends: list[int] = []
    for first, last in edges:
        lane = next((number for number, end in enumerate(ends) if end <= first), len(ends))
        ends[lane : lane + 1] = [last]
        lanes[first, last] = lane + 1
    return lanes
