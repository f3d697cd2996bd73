"""What a module holds, as text: its engines with their folding, and the network's operations they compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.view.names import TIMES, Plan, engines_by_id
from floorflow.view.text import shortened, text_width


@dataclass(frozen=True)
class Contents:
    """What a module holds, as text; its core engines and their operations come first, of these those with weights.

    A module ``is_merged`` if it holds more than one core engine with weights: then ``engine_texts`` count its engines
    by label, and ``operations`` are in dataflow order.
    """

    engine_texts: tuple[str, ...]
    operations: tuple[str, ...]
    engine_count: int
    is_merged: bool

    @property
    def headline(self) -> str:
        """The one thing to say of the module: its core engine's folding, or how many engines it holds."""
        return f"{self.engine_count} engines" if self.is_merged else next(iter(self.engine_texts), "")

    def operations_text(self, width: float, size: float) -> str:
        """Name the operations in at most ``width`` points: their range if merged, else two at most."""
        names = self.operations
        if self.is_merged and len(names) > 1:
            return _joined((names[0], names[-1]), " to ", "", width, size)
        rest = f" +{len(names) - 2} more" if len(names) > 2 else ""
        return _joined(names[:2], ", ", rest, width, size)

    def layer_text(self, width: float, size: float) -> str:
        """Name what to look for on the die: the core engine's operation, or the range if merged."""
        return (
            self.operations_text(width, size) if self.is_merged else _joined(self.operations[:1], "", "", width, size)
        )

    def engines_text(self, width: float, size: float) -> str:
        """Name the engines in at most ``width`` points, whole words only: ``conv 8x16, window, +2 more``."""
        start = f"{self.engine_count} engines: " if self.is_merged else ""
        more = "kinds" if self.is_merged else "more"
        for count in range(len(self.engine_texts), 0, -1):
            rest = len(self.engine_texts) - count
            text = start + ", ".join((*self.engine_texts[:count], *([f"+{rest} {more}"] if rest else [])))
            if text_width(text, size) <= width:
                return text
        return f"{self.engine_count} engines"


def _joined(names: Sequence[str], between: str, after: str, width: float, size: float) -> str:
    """Join names, each shortened in its middle to the same width if they do not fit."""
    whole = between.join(names) + after
    if not names or text_width(whole, size) <= width:
        return whole
    room = (width - text_width(between * (len(names) - 1) + after, size)) / len(names)
    return between.join(shortened(name, room, size) for name in names) + after


def read_contents(plan: Plan, phase: int, engines: Sequence[str]) -> Contents:
    """Read what a module of these engines holds."""
    known = engines_by_id(plan)
    inside = [(known[name], _folded(plan, phase, name)) for name in engines]
    foremost = min((_rank(engine) for engine, _ in inside), default=0)
    core_first = sorted(inside, key=lambda pair: _rank(pair[0]) > foremost)
    is_merged = sum(_rank(engine) == 0 for engine, _ in inside) > 1
    if is_merged:
        labels = [engine["label"] for engine, _ in core_first]
        core = {engine["label"] for engine, _ in inside if _rank(engine) == 0}
        commonest = sorted(dict.fromkeys(labels), key=lambda label: (label not in core, -labels.count(label)))
        engine_texts = tuple(f"{labels.count(label)} {label}" for label in commonest)
    else:
        engine_texts = tuple(dict.fromkeys(_engine_text(engine, folding) for engine, folding in core_first))
    operations = dict.fromkeys(engine["operation"] for engine, _ in (inside if is_merged else core_first))
    return Contents(engine_texts, tuple(operations), len(engines), is_merged)


def parallelism_text(plan: Plan, phase: int) -> str:
    """Return what the numbers of the phase's core engines count, of the one with the most, or nothing."""
    core = (name for name, engine in engines_by_id(plan).items() if engine["role"] == "core")
    names = [[str(part["name"]) for part in _folded(plan, phase, name).get("parallelism", ())] for name in core]
    longest: list[str] = max(names, key=len, default=[])
    return TIMES.join(longest)


def _folded(plan: Plan, phase: int, engine: str) -> Mapping[str, Any]:
    """Return how an engine is folded in a phase; nothing if it does not run there."""
    foldings = (network["folding"]["engines"] for network in plan["phases"][phase]["networks"])
    return next((engines[engine] for engines in foldings if engine in engines), {})


def _rank(engine: Mapping[str, Any]) -> int:
    """Order engines by what a reader looks for: core engines with weights, other core engines, the rest."""
    if engine["role"] != "core":
        return 2
    return 0 if engine["weight_bits"] else 1


def _engine_text(engine: Mapping[str, Any], folding: Mapping[str, Any]) -> str:
    """Return an engine's label, of a core engine with its parallelism."""
    values = [str(part["value"]) for part in folding.get("parallelism", ())] if engine["role"] == "core" else []
    return " ".join([engine["label"], *([TIMES.join(values)] if values else [])])
