"""FINN's own reports, with an object a node or figures of the whole: what was built, estimated, simulated, folded.

``post_synth_resources.json``, ``estimate_layer_resources.json`` (FINN's formulas) and its ``_hls`` (Vitis HLS), and
``final_hw_config.json``; messages name file, line and node. Beside them estimated cycles, RTL simulation and timing.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from floorflow.backends.builds import BuiltClock, Simulation
from floorflow.backends.finn.reports.build_contents import amounts_in, is_json, role_of_json
from floorflow.backends.reports import SYNTHESIS, BuiltFoldings, Report, Row, count, json_of, malformed
from floorflow.backends.vivado.timing import read_summary
from floorflow.dataflow.model import Attributes
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


HLS = "hls"
"""Vitis HLS' own guess before Vivado; without the memories and streamers that FINN puts around the kernel."""
FINN = "finn"
"""FINN's formulas, which know no flip-flops."""
KNOWN = ("post_synth_resources.json", "estimate_layer_resources*.json")
"""FINN's reports, that of synthesis first."""
_CONFIG = "final_hw_config.json"
"""FINN's folding of what was built, which has the FIFOs too; others are what was asked for."""
_FOLDED = ("PE", "SIMD", "parallel_window")
"""What must be as planned in it for an engine's rows to be of the planned folding."""


@dataclass(frozen=True)
class _Format:
    """A report of amounts: the attributes that every node has, and sums that some releases add behind the nodes."""

    evidence: str
    file: str
    needed: tuple[str, ...] = ("LUT",)
    totals: tuple[str, ...] = ("total",)
    blocks: tuple[str, ...] = ("BRAM_18K",)

    @property
    def name(self) -> str:
        """The file without what only some of its kind have in their names."""
        return self.file.replace("_hls", "")


_FORMATS = {
    "synthesis": _Format(SYNTHESIS, "post_synth_resources.json", ("LUT", "FF"), (), ("BRAM_36K", "BRAM_18K")),
    "estimates": _Format(FINN, "estimate_layer_resources.json"),
    "estimates of HLS": _Format(HLS, "estimate_layer_resources_hls.json"),
}
"""By the role of the file in a build."""


def read_report(file: str, text: str) -> Report | BuiltFoldings | None:
    """Return what a file holds that is FINN's, by its name or contents; None for anything else."""
    if PurePath(file).suffix.lower() != ".json" and not is_json(text):
        return None
    role = role_of_json(file, text)
    if role in _FORMATS:
        return read_nodes(text, file, role)
    if role == "folding" and (PurePath(file).name == _CONFIG or "StreamingFIFO" in text):
        return BuiltFoldings(file, {name: _folding(entry) for name, entry in nodes(text, file).items()})
    return None


def _folding(entry: Mapping[str, Any]) -> Attributes:
    return {name: entry[name] for name in _FOLDED if name in entry}


def read_nodes(text: str, file: str, role: str) -> Report:
    """Return a row a node of a report in one of the roles of amounts; a RAMB36 is two BRAM18."""
    own, rows = _FORMATS[role], []
    for node, entry in nodes(text, file).items():
        if node in own.totals:
            continue
        missing = [name for name in own.needed if name not in entry]
        if missing:
            raise malformed(file, line_of(text, node), f"{node} has no {missing[0]}; is this {own.name}?")
        names = ("LUT", "FF", *own.blocks, "URAM", "DSP")
        lut, ff, *ramb36, bram18, uram, dsp = (_amount(entry, name, node, text, file) for name in names)
        rows.append(Row((node,), Resources(lut, ff, 2 * sum(ramb36) + bram18, uram, dsp)))
    return Report(file, f"FINN's {own.file}", own.evidence, tuple(rows))


def nodes(text: str, file: str) -> dict[str, dict[str, Any]]:
    """Return the objects of a JSON file by node name."""
    content = json_of(text, file, object_pairs_hook=lambda pairs: _unique(pairs, text, file))
    if not isinstance(content, dict):
        raise malformed(file, 1, "expected an object with a key a node")
    for name, entry in content.items():
        if not isinstance(entry, dict):
            raise malformed(file, line_of(text, name), f"{name} is {entry!r:.40}, expected an object")
    return content


def _unique(pairs: Iterable[tuple[str, Any]], text: str, file: str) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise malformed(file, line_of(text, key, last=True), f"{key!r} stands there twice")
        entries[key] = value
    return entries


def line_of(text: str, key: str, *, last: bool = False) -> int:
    """Return the line in which a key first, or last, stands; 1 if it is nowhere as such."""
    quoted = json.dumps(key)
    place = text.rfind(quoted) if last else text.find(quoted)
    return text.count("\n", 0, max(place, 0)) + 1


def _amount(entry: dict[str, Any], name: str, node: str, text: str, file: str) -> int:
    """Return a whole number, 0 if FINN left the key out; FINN writes some as text or as ``40.0``."""
    return count(str(entry.get(name, 0)), file, line_of(text, node), f"{node}: {name}")


_SPELLINGS = {
    "lut": ("LUT",),
    "ff": ("FF",),
    "ramb36": ("BRAM_36K", "BRAM36", "RAMB36"),
    "bram18": ("BRAM_18K", "BRAM18", "RAMB18"),
    "uram": ("URAM",),
    "dsp": ("DSP", "DSP48E"),
}


def amounts(text: str, file: str) -> tuple[Row, ...]:
    """Return every object of a JSON file that counts LUTs and flip-flops, by the names on the way to it.

    What is not FINN's own has keys as people chose them: BRAM18 is taken for what it says, BRAM36 for two.
    """
    rows = []
    for path, entry in amounts_in(json_of(text, file)):
        known = {name: number(entry, *spellings) or 0 for name, spellings in _SPELLINGS.items()}
        blocks = round(2 * known["ramb36"] + known["bram18"])
        lut, ff, uram, dsp = (round(known[name]) for name in ("lut", "ff", "uram", "dsp"))
        rows.append(Row(path or ("design",), Resources(lut, ff, blocks, uram, dsp)))
    return tuple(rows)
