"""Foldings that are given: in the model's lines, in a file, or by toykit's own method."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from pathlib import Path

from floorflow.dataflow.model import Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError
from toykit.costs import ToyCosts, agree
from toykit.engines import KINDS
from toykit.lines import FOLDINGS, values, words_of
from toykit.registration import ToyOptions

_KEYS = {KINDS[word]: keys for word, keys in FOLDINGS.items()}


def with_file(dataflow: Dataflow, path: Path) -> Dataflow:
    """Return engines with the folding of a file: a line ``NAME key=value ...`` for each."""
    known = {engine.name: _KEYS[engine.kind] for engine in dataflow.engines}
    found: dict[str, Mapping[str, int | str]] = {}
    for place, (name, *items) in words_of(path):
        if name not in known:
            raise InputError(f"{place}: there is no engine {name}", "name an engine of the model")
        found[name] = values(place, items, known[name])
    return replace(dataflow, engines=tuple(replace(e, folding=found.get(e.name, e.folding)) for e in dataflow.engines))


def text(foldings: Mapping[str, Mapping[str, int | str]]) -> str:
    """Return the file that `with_file` reads."""
    rows = (" ".join([name, *(f"{k}={v}" for k, v in folding.items())]) for name, folding in foldings.items())
    return "".join(f"{row}\n" for row in rows)


def given(dataflow: Dataflow, costs: ToyCosts) -> tuple[OptionGroup, ...]:
    """Return the one option that each engine has by its own folding."""
    options = {engine.name: _option(engine, costs) for engine in dataflow.engines}
    for engine in dataflow.engines:
        others = [
            name for name in engine.attributes.get("tied", ()) if not agree((options[engine.name], options[name]))
        ]
        if others:
            raise InputError(f"{engine.name}: is tied to {others[0]}", "give them the same makers and maths")
    return tuple(OptionGroup((name,), ((option,),)) for name, option in options.items())


def _option(engine: Engine, costs: ToyCosts) -> Option:
    options = [o for o in costs.foldings(engine) if dict(o.folding) == dict(engine.folding)]
    if not options:
        said = " ".join(f"{k}={v}" for k, v in engine.folding.items()) or "none"
        raise InputError(
            f"{engine.name}: folding {said} is not legal",
            f"give {', '.join(_KEYS[engine.kind])}, which divide its sizes",
        )
    return options[0]


def thrifty(options: ToyOptions) -> Callable[[Dataflow, int], dict[str, Mapping[str, int | str]]]:
    """Return the folding method of toykit: the fewest lanes that keep the interval, if DSPs are allowed in them."""

    def fold(dataflow: Dataflow, interval: int) -> dict[str, Mapping[str, int | str]]:
        found = {}
        for group in ToyCosts(options, 1).groups(dataflow):
            rows = [row for row in group.rows if max(option.cycles for option in row) <= interval]
            row = min(rows or group.rows, key=lambda row: sum(_lanes(option) for option in row))
            found |= {name: option.folding for name, option in zip(group.engines, row, strict=True)}
        return found

    return fold


def _lanes(option: Option) -> int:
    return prod(value for value in option.folding.values() if isinstance(value, int))
