"""The folding that a model or its user gives: one option an engine, priced as it stands, if FINN can build it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from floorflow.backends.finn.clock.limits import misses_clock
from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.folding.legal_foldings import legal_options
from floorflow.backends.finn.folding.tied_engines import ports_of, tied_pairs
from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS, Choice, priced
from floorflow.backends.finn.kinds.registry import kind_of
from floorflow.backends.finn.names import FOLDING_ATTRIBUTES, RUNTIME_WEIGHTS, family
from floorflow.backends.finn.samo.repriced import estimate
from floorflow.dataflow.model import AttributeValue, Dataflow, Engine, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError

_UNFOLDED: Mapping[str, AttributeValue] = {"PE": 1, "SIMD": 1, "parallel_window": 0}
"""FINN's defaults for what a graph does not say."""
_TOO_WIDE = (
    f"a stream or a word of weights has more than {MAX_STREAM_BITS} bits, an HLS unit has a SIMD below MW / 1024, or a "
    "window moves farther than its buffer reaches"
)
_HINT = "Correct the folding, or leave out --keep-folding and --folding to fold anew."


def given_folding_groups(dataflow: Dataflow, costs: CostTable, *, carried: bool = True) -> tuple[OptionGroup, ...]:
    """Return a group of one option for each engine: the folding and the styles that it has.

    ``carried``: the model itself is to have a folding, so that one without any is refused.

    Raises
    ------
    InputError
        If there is no folding, or one that FINN cannot build; names the engine and the folding.

    """
    if carried and not any(engine.folding for engine in dataflow.engines):
        message = f"{dataflow.name}: the model carries no folding to keep"
        hint = "Leave out --keep-folding, give a FINN graph after step_apply_folding_config, or --folding FILE."
        raise InputError(message, hint)
    choice = Choice(costs.technology, costs.model, costs.allow_runtime_weights, costs.finn)
    for engine in dataflow.engines:
        if misses_clock(engine.kind, {**_UNFOLDED, **engine.attributes, **engine.folding}, costs.target):
            raise _illegal(engine, "it misses the clock by far")
    options = {engine.name: _given_option(engine, dataflow, choice) for engine in dataflow.engines}
    for window, follower in tied_pairs(dataflow):
        lanes = options[window].folding["SIMD"], options[follower].folding["PE"]
        if lanes[0] != lanes[1]:
            raise _illegal(
                dataflow.engine(follower),
                f"its PE is {lanes[1]}, but the depthwise window '{window}' before it sends {lanes[0]} channels a word",
            )
    return tuple(OptionGroup((name,), ((option,),)) for name, option in options.items())


def _given_option(engine: Engine, dataflow: Dataflow, choice: Choice) -> Option:
    """Return the one legal option that has the engine's own folding; styles are as given, else FINN's defaults."""
    as_given = replace(choice, model="finn")
    attributes = {**_UNFOLDED, **engine.attributes, **engine.folding}
    objection = _memory_objection(attributes, engine.kind, choice)
    if objection:
        raise _illegal(engine, objection)
    try:
        kind = kind_of(engine.kind)
        kind.unit(attributes, choice.finn)
        own = {**engine.attributes, **engine.folding}
        option = next((o for o in legal_options(kind, own, as_given) if _is_own(engine, o)), None)
    except InputError as error:
        raise InputError(f"engine {engine.name}: {error}", error.hint or _HINT) from error
    if option is None:
        raise _illegal(engine, _TOO_WIDE)
    if not ports_of(engine, dataflow.streams).take(option):
        raise _illegal(engine, "its words do not divide the last dimension of the streams at its ends")
    if choice.model == "samo":
        cycles, resources = estimate(engine.kind, {**attributes, **option.folding})
        return replace(option, cycles=cycles, resources=resources)
    unit = kind.unit({**attributes, **option.folding}, choice.finn)
    return replace(option, resources=priced(unit, choice.technology, choice.model))


def _memory_objection(attributes: Mapping[str, AttributeValue], kind: str, choice: Choice) -> str:
    """Return why what the engine stores cannot lie where it is to: UltraRAM has no initial contents before Versal."""
    if attributes.get(RUNTIME_WEIGHTS, 0) == 1 and not choice.allow_runtime_weights:
        return "its weights are written at run time, --runtime-weights never"
    if attributes.get("ram_style") != "ultra" or choice.technology.architecture == "versal":
        return ""
    stem = family(kind)
    if stem in ("MVAU", "VVAU", "Thresholding"):
        if attributes.get("mem_mode", "internal_decoupled") != "internal_decoupled":
            return ""
        if attributes.get(RUNTIME_WEIGHTS, 0) != 1:
            return f"UltraRAM (ram_style = ultra) has no initial contents: {RUNTIME_WEIGHTS} must be 1"
        return ""
    tables = stem == "Lookup" and attributes.get("mem_mode", "internal_embedded") == "internal_embedded"
    constants = stem.startswith("Elementwise") and "const" in (attributes.get("lhs_style"), attributes.get("rhs_style"))
    return "UltraRAM (ram_style = ultra) has no initial contents" if tables or constants else ""


def _is_own(engine: Engine, option: Option) -> bool:
    return all(
        option.folding[key] == engine.folding.get(key, _UNFOLDED[key])
        for key in FOLDING_ATTRIBUTES
        if key in option.folding
    )


def _illegal(engine: Engine, reason: str) -> InputError:
    folding = ", ".join(f"{key} = {value}" for key, value in engine.folding.items())
    return InputError(f"engine {engine.name} ({engine.kind}): the folding to keep ({folding}): {reason}", _HINT)
