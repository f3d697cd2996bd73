"""Every legal folding of an engine that no other dominates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import le

from floorflow.backends.finn.calibrated import coefficients
from floorflow.backends.finn.kinds.kind import MAX_STREAM_BITS, Choice, CostModel, EngineKind, Folding, priced
from floorflow.backends.finn.kinds.matrix_vector import MatrixVector, SharedTerms
from floorflow.backends.finn.registry import kind_of
from floorflow.backends.finn.version import FinnVersion
from floorflow.dataflow.model import Attributes, AttributeValue, Engine, Option
from floorflow.errors import InfeasibleError, InputError
from floorflow.technology import Technology

_Items = tuple[tuple[str, AttributeValue], ...]
_Widths = tuple[tuple[int, ...], tuple[int, ...]]
_Costs = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Port:
    """What a stream demands of the folding at one of its ends: words must divide its last dimension.

    FINN's width converters reshape the producer's tensor along that dimension only (InsertDWC; FINN issue 1042), so
    that after a flatten a matrix unit may not take words that span pixels.
    """

    element_bits: int
    last_dimension: int

    def takes(self, width_bits: int) -> bool:
        """Whether words of that width can be converted to and from any other legal width."""
        elements, rest = divmod(width_bits, self.element_bits)
        return rest == 0 and self.last_dimension % elements == 0


@dataclass(frozen=True, slots=True)
class Ports:
    """The input and output ports of an engine that streams end at; none: any width is legal."""

    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()

    def take(self, option: Option) -> bool:
        """Whether every port takes the option's words."""
        pairs = [*zip(self.inputs, option.input_widths_bits, strict=False)]
        pairs += zip(self.outputs, option.output_widths_bits, strict=False)
        return all(port.takes(width) for port, width in pairs)


def options(
    engine: Engine,
    technology: Technology,
    model: CostModel,
    allow_runtime_weights: bool = True,
    ports: Ports = Ports(),
    *,
    finn: FinnVersion = "main",
) -> tuple[Option, ...]:
    """Return the engine's undominated legal foldings, by cycles, then resources.

    A folding is dominated if another with the same port widths is no worse in cycles and in each of the five
    resources; of equals the lexicographically first stays. ``allow_runtime_weights`` False rules
    out weights in UltraRAM.

    Raises
    ------
    InputError
        If the kind is unknown or its attributes are incomplete.
    InfeasibleError
        If no folding is legal.

    """
    choice = Choice(technology, model, allow_runtime_weights, finn)
    return _checked(engine, lambda: _cached_front(engine.kind, _items(engine), choice, ports))


def all_options(engine: Engine, choice: Choice, ports: Ports) -> tuple[Option, ...]:
    """Return every legal folding, dominated ones included; raises as `options`."""
    every = _checked(engine, lambda: _cached_options(engine.kind, _items(engine), choice))
    return _checked(engine, lambda: tuple(option for option in every if ports.take(option)))


def _checked(engine: Engine, find: Callable[[], tuple[Option, ...]]) -> tuple[Option, ...]:
    try:
        found = find()
    except InputError as error:
        raise InputError(f"engine {engine.name}: {error}", hint=error.hint) from error
    if not found:
        raise InfeasibleError(
            f"proven infeasible: engine {engine.name} ({engine.kind}) has no legal folding: every one needs a stream "
            f"of more than {MAX_STREAM_BITS} bits, or weights that it cannot hold",
            hint="use fewer channels or bits in this layer, or another kind of engine",
        )
    return found


def _items(engine: Engine) -> _Items:
    return tuple(sorted((name, _frozen(value)) for name, value in engine.attributes.items()))


def _frozen(value: AttributeValue) -> AttributeValue:
    return tuple(value) if isinstance(value, list) else value


@lru_cache(maxsize=4096)
def _cached_options(op_type: str, items: _Items, choice: Choice) -> tuple[Option, ...]:
    return tuple(legal_options(kind_of(op_type), dict(items), choice))


@lru_cache(maxsize=4096)
def _cached_front(op_type: str, items: _Items, choice: Choice, ports: Ports) -> tuple[Option, ...]:
    return undominated(o for o in _cached_options(op_type, items, choice) if ports.take(o))


def forget_options() -> None:
    """Drop the foldings that are kept for engines met again, so that a benchmark starts from nothing."""
    _cached_options.cache_clear()
    _cached_front.cache_clear()


def legal_options(kind: EngineKind, attributes: Attributes, choice: Choice) -> Iterator[Option]:
    """Yield every folding that FINN's whole build takes, with its price, dominated ones included."""
    price = _pricer(kind, attributes, choice)
    for folding in kind.foldings(attributes, choice):
        option = price(folding)
        if max(*option.input_widths_bits, *option.output_widths_bits) <= MAX_STREAM_BITS:
            yield option


def _pricer(kind: EngineKind, attributes: Attributes, choice: Choice) -> Callable[[Folding], Option]:
    """Return what prices a folding: unit by unit, or by shared terms where there are thousands."""
    if isinstance(kind, MatrixVector) and choice.styles_are_free:
        base = kind.unit({**attributes, "PE": 1, "SIMD": 1}, choice.finn)
        return SharedTerms(base, choice.technology, coefficients(choice.model)).option

    def price(folding: Folding) -> Option:
        unit = kind.unit({**attributes, **folding}, choice.finn)
        resources = priced(unit, choice.technology, choice.model)
        return Option(folding, unit.cycles, resources, unit.input_widths_bits, unit.output_widths_bits)

    return price


def undominated(candidates: Iterable[Option]) -> tuple[Option, ...]:
    """Return the Pareto front over cycles and resources for each set of port widths, in lexicographic order.

    Options with other ports are kept: what they cost in width converters depends on the neighbours.
    """
    fronts: dict[_Widths, list[Option]] = {}
    for option in candidates:
        fronts.setdefault((option.input_widths_bits, option.output_widths_bits), []).append(option)
    kept = sorted((option for same_ports in fronts.values() for option in _front(same_ports)), key=_order)
    # Few options cost the same: only these are told apart by the spelling of their folding.
    ties = (list(tied) for _, tied in groupby(kept, key=_order))
    return tuple(o for tied in ties for o in (tied if len(tied) == 1 else sorted(tied, key=_spelling)))


def _front(candidates: Sequence[Option]) -> Collection[Option]:
    """Return the front of options with the same ports; of equals the lexicographically first."""
    kept: dict[_Costs, Option] = {}
    for costs, option in sorted(((_costs(o), o) for o in candidates), key=lambda pair: pair[0]):
        if costs in kept:
            kept[costs] = min(kept[costs], option, key=_spelling)
        elif not any(all(map(le, better, costs)) for better in kept):
            kept[costs] = option
    return kept.values()


def _costs(option: Option) -> _Costs:
    return (option.cycles, *option.resources.as_tuple())


def _order(option: Option) -> tuple[_Costs, int]:
    """Cost first; among equal costs narrow ports."""
    return _costs(option), sum(option.input_widths_bits) + sum(option.output_widths_bits)


def _spelling(option: Option) -> tuple[str, ...]:
    """Names and values of the folding."""
    return tuple(f"{name}={value:>8}" for name, value in sorted(option.folding.items()))
