"""The clock that a design is built for, and the one that it is likely to reach: what back ends are asked, and say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClockTarget:
    """What engines are built for: a clock in MHz, on parts such as ``xc7z020clg400-1``, one for each FPGA.

    ``several_dies``: streams of the design cross from one die (SLR) of an FPGA to another.
    """

    clock_mhz: float
    parts: tuple[str, ...]
    several_dies: bool = False

    @property
    def period_ns(self) -> float:
        """One cycle at the clock that was asked for."""
        return 1e3 / self.clock_mhz


@dataclass(frozen=True, slots=True)
class LikelyClock:
    """Between which clocks, in MHz, a routed design is likely to end that was built for a `ClockTarget`.

    ``engine`` has the slowest path, empty if that is common to all designs; ``path`` says what it is, in words.
    ``notes`` are sentences for the user of a plan.
    """

    low_mhz: float
    high_mhz: float
    engine: str
    path: str
    notes: tuple[str, ...] = ()
