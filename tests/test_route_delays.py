"""Public delays of nets: their places are on the dies, distances and the line through them are as the docs say."""

import numpy as np
import pytest

from benchmarks import route_delays
from tests.plans import ROOT


@pytest.fixture(scope="module")
def nets() -> tuple[route_delays.Net, ...]:
    return route_delays.read_nets()


def test_distances_are_columns_and_rows_of_the_die(nets: tuple[route_delays.Net, ...]) -> None:
    by_ends = {(net.source, net.target): net for net in nets}
    down = by_ends["SLICE_X30Y33", "SLICE_X30Y17"]
    assert (down.columns, down.rows) == (0, 16)
    # Two SLICE columns of a CLB stand on both sides of an interconnect column; block RAM and DSP stand between.
    across = by_ends["SLICE_X28Y49", "SLICE_X21Y49"]
    assert across.rows == 0
    assert across.columns > 7
    assert all(net.ns > 0 and net.origin and net.state in ("routed", "estimated") for net in nets)


def test_the_line_has_the_least_relative_error(nets: tuple[route_delays.Net, ...]) -> None:
    line = route_delays.fitted(nets)

    def error(constant: float, slope: float) -> float:
        return sum(((constant + slope * net.tiles) / net.ns - 1) ** 2 for net in nets)

    least = error(line.constant_ns, line.tile_ns)
    for constant, slope in np.array([[1, 1.02], [1, 0.98], [1.02, 1], [0.98, 1]]):
        assert error(line.constant_ns * constant, line.tile_ns * slope) > least


def test_a_net_is_told_without_itself(nets: tuple[route_delays.Net, ...]) -> None:
    longest = max(range(len(nets)), key=lambda index: nets[index].tiles)
    others = [net for index, net in enumerate(nets) if index != longest]
    told = route_delays.fitted(others).ns(nets[longest].tiles)
    assert route_delays.unseen(nets)[longest] == pytest.approx(told / nets[longest].ns)
    assert told > nets[longest].ns


def test_the_document_says_what_the_program_prints(
    nets: tuple[route_delays.Net, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "docs" / "clock.md").read_text(encoding="utf-8")
    route_delays.main()
    printed = capsys.readouterr().out
    line, off = route_delays.fitted(nets), sorted(route_delays.unseen(nets))
    assert f"The line is {line.constant_ns:.2f} ns and {line.tile_ns * 1e3:.1f} ps a tile" in text
    assert (
        f"{np.median(off):.2f} in the median, {off[int(0.9 * len(off))]:.2f} for nine in ten, {off[-1]:.2f} at most"
        in text
    )
    reach = " / ".join(f"{line.reach(1e3 / mhz):.0f}" for mhz in (200, 250, 300))
    assert f"| {reach} | 300 / 240 / 200 |" in text
    for _, public, told, rule in route_delays.beside(nets, line):
        assert f"| {public} | {told} | {rule} |" in printed
        assert told in text
        assert rule.split()[0] in text
    assert sum(net.state == "routed" for net in nets) == 14
