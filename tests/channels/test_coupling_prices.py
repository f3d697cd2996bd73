"""Couplings price every pair of foldings as `connect` prices the pair that is chosen."""

from itertools import product

import numpy as np

from floorflow.channels import connect, couplings
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.dataflow.options import UNBUILDABLE, OptionGroup
from floorflow.resources import ZERO, Resources, total
from tests.channels.test_realise import Prices


class Fussy(Prices):
    def convertible(self, input_bits: int, output_bits: int) -> bool:
        return max(input_bits, output_bits) % min(input_bits, output_bits) == 0


def options(*widths: tuple[int, int]) -> tuple[tuple[Option, ...], ...]:
    return tuple((Option({}, 1, Resources(lut=1), (taken,), (given,)),) for taken, given in widths)


def test_every_pair_of_rows_costs_what_its_channels_cost() -> None:
    engines = tuple(Engine(name, "Pool_hls", "", {}, 0, 2, 2) for name in ("a", "b"))
    streams = (
        Stream("host:in0", 0, "a", 0, 96, 8, 2),
        Stream("a", 0, "b", 0, 96, 8, 2),
        Stream("b", 0, "host:out0", 0, 48, 8, 2),
    )
    net = Dataflow("net", engines, streams)
    groups = [OptionGroup(("a",), options((2, 4), (4, 4), (2, 8))), OptionGroup(("b",), options((4, 2), (8, 2)))]
    tables = couplings(net, groups, Prices())
    for a, b in product(range(3), range(2)):
        picked = (a, b)
        priced = sum(c.use[c.source_class[picked[c.source]], c.target_class[picked[c.target]]] for c in tables)
        folded = FoldedDataflow(net, {"a": groups[0].rows[a][0], "b": groups[1].rows[b][0]})
        expected = total(c.fifo_resources + c.converter_resources for c in connect(folded, Prices()))
        assert tuple(np.asarray(priced)) == expected.as_tuple()


def test_fifos_and_narrow_sources_converters_lie_with_the_source() -> None:
    engines = tuple(Engine(name, "Pool_hls", "", {}, 0, 2, 2) for name in ("a", "b"))
    net = Dataflow("net", engines, (Stream("a", 0, "b", 0, 96, 8, 2),))
    groups = [OptionGroup(("a",), options((2, 4), (2, 8))), OptionGroup(("b",), options((4, 2), (8, 2)))]
    (coupling,) = couplings(net, groups, Prices())
    assert coupling.at_source is not None
    for a, b in product(range(2), repeat=2):
        folded = FoldedDataflow(net, {"a": groups[0].rows[a][0], "b": groups[1].rows[b][0]})
        (channel,) = connect(folded, Prices())
        held = channel.fifo_resources + (channel.converter_resources if channel.converter_engine == "a" else ZERO)
        assert tuple(coupling.at_source[coupling.source_class[a], coupling.target_class[b]]) == held.as_tuple()


def test_widths_that_no_converter_joins_are_beyond_any_budget() -> None:
    engines = tuple(Engine(name, "Pool_hls", "", {}, 0, 2, 2) for name in ("a", "b"))
    net = Dataflow("net", engines, (Stream("a", 0, "b", 0, 96, 8, 2),))
    groups = [OptionGroup(("a",), options((2, 6))), OptionGroup(("b",), options((4, 2), (6, 2)))]
    (coupling,) = couplings(net, groups, Fussy())
    assert (coupling.use[0, 0] == UNBUILDABLE).all()
    assert (coupling.use[0, 1] < UNBUILDABLE).all()
