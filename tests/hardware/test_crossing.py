"""What an SLR boundary and a link take: cycles, words of FIFO, flip-flops and cost, from the board's file."""

import pytest

from floorflow.hardware import Crossing, Route, boundary_crossing, link_crossing, load_platform, stream_wires


@pytest.mark.parametrize("registers", [0, 2, 8, 16])
def test_each_register_stage_of_a_board_takes_a_cycle_and_two_words(registers: int) -> None:
    board = load_platform("alveo-u250").fpgas[0].board.model_copy(update={"crossing_registers": registers})
    crossing = boundary_crossing(board, wires=100)
    assert (crossing.wires, crossing.registers, crossing.cycles, crossing.cost) == (100, registers, registers, 1)
    assert crossing.words_in_flight(words_per_frame=7, interval_cycles=1000) == 2 * registers
    assert Route((crossing,) * 3).cycles == 3 * registers


@pytest.mark.parametrize(("stated", "bare", "fifos"), [(0, 0, 0), (1, 1, 2), (2, 2, 2), (3, 3, 3)])
def test_a_fifo_stands_on_each_side_if_there_are_any(stated: int, bare: int, fifos: int) -> None:
    board = load_platform("alveo-u250").fpgas[0].board.model_copy(update={"crossing_registers": stated})
    crossings = [boundary_crossing(board, fifos=are_fifos) for are_fifos in (False, True)]
    assert [(crossing.registers, crossing.cycles) for crossing in crossings] == [(bare, bare), (fifos, fifos)]


def test_the_lower_slot_has_the_odd_register() -> None:
    assert [Crossing("sll", registers=n).register_shares for n in (0, 1, 2, 5)] == [(0, 0), (1, 0), (1, 1), (3, 2)]


@pytest.mark.parametrize(
    ("ends", "slots"),
    [
        (("fpga0.SLR0", "fpga0.SLR2"), ("SLR0", "SLR1", "SLR1", "SLR2")),
        (("fpga0.SLR2", "fpga0.SLR1"), ("SLR2", "SLR1")),
        (("fpga0.SLR1", "fpga0.SLR1"), ()),
    ],
)
def test_registers_stand_on_each_side_of_a_boundary_in_the_order_of_the_stream(
    ends: tuple[str, str], slots: tuple[str, ...]
) -> None:
    steps = load_platform("alveo-u250").route_steps(*ends)
    assert tuple(slot for step in steps for slot in step.register_slots) == tuple(f"fpga0.{slot}" for slot in slots)


def test_a_link_holds_the_words_of_a_round_trip_at_the_mean_rate() -> None:
    link = link_crossing(gbps=100, latency_us=1, clock_mhz=250)
    assert (link.gbps, link.registers, link.cycles, link.cost) == (100, 0, 250, 10)
    assert link.words_in_flight(words_per_frame=72, interval_cycles=864) == 42  # 500 * 72 / 864 = 41.7
    assert link_crossing(gbps=1, latency_us=0.3, clock_mhz=100).cycles == 30  # not 31 for 30.000000000000004


def test_the_longer_of_two_routes_is_long_in_boundaries_and_in_links() -> None:
    sll, link = Crossing("sll", cycles=2), link_crossing(gbps=1, latency_us=1, clock_mhz=100)
    assert Route((sll, sll, sll)).longer(Route((sll, link))) == Route((sll, sll, sll, link))


def test_a_stream_takes_padded_data_and_handshake_of_a_boundary() -> None:
    assert [stream_wires(width) for width in (1, 8, 9, 64)] == [10, 10, 18, 66]


def test_a_platform_makes_its_crossings_from_the_board_and_the_clock() -> None:
    platform = load_platform("alveo-u250", fpgas=2, clock_mhz=100)
    assert platform.crossings["fpga1.SLR2", "fpga1.SLR3"] == Crossing("sll", wires=23040, registers=2, cycles=2)
    # 100 cycles of the link itself, 80 of its kernels' at 300 MHz, and 64 in which a word is filled.
    assert platform.crossings["fpga0.SLR2", "fpga1.SLR2"].cycles == 127 + 64
    assert platform.route("fpga0.SLR3", "fpga1.SLR0").cycles == 2 + 191 + 2 * 2
    others = load_platform("alveo-u250", fpgas=2, clock_mhz=100, link="ethernet-100g")
    assert others.crossings["fpga0.SLR2", "fpga1.SLR2"].cycles == 100
