"""What is promised of a network: rate, latency and clock, and what one frame takes with the planned FIFOs."""

from __future__ import annotations

from math import floor

from floorflow.errors import Refusal, some
from floorflow.facts.text import rate, table, wrapped
from floorflow.facts.values import PlanModel

CLOCKS_MHZ = (150.0, 200.0, 250.0)
"""Clocks at which frame rates are given beside the plan's own."""


class ShallowEntry(PlanModel):
    """A FIFO with fewer words than the full rate needs."""

    channel: str
    planned: int
    needed: int


class ThroughputEntry(PlanModel):
    """What one frame takes in cycles with the planned FIFOs; a number that is not known is null.

    ``full_rate_cycles`` is the interval that deep enough FIFOs reach, ``deadlock`` names the channels that stop each
    other, ``not_analysed`` says why something is not known.
    """

    full_rate_cycles: int | None
    interval_cycles: int | None
    first_word_cycles: int | None
    first_frame_cycles: int | None
    deadlock: list[str]
    shallow: list[ShallowEntry]
    not_analysed: str

    @property
    def loses_rate(self) -> bool:
        """Whether the planned FIFOs are known not to be enough for the full rate."""
        return bool(self.deadlock or self.shallow)


class LikelyClockEntry(PlanModel):
    """Between which clocks the routed design is likely to end; ``engine`` has the slowest path, ``path`` in words.

    ``engine`` is empty if that path is common to all designs.
    """

    low_mhz: float
    high_mhz: float
    engine: str
    path: str

    def __str__(self) -> str:
        return f"{self.low_mhz:g} to {self.high_mhz:g}"


class EstimatesEntry(PlanModel):
    """What is promised of a network; ``expected_cycles`` is the interval to believe, with what starts anew each frame.

    It is the sustained one where FIFOs were analysed. The interval of the engines leaves start-ups out, as FINN does.
    ``fps`` is of the engines; ``sustained_fps`` is what the planned FIFOs keep: null if not known, 0 in a deadlock.
    ``throughput`` is of the planned FIFOs.
    """

    clock_mhz: float
    fps: float
    sustained_fps: float | None
    latency_us: float
    bottleneck: str
    expected_cycles: int | None
    throughput: ThroughputEntry | None
    likely_clock: LikelyClockEntry | None = None

    @property
    def loses_rate(self) -> bool:
        """Whether the planned FIFOs are known not to be enough for the full rate."""
        return self.throughput is not None and self.throughput.loses_rate

    @property
    def believed_fps(self) -> float:
        """The one rate to believe: of the interval with start-ups and planned FIFOs; 0 in a deadlock."""
        if self.throughput is not None and self.throughput.deadlock:
            return 0.0
        return self.fps if self.expected_cycles is None else self.clock_mhz * 1e6 / self.expected_cycles

    @property
    def is_simulated(self) -> bool:
        """Whether a frame was followed through the planned FIFOs, which are deep enough."""
        known = self.throughput
        return known is not None and known.first_frame_cycles is not None and not known.shallow

    @property
    def believed_latency_us(self) -> float:
        """The one latency to believe: simulated; where that is not known at most this, every engine in turn."""
        simulated = self.throughput.first_frame_cycles if self.throughput is not None and self.is_simulated else None
        return self.latency_us if simulated is None else simulated / self.clock_mhz

    @property
    def latency(self) -> str:
        """The latency in words."""
        return f"{'' if self.is_simulated else 'at most '}{self.believed_latency_us:,.1f} us"

    @property
    def frames(self) -> str:
        """The frame rate to believe, and that of the engines where the planned FIFOs do not allow it."""
        engines = f"{rate(self.fps)} frames/s"
        if self.throughput is None or not self.loses_rate:
            return f"{rate(self.believed_fps)} frames/s"
        if self.throughput.deadlock:
            return f"no frames, the planned FIFOs deadlock; {engines} by the engines alone"
        if self.sustained_fps is None:
            return f"sustained rate not known, FIFOs are too shallow; {engines} by the engines alone"
        return f"{rate(self.sustained_fps)} frames/s with the planned FIFOs; {engines} by the engines alone"

    @property
    def clock_rates(self) -> list[tuple[float, float]]:
        """Clocks in MHz, ascending, and the frames a second to believe at each."""
        at = self.clock_mhz
        return [(mhz, self.believed_fps * mhz / at) for mhz in sorted({*CLOCKS_MHZ, at})]


def clocks(e: EstimatesEntry) -> list[str]:
    """Return the frame rate by clock; the plan's own is marked."""
    likely = e.likely_clock
    lines = [f"{e.clock_mhz:g} MHz is assumed: whether a build reaches it shows after routing"]
    if likely is not None:
        path = f"{likely.engine}: {likely.path}" if likely.engine else likely.path
        lines.append(f"likely clock {likely} MHz after routing ({e.clock_mhz:g} asked for); slowest path: {path}")
    rows = [("at MHz", "frames/s", "")]
    rows += [(f"{mhz:g}", rate(fps), "assumed" if mhz == e.clock_mhz else "") for mhz, fps in e.clock_rates]
    return [*lines, *table(rows)]


def sustained(found: ThroughputEntry, clock_mhz: float) -> float | None:
    """Return the frame rate that the planned FIFOs keep: 0 if they deadlock, None if it is not known."""
    if found.deadlock:
        return 0.0
    return None if found.interval_cycles is None else clock_mhz * 1e6 / found.interval_cycles


def expected_cycles(sustained_cycles: int | None, interval_cycles: int, rough_cycles: int) -> int:
    """Return the interval to believe: the sustained one where it is known, else what small FIFOs would make of it.

    It is never below that of the slowest engine.
    """
    return max(rough_cycles if sustained_cycles is None else sustained_cycles, interval_cycles)


def throughput_warnings(found: ThroughputEntry | None, slack: float = 0) -> list[str]:
    """Warn of a rate that the planned FIFOs do not keep, by choice where they have a ``slack``, and of the unknown."""
    if found is None:
        return []
    warnings = []
    shallow = [Refusal("shallow FIFO", "words", row.channel, row.needed, row.planned) for row in found.shallow]
    deepen = some(shallow)
    if found.deadlock:
        warnings.append(f"{Refusal('deadlock', names=tuple(found.deadlock))}; deepen {deepen}")
    elif shallow:
        rate = f"a frame takes {found.interval_cycles:,} cycles" if found.interval_cycles else "the full rate is lost"
        chosen = f"FIFOs are planned for an interval {slack:.0%} longer than the engines', as deeper ones did not fit"
        warnings.append(f"{chosen}; {rate}" if slack else f"FIFOs are too shallow, {rate}: {deepen}")
    if found.not_analysed:
        warnings.append(f"FIFO depths, latency and sustained rate were not analysed: {found.not_analysed}")
    return warnings


def one_frame(e: EstimatesEntry, interval_cycles: int, longer: str, fifo_depths: str) -> list[str]:
    """Return latency and sustained rate with the planned FIFOs; what is too shallow, and what to do.

    ``longer``: what lengthens the interval, and the user gives ``fifo_depths``, both in the back end's words.
    """
    found = e.throughput
    if found is None:
        return []
    lines = []
    if found.first_word_cycles is not None and found.first_frame_cycles is not None:
        first, whole = found.first_word_cycles / e.clock_mhz, found.first_frame_cycles / e.clock_mhz
        lines.append(
            f"latency {whole:,.1f} us ({found.first_frame_cycles:,} cycles) from an empty pipeline; "
            f"the first word comes out after {first:,.1f} us"
        )
    lines += _sustained(e, found, interval_cycles, longer)
    if found.deadlock:
        lines += wrapped([f"deadlock: {some(found.deadlock)} stop each other"])
    if found.shallow:
        lines += _too_shallow(found, fifo_depths)
    elif found.interval_cycles is not None:
        lines.append("every FIFO is deep enough for the full rate; none can deadlock")
    if found.not_analysed:
        lines += wrapped([f"not analysed: {found.not_analysed}"])
    return lines


def _sustained(e: EstimatesEntry, found: ThroughputEntry, interval_cycles: int, longer: str) -> list[str]:
    if found.interval_cycles is None:
        return []
    # The model of FIFOs may know an engine to be faster than its folding is told to be.
    cycles = max(found.interval_cycles, interval_cycles)
    fps = floor(e.clock_mhz * 1e7 / cycles) / 10
    # Bursts are taken not to stall midway, so that shallow FIFOs cost no more than this.
    most = f" at most, {found.full_rate_cycles:,} at least," if found.shallow and found.full_rate_cycles else ""
    lines = [f"sustained {fps:,.1f} frames/s: one every {cycles:,} cycles{most} with the planned FIFOs"]
    if found.interval_cycles > interval_cycles:
        share = f"{found.interval_cycles / interval_cycles - 1:.1%}"
        alone = found.interval_cycles == found.full_rate_cycles
        why = f"since {longer} each frame" if alone else "since FIFOs are too shallow"
        lines.append(f"that is {share} longer than the cycles of the slowest engine, {why}")
    return lines


def _too_shallow(found: ThroughputEntry, fifo_depths: str) -> list[str]:
    rows = [("channel", "planned", "needed"), *((s.channel, f"{s.planned:,}", f"{s.needed:,}") for s in found.shallow)]
    return [f"FIFOs too shallow for the full rate; give them the depth needed ({fifo_depths}):", *table(rows)]


def lost(e: EstimatesEntry) -> list[str]:
    """Return what is kept of the rate where the planned FIFOs do not allow that of the engines."""
    if e.throughput is None or not e.loses_rate:
        return []
    kept = "the sustained rate is not known"
    if e.throughput.deadlock:
        kept = "no frame ever ends"
    elif e.sustained_fps is not None:
        kept = f"{floor(e.sustained_fps * 10) / 10:,.1f} frames/s are sustained"
    return [f"{kept} with the planned FIFOs, which do not allow the rate of the engines:"]
