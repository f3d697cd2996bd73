"""The styles of a slot's FIFOs equal the best of all choices, tried one by one."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import pytest

from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.channels import (
    Channel,
    ChannelCosts,
    PartialPlacement,
    StreamPrices,
    choose_styles,
    connect,
    with_styles,
)
from floorflow.dataflow.fifo import FifoChoice, price
from floorflow.dataflow.options import OptionGroup
from floorflow.resources import ZERO, Resources, total
from floorflow.technology import technology_of
from tests.channels.test_realise import folded
from tests.random_family import seeds

PRICES = (1 / 200_000, 1 / 400_000, 1 / 600, 1 / 100, 0.0)
FINN = CostTable(technology_of("xcku5p-ffvd900-2-i"))


@dataclass(frozen=True)
class Styled(ChannelCosts):
    """A FIFO of one word is in registers; a deeper one in one of three memories, priced at random by its size."""

    seed: int

    def fifo_resources(self, width_bits: int, depth_words: int) -> Resources:
        return self.fifo_choices(width_bits, depth_words)[0].resources

    def fifo_choices(self, width_bits: int, depth_words: int) -> tuple[FifoChoice, ...]:
        if depth_words <= 2:
            return (FifoChoice("shift", Resources(lut=width_bits)),)
        rng = random.Random(f"{self.seed} {width_bits} {depth_words}")
        sizes = Resources(lut=rng.randint(10, 40)), Resources(4, bram18=rng.randint(1, 5)), Resources(6, uram=1)
        return tuple(map(FifoChoice, ("cells", "blocks", "ultra"), sizes))

    def converter_resources(self, input_bits: int, output_bits: int) -> Resources:
        return ZERO

    def convertible(self, input_bits: int, output_bits: int) -> bool:
        return True

    def converter_kind(self, input_bits: int, output_bits: int) -> str:
        return "converter"


def fifos(rng: random.Random, count: int) -> list[Channel]:
    """Return channels of random depths, some alike, all with the same producer."""
    channel = connect(folded(8, 8), Styled(0))[1]
    depths = [rng.choice([2, 3, 4, 5, 6]) for _ in range(count)]
    streams = [replace(channel.stream, source_port=port) for port in range(count)]
    return [replace(channel, stream=s, fifo_depth_words=d) for s, d in zip(streams, depths, strict=True)]


def excess(use: Resources, free: Resources) -> float:
    """Return by what share of what is free, or units where nothing is, the use exceeds it, summed over resources."""
    pairs = zip(use.as_tuple(), free.as_tuple(), strict=True)
    return sum(max(0, need - have) / max(1, have) for need, have in pairs)


def best_by_hand(channels: Sequence[Channel], costs: ChannelCosts, free: Resources) -> tuple[float, float]:
    """Return excess and price of the best of all choices."""
    choices = [costs.fifo_choices(c.width_bits, c.fifo_depth_words) for c in channels]
    uses = [total(each.resources for each in picked) for picked in product(*choices)]
    return min((round(excess(use, free), 6), price(use, PRICES)) for use in uses)


def use_of(channels: Sequence[Channel], costs: ChannelCosts, styles: Mapping[str, str]) -> Resources:
    rows = [(styles[c.name], costs.fifo_choices(c.width_bits, c.fifo_depth_words)) for c in channels]
    return total(choice.resources for style, choices in rows for choice in choices if choice.style == style)


@pytest.mark.parametrize("seed", seeds())
def test_styles_are_the_best_of_all_choices(seed: int) -> None:
    rng = random.Random(seed)
    costs, channels = Styled(seed), fifos(rng, rng.randint(1, 6))
    free = Resources(rng.randint(0, 120), 50, rng.randint(-1, 8), rng.randint(0, 2), 0)
    styles = choose_styles(channels, costs, {"a": "s"}, {"s": free}, PRICES)
    use = use_of(channels, costs, styles)
    found = round(excess(use, free), 6), price(use, PRICES)
    assert found == pytest.approx(best_by_hand(channels, costs, free))


def test_without_prices_as_few_fifos_as_possible_leave_the_tools_own_memory() -> None:
    costs, channels = Styled(0), fifos(random.Random(1), 6)
    own = use_of(channels, costs, choose_styles(channels, costs, {"a": "s"}, {}, ()))
    free = replace(own, lut=own.lut - 1, bram18=9, uram=9)
    styles = choose_styles(channels, costs, {"a": "s"}, {"s": free}, ())
    assert sum(style in ("blocks", "ultra") for style in styles.values()) == 1
    assert use_of(channels, costs, styles).fits(free)


def test_each_slot_keeps_its_own_limits() -> None:
    costs, channels = Styled(0), connect(folded(8, 8), Styled(0))
    channels = tuple(replace(channel, fifo_depth_words=9) for channel in channels)
    free = {"s": Resources(100, uram=9), "t": Resources(100, bram18=9)}
    styles = choose_styles(channels, costs, {"a": "s", "b": "t"}, free, (1.0, 0, 0, 0, 0))
    # The one from the host and the one between lie with a, the one to the host with b.
    assert list(styles.values()) == ["ultra", "ultra", "blocks"]


def test_a_deep_fifo_of_finn_has_a_style_of_least_price_on_any_part() -> None:
    deep = FINN.fifo_choices(8, 4000)
    assert [choice.style for choice in deep] == ["ultra", "distributed", "block"]
    assert deep[0].resources == FINN.fifo_resources(8, 4000)
    without = CostTable(technology_of("xc7z020clg400-1")).fifo_choices(8, 4000)
    assert [choice.style for choice in without] == ["block", "distributed"]
    assert FINN.fifo_choices(8, 33) == (FifoChoice("auto", FINN.fifo_resources(8, 33)),)


def test_channels_take_the_styles_that_are_given_where_their_depth_leaves_them() -> None:
    home, least = {"a": "m", "b": "m"}, {"a.0->b.0": 4000}
    own = connect(folded(8, 8), FINN, PartialPlacement(home, {}, least))
    assert own[1].fifo_style == "ultra"
    styled = with_styles(own[1:2], FINN, {"a.0->b.0": "distributed"})[0]
    assert styled.fifo_style == "distributed"
    assert styled.fifo_resources == FINN.fifo_choices(8, 4000)[1].resources
    shallow = connect(folded(8, 8), FINN, PartialPlacement(home, {}))[1:2]
    assert with_styles(shallow, FINN, {"a.0->b.0": "block"})[0].fifo_style == "auto"


def test_folding_prices_what_fifos_hold_at_every_width() -> None:
    network = folded(8, 4)
    groups = [OptionGroup((name,), ((option,),)) for name, option in network.options.items()]
    held = {"a.0->b.0": 8 * 4000}

    def fifo(**rule: object) -> tuple[int, ...]:
        prices = StreamPrices(FINN, held, **rule).couplings(network.dataflow, groups)[1].use[0, 0]  # type: ignore[arg-type]
        return tuple((prices - FINN.converter_resources(8, 4).as_tuple()).tolist())

    ultra, distributed, block = (choice.resources for choice in FINN.fifo_choices(8, 4000))
    assert fifo() == ultra.as_tuple()
    assert fifo(prices=PRICES) == block.as_tuple()
    assert fifo(prices=None) == ultra.least(distributed).least(block).as_tuple()
