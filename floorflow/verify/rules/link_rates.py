"""Rates over links with kernels: no interval is shorter than these carry, and a link that limits one is named."""

import re
from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Any

from floorflow.verify.facts import PhaseFacts, padded
from floorflow.verify.hardware.routes import KERNEL_CYCLES, KERNEL_HZ, has_kernels
from floorflow.verify.plan_records import PlanRecord
from floorflow.verify.rules.link_kernels import UNCOUNTED, WORD_BITS, receive_depth
from floorflow.verify.rules.topology import cables, streams_over_links

NAME = "faster-than-link"
BODY_WORDS, WAIT_CYCLES = 63, 64
"""Words of a stream behind each header, and the network's cycles after which a word leaves that is not full."""
NEAR = Fraction(1, 10**8)
_LIMITS = re.compile(r"link (\S+) limits the rate: ")


def check_link_rates(plan: PlanRecord, phase: PhaseFacts) -> None:
    """Judge the intervals that a phase sustains, and what its plan warns of."""
    longer, limiting = dict[str, Fraction](), set[str]()
    for name, load in _directions(phase):
        for channel in phase.channels:
            network, times = phase.network_of(channel), load.get(channel["name"], Fraction(0))
            if network is not None and times > 1 + NEAR:
                longer[network] = max(longer.get(network, Fraction(1)), times)
                limiting.add(name)
    said = {name for warning in plan["warnings"] for name in _LIMITS.findall(warning)}
    for name in sorted(limiting - said):
        phase.add(NAME, "warnings", f"link {name} limits the rate, and none says so")
    for name in sorted(said - limiting if len(plan["phases"]) == 1 else ()):
        phase.add(NAME, "warnings", f"link {name} limits no rate")
    for network, times in longer.items():
        part = phase.parts[network]
        throughput = part["estimates"]["throughput"]
        stated = None if throughput is None else throughput["interval_cycles"]
        least = ceil(part["interval_cycles"] * times * (1 - NEAR))
        if stated is not None and stated < least:
            message = f"interval_cycles is {stated}, links take {least} for a frame"
            phase.add(NAME, f"{phase.where} network {network}.estimates.throughput", message)


def _directions(phase: PhaseFacts) -> Iterator[tuple[str, dict[str, Fraction]]]:
    """Yield each direction of a cable with kernels, and how many times what it carries each of its streams needs."""
    streams = streams_over_links(phase)
    for cable in cables(phase, streams):
        for source, target in (cable["ends"], cable["ends"][::-1]):
            over = [
                row
                for row in streams
                if (row["link"], row["source"], row["target"]) == (cable["link"], source["card"], target["card"])
            ]
            if over and has_kernels(cable["kind"], phase.fpgas.values()):
                yield f"{source['card']}>{target['card']}", _loads(phase, cable, over)


def _loads(phase: PhaseFacts, cable: dict[str, Any], over: list[dict[str, Any]]) -> dict[str, Fraction]:
    clock = Fraction(str(phase.clock_mhz)) / 1000  # GHz: bits a cycle are Gb/s
    on_link = []
    for row in over:
        rate, bits = Fraction(row["gbps"] or 0), padded(row["bits"])
        # A word is not full where a stream fills none in time, but there are no more words than the stream's own need.
        in_time, by_themselves = WORD_BITS * clock / WAIT_CYCLES, rate * ceil(bits / WORD_BITS) * WORD_BITS / bits
        on_link.append(max(rate, min(in_time, by_themselves)))
    # While the fastest has a whole packet, each other one has a header for what came meanwhile.
    share = (sum(on_link) + max(on_link) * len(over) / BODY_WORDS) / Fraction(str(cable["gbps"]))
    trip_us = 2 * (Fraction(str(cable["latency_us"])) + Fraction(KERNEL_CYCLES * 10**6, KERNEL_HZ))
    found = {}
    for row in over:
        rate = Fraction(row["gbps"] or 0)
        room = receive_depth(row, cable) - UNCOUNTED
        of_credits = rate * 1000 / (room * WORD_BITS / trip_us)
        found[row["channel"]] = max(share, rate / (WORD_BITS * clock), of_credits)
    return found
