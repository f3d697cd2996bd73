"""Streams become channels by FINN's rules: converters on the narrow side, FIFOs with their producer."""

from fractions import Fraction

import pytest

from floorflow.channels import Channel, ChannelCosts, PartialPlacement, StreamPrices, connect
from floorflow.channels.cost_allocation import crossing_shares, engine_charges, module_resources
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.dataflow.modules import Module
from floorflow.dataflow.options import OptionGroup
from floorflow.hardware import Crossing, Route, link_crossing, padded_width_bits
from floorflow.resources import Resources

SHORT = "fork.1->join.1"


class Prices(ChannelCosts):
    """A FIFO costs its bits, a converter the sum of its widths."""

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        return Resources(lut=width_bits * depth_words)

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        return Resources(lut=input_bits + output_bits)

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        return True

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        return f"converter {input_bits} to {output_bits}"


def folded(out_bits: int, in_bits: int) -> FoldedDataflow:
    engines = tuple(Engine(name, "Pool_hls", "", {}, 0, 2, 2) for name in ("a", "b"))
    streams = (
        Stream("host:in0", 0, "a", 0, 96, 8, 2),
        Stream("a", 0, "b", 0, 96, 8, 2),
        Stream("b", 0, "host:out0", 0, 48, 8, 2),
    )
    options = {
        "a": Option({}, 10, Resources(lut=100), (6,), (out_bits,)),
        "b": Option({}, 12, Resources(lut=200), (in_bits,), (4,)),
    }
    return FoldedDataflow(Dataflow("net", engines, streams), options)


def middle(out_bits: int, in_bits: int) -> Channel:
    return connect(folded(out_bits, in_bits), Prices())[1]


def test_equal_widths_need_no_converter() -> None:
    assert middle(8, 8).converter is None
    assert middle(8, 8).converter_resources == Resources()


@pytest.mark.parametrize(("out_bits", "in_bits", "narrow"), [(4, 16, "a"), (16, 4, "b")])
def test_converter_belongs_to_the_narrow_side_and_wide_wires_run_between(
    out_bits: int, in_bits: int, narrow: str
) -> None:
    channel = middle(out_bits, in_bits)
    assert channel.converter == f"converter {out_bits} to {in_bits}"
    assert channel.converter_engine == narrow
    assert channel.width_bits == 16
    assert channel.words_per_frame == 96 * 2 // 16


def test_wires_of_a_crossing_are_padded_data_and_handshake() -> None:
    assert [padded_width_bits(w) for w in (1, 8, 9)] == [8, 8, 16]
    assert middle(12, 12).sll_wires == 18


def test_depth_grows_between_modules_and_at_each_boundary() -> None:
    network = folded(8, 8)
    inside = connect(network, Prices(), PartialPlacement({"a": "m", "b": "m"}, {}))[1]
    between = connect(network, Prices(), PartialPlacement({"a": "m", "b": "n"}, {}))[1]
    route = Route((Crossing("sll", registers=2, cycles=2),) * 2)
    crossing = connect(network, Prices(), PartialPlacement({"a": "m", "b": "n"}, {inside.name: route}))[1]
    assert (inside.fifo_depth_words, between.fifo_depth_words, crossing.fifo_depth_words) == (2, 32, 40)
    assert crossing.fifo_resources == Resources(lut=8 * 40)


def test_host_fifo_stands_at_the_consumer_and_takes_its_width() -> None:
    first = connect(folded(8, 8), Prices())[0]
    assert (first.fifo_engine, first.width_bits, first.converter) == ("a", 6, None)


def test_modules_pay_for_engines_fifos_and_converters() -> None:
    network = folded(4, 16)
    channels = connect(network, Prices())
    modules = (Module("one", ("a", "b")),)
    charges = engine_charges(network, channels)
    assert charges["a"] == Resources(lut=100 + 6 * 2 + 16 * 2 + 4 + 16)
    assert charges["b"] == Resources(lut=200 + 4 * 2)
    assert module_resources(modules, network, channels) == {"one": charges["a"] + charges["b"]}


def test_crossing_registers_are_shared_between_the_two_slots_of_each_boundary() -> None:
    crossings = {("SLR0", "SLR1"): Crossing("sll", registers=3), ("SLR1", "SLR2"): Crossing("sll", registers=3)}
    shares = crossing_shares(middle(8, 8), [("SLR0", "SLR1"), ("SLR1", "SLR2")], crossings)
    assert shares == {"SLR0": Resources(ff=20), "SLR1": Resources(ff=30), "SLR2": Resources(ff=10)}


def test_fifos_at_a_boundary_take_a_lut_and_two_flip_flops_of_each_wire() -> None:
    crossings = {("SLR0", "SLR1"): Crossing("sll", registers=2, fifos=True)}
    shares = crossing_shares(middle(8, 8), [("SLR0", "SLR1")], crossings)
    assert shares == dict.fromkeys(("SLR0", "SLR1"), Resources(lut=10, ff=20))


def test_a_link_needs_room_for_the_words_of_a_round_trip() -> None:
    network = folded(8, 8)
    name = connect(network, Prices())[1].name
    route = Route((link_crossing(gbps=100, latency_us=0.3, clock_mhz=100),))
    linked = connect(network, Prices(), PartialPlacement({"a": "m", "b": "n"}, {name: route}))[1]
    assert linked.words_per_frame == 24
    assert linked.fifo_depth_words == 32 + 2 * 30 * 24 // network.interval_cycles


def joining() -> FoldedDataflow:
    """A fork whose one branch has a window over half of the frame, and whose other goes straight to the join."""
    fills = {"fork": Fraction(0), "window": Fraction(1, 2), "join": Fraction(0)}
    engines = tuple(Engine(name, "any", "", {}, 0, 2, 2, window_fill=fill) for name, fill in fills.items())
    ends = (("host:in0", 0, "fork", 0), ("fork", 0, "window", 0), ("window", 0, "join", 0), ("fork", 1, "join", 1))
    streams = tuple(Stream(*each, 96, 8, 2) for each in (*ends, ("join", 0, "host:out0", 0)))
    ports = {"fork": (1, 2), "window": (1, 1), "join": (2, 1)}
    options = {n: Option({}, 10, Resources(), (8,) * ins, (8,) * outs) for n, (ins, outs) in ports.items()}
    return FoldedDataflow(Dataflow("net", engines, streams), options)


@pytest.mark.parametrize(
    ("known", "depth"),
    [({}, 32 + 12), ({SHORT: 0}, 32 + 12), ({SHORT: 3}, 32), ({SHORT: 40}, 40), ({"window.0->join.0": 40}, 32 + 12)],
)
def test_what_waits_at_a_join_is_kept_there_only_where_no_depth_is_known(known: dict[str, int], depth: int) -> None:
    """Half of 24 words waits on the short branch."""
    apart = PartialPlacement({"fork": "m", "window": "n", "join": "o"}, {}, known)
    channels = {channel.name: channel for channel in connect(joining(), Prices(), apart)}
    assert channels[SHORT].fifo_depth_words == depth
    assert channels[SHORT].needed_words == known.get(SHORT, 0)
    assert channels["fork.0->window.0"].fifo_depth_words == 32


def test_before_anything_is_placed_it_is_kept_there() -> None:
    assert {c.name: c.fifo_depth_words for c in connect(joining(), Prices())}[SHORT] == 2 + 12


def test_what_waits_at_a_join_is_priced_unless_the_analysis_tells_where_it_waits() -> None:
    network = joining()
    groups = [OptionGroup((name,), ((option,),)) for name, option in network.options.items()]
    for joins, words in ((True, 2 + 12), (False, 2)):
        priced = StreamPrices(Prices(), joins=joins).couplings(network.dataflow, groups)
        uses = dict(zip((s.channel for s in network.dataflow.streams), (c.use[0, 0, 0] for c in priced), strict=True))
        assert uses[SHORT] == words * 8
