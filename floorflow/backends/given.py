"""The foldings that engines already have, found among their options."""

from __future__ import annotations

from floorflow.dataflow.model import Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError


def rows_as_given(dataflow: Dataflow, groups: tuple[OptionGroup, ...]) -> tuple[OptionGroup, ...]:
    """Return the groups with one row each: the first in which every engine has its own ``folding``.

    Raises InputError if there is none; names the engines and the foldings.
    """
    return tuple(_row_as_given([dataflow.engine(name) for name in group.engines], group) for group in groups)


def _row_as_given(engines: list[Engine], group: OptionGroup) -> OptionGroup:
    rows = (row for row in group.rows if all(map(_is_own, engines, row)))
    row = next(rows, None)
    if row is None:
        foldings = "; ".join(f"{engine.name}: {_told(engine)}" for engine in engines)
        raise InputError(f"the folding to keep ({foldings}) is none of the options", hint="fold anew")
    return OptionGroup(group.engines, (row,))


def _is_own(engine: Engine, option: Option) -> bool:
    return all(engine.folding.get(name) == value for name, value in option.folding.items())


def _told(engine: Engine) -> str:
    return ", ".join(f"{name} = {value}" for name, value in engine.folding.items()) or "none"
