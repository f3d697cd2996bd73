"""What link kernels carry of the streams of a link in one direction, and where that is less than these need.

A link takes a header before each packet, the kernels 512 bits a cycle of a stream, and credits come back after a round
trip. So the rate of a link may be less than that of the engines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from floorflow.facts.link_kernels import SPARE_WORDS, WORD_BITS, LinkStream
from floorflow.facts.text import number
from floorflow.technology import PACKET_WORDS, WAIT_CYCLES, way_us

ROUNDING = 1e-9
"""Share by which sums of rates may differ."""


@dataclass(frozen=True)
class LinkDirection:
    """A link from one FPGA to another: its own Gb/s, the streams over it, and what each needs at its network's rate."""

    name: str
    gbps: float
    latency_us: float
    clock_mhz: float
    streams: Mapping[str, LinkStream]
    rates: Mapping[str, float]

    @cached_property
    def needed_gbps(self) -> float:
        """What the streams take of the link where it is full.

        It then sends whole packets of the fastest stream, and between two of them a packet of each other one: a header
        for each.
        """
        rates = [self._in_words(name) for name in self.rates]
        return sum(rates) + len(rates) / PACKET_WORDS * max(rates)

    def _in_words(self, name: str) -> float:
        """Return Gb/s of a stream's words on the link: one that is not full leaves once it has waited."""
        rate, bits = self.rates[name], self.streams[name].bits
        each_alone = rate * ceil(bits / WORD_BITS) * WORD_BITS / bits
        return max(rate, min(each_alone, WORD_BITS / WAIT_CYCLES * self.clock_mhz / 1e3))

    def most_gbps(self, name: str) -> Mapping[str, float]:
        """Return what bounds a stream's mean rate, by what it is: its part of the link, its kernels, its credits."""
        words = self.streams[name].words - SPARE_WORDS
        return {
            "link": self.rates[name] * self.gbps / self.needed_gbps,
            "kernel": WORD_BITS * self.clock_mhz / 1e3,
            "credits": words * WORD_BITS / (2 * way_us(self.latency_us)) / 1e3,
        }

    def slower(self, name: str) -> float:
        """Return how many times longer than its engines' a stream's interval is, 1 where nothing limits it."""
        ratio = self.rates[name] / min(self.most_gbps(name).values())
        return ratio if ratio > 1 + ROUNDING else 1.0

    def frame_cycles(self, name: str, words: int) -> int:
        """Return the cycles in which a stream's words of a frame pass while all others send too; 0: one every cycle.

        A stream gets its part of the link in the long run, and where all have to wait no less than any other.
        """
        most, bits = self.most_gbps(name), self.streams[name].bits
        equal = self.gbps * PACKET_WORDS / (PACKET_WORDS + 1) / len(self.rates)
        peaks = sum(min(one.bits, WORD_BITS) for one in self.streams.values()) * self.clock_mhz / 1e3
        all_at_once = self.gbps if peaks * (PACKET_WORDS + len(self.rates)) / PACKET_WORDS <= self.gbps else 0.0
        share = max(most["link"], equal, all_at_once)
        cycles = ceil(words * bits * self.clock_mhz / 1e3 / min(share, most["kernel"], most["credits"]) - ROUNDING)
        return cycles if cycles > words else 0

    def limits(self) -> Iterator[str]:
        """Yield why the link limits the rate, a clause each."""
        if self.needed_gbps > self.gbps * (1 + ROUNDING):
            count, told = len(self.rates), ", ".join(f"{name} {number(rate)}" for name, rate in self.rates.items())
            yield (
                f"its {'stream needs' if count == 1 else f'{count} streams need'} {number(self.needed_gbps)} Gb/s "
                f"with the headers of packets ({told}), and it carries {number(self.gbps)}"
            )
        for name, rate in self.rates.items():
            most, room = self.most_gbps(name), self.streams[name].words - SPARE_WORDS
            if rate > most["kernel"] * (1 + ROUNDING):
                yield (
                    f"{name} needs {number(rate)} Gb/s, and link kernels carry {number(most['kernel'])} of a stream, "
                    f"{WORD_BITS} bits a cycle of {self.clock_mhz:g} MHz"
                )
            if rate > most["credits"] * (1 + ROUNDING):
                yield (
                    f"{name} needs {number(rate)} Gb/s, and the {room:,} words for which there is room at its end make "
                    f"{number(most['credits'])} in round trips of {number(2 * way_us(self.latency_us))} us"
                )
