"""What FINN and Vivado say of a whole build: estimated cycles, RTL simulation, timing after routing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floorflow.backends.builds import BuiltClock, Simulation
from floorflow.backends.reports import json_of, malformed
from floorflow.backends.vivado.timing import read_summary
from floorflow.resources import Resources

Figures = Mapping[str, Any]


def figures(text: str, file: str) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises InputError if it is none; names file and line.
    """
    content = json_of(text, file)
    if not isinstance(content, dict):
        raise malformed(file, 1, "expected an object")
    return content


def number(content: Figures, *names: str) -> float | None:
    """Return the first of these entries that is a number; FINN writes some as text."""
    for name in names:
        try:
            value = float(content[name])
        except (KeyError, TypeError, ValueError):
            continue
        if value == value and abs(value) != float("inf"):  # noqa: PLR0124  (not a number differs from itself)
            return value
    return None


def layer_cycles(content: Figures) -> dict[str, int]:
    """Return the cycles a frame of each node in estimate_layer_cycles.json."""
    found = {name: number(content, name) for name in content}
    return {name: round(cycles) for name, cycles in found.items() if cycles is not None}


def simulation_of(content: Figures) -> Simulation:
    """Return what rtlsim_performance.json says.

    With N frames all but the first come in the cycles behind the first frame's latency; FINN's own "stable" rate
    divides by N instead of N - 1, and with one frame repeats the latency.
    """
    frames = round(number(content, "N", "N_frames") or 1)
    cycles, latency = number(content, "cycles"), number(content, "latency_cycles")
    interval = None
    if frames > 1 and cycles is not None and latency is not None:
        interval = (cycles - latency) / (frames - 1)
    return Simulation(frames, None if latency is None else round(latency), interval)


def simulated_clock_mhz(content: Figures) -> float | None:
    """Return the clock that a simulation's rates stand on: the one that was asked for."""
    return number(content, "fclk[mhz]")


def routed_clock(text: str) -> BuiltClock:
    """Return what Vivado's timing summary says: the clock that is worst off, and the worst slack of all."""
    period, worst = read_summary(text)
    return BuiltClock(None if not period else round(1000 / period, 6), worst)


def out_of_context_clock(content: Figures) -> BuiltClock:
    """Return what ooc_synth_and_timing.json says: FINN's fmax is of the period that was asked for less the slack."""
    slack, fmax = number(content, "WNS", "wns"), number(content, "fmax_mhz")
    if slack is None or not fmax:
        return BuiltClock(None, slack)
    return BuiltClock(round(1000 / (1000 / fmax + slack), 6), slack)


def out_of_context_use(content: Figures) -> Resources | None:
    """Return what ooc_synth_and_timing.json counts of the network alone; None if it does not.

    ``BRAM`` of FINN's scripts is in tiles, of which a RAMB18 is a half; newer ones count the two kinds.
    """
    lut, ff = number(content, "LUT"), number(content, "FF")
    if lut is None or ff is None:
        return None
    ramb36, ramb18 = number(content, "BRAM_36K", "RAMB36"), number(content, "BRAM_18K", "RAMB18")
    tiles = number(content, "BRAM")
    blocks = 2 * (ramb36 or 0) + (ramb18 or 0) if ramb36 is not None or tiles is None else 2 * tiles
    uram, dsp = number(content, "URAM") or 0, number(content, "DSP") or 0
    return Resources(round(lut), round(ff), round(blocks), round(uram), round(dsp))
