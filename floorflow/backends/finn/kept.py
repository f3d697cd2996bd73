"""Keep the folding that a FINN graph carries: one option an engine, priced as it stands, if FINN can build it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from floorflow.backends.finn.cost_table import CostTable
from floorflow.backends.finn.graph_names import FOLDING_ATTRIBUTES
from floorflow.backends.finn.groups import ports_of, tied_pairs
from floorflow.backends.finn.kinds.kind import Choice
from floorflow.backends.finn.options import legal_options
from floorflow.backends.finn.registry import kind_of
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError

_UNFOLDED: Mapping[str, AttributeValue] = {"PE": 1, "SIMD": 1, "parallel_window": 0}
"""FINN's defaults for what a graph does not say."""


def kept_groups(dataflow: Dataflow, costs: CostTable) -> tuple[OptionGroup, ...]:
    """Return a group of one option for each engine: the folding and the styles that the model file gives it.

    Raises
    ------
    InputError
        If the file carries no folding, or one that FINN cannot build; names the engine and the folding.

    """
    if not any(engine.folding for engine in dataflow.engines):
        message = f"{dataflow.name}: the model carries no folding to keep"
        raise InputError(message, "Leave out --keep-folding, or give a FINN graph after step_apply_folding_config.")
    choice = Choice(costs.technology, costs.model, costs.allow_runtime_weights)
    options = {engine.name: _kept(engine, dataflow, choice) for engine in dataflow.engines}
    for window, follower in tied_pairs(dataflow):
        lanes = options[window].folding["SIMD"], options[follower].folding["PE"]
        if lanes[0] != lanes[1]:
            raise _illegal(
                dataflow.engine(follower),
                f"its PE is {lanes[1]}, but the depthwise window '{window}' before it sends {lanes[0]} channels a word",
            )
    return tuple(OptionGroup((name,), ((option,),)) for name, option in options.items())


def _kept(engine: Engine, dataflow: Dataflow, choice: Choice) -> Option:
    """Return the one legal option that has the engine's own folding; styles are as given, else FINN's defaults."""
    given = replace(choice, model="finn")
    attributes = {**engine.attributes, **engine.folding}
    kind = kind_of(engine.kind)
    found = next((o for o in legal_options(kind, attributes, given) if _is_own(engine, o)), None)
    if found is None:
        raise _illegal(engine, "PE or SIMD do not divide what they must, or a stream or the weights are too wide")
    if not ports_of(engine, dataflow.streams).take(found):
        raise _illegal(engine, "its words do not divide the last dimension of the streams at its ends")
    unit = kind.unit({**attributes, **found.folding})
    price = unit.finn_resources if choice.model == "finn" else unit.own_resources
    return replace(found, resources=price(choice.technology))


def _is_own(engine: Engine, option: Option) -> bool:
    return all(
        option.folding[key] == engine.folding.get(key, _UNFOLDED[key])
        for key in FOLDING_ATTRIBUTES
        if key in option.folding
    )


def _illegal(engine: Engine, reason: str) -> InputError:
    folding = ", ".join(f"{key} = {value}" for key, value in engine.folding.items())
    message = f"engine {engine.name} ({engine.kind}): the folding that the model carries ({folding}): {reason}"
    return InputError(message, "Leave out --keep-folding to fold anew, or correct the folding in the model.")
