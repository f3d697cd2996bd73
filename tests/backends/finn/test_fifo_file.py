"""FINN's FIFOs in the order in which it makes them; FINN+ itself is asked in tests/tools_finn/test_fifos.py."""

from __future__ import annotations

from floorflow.backends.finn.made_graph import fifo_config
from floorflow.schema import ChannelEntry
from floorflow.schema.values import Amounts

NOTHING = Amounts(LUT=0, FF=0, BRAM18=0, URAM=0, DSP=0)


def channel(
    source: str, target: str, depth: int, widths: tuple[int, int] = (8, 8), style: str = "auto"
) -> ChannelEntry:
    source, port = source.split(".")
    return ChannelEntry(
        name=f"{source}.{port}->{target}",
        source=source,
        source_port=int(port),
        target=target.partition(".")[0],
        target_port=int(target.partition(".")[2] or 0),
        width_bits=max(widths),
        words_per_frame=64,
        source_width_bits=widths[0],
        target_width_bits=widths[1],
        converter="StreamingDataWidthConverter_rtl" if widths[0] != widths[1] else None,
        converter_module=None,
        fifo_depth=depth,
        fifo_needed=0,
        fifo_style=style,
        fifo_module="m",
        crossing_registers=0,
        link=None,
        resources=NOTHING,
        converter_resources=NOTHING,
        fifo_resources=NOTHING,
        crossing_resources={},
        slices=0,
        slice_slots=[],
        slices_left_out=0,
        slice_resources={},
    )


ENGINES = ["fork", "long", "join"]
CHANNELS = [
    channel("host:in0.0", "fork", 32),
    channel("fork.0", "long", 5, widths=(8, 16)),
    channel("fork.1", "join", 900, style="block"),
    channel("long.0", "join.1", 6, widths=(16, 8)),
    channel("join.0", "host:out0", 32),
]


def test_fifos_stand_by_levels_the_later_output_first() -> None:
    told = fifo_config(ENGINES, CHANNELS, {}, "plus")
    # From the host; both from the fork; behind its converter; before and behind the other; to the host.
    assert list(told["fifo_depths"].values()) == [32, 900, 2, 5, 6, 2, 32]
    assert list(told["fifo_depths"]) == [f"StreamingFIFO_rtl_{number}" for number in range(7)]
    assert told["ram_style"]["StreamingFIFO_rtl_1"] == "block"
    assert set(told["impl_style"].values()) == {"rtl"}


def test_main_reads_fifos_with_the_folding_and_keeps_deep_ones_in_amds() -> None:
    told = fifo_config(ENGINES, CHANNELS, {"long": {"PE": 2}}, "main")
    assert told["long"] == {"PE": 2}
    assert told["StreamingFIFO_rtl_1"] == {"depth": 900, "impl_style": "vivado", "ram_style": "block"}
    assert told["StreamingFIFO_rtl_0"] == {"depth": 32, "impl_style": "rtl", "ram_style": "auto"}


def test_shift_registers_are_finns_own_fifo() -> None:
    told = fifo_config(["a"], [channel("host:in0.0", "a", 60, style="srl")], {}, "dev")
    assert told["StreamingFIFO_rtl_0"] == {"depth": 60, "impl_style": "rtl", "ram_style": "auto"}
    assert fifo_config(["a"], [channel("host:in0.0", "a", 60, style="srl")], {}, "plus")["ram_style"] == {
        "StreamingFIFO_rtl_0": "srl"
    }
