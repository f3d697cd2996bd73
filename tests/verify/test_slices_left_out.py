"""How much room lets a stream have the slices that it is without: its neighbours need some, too."""

from typing import Any

from floorflow.verify.facts import PhaseFacts
from floorflow.verify.rules.slices import ROOM_FOR_MANY, Stretch, room_enough
from floorflow.verify.violations import Findings

WAY = Stretch("fpga0", ("fpga0.SLR0",), 10.0, (10.0,))


def phase_of(*streams: tuple[str, str, int, int]) -> PhaseFacts:
    """Streams: source, target, width, and words that a FIFO has to spare; the first is without two slices."""
    channels = [
        {
            "name": f"{source}->{target}",
            "source": source,
            "target": target,
            "width_bits": width,
            "fifo_depth": 10 + spare,
            "fifo_needed": 10,
            "slices": 0,
            "slices_left_out": 0,
        }
        for source, target, width, spare in streams
    ]
    channels[0]["slices_left_out"] = 2
    return PhaseFacts("p", {"channels": channels}, {}, {}, {}, {}, {}, 200.0, Findings(), networks=("n",))


def enough(phase: PhaseFacts, **ways: Stretch) -> Any:
    return room_enough(phase, phase.channels[0], {channel["name"]: WAY for channel in phase.channels} | ways)


def test_a_stream_alone_needs_room_for_its_own_slices() -> None:
    assert enough(phase_of(("fork", "join", 8, 0))) == {"fpga0.SLR0": ROOM_FOR_MANY * 2 * 12}


def test_what_joins_it_from_the_same_fork_needs_room_for_as_many() -> None:
    both = phase_of(("fork", "join", 8, 0), ("fork", "side", 16, 2), ("side", "join", 16, 0))
    assert enough(both) == {"fpga0.SLR0": ROOM_FOR_MANY * 2 * (12 + 20)}


def test_what_joins_it_with_words_to_spare_needs_none() -> None:
    both = phase_of(("fork", "join", 8, 0), ("fork", "side", 16, 0), ("side", "join", 16, 2))
    assert enough(both) == {"fpga0.SLR0": ROOM_FOR_MANY * 2 * 12}
