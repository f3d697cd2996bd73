"""What a module holds, as text: its engines with their folding, and the network's operations they compute."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floorflow.view.contents.names import TIMES, Plan, engine_names
from floorflow.view.sheet.text import shortened, text_width

_SHORT_KINDS = {
    "AddStreams": "add",
    "ChannelwiseOp": "channelwise",
    "ConvolutionInputGenerator": "window",
    "DuplicateStreams": "duplicate",
    "ElementwiseAdd": "add",
    "ElementwiseMul": "multiply",
    "FMPadding": "pad",
    "GlobalAccPool": "average pool",
    "LabelSelect": "label",
    "Pool": "pool",
    "StreamingConcat": "concat",
    "StreamingMaxPool": "max pool",
    "StreamingSplit": "split",
    "Thresholding": "threshold",
    "UpsampleNearestNeighbour": "upsample",
}
"""FINN's op types as a picture's margin has them; others keep their own name."""
_MATRIX = ("MVAU", "VVAU")


@dataclass(frozen=True)
class Contents:
    """What a module holds, as text; matrix units and their operations come first.

    A module ``is_merged`` if it holds more than one matrix unit: then ``engine_texts`` count its engines by kind, and
    ``operations`` are in dataflow order.
    """

    engine_texts: tuple[str, ...]
    operations: tuple[str, ...]
    engine_count: int
    is_merged: bool

    @property
    def headline(self) -> str:
        """The one thing to say of the module: its matrix unit's folding, or how many engines it holds."""
        return f"{self.engine_count} engines" if self.is_merged else next(iter(self.engine_texts), "")

    def operations_text(self, width: float, size: float) -> str:
        """Name the operations in at most ``width`` points: their range if merged, else two at most."""
        names = self.operations
        if self.is_merged and len(names) > 1:
            return _joined((names[0], names[-1]), " to ", "", width, size)
        rest = f" +{len(names) - 2} more" if len(names) > 2 else ""
        return _joined(names[:2], ", ", rest, width, size)

    def layer_text(self, width: float, size: float) -> str:
        """Name what to look for on the die: the matrix unit's operation, or the range if merged."""
        return (
            self.operations_text(width, size) if self.is_merged else _joined(self.operations[:1], "", "", width, size)
        )

    def engines_text(self, width: float, size: float) -> str:
        """Name the engines in at most ``width`` points, whole words only: ``MVAU 8x16, window, +2 more``."""
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
    every = (engine for network in plan["networks"] for engine in network["engines"])
    known = dict(zip(engine_names(plan), every, strict=True))
    inside = [known[name] for name in engines]
    is_merged = sum(_family(engine) in _MATRIX for engine in inside) > 1
    folded = plan["phases"][phase]["folding"]["engines"]
    if is_merged:
        families = [_short(_family(engine)) for engine in _matrix_first(inside)]
        commonest = sorted(dict.fromkeys(families), key=lambda text: (text not in _MATRIX, -families.count(text)))
        engine_texts = tuple(f"{families.count(text)} {text}" for text in commonest)
        operations = dict.fromkeys(engine["operation"] for engine in inside)
    else:
        pairs = [(engine, folded.get(name, {})) for name, engine in zip(engines, inside, strict=True)]
        folded_texts = dict.fromkeys(_engine_text(_family(engine), folding) for engine, folding in pairs)
        engine_texts = tuple(sorted(folded_texts, key=lambda text: TIMES not in text))
        operations = dict.fromkeys(engine["operation"] for engine in _matrix_first(inside))
    return Contents(engine_texts, tuple(operations), len(engines), is_merged)


def _matrix_first(engines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(engines, key=lambda engine: _family(engine) not in _MATRIX)


def _family(engine: Mapping[str, Any]) -> str:
    return re.sub(r"_(hls|rtl)$", "", engine["kind"])


def _short(family: str) -> str:
    return _SHORT_KINDS.get(family, family)


def _engine_text(family: str, folding: Mapping[str, Any]) -> str:
    if family in _MATRIX and "pe" in folding:
        return f"{family} {folding['pe']}{TIMES}{folding.get('simd', 1)}"
    return _short(family)
