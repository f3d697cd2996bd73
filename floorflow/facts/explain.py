"""Why a plan is as it is, and what one step more or less would give: of the whole, or of one thing in it.

All but prices is told from the plan. Prices are steps of foldings (`floorflow.facts.steps`), worked out elsewhere.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from typing import Any, Literal

from floorflow.errors import InputError, some
from floorflow.facts import extras
from floorflow.facts.brief import summary_lines, worst_network
from floorflow.facts.channel import ChannelEntry
from floorflow.facts.context import Context
from floorflow.facts.memory import memories
from floorflow.facts.module import ModuleEntry
from floorflow.facts.next_steps import next_steps
from floorflow.facts.partition import SlotUse
from floorflow.facts.phase import PhaseEntry
from floorflow.facts.plan import Plan
from floorflow.facts.steps import Step, Way
from floorflow.facts.text import WIDTH, chance, number, table
from floorflow.resources import RESOURCE_NAMES

Kind = Literal["plan", "engine", "layer", "slot", "stream", "resource", "word"]
Price = Callable[[str, Way], Step | None]
"""What a step of an engine would change, of the whole where that is empty; None where there is no such step.

InputError if none is known."""
_LABEL = 12
_SHOWN = 10
"""Rows of a table of engines or streams that are told; JSON has all."""
_PRICED = 3
"""Engines of which a resource is told what a step would give back."""
_NEAR = 5
_UNPRICED = "prices"
NOT_WORTH = "none is worth it: none frees a larger share of all that the design takes than it costs of the rate"
_STORY = ("", "limited by", "lifted by", "fullest", "fits", "proven", "hard")
_PATH = re.compile(r"plan\.json `([^`]+)`")


@dataclass(frozen=True)
class Explanation:
    """What is told of one thing: lines, and the steps that are offered in them."""

    topic: str
    kind: Kind
    lines: tuple[str, ...]
    steps: tuple[Step, ...] = ()

    @property
    def text(self) -> str:
        """All of it for a terminal."""
        return "\n".join(self.lines)

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {**vars(self), "lines": list(self.lines), "steps": [step.as_dict() for step in self.steps]}


def glossary_words(text: str) -> dict[str, str]:
    """Return what the glossary says of each word, by the word."""
    return dict(re.findall(r"^\* \*\*(.+?)\*\*: (.+)$", text, flags=re.MULTILINE))


ALSO_SAID = {"fits": "likelihood", "less rate": "bargain", "limits": "limit", "longest stream": "longest"}
"""Words of the summary and of the report's sections, by the word of the glossary that explains them."""


@dataclass(frozen=True)
class Explainer:
    """A plan by its phases, how steps are priced, and the words of the glossary."""

    views: Sequence[Context]
    price: Price
    words: Mapping[str, str]

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.views[0].plan

    @cached_property
    def topics(self) -> dict[str, tuple[Kind, str]]:
        """What can be asked for, by its name as `_key` has it; what comes first counts where names are alike."""
        found: dict[str, tuple[Kind, str]] = {_key(name): ("resource", name) for name in RESOURCE_NAMES}
        every: list[tuple[Kind, str]] = [("engine", name) for name in self.plan.engines]
        every += [("layer", name) for name in self._layers]
        every += [("slot", slot.name) for slot in self.plan.platform.slots]
        every += [("stream", c.name) for view in self.views for c in view.phase.channels]
        every += [("word", word) for word in self.words]
        found |= {_key(said): ("word", word) for said, word in ALSO_SAID.items() if word in self.words}
        for kind, name in every:
            found.setdefault(_key(name), (kind, name))
        for phase, module in ((view.phase, module) for view in self.views for module in view.phase.modules):
            own = phase.core_of(module.name)
            found.setdefault(_key(module.name), ("engine", own if own in module.engines else module.engines[0]))
        for _, name in [topic for topic in every if topic[0] == "stream"]:
            found.setdefault(_key(re.sub(r"\.\d+(?=->|$)", "", name)), ("stream", name))
        return found

    @cached_property
    def _layers(self) -> dict[str, list[str]]:
        """The engines of each layer of the user's, by their ids."""
        found: dict[str, list[str]] = {}
        for name, engine in self.plan.engines.items():
            found.setdefault(engine.operation, []).append(name)
        return found

    def explain(self, topic: str | None = None) -> Explanation:
        """Return what is told of the plan, or of what a name means in it.

        Raises InputError if no name is like it, or several hold it.
        """
        found: tuple[Kind, str] = ("plan", "") if topic is None else self._found(topic)
        kind, name = found
        steps: list[Step] = []
        pages = {"plan": self._story, "engine": self._engine, "layer": self._layer, "slot": self._slot}
        pages |= {"stream": self._stream, "resource": self._resource, "word": self._word}
        lines = tuple(pages[kind](name, steps))
        offered = tuple(step for step in steps if step.way == "faster" or step.is_worth)
        return Explanation(name or self.plan.summary.networks[0].network, kind, lines, offered)

    def _found(self, topic: str) -> tuple[Kind, str]:
        key = _key(topic)
        if key in self.topics:
            return self.topics[key]
        held = [known for known in self.topics if known.endswith(f".{key}")]
        held = held or [known for known in self.topics if key and key in known]
        meant = dict.fromkeys(self.topics[known] for known in held)
        if len(meant) == 1:
            return next(iter(meant))
        if meant:
            named = some([name for _, name in meant], _SHOWN)
            raise InputError(f"{topic!r} may be any of {len(meant)}: {named}", hint="give more of the name")
        near = difflib.get_close_matches(key, self.topics, _NEAR, 0.5)
        hint = f"near are {some([self.topics[each][1] for each in near])}" if near else "give a layer, a slot or LUT"
        raise InputError(f"{topic!r} is nothing in this plan, and no word of its report", hint=hint)

    def _story(self, _: str, steps: list[Step]) -> Iterator[str]:
        """Yield what limits the rate and why, what a step would give, and what is fullest and tightest."""
        lines = [line for line in summary_lines(self.views) if line.label in _STORY]
        first = [line for line in lines if line.label in _STORY[:2]]
        yield from map(str, first)
        worst = worst_network(self.plan).name
        view = next(v for v in self.views if v.phase is self.plan.slowest_phase(worst))
        own, whys, asked = view.phase.network(worst).folding.engines, next_steps(view), self.plan.options.fps
        whys = [f"--fps {asked:g} asks for no more: the plan takes the least found for it"] if asked else whys
        of_it = [why for why in whys if any(re.search(rf"{re.escape(name)}\b", why) for name in own)]
        yield from (line for why in [*of_it, *whys][:1] for line in _said("why", why))
        yield from self._steps("", steps)
        yield from (line for told in _at_less_rate(view) for line in _said("less rate", told))
        yield from (str(line) for line in lines if line not in first)
        yield from _said("crossing", _tightest(view))
        yield from _said(
            "more", "of a layer, engine, slot, stream, lut, ff, bram18 or a word such as gap: name it behind OUT"
        )

    def _steps(self, engine: str, steps: list[Step], ways: Sequence[Way] = ("faster", "slower")) -> Iterator[str]:
        """Yield the price of each way, or why there is none."""
        for way in ways:
            try:
                step = self.price(engine, way)
            except InputError as error:
                yield from _said(_UNPRICED, f"not known: {error}")
                return
            if step is None:
                less = "no slower folding takes less" if engine else NOT_WORTH
                none = "no folding is faster" if way == "faster" else less
                yield from _said(f"one {way}", f"{self.plan.named(engine)}: {none}" if engine else none)
                continue
            steps.append(step)
            for number_, line in enumerate(step.lines(self.plan)):
                yield from _said("" if number_ else f"one {way}", line)

    def _view(self, engine: str) -> Context:
        return next(view for view in self.views if engine in view.phase.engines)

    def _layer(self, layer: str, steps: list[Step]) -> Iterator[str]:
        for number_, engine in enumerate(self._layers[layer]):
            yield from [""] * bool(number_)
            yield from self._engine(engine, steps)

    def _engine(self, name: str, steps: list[Step]) -> Iterator[str]:
        """Yield an engine's folding between its neighbours, its memory, where it stands, its streams, and its waits."""
        view, entry = self._view(name), self.plan.engines[name]
        phase, own = view.phase, view.phase.engines[name]
        layer = f", layer {entry.operation}" if entry.operation != entry.name else ""
        yield f"{name}{layer}: {entry.kind}, of module {_module_of(phase, name).name}"
        priced: list[Step] = []
        told = [*self._steps(name, priced)]
        yield from _ladder(self.plan, name, priced, own.width)
        yield from told
        steps += priced
        yield from _said("waits", _waits(view, name))
        uses = [memory for memory in phase.memories if memory.name == name]
        if uses:
            rows = memories(uses, phase.slot_of | phase.fifo_slot_of, view.slots, view.names)
            yield from _labelled("memory", [row for row in rows if not row.startswith(("*", " "))])
        else:
            styles = {k: v for k, v in own.attributes.items() if "style" in k or "mem" in k}
            words = ", ".join(f"{k} {v}" for k, v in styles.items())
            yield from _said("memory", f"{words}; no large one of weights, so no other is weighed" if words else "none")
        yield from _said("stands", _stands(view, name))
        around = [c for c in phase.channels if name in (c.source, c.target)]
        yield from _labelled("streams", _streams(around))

    def _slot(self, name: str, _: list[Step]) -> Iterator[str]:
        """Yield how full a slot is, who fills it, and what crosses its edge."""
        for view in self.views:
            use = next(slot for slot in view.slots if slot.name == name)
            phase, held = view.phase, [e for e, slot in view.phase.slot_of.items() if slot == name]
            fit = phase.fits.get(name)
            likely = f", {chance(fit.likelihood)} likely to hold it" if fit is not None else ""
            where = f" in phase {phase.name}" if len(self.views) > 1 else ""
            style = phase.constraint_styles.get(name)
            yield f"{name}{where}: {len(held)} engines{likely}{f'; constraints: {style}' if style else ''}"
            rows = [("", "amount", "of", "share", "largest users")]
            rows += [(r, *_filled(use, r), self._largest(view, r, held)) for r in RESOURCE_NAMES]
            yield from _labelled("holds", table(rows, left=1))
            over = [c for c in phase.partition.crossings if name in (c.source, c.target)]
            loads = [load for kind in ("sll", "half", "link") for load in view.loads(kind) if name in load.name]
            words = [f"{load.name} {number(load.use)} of {number(load.capacity)}, {load.share:.0%}" for load in loads]
            yield from _said("crossing", f"{len(over)} streams; {'; '.join(words) or 'no boundary beside it is used'}")

    def _largest(self, view: Context, resource: str, among: Sequence[str]) -> str:
        amounts = {name: view.phase.engines[name].resources.model_dump()[resource] for name in among}
        most = sorted((name for name in among if amounts[name]), key=lambda name: -amounts[name])
        return some([f"{self.plan.named(name)} {amounts[name]:,}" for name in most], _PRICED)

    def _stream(self, name: str, _: list[Step]) -> Iterator[str]:
        """Yield a stream's width, converter, FIFO and way."""
        view = next(view for view in self.views if any(c.name == name for c in view.phase.channels))
        phase = view.phase
        channel = next(c for c in phase.channels if c.name == name)
        ends = [self.plan.named(end) if end in phase.slot_of else end for end in (channel.source, channel.target)]
        yield f"{name}: from {ends[0]} to {ends[1]}"
        converts = f"{channel.source_width_bits} to {channel.target_width_bits} bits by {channel.converter}"
        yield from _said(
            "width", converts if channel.converter else f"{channel.width_bits} bits at both ends, no converter"
        )
        words = channel.words_per_frame
        yield from _said("carries", f"{words:,} words a frame, {words * channel.width_bits:,} bits")
        needed = f"the full rate needs {channel.fifo_needed:,}" if channel.fifo_needed else "its need is not known"
        fifo = channel.fifo_resources.model_dump()
        takes = ", ".join(f"{fifo[r]:,} {r}" for r in RESOURCE_NAMES if fifo[r]) or "nothing"
        style = f" in {channel.fifo_style}" if channel.fifo_style else ""
        yield from _said("FIFO", f"{channel.fifo_depth:,} words{style}; {needed}; it takes {takes}")
        crossed = [c for c in phase.partition.crossings if c.channel == name]
        way = [f"{c.source} to {c.target} ({c.kind})" for c in crossed] or ["inside one slot"]
        more = f"; {channel.crossing_registers} registers at boundaries, {channel.slices} slices"
        yield from _said("way", f"{', '.join(way)}{more}")
        for one in self.plan.longest_streams(phase):
            if one.row.channel == name:
                yield from _said("length", f"{one.told}; {one.row.reach_at(self.plan.options.clock_mhz)}")

    def _resource(self, name: str, steps: list[Step]) -> Iterator[str]:
        """Yield where a resource is used, by whom, and what gives some of it back."""
        for view in self.views:
            yield from self._users(view, name)
        entries = self.views[0].phase.engines
        amounts = {engine: entry.resources.model_dump()[name] for engine, entry in entries.items()}
        for engine in sorted(filter(amounts.get, amounts), key=lambda engine: -amounts[engine])[:_PRICED]:
            priced: list[Step] = []
            told = [*self._steps(engine, priced, ("slower",))]
            if told[0].startswith(_UNPRICED):
                yield from told
                return
            yield from told if priced and priced[-1].is_worth else ()
            steps += priced
        if not any(step.is_worth for step in steps):
            yield from _said("one slower", f"of the largest users {NOT_WORTH}")

    def _users(self, view: Context, name: str) -> Iterator[str]:
        where = f" in phase {view.phase.name}" if len(self.views) > 1 else ""
        used, allowed = (amounts.as_dict()[name] for amounts in (view.demand, view.limit))
        yield f"{name}{where}: {used:,} used of {allowed:,} allowed"
        places = [("", "amount", "of", "share"), *((use.name, *_filled(use, name)) for use in view.slots)]
        yield from _labelled("places", table(places))
        amounts = {engine: entry.resources.model_dump()[name] for engine, entry in view.phase.engines.items()}
        largest = sorted((engine for engine in amounts if amounts[engine]), key=lambda engine: -amounts[engine])
        slots = view.phase.slot_of
        rows = [(self.plan.named(engine), slots[engine], f"{amounts[engine]:,}") for engine in largest[:_SHOWN]]
        streams = sum(c.resources.model_dump()[name] for c in view.phase.channels)
        rows.append((f"FIFOs and converters of {len(view.phase.channels)} streams", "", f"{streams:,}"))
        yield from _labelled("users", table(rows, left=2))

    def _word(self, word: str, _: list[Step]) -> Iterator[str]:
        """Yield what the glossary says of a word, with this plan's figures where plan.json has them."""
        yield from wrap(f"{word}: {self.words[word]}", WIDTH, break_on_hyphens=False)
        content = json.loads(self.plan.to_json())
        for path in _PATH.findall(self.words[word]):
            values = [*_values(content, re.findall(r"\w+|\[\]|\{\}", path))]
            if values:
                yield from _said("here", f"{path}: {_figures(values)}")


def _at_less_rate(view: Context) -> list[str]:
    """Return what the report says first of less rate, and how that differs from a step."""
    if view.extras is None or view.extras.bargains is None:
        return []
    best = extras.best_bargains(view.extras, view.plan.options.cap.as_dict())
    none = ["at no lower rate that was tried is a design worth it"] if view.extras.bargains.rows and not best else []
    told = "; ".join([*best, *none, *extras.left_out(view.extras, "bargains")])
    return [f"{told}; folded and cut anew, unlike a step: {extras.LESS_RATE} in report.txt"]


def _key(name: str) -> str:
    return name.casefold().replace("/", ".")


def _said(label: str, text: str) -> Iterator[str]:
    """Yield a text behind its label; a command stays whole."""
    if text.startswith("floorflow "):
        yield f"{label:<{_LABEL}}{text}"
        return
    lines = wrap(text, WIDTH - _LABEL, break_on_hyphens=False, break_long_words=False)
    yield from (f"{'' if at else label:<{_LABEL}}{line}" for at, line in enumerate(lines))


def _labelled(label: str, lines: Sequence[str]) -> Iterator[str]:
    yield from (f"{'' if at else label:<{_LABEL}}{line}".rstrip() for at, line in enumerate(lines))


def _ladder(plan: Plan, name: str, steps: Sequence[Step], width: str) -> Iterator[str]:
    """Yield an engine's folding between the next slower and the next faster one."""
    rows: list[tuple[str, ...]] = [("", "cycles a frame", "LUT", "BRAM18", "URAM", "DSP", "folding")]

    own = next(phase.engines[name] for phase in plan.phases if name in phase.engines)
    changes = {step.way: step.engines[name] for step in steps}
    found: dict[str, tuple[int, Mapping[str, int], str]] = {
        way: (change.cycles[1], change.resources[1], change.told) for way, change in changes.items()
    }
    found |= {"planned": (own.cycles, own.resources.model_dump(), width or "no folding to choose")}
    for way in (way for way in ("slower", "planned", "faster") if way in found):
        cycles, use, told = found[way]
        rows.append((way, f"{cycles:,}", *(f"{use[r]:,}" for r in ("LUT", "BRAM18", "URAM", "DSP")), told))
    yield from _labelled("folding", table(rows))


def _waits(view: Context, name: str) -> str:
    """Return for which share of a frame an engine waits, and for whom."""
    part = next(part for part in view.phase.networks if name in part.folding.engines)
    cycles, interval, own = part.folding.engines[name].cycles, part.interval_cycles, part.estimates
    if cycles == interval:
        return f"for nothing in the steady state: its {cycles:,} cycles a frame set the rate"
    share = f"{1 - cycles / interval:.0%}" if cycles <= 0.99 * interval else "under 1%"
    slowest = view.plan.named(own.bottleneck)
    return f"{share} of each frame of {interval:,} cycles, for {slowest}, which sets the rate"


def _filled(use: SlotUse, name: str) -> tuple[str, str, str]:
    """Return how much of a resource a slot uses, of how much that is allowed, and both as shares of what it has."""
    shares = use.filled(name).partition(": ")[2]
    return f"{use.demand.as_dict()[name]:,}", f"{use.cap_limit.as_dict()[name]:,} allowed", shares


def _module_of(phase: PhaseEntry, engine: str) -> ModuleEntry:
    return next(module for module in phase.modules if engine in module.engines)


def _stands(view: Context, name: str) -> str:
    """Return where an engine stands, how full its slot and its pblock are, and where its neighbours are."""
    phase = view.phase
    slot = phase.slot_of[name]
    module = _module_of(phase, name)
    use = next(each for each in view.slots if each.name == slot)
    told = [f"{slot}, fullest {use.fullest}"]
    pblock = phase.pblocks.get(module.name)
    if pblock is not None:
        likely = f", {chance(pblock.likelihood)} likely to hold it" if pblock.likelihood is not None else ""
        short = ", short of room" if pblock.short else ""
        told.append(f"pblock {some(pblock.ranges, 2)}{likely}{short}")
    ends = [
        (c.source, c.target) for c in phase.channels if (c.source in module.engines) != (c.target in module.engines)
    ]
    beside = [end for pair in ends for end in pair if end not in module.engines]
    places = Counter(phase.slot_of.get(end, "the host") for end in beside)
    told.append(f"streams of its module lead to {some([f'{place} ({count})' for place, count in places.items()])}")
    return "; ".join(told)


def _streams(channels: Sequence[ChannelEntry]) -> list[str]:
    rows: list[tuple[str, ...]] = [("bits", "FIFO words", "needed", "in", "stream")]
    rows += [
        (
            f"{c.width_bits:,}",
            f"{c.fifo_depth:,}",
            f"{c.fifo_needed:,}" if c.fifo_needed else "?",
            c.fifo_style or "-",
            c.name,
        )
        for c in channels[:_SHOWN]
    ]
    more = len(channels) - _SHOWN
    return [*table(rows, left=0), *([f"and {more:,} more"] if more > 0 else [])]


def _tightest(view: Context) -> str:
    """Return the fullest boundary or link with the widest stream over one; else that there is none."""
    loads = [load for kind in ("sll", "half", "link") for load in view.loads(kind)]
    crossings = view.phase.partition.crossings
    if not loads or not crossings:
        return "no stream leaves its slot"
    load = max(loads, key=lambda each: each.share)
    widest = max(crossings, key=lambda each: each.width_bits)
    unit = "Gb/s" if load.kind == "link" else "wires"
    used = f"{load.name}: {number(load.use)} of {number(load.capacity)} {unit}, {load.share:.0%}"
    return f"{used}; widest stream {widest.channel}, {widest.width_bits:,} bits"


def _values(content: Any, path: Sequence[str]) -> Iterator[Any]:
    """Yield what stands at a path of plan.json: ``[]`` and ``{}`` are all items of a list and of an object."""
    if not path:
        yield content
        return
    step, *rest = path
    if step in {"[]", "{}"}:
        items = content.values() if isinstance(content, dict) else content if isinstance(content, list) else []
        for item in items:
            yield from _values(item, rest)
    elif isinstance(content, dict) and step in content:
        yield from _values(content[step], rest)


def _figures(values: Sequence[Any]) -> str:
    """Return figures in words: a few as they are, many by their ends, and of what is no figure how many there are."""
    plain = [value for value in values if not isinstance(value, dict | list) and value is not None]
    numbers = [value for value in plain if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(plain) > _NEAR and len(numbers) == len(plain):
        return f"{number(min(numbers))} to {number(max(numbers))} in {len(numbers):,} places"
    if plain:
        return some([number(v) if v in numbers else str(v) for v in plain], _NEAR)
    pairs = [pair for value in values if isinstance(value, dict) for pair in value.items()]
    if pairs and all(isinstance(v, str | int | float | None) for _, v in pairs):
        return some([f"{k} {v if isinstance(v, str) else number(v)}" for k, v in pairs], _NEAR)
    counts = [len(value) for value in values if isinstance(value, dict | list)]
    return f"{sum(counts):,} entries" if counts else "none"
