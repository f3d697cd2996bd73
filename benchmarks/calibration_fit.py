"""Fit floorflow's calibrated cost model to real builds, and cross-validate it.

A price is linear in its coefficients, so LUTs and flip-flops are fitted by least squares: a row for each whole design,
one for each engine that was measured alone, and one for each coefficient that pulls it to what structure says (PRIORS).
The builds of one network share one row's weight, as do the engines of one kind beyond four. To predict a build, all
builds of its network and all of its origin are left out. What is not an engine, a FIFO, a converter or a DMA engine is
the board's (`Build.shell`): where no report tells it, the median of what its builds of other networks leave.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.finn.cost.estimated import Coefficients
from floorflow.backends.finn.kinds.boundary import dma_resources
from floorflow.backends.finn.kinds.fifo import own_fifo
from floorflow.backends.finn.kinds.joining import converter_kind, own_converter
from floorflow.backends.finn.kinds.kind import Unit
from floorflow.backends.finn.kinds.registry import known_kind
from floorflow.backends.finn.rates.start_up import Pace, expected_cycles, pace_of
from floorflow.resources import Resources
from floorflow.technology import Technology, technology_of

Vector = NDArray[np.float64]
LOGIC = ("LUT", "FF")
FIFO = "StreamingFIFO_rtl"
NAMES = tuple(field.name for field in fields(Coefficients))
SHELL = {"LUT": 0, "FF": 0, "BRAM18": 2, "DSP": 0}
"""Block RAM of a shell: one in each DMA engine, as in metafi's report by hierarchy."""
FIFO_WORDS = 32
"""Depth of FIFOs where a build does not tell it; any depth up to 33 costs the same."""

PRIORS: dict[str, tuple[float, float]] = {
    "hls_lut": (50, 0.5),
    "hls_ff": (50, 0.5),
    "hls_lut_per_port_bit": (1, 0.3),
    "hls_ff_per_port_bit": (2, 0.3),
    "streamer_lut": (40, 0.5),
    "streamer_lut_per_bit": (0.5, 0.2),
    "streamer_ff_per_bit": (1, 0.2),
    "buffer_lut_per_bit": (0.33, 0.3),
    "buffer_lut_per_word": (1, 0.5),
    "buffer_ff_per_bit": (1, 0.2),
    "mvau_hls_lut": (300, 0.5),
    "mvau_hls_ff": (200, 0.5),
    "product_lut_share": (1, 0.3),
    "product_ff_per_bit": (0.34, 1),
    "gate_lut_share": (1, 0.3),
    "gate_ff_per_bit": (1, 0.5),
    "gate_ff_per_bit_of_main": (0.5, 0.5),
    "dsp_adder_lut_share": (0.5, 0.5),
    "dsp_product_ff_per_bit": (1, 0.7),
    "threshold_lut_per_bit": (0.5, 0.5),
    "threshold_ff_per_bit": (0.5, 0.5),
    "rtl_lut": (40, 0.5),
    "rtl_lut_per_product_bit": (2, 0.5),
    "rtl_ff_per_product_bit": (3.5, 0.5),
    "window_lut": (300, 0.5),
    "window_ff": (100, 0.5),
    "window_lut_share": (1, 0.3),
    "window_lut_per_word_bit": (0.3, 0.5),
    "window_ff_per_bank": (0.5, 0.5),
    "point_window_lut": (50, 0.5),
    "point_window_ff": (50, 0.5),
    "padding_lut": (20, 0.5),
    "padding_lut_per_bit": (0.5, 0.5),
    "padding_ff": (20, 0.5),
    "padding_ff_per_bit": (2, 0.3),
    "pool_lut": (100, 0.5),
    "pool_ff": (100, 0.5),
    "threshold_rtl_lut": (10, 0.5),
    "threshold_rtl_lut_per_bit": (1, 0.5),
    "threshold_rtl_memory_share": (1, 0.5),
    "threshold_rtl_ff_per_bit": (2, 0.5),
    "widening_lut_per_bit": (0.5, 0.5),
    "narrowing_lut_per_bit": (0.5, 0.5),
    "converter_ff_share": (1, 0.2),
    "fifo_lut_share": (1, 0.2),
    "fifo_ff_per_bit": (1, 0.2),
}
"""What structure says before any build is seen, and how far off that may be (a share of it): FINN's own constants
where FINN has them, else round numbers: a flip-flop a registered bit, half a LUT a moved or compared bit."""
SHELL_PRIOR = {"LUT": (8191.0, 0.5), "FF": (11137.0, 0.5)}
"""Where a board's shell is unknown while coefficients are fitted: that of metafi, by its report."""
DESIGN_ERROR, ENGINE_ERROR, LEAST_ERROR, ENGINES_OF_A_KIND = 0.1, 0.2, 10, 4
"""Expected error of a design and of an engine, the least in LUTs, and as how many engines those of a kind count."""


@dataclass(frozen=True)
class Part:
    """An engine, FIFO or converter: LUTs and flip-flops for each coefficient and without any, and its memories."""

    kind: str
    logic: dict[str, Vector]
    fixed: dict[str, float]
    memory: Resources
    measured: tuple[int, ...] | None
    fits: bool = True
    """Whether coefficients may follow from it: not where one build alone has its like."""

    def amount(self, resource: str, prices: Vector) -> float:
        """Return what it costs."""
        if resource in LOGIC:
            return float(self.logic[resource] @ prices) + self.fixed[resource]
        return float(self.memory.as_dict()[resource])


@dataclass(frozen=True)
class Build:
    """A whole design."""

    name: str
    network: str
    origin: str
    board: str
    told: dict[str, int]
    measured: dict[str, int]
    parts: tuple[Part, ...]
    paces: tuple[Pace, ...]
    fifos: tuple[int, ...]
    shell: dict[str, int] | None
    """What a report says that lies outside of its parts, or, if assumed, that of another board."""
    shell_is_assumed: bool = False


@dataclass(frozen=True)
class Fit:
    """Coefficients of LUTs and of flip-flops, and what the shell of each board takes."""

    prices: dict[str, Vector]
    shells: dict[str, dict[str, float]]

    def design(self, build: Build, resource: str) -> float:
        """Return what a whole design costs."""
        return self.parts(build, resource) + self.shells[build.board][resource]

    def parts(self, build: Build, resource: str) -> float:
        """Return what all its parts cost."""
        return sum(self.part(part, resource) for part in build.parts)

    def part(self, part: Part, resource: str) -> float:
        """Return what one part costs."""
        return part.amount(resource, self.prices.get(resource, np.empty(0)))


def read_builds() -> tuple[Build, ...]:
    """Read the stored rows and price every part of every design in all ways that the fit needs."""
    with gzip.open(Path(__file__).parent / "data" / "builds.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return tuple(
        Build(
            row["name"],
            row["network"],
            row["origin"],
            row["part"],
            row["told"],
            row["measured"],
            tuple(_parts(row, replace(technology_of(row["part"]), vivado=tuple(row["vivado"])))),
            tuple(pace_of(unit) for _, unit, _ in _engines(row)),
            tuple(row.get("fifos_measured", ())),
            row.get("shell"),
            row.get("shell_is_assumed", False),
        )
        for row in rows
    )


def _engines(row: dict[str, Any]) -> Iterator[tuple[str, Unit, tuple[int, ...] | None]]:
    """Yield the engines; FINN+'s own kinds first, FINN main's for those that it dropped. DMA belongs to the shell."""
    for kind, attributes, *costs in row["engines"]:
        if kind.startswith("IODMA"):
            # Priced by `cost.dma`, and counted with the shell where a build does not tell their sizes.
            continue
        typed = {name: tuple(value) if isinstance(value, list) else value for name, value in attributes.items()}
        version = row.get("finn") or ("main" if kind in {"AddStreams_hls", "ChannelwiseOp_hls"} else "plus")
        unit = known_kind(kind, version).unit(typed, version)
        yield kind, unit, tuple(costs) or None


def _parts(row: dict[str, Any], technology: Technology) -> Iterator[Part]:
    yield from _dma_engines(row)
    sent = None
    for kind, unit, measured in _engines(row):
        part = _part(kind, lambda prices, unit=unit: unit.own_resources(technology, prices), measured)  # type: ignore[misc]
        yield replace(part, fits=not (measured and _adds_wide_weights(unit)))
        taken = unit.input_widths_bits[0]
        if "fifos" not in row:
            if sent is not None and sent != taken:
                yield _converter(sent, taken)
            yield _fifo(taken, FIFO_WORDS, "auto", technology, "plus")
        sent = unit.output_widths_bits[0]
    for bits, depth, memory, *costs in row.get("fifos", ()):
        finn = row.get("finn", "plus")
        style = memory if finn == "main" or memory == "block" or depth <= 257 else "auto"
        part = _fifo(bits, depth, style, technology, finn)
        yield replace(part, measured=(*costs, 0)) if costs else part


def _adds_wide_weights(unit: Unit) -> bool:
    """Whether one-bit data chooses the weights, of several bits, that an HLS unit adds: 2 LUTs a product too cheap."""
    part = getattr(unit, "part", None)
    return part is not None and getattr(unit, "hls", False) and part.input_bits == 1 < part.weight_bits


def _dma_engines(row: dict[str, Any]) -> Iterator[Part]:
    for kind, attributes, *costs in row["engines"]:
        if kind.startswith("IODMA") and not attributes:
            lut, ff, blocks, dsp = costs
            told = Resources(lut, ff, blocks, 0, dsp)
            yield _part("IODMA", lambda _, told=told: told)  # type: ignore[misc]
        elif kind.startswith("IODMA") and costs:
            widths, reads = (attributes["streamWidth"], attributes["intfWidth"]), attributes["direction"] == "in"
            yield _part(kind, lambda _, w=widths, r=reads: dma_resources(*w, reads=r), tuple(costs))  # type: ignore[misc]


@cache
def _converter(sent: int, taken: int) -> Part:
    return _part(converter_kind(sent, taken), lambda prices: own_converter(sent, taken, prices))


@cache
def _fifo(bits: int, depth: int, memory: str, technology: Technology, finn: str) -> Part:
    return _part(FIFO, lambda prices: own_fifo(bits, depth, technology, prices, memory, finn=finn))  # type: ignore[arg-type]


_STEP = 1e7
_FREE = Coefficients(**dict.fromkeys(NAMES, 0.0))
_UNITS = tuple(replace(_FREE, **{name: _STEP}) for name in NAMES)


def _part(kind: str, price: Callable[[Coefficients], Resources], measured: tuple[int, ...] | None = None) -> Part:
    """Split a price into its coefficients: it is linear in them, and a large step hides the rounding."""
    free, steps = price(_FREE), [price(unit) for unit in _UNITS]
    lut, ff = (np.array([getattr(step, n) - getattr(free, n) for step in steps]) / _STEP for n in ("lut", "ff"))
    logic = {"LUT": np.round(lut, 5), "FF": np.round(ff, 5)}
    return Part(kind, logic, {"LUT": float(free.lut), "FF": float(free.ff)}, free, measured)


def fit(builds: tuple[Build, ...], seen: Callable[[Build], bool] = lambda _: True) -> Fit:
    """Fit on the builds that may be seen; the shells are of all."""
    chosen = [build for build in builds if seen(build)]
    return Fit({resource: _least_squares(chosen, resource) for resource in LOGIC}, {})


def _least_squares(builds: list[Build], resource: str) -> Vector:
    """Return the coefficients; the last unknown, the shell of the board whose shell no report tells, is left out."""
    rows, goals = [], []
    networks = Counter(build.network for build in builds)
    for build in builds:
        for row, goal in [*_engine_rows(build, resource), _design_row(build, resource, networks[build.network])]:
            rows.append(row)
            goals.append(goal)
    priors = [*(PRIORS[name] for name in NAMES), SHELL_PRIOR[resource]]
    for index, (value, spread) in enumerate(priors):
        rows.append(np.eye(len(priors))[index] / (value * spread))
        goals.append(1 / spread)
    return np.linalg.lstsq(np.array(rows), np.array(goals), rcond=None)[0][:-1]


def _design_row(build: Build, resource: str, builds_of_network: int) -> tuple[Vector, float]:
    measured = build.measured[resource]
    error = DESIGN_ERROR * measured * builds_of_network**0.5
    logic = np.sum([part.logic[resource] for part in build.parts if part.fits], axis=0)
    known = sum(part.fixed[resource] for part in build.parts if part.fits) + (build.shell or {resource: 0})[resource]
    known += sum((part.measured or (0, 0))[LOGIC.index(resource)] for part in build.parts if not part.fits)
    return np.append(logic, build.shell is None) / error, (measured - known) / error


def _engine_rows(build: Build, resource: str) -> Iterator[tuple[Vector, float]]:
    alone = [part for part in build.parts if part.measured and part.fits]
    kinds = Counter(part.kind for part in alone)
    for part in alone:
        measured = (part.measured or (0, 0))[LOGIC.index(resource)]
        many = max(1, kinds[part.kind] / ENGINES_OF_A_KIND)
        error = max(ENGINE_ERROR * measured, LEAST_ERROR) * many**0.5
        yield np.append(part.logic[resource], 0) / error, (measured - part.fixed[resource]) / error


def with_shells(fitted: Fit, builds: tuple[Build, ...], unseen: str | None = None) -> Fit:
    """Add what the shell of each board takes: as reports tell it, else what builds of other networks leave."""
    boards = dict.fromkeys(build.board for build in builds)
    return replace(fitted, shells={board: _shell(fitted, board, builds, unseen) for board in boards})


def _shell(fitted: Fit, board: str, builds: tuple[Build, ...], unseen: str | None) -> dict[str, float]:
    there = [build for build in builds if build.board == board]
    told = [build.shell for build in there if build.shell is not None]
    if told:
        return {name: median(each[name] for each in told) for name in SHELL}
    left = defaultdict(list)
    for build in there:
        if build.network != unseen:
            left[build.network].append({name: build.measured[name] - fitted.parts(build, name) for name in LOGIC})
    values = {name: median(median(each[name] for each in of_one) for of_one in left.values()) for name in LOGIC}
    return SHELL | values


def cross_validated(builds: tuple[Build, ...]) -> dict[str, Fit]:
    """Return for each build the fit that saw none of its network and none of its origin.

    A board's shell is a fact of the board: it is what builds of other networks leave under a fit that saw those.
    """
    fits: dict[tuple[str, str], Fit] = {}
    for build in builds:
        network, origin = build.network, build.origin
        if (network, origin) not in fits:
            fitted = fit(builds, lambda other, n=network, o=origin: other.network != n and other.origin != o)  # type: ignore[misc]
            of_board = fit(builds, lambda other, n=network: other.network != n)  # type: ignore[misc]
            shells = with_shells(of_board, builds, network).shells
            fits[network, origin] = replace(fitted, shells=shells)
    return {build.name: fits[build.network, build.origin] for build in builds}


def interval(build: Build) -> int:
    """Return the interval with what starting anew each frame costs; the engines are a chain."""
    names = [str(index) for index in range(len(build.paces))]
    return expected_cycles(dict(zip(names, build.paces, strict=True)), {b: [a] for a, b in pairwise(names)})
