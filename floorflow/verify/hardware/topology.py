"""Which FPGAs links join, and over which of them a stream goes from one FPGA to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TOPOLOGIES = ("pair", "chain", "ring", "star", "full")


def joined_pairs(topology: str, fpga_count: int) -> list[tuple[int, int]]:
    """Return the pairs of FPGAs, by number and the lower first, between which there is a link."""
    everyone = [(low, high) for high in range(fpga_count) for low in range(high)]
    return [pair for pair in everyone if _are_joined(topology, *pair, fpga_count)]


def _are_joined(topology: str, low: int, high: int, fpga_count: int) -> bool:
    if topology == "full":
        return True
    if topology == "star":
        return low == 0
    return high - low == 1 or (topology == "ring" and high - low == fpga_count - 1)


def fpga_route(source: int, target: int, pairs: Iterable[tuple[int, int]]) -> list[int] | None:
    """Return the FPGAs that a stream passes, both ends included; None if no links lead there.

    It passes the fewest links and, where there is a choice, goes on to the FPGA with the lowest number.
    """
    near: dict[int, set[int]] = {source: set(), target: set()}
    for low, high in pairs:
        near.setdefault(low, set()).add(high)
        near.setdefault(high, set()).add(low)
    away = _links_to(target, near)
    if source not in away:
        return None
    passed = [source]
    while passed[-1] != target:
        passed.append(min(n for n in near[passed[-1]] if away.get(n) == away[passed[-1]] - 1))
    return passed


def _links_to(target: int, near: Mapping[int, set[int]]) -> dict[int, int]:
    """Return for each FPGA how many links lie between it and the target; those that cannot reach it are left out."""
    away, edge, steps = {target: 0}, {target}, 0
    while edge:
        steps += 1
        edge = {n for here in edge for n in near[here]} - set(away)
        away.update(dict.fromkeys(edge, steps))
    return away
