"""The host's streams end at one of a board's memory channels, which costs what its controller and DMA engines take."""

from pathlib import Path

import pytest

from floorflow.backends.finn.kinds.boundary import dma_resources
from floorflow.errors import PlatformError
from floorflow.hardware import Rect, load_platform
from floorflow.resources import ZERO, Resources, total

DDR = Resources(33256, 44889, 199, 0, 3)
MIXED = Path(__file__).parent / "mixed" / "u250-and-u280.yaml"


def taken(host_port: str | None, fpgas: int = 1) -> dict[str, Resources]:
    """Return what stands in each slot where anything does, link cores aside."""
    platform = load_platform("alveo-u250", fpgas, host_port=host_port)
    here = [item for item in platform.infrastructure if not item.name.startswith("link core")]
    sums = {slot.name: total(item.resources for item in here if item.slot == slot.name) for slot in platform.slots}
    return {name: amount for name, amount in sums.items() if amount != ZERO}


def test_the_first_channel_is_the_hosts_unless_another_is_asked_for() -> None:
    assert taken(None) == taken("DDR[0]") == {"fpga0.SLR0": DDR + taken("DDR[1]")["fpga0.SLR1"]}
    assert load_platform("alveo-u250").fpgas[0].board.host_memory == "DDR[0]"


def test_the_channel_of_the_static_region_takes_no_controller() -> None:
    platform = load_platform("alveo-u250", host_port="DDR[1]")
    assert (platform.host_in_slot, platform.host_out_slot) == ("fpga0.SLR1", "fpga0.SLR1")
    assert platform.fpgas[0].host_port == Rect(226, 240, 226, 479)
    assert [item.name for item in platform.infrastructure] == ["interconnect", "input_dma", "output_dma"]
    assert platform.slots[0].keep_outs == (Rect(281, 230, 390, 239),), "no area is kept free for a controller"


@pytest.mark.parametrize(("channel", "slr"), [("DDR[2]", "SLR2"), ("DDR[3]", "SLR3")])
def test_a_controller_and_dma_engines_stand_where_the_channel_is(channel: str, slr: str) -> None:
    assert taken(channel) == {f"fpga0.{slr}": taken(None)["fpga0.SLR0"]}
    platform = load_platform("alveo-u250", host_port=channel)
    assert platform.fpgas[0].host_port == platform.infrastructure[0].reserved
    assert platform.infrastructure[0].reserved in next(s for s in platform.slots if s.slr == slr).keep_outs


def test_of_several_cards_the_first_reads_and_the_last_writes() -> None:
    three = taken("DDR[3]", 3)
    assert set(three) == {"fpga0.SLR3", "fpga2.SLR3"}
    reads, writes = dma_resources(24, 512, reads=True), dma_resources(8, 512, reads=False)
    assert three["fpga0.SLR3"] - three["fpga2.SLR3"] == reads - writes


def test_dma_engines_are_those_of_the_cost_model() -> None:
    """Three channels of 8 bits are read and one result of 8 is written, over memory of 512 bits."""
    engines = {item.name: item.resources for item in load_platform("alveo-u250").infrastructure}
    assert engines["input_dma"] == dma_resources(24, 512, reads=True)
    assert engines["output_dma"] == dma_resources(8, 512, reads=False)
    zynq = {item.name: item.resources for item in load_platform("zcu104").infrastructure}
    assert engines["interconnect"] == zynq["processor_interface"]


def test_boards_of_a_platform_file_have_the_channel_at_both_ends() -> None:
    with pytest.raises(PlatformError, match=r"--host-port DDR\[1\]: its file lists no memory channels"):
        load_platform(MIXED, host_port="DDR[1]")


@pytest.mark.parametrize(
    ("board", "complaint"),
    [
        ("alveo-u250", r"--host-port HBM\[0\]: its memory channels are DDR\[0\], DDR\[1\], DDR\[2\], DDR\[3\]"),
        ("zcu104", r"--host-port HBM\[0\]: its file lists no memory channels"),
    ],
)
def test_a_channel_that_the_board_does_not_have_is_refused(board: str, complaint: str) -> None:
    with pytest.raises(PlatformError, match=complaint) as caught:
        load_platform(board, host_port="HBM[0]")
    assert caught.value.exit_code == 2
    assert caught.value.hint
