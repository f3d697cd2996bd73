"""What differs between two plans, quantity by quantity, and whether the second is as good as is required."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from operator import eq, ge, gt, le, lt
from textwrap import wrap
from typing import Any, Literal

from floorflow.errors import InputError, some
from floorflow.facts.brief import least_likely
from floorflow.facts.links import Links
from floorflow.facts.phase import PhaseEntry, PhaseNetworkEntry
from floorflow.facts.plan import UNBUILT, Plan
from floorflow.facts.text import WIDTH, chance, filled, number, rate, table
from floorflow.resources import RESOURCE_NAMES

Value = int | float | str | None
Group = Literal["figures", "places", "folding", "moved", "options", "unbuilt"]
TITLES: Mapping[Group, str] = {
    "figures": "the whole",
    "places": "used in each place",
    "folding": "folded otherwise",
    "moved": "moved",
    "options": "options and inputs",
    "unbuilt": "cannot be built yet",
}
MOST_ROWS = 20
"""Rows of a group that text and Markdown show, but for figures, of which all are shown."""
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {">=": ge, "<=": le, "==": eq, ">": gt, "<": lt}
_REQUIREMENT = re.compile(rf"\s*(\S.*?)\s*({'|'.join(_SIGNS)})\s*([-+]?\d+\.?\d*(?:[eE][-+]?\d\d?)?)\s*(%?)\s*")


@dataclass(frozen=True)
class DiffRow:
    """A quantity of two plans; None where a plan has it not, or does not know it. ``layer``: of an engine."""

    name: str
    group: Group
    a: Value
    b: Value
    layer: str = ""

    @property
    def change(self) -> float | None:
        """The second less the first, of numbers; options are not counted."""
        if self.group == "options" or isinstance(self.a, str | None) or isinstance(self.b, str | None):
            return None
        return self.b - self.a


@dataclass(frozen=True)
class Diff:
    """What differs between two plans: ``rows``; what is ``equal``; by their names all ``quantities`` of the second.

    ``a`` and ``b`` are the plans as they were given, ``pictures`` the paths of their floorplans, empty for none.
    """

    a: str
    b: str
    rows: tuple[DiffRow, ...]
    equal: tuple[DiffRow, ...]
    quantities: Mapping[str, Value]
    pictures: tuple[str, str] = ("", "")

    def unmet(self, *requirements: str) -> list[str]:
        """Return each requirement on the second plan that does not hold, as ``fps>=1000``, with by how much.

        Raises InputError if one cannot be read, or names no number of that plan.
        """
        told = [(text.strip(), _unmet(text, self.quantities)) for text in requirements]
        return [f"{text}: {why}" for text, why in told if why]

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain data: what ``--json`` prints."""
        return {
            "a": self.a,
            "b": self.b,
            "pictures": dict(zip(("a", "b"), self.pictures, strict=True)),
            "rows": [{**asdict(row), "change": row.change} for row in self.rows],
            "equal": [row.name for row in self.equal],
            "quantities": dict(self.quantities),
        }

    @property
    def text(self) -> str:
        """Tables of what differs, for a terminal."""
        lines = [f"A  {self.a}", f"B  {self.b}"]
        for title, rows, rest in self._sections():
            lines += ["", *_within_width((title, "A", "B", "change"), rows), *([rest] if rest else [])]
        return "\n".join([*lines, "", *chain.from_iterable(_folded(line) for line in self._below())])

    @property
    def markdown(self) -> str:
        """The same in Markdown, for a pull request."""
        lines = [f"**A**: `{self.a}`, **B**: `{self.b}`"]
        for title, rows, rest in self._sections():
            lines += ["", f"| {title} | A | B | change |", "|---|---:|---:|---|"]
            lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
            lines += ["", rest] if rest else []
        return "\n".join([*lines, "", *chain.from_iterable((line, "") for line in self._below())]).rstrip()

    def _below(self) -> Iterator[str]:
        """Yield what keeps only one from being built, what is equal, and where the floorplans are."""
        for row in self.rows:
            if row.group == "unbuilt":
                yield f"{UNBUILT.removesuffix(': ')}, {'A' if row.b is None else 'B'} alone: {row.name}"
        figures = [row.name for row in self.equal if row.group == "figures"]
        rest = f" and {len(self.equal) - len(figures):,} more of places, foldings and options"
        yield f"equal: {', '.join(figures)}{rest}" if self.rows else "The plans are equal."
        if any(self.pictures):
            yield f"floorplans: {', '.join(filter(None, self.pictures))}"

    def _sections(self) -> Iterator[tuple[str, list[tuple[str, ...]], str]]:
        """Yield each group with rows: its title, their cells, and that there are more."""
        for group, title in TITLES.items():
            own = [row for row in self.rows if row.group == group]
            if group == "moved":  # an engine that only one plan has is told with its folding
                own = [row for row in own if None not in (row.a, row.b)]
            cells = list(_by_subject(own) if group in ("places", "folding") else map(_cells, own))
            most = len(cells) if group == "figures" else MOST_ROWS
            rest = f"and {len(cells) - most:,} more, which --json lists" if len(cells) > most else ""
            if cells and group != "unbuilt":
                yield title, cells[:most], rest


def _within_width(heading: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table of the rows that fit into its width, and the others one below the other, a line for each plan."""
    short = list(rows)
    while short and max(map(len, table([heading, *short]))) > WIDTH:
        short.remove(max(short, key=lambda row: sum(map(len, row))))
    short = short if 2 * len(short) >= len(rows) else []
    yield from table([heading, *short]) if short else heading[:1]
    for name, *cells in (row for row in rows if row not in short):
        yield name
        for label, cell in zip(heading[1:], cells, strict=True):
            yield from _folded(f"  {label:<6}  {cell}", "          ") if cell else ()


def _folded(text: str, indent: str = "  ") -> list[str]:
    """Return a text as lines, each within the width but where a name is longer."""
    return wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def diff_plans(a: Plan, b: Plan, names: tuple[str, str], pictures: tuple[str, str] = ("", "")) -> Diff:
    """Return what differs between two plans."""
    networks = any(len(_networks(plan)) > 1 for plan in (a, b))
    phases = any(len(plan.phases) > 1 for plan in (a, b))
    own = [_subjects(plan) for plan in (a, b)]
    first, second = (
        {row.name: row for row in _Reading(plan, networks, phases, called).rows()}
        for plan, called in zip((a, b), (_told_apart(*own), _told_apart(*reversed(own))), strict=True)
    )
    rows = []
    for name in first.keys() | second.keys():
        known = second.get(name) or first[name]
        was, now = (held[name].b if name in held else None for held in (first, second))
        rows.append(replace(known, a=was, b=now))
    order, places = list(TITLES), [{name: i for i, name in enumerate(held)} for held in (first, second)]

    def place(row: DiffRow) -> tuple[int, int, str]:
        return order.index(row.group), min(held.get(row.name, len(held)) for held in places), row.name

    rows.sort(key=place)
    return Diff(
        *names,
        rows=tuple(row for row in rows if row.a != row.b),
        equal=tuple(row for row in rows if row.a == row.b),
        quantities={row.name: row.b for row in second.values()},
        pictures=pictures,
    )


Subject = tuple[str, str, str, int]
"""What an engine is in any plan: network, operation, the word for its kind, and which it is of several such."""


def _subjects(plan: Plan) -> dict[str, Subject]:
    """Return what each engine is, by its id: its name changes where another before it is built as hls or rtl."""
    found: dict[str, Subject] = {}
    for network in plan.networks:
        counts: Counter[tuple[str, str]] = Counter()
        for engine in network.engines:
            alike = (engine.operation, engine.label)
            found[plan.engine_id(network.name, engine.name)] = (network.name, *alike, counts[alike])
            counts[alike] += 1
    return found


def _told_apart(own: Mapping[str, Subject], other: Mapping[str, Subject]) -> dict[str, str]:
    """Return what those engines of ``own`` are called whose name is another engine's in the other plan, or differs."""
    there = {subject: name for name, subject in other.items()}
    return {
        name: f"{operation}/{label}" + (f"#{number + 1}" if number else "")
        for name, (network, operation, label, number) in own.items()
        if there.get((network, operation, label, number), name) != name or other.get(name, own[name]) != own[name]
    }


FIGURES = (
    *("fps", "latency_us", "clock_mhz", "likely_clock_low_mhz", "likely_clock_high_mhz", "interval_cycles"),
    *("bound_cycles", "joint_bound_cycles", "limited_by", "fpgas", "copies", "phases", "fullest"),
    *("fullest_share", "fullest_share_of_limit", "least_likely", "least_likelihood", "slr_crossings", "slr_wires"),
    *("link_crossings", "link_gbps", "wire_length", "unbuilt", *RESOURCE_NAMES),
)
"""What `figures` knows of each plan."""


def figures(plan: Plan) -> dict[str, Value]:
    """Return the quantities of a whole plan of one network; of several phases none has the resources of all."""
    read = _Reading(plan, names_networks=False, names_phases=False)
    used = read.used(plan.phases[0], "") if len(plan.phases) == 1 else ()
    found = {**read.rates(_networks(plan)[0]), **read.room(), **{row.name: row.b for row in used}}
    return {name: found.get(name) for name in FIGURES}


def fullest_of(known: Mapping[str, Any]) -> str:
    """Return what is fullest by the figures of a plan; empty where nothing is known."""
    if known["fullest"] is None:
        return ""
    used = known["fullest_share"]
    return filled(known["fullest"], used, used / known["fullest_share_of_limit"])


def _networks(plan: Plan) -> list[str]:
    """Return the networks of a plan; copies of one are alike, and the first stands for all."""
    names = [network.name for network in plan.networks]
    return names if plan.replicas is None else names[:1]


@dataclass(frozen=True)
class _Reading:
    """A plan as quantities, each in ``b`` of a row; names of networks and phases stand before them if asked for."""

    plan: Plan
    names_networks: bool
    names_phases: bool
    called: Mapping[str, str] = field(default_factory=dict)
    """Engines, by their ids, that are not called by their names."""

    def rows(self) -> Iterator[DiffRow]:
        plan = self.plan
        for network in _networks(plan):
            before = f"{network}/" if self.names_networks else ""
            for name, value in self.rates(network).items():
                yield DiffRow(before + name, "figures", None, value)
        for name, value in self.room().items():
            yield DiffRow(name, "figures", None, value)
        for phase in plan.phases:
            before = f"{phase.name}/" if self.names_phases else ""
            yield from self.used(phase, before)
        for network in _networks(plan):
            for phase, part in plan.parts(network):
                yield from self._engines(network, phase, part)
        yield from self._asked()
        for warning in plan.unbuilt:
            yield DiffRow(warning.removeprefix(UNBUILT), "unbuilt", None, "cannot be built")

    def rates(self, network: str) -> dict[str, Value]:
        """Return how fast a network is, and by what."""
        plan = self.plan
        found = next(row for row in plan.summary.networks if row.network == network)
        phase = plan.slowest_phase(network)
        part = phase.network(network)
        own, copies = part.estimates, plan.replicas
        held = len(plan.phases) > 1 or plan.memory_schedule is not None
        unknown = not held and own.loses_rate and own.sustained_fps is None
        clock = own.likely_clock
        cycles, link = Links(plan.platform, phase).slowest(part, own.clock_mhz)
        return {
            "fps": None if unknown else found.fps if copies is None else copies.fps,
            "latency_us": found.latency_us,
            "clock_mhz": own.clock_mhz,
            "likely_clock_low_mhz": None if clock is None else clock.low_mhz,
            "likely_clock_high_mhz": None if clock is None else clock.high_mhz,
            "interval_cycles": found.interval_cycles,
            "bound_cycles": found.bound_cycles,
            "joint_bound_cycles": found.joint_bound_cycles,
            "limited_by": f"link {link}" if cycles else plan.named(own.bottleneck).removeprefix(f"{network}/"),
        }

    def room(self) -> dict[str, Value]:
        """Return how full the platform is, and what passes between its parts."""
        plan = self.plan
        full, least = plan.summary.fullness, least_likely(plan)
        used = {phase.name: phase.partition.utilisation for phase in plan.phases}
        crossings = [crossing for phase in plan.phases for crossing in phase.partition.crossings]
        over = {kind: [crossing for crossing in crossings if crossing.kind == kind] for kind in ("sll", "link")}
        return {
            "platform": plan.platform.name,
            "fpgas": len(plan.platform.fpgas),
            "copies": 1 if plan.replicas is None else plan.replicas.copies,
            "phases": len(plan.phases),
            "fullest": None if full is None else f"{full.resource} of {full.slot}",
            "fullest_share": None if full is None else used[full.phase][full.slot][full.resource],
            "fullest_share_of_limit": None if full is None else full.share,
            "least_likely": None if least is None else least[1],
            "least_likelihood": None if least is None else least[0],
            "slr_crossings": len(over["sll"]),
            "slr_wires": sum(crossing.width_bits * crossing.hops for crossing in over["sll"]),
            "link_crossings": len(over["link"]),
            "link_gbps": sum(crossing.gbps for crossing in over["link"]),
            "wire_length": sum(held.hpwl for phase in plan.phases for held in phase.floorplan.values()),
            "unbuilt": len(plan.unbuilt),
        }

    def used(self, phase: PhaseEntry, before: str) -> Iterator[DiffRow]:
        """Yield what a phase uses in all, and in each slot."""
        slots = {slot.name: phase.demand(slot.name).as_dict() for slot in self.plan.platform.slots}
        for name in next(iter(slots.values())):
            total = sum(used[name] for used in slots.values())
            yield DiffRow(f"{before}{name}", "figures", None, total)
        for slot, used in slots.items():
            yield from (DiffRow(f"{before}{slot}.{name}", "places", None, amount) for name, amount in used.items())

    def _engines(self, network: str, phase: PhaseEntry, part: PhaseNetworkEntry) -> Iterator[DiffRow]:
        """Yield how each engine of a network in a phase is folded, and where it lies; one of several phases in each."""
        plan = self.plan
        slot_of = {engine: phase.partition.assignment[m.name] for m in phase.modules for engine in m.engines}
        for engine in plan.network(network).engines:
            known = plan.engine_id(network, engine.name)
            folded = part.folding.engines.get(known)
            if folded is None:
                continue
            called = self.called.get(known, engine.name)
            name = f"{network}/{called}" if self.names_networks else called
            if sum(known in other.folding.engines for _, other in plan.parts(network)) > 1:
                name = f"{phase.name}/{name}"
            ways = {way.name: way.value for way in folded.parallelism}
            values = {**ways, **folded.attributes, "cycles": folded.cycles}
            layer = "" if known in self.called else plan.layer_of(known)
            if known in self.called:
                yield DiffRow(f"{name}.engine", "folding", None, engine.name)
            for way, value in values.items():
                yield DiffRow(f"{name}.{way}", "folding", None, _plain(value), layer)
            at = f"{phase.name}: {slot_of[known]}" if self.names_phases else slot_of[known]
            yield DiffRow(name, "moved", None, at, layer)

    def _asked(self) -> Iterator[DiffRow]:
        """Yield the options as they were taken, the version of floorflow, and the files that were read."""
        plan = self.plan
        options = plan.options.model_dump(mode="json")
        values = options.pop("backend_options") | options
        for name, value in values.items():
            for key, each in value.items() if isinstance(value, dict) else (("", value),):
                yield DiffRow(f"options.{name}{f'.{key}' if key else ''}", "options", None, _plain(each))
        yield DiffRow("version", "options", None, plan.version)
        for file in plan.inputs:
            yield DiffRow(f"sha256 of {file.path}", "options", None, file.sha256)


def _plain(value: Any) -> Value:
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _cells(row: DiffRow) -> tuple[str, ...]:
    name = f"{row.name} ({row.layer})" if row.layer else row.name
    return name, _told(row.name, row.a), _told(row.name, row.b), _change(row)


def _by_subject(rows: Sequence[DiffRow]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each slot or engine: all of it that differs."""
    subjects = dict.fromkeys(row.name.rpartition(".")[0] for row in rows)
    for subject in subjects:
        own = [row for row in rows if row.name.rpartition(".")[0] == subject]
        ways = [row.name.rpartition(".")[2] for row in own]
        was, now = (
            ", ".join(f"{way} {_told(row.name, value)}" for way, row, value in zip(ways, own, side, strict=True))
            if any(value is not None for value in side)
            else "-"
            for side in ([row.a for row in own], [row.b for row in own])
        )
        changes = [f"{way} {_share(row) or _change(row)}" for way, row in zip(ways, own, strict=True) if _change(row)]
        name = f"{subject} ({own[0].layer})" if own[0].layer else subject
        yield name, was, now, ", ".join(changes)


def _told(name: str, value: Value) -> str:
    """Write a value by what it is: rates and likelihoods rounded down, shares in percent."""
    if isinstance(value, str | None):
        return value or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name.endswith("fps") and not name.startswith("options."):
        return rate(value)
    if name.endswith("likelihood"):
        return chance(value)
    return f"{value:.1%}" if _is_share(name) else number(value)


def _is_share(name: str) -> bool:
    return "_share" in name or name.endswith("likelihood")


def _change(row: DiffRow) -> str:
    """Write by how much a number changed, with its sign."""
    change = row.change
    if change is None:
        return ""
    sign = "+" if change > 0 else "-"
    if _is_share(row.name):
        return f"{sign}{abs(change) * 100:.3g} points"
    share = _share(row)
    return f"{sign}{number(abs(change))}{f' ({share})' if share else ''}"


def _share(row: DiffRow) -> str:
    """Write by how much a number changed as a share of what it was; empty where it was nothing."""
    return f"{row.change / abs(row.a):+,.1%}" if row.change and row.a and not isinstance(row.a, str) else ""


def _unmet(text: str, known: Mapping[str, Value]) -> str:
    """Return why a requirement does not hold, and by how much; empty where it does."""
    parts = _REQUIREMENT.fullmatch(text)
    if parts is None:
        raise InputError(
            f"--require {text!r}: expected a name, one of {', '.join(_SIGNS)}, and a number",
            hint="for example --require 'fps>=1000'",
        )
    name, bound = parts[1], float(parts[3]) / (100 if parts[4] else 1)
    if name not in known:
        raise InputError(f"--require {text!r}: the plan has no {name}", hint=f"it has {_names(known)}")
    if parts[4] and not _is_share(name):
        raise InputError(f"--require {text!r}: {name} is no share", hint="leave the % out")
    found = known[name]
    if isinstance(found, str):
        raise InputError(f"--require {text!r}: {name} is no number", hint=f"these are: {_names(known)}")
    if found is None:
        return f"{name} is not known"
    share = f" ({abs(found - bound) / abs(bound):.2%})" if bound else ""
    short = f"{number(abs(found - bound))} {'less' if found < bound else 'more'}{share}"
    return "" if _SIGNS[parts[2]](found, bound) else f"{name} is {_told(name, found)}, {short}"


def _names(known: Mapping[str, Value]) -> str:
    """Return the names of numbers; those of places and engines by the first."""
    numbers = [name for name, value in known.items() if not isinstance(value, str) and not name.startswith("options.")]
    whole = [name for name in numbers if "." not in name.rpartition("/")[2]]
    return f"{', '.join(whole)}; of places and engines {some(name for name in numbers if name not in whole)}"
