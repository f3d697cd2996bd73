"""Chains of random requests, each of which allows more than the one before: none may get a longer interval."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from pathlib import Path

import onnx

from floorflow import flow
from floorflow.errors import InfeasibleError, LimitError
from floorflow.request import DEFAULT_CAP, DEFAULT_FILL, Request
from floorflow.resources import RESOURCE_NAMES

Change = Callable[[Request, random.Random], Request | None]
"""Allow more of one thing; None where a request has all of it."""

LINKED = ("alveo-u250", "xcku5p")
"""Boards of which there may be several."""
MOST_FPGAS = 4


@dataclass(frozen=True)
class Ground:
    """A board, and the least share of its LUTs with which a chain begins."""

    board: str
    least_lut_cap: float


@dataclass(frozen=True)
class Chain:
    """Requests, and what each but the first allows more than the one before."""

    requests: tuple[Request, ...]
    changes: tuple[str, ...]


def random_chain_of_requests(model: Path, ground: Ground, seed: int, length: int, effort: str) -> Chain:
    """Return requests of one model on one board; equal seeds give equal chains."""
    rng = random.Random(seed)
    requests, changes = [_first(model, ground, effort, rng)], list[str]()
    while len(requests) < length:
        name = rng.choice(tuple(CHANGES))
        larger = CHANGES[name](requests[-1], rng)
        if larger is not None:
            requests.append(larger)
            changes.append(name)
    return Chain(tuple(requests), tuple(changes))


def _first(model: Path, ground: Ground, effort: str, rng: random.Random) -> Request:
    """Return a request that leaves room for larger ones in every respect."""
    cap = {**DEFAULT_CAP, "LUT": round(ground.least_lut_cap * (0.6 / ground.least_lut_cap) ** rng.random(), 4)}
    cap |= {name: round(rng.uniform(0.3, 0.9), 3) for name in ("BRAM18", "URAM", "DSP") if rng.random() < 0.4}
    return Request(
        model,
        ground.board,
        fpgas=rng.randint(1, MOST_FPGAS - 1) if ground.board in LINKED else 1,
        cap=cap,
        fill={**DEFAULT_FILL, "LUT": round(rng.uniform(0.6, 0.9), 3)},
        impl_style=rng.choice(("default", "auto")),
        runtime_weights=rng.random() < 0.5,
        keep_granularity=rng.random() < 0.3,
        granularity=rng.choice(("stage", "stage", "block", "layer", "slot")),
        effort=effort,
        plots=False,
    )


def _more_cap(request: Request, rng: random.Random) -> Request:
    return request.changed(cap=_raised(request.cap.as_dict(), 0.95, rng))


def _more_fill(request: Request, rng: random.Random) -> Request:
    return request.changed(fill=_raised(request.fill.as_dict(), 1.0, rng))


def _raised(shares: dict[str, float], most: float, rng: random.Random) -> dict[str, float]:
    """Raise the share of LUTs, or that of any resource, by a little or by a lot."""
    names = rng.choice((("LUT",), ("LUT",), RESOURCE_NAMES, (rng.choice(RESOURCE_NAMES),)))
    factor = rng.choice((1.01, 1.05, 1.2, 2.0))
    return {name: max(have, min(most, have * factor)) if name in names else have for name, have in shares.items()}


def _more_fpgas(request: Request, rng: random.Random) -> Request | None:
    fpgas = request.fixed_fpgas("a chain")
    return request.changed(fpgas=fpgas + 1) if request.platform in LINKED and fpgas < MOST_FPGAS else None


def _more_styles(request: Request, rng: random.Random) -> Request | None:
    larger = {"default": ("auto", "free"), "auto": ("free",), "free": ()}[style_of(request)]
    return request.changed(impl_style=rng.choice(larger)) if larger else None


def style_of(request: Request) -> str:
    """Return whose choice hls or rtl is."""
    return str(request.backend_options.model_dump()["impl_style"])


def _runtime_weights(request: Request, rng: random.Random) -> Request | None:
    allowed = request.backend_options.model_dump()["runtime_weights"]
    return None if allowed else request.changed(runtime_weights=True)


def _merging(request: Request, rng: random.Random) -> Request | None:
    return request.changed(keep_granularity=False) if request.keep_granularity else None


CHANGES: dict[str, Change] = {
    "cap": _more_cap,
    "fill": _more_fill,
    "FPGAs": _more_fpgas,
    "styles": _more_styles,
    "run-time weights": _runtime_weights,
    "merging": _merging,
}


def interval_of(request: Request) -> float:
    """Return the interval that a request gets, infinite where it gets no plan."""
    try:
        return flow.plan(request).plan.networks[0].search.interval_cycles
    except (InfeasibleError, LimitError):
        return inf


def at_its_own_rate(request: Request, interval_cycles: float, clock_mhz: float) -> Request:
    """Ask for the rate that a request got: it is known to be possible."""
    return request.changed(fps=clock_mhz * 1e6 / interval_cycles)


def longer(intervals: Sequence[float]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a chain's positions of which the larger request got the longer interval."""
    return ((a, b) for a, b in combinations(range(len(intervals)), 2) if intervals[b] > intervals[a])


def saved(model: onnx.ModelProto, folder: Path) -> Path:
    """Write a model and return its file."""
    path = folder / f"{model.graph.name}.onnx"
    onnx.save(model, path)
    return path
