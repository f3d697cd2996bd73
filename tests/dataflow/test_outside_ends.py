"""Which ends of channels are engines, and which lie outside the network."""

import pytest

from floorflow.dataflow.model import Stream, is_outside

BESIDE_THE_NETWORK = ("host:in0", "memory:skip", "phase:p1/skip", "cut:a/b.0->c.0")


@pytest.mark.parametrize("end", [*BESIDE_THE_NETWORK, *(f"cnv/{end}" for end in BESIDE_THE_NETWORK)])
def test_the_host_memory_other_phases_and_cuts_lie_outside(end: str) -> None:
    assert is_outside(end)
    assert Stream(end, 0, "a", 0, 8, 8, 2).from_outside
    assert Stream("a", 0, end, 0, 8, 8, 2).to_outside


@pytest.mark.parametrize("end", ["MVAU_hls_0", "cnv/MVAU_hls_0", "hostess", "memory", "my/host"])
def test_engines_lie_inside(end: str) -> None:
    assert not is_outside(end)
    assert not Stream(end, 0, "host:out0", 0, 8, 8, 2).from_outside
    assert not Stream("host:in0", 0, end, 0, 8, 8, 2).to_outside
