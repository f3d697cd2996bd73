"""What FINN and Vivado say of a whole build: estimated cycles, RTL simulation, timing after routing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floorflow.backends.builds import BuiltClock, Simulation
from floorflow.backends.reports import json_of, malformed
from floorflow.backends.vivado.timing import read_summary

Figures = Mapping[str, Any]

def figures(text: str, file: str) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises
    ------
    InputError
        If it is none; names file and line.

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
