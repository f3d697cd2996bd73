"""How many pblocks would overflow by the calibrated bands, and whether the bands tell the truth about real modules.

    python benchmarks/pblocks.py                     # real modules: do they fit pblocks of a given confidence?
    python benchmarks/pblocks.py --plans             # the examples, by fills alone and by confidence
    python benchmarks/pblocks.py --plans --only cnv  # those whose name begins so
    python benchmarks/pblocks.py --draws             # pblocks of planned examples against draws of the builds' errors

Real modules: each engine of the builds that report engines one by one, priced by a fit that saw neither its network nor
any build of its origin, once with the shipped bands and once with bands of the other networks alone; then runs of them
as pblocks hold them, a matrix unit or pool with what stands before and behind it; then whole designs. A module fits if
it needs of no resource more than the pblock that planning would ask for at that confidence: by its bands alone, without
the rule on hard pblocks, which gives more.

Draws: every part of a pblock errs as parts of its kind did in one origin, by fits that did not see that origin; the
pblock is just as large as bands made without that origin ask for 90%, and as it was planned.

Examples: ``by fills`` is `--fill LUT=0.85 --fill FF=0.85 --fill BRAM18=1 --fill URAM=1 --fill DSP=1 --confidence none`,
what version 0.1 did. ``overflow`` is the number of pblocks expected to turn out too small: the sum of what their
likelihoods leave, of all rectangles, and of those that are hard.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from calibration import RESOURCES, SHELL_PART, Bands, bands, samples, shell_band
from calibration_fit import FIFO, LOGIC, Build, Fit, Part, cross_validated, read_builds
from numpy.random import Generator
from numpy.typing import NDArray
from runs import markdown

from floorflow import flow
from floorflow.backends.finn.cost.calibrated import BLOCKS_UNMEASURED, LOGIC_UNMEASURED, relative_band
from floorflow.dataflow.bands import FF_PER_LUT, Band, BandOf, uncertain_sum
from floorflow.facts import PhaseEntry
from floorflow.facts.floorplan import PblockEntry
from floorflow.facts.values import Amounts
from floorflow.request import DEFAULT_FILL, Request
from floorflow.resources import Resources

EXAMPLES = Path(__file__).parents[1] / "examples"
PLANS = (
    ("tfc_1w1a", "pynq-z1", 1),
    ("cnv_2w2a", "pynq-z1", 1),
    ("cnv_2w2a", "zcu104", 1),
    ("cnv_2w2a", "xcku5p", 1),
    ("cnv_2w2a", "alveo-u250", 1),
    ("mobilenet_v1_w4a4", "zcu104", 1),
    ("mobilenet_v1_w4a4", "alveo-u250", 1),
    ("densenet121_w4a4", "alveo-u250", 1),
    ("resnet50_w1a2", "alveo-u250", 2),
)
CONFIDENCE = 0.9
CORES = ("MVAU", "VVAU", "Pool", "StreamingMaxPool")
BEHIND = ("Thresholding", "StreamingDataWidth", "AddStreams")
SAME_BAND = {"VVAU_hls": "MVAU_hls", "VVAU_rtl": "MVAU_rtl"}

DRAWN = (
    *(("cnv_2w2a", board, None) for board in ("pynq-z1", "zcu104", "xcku5p")),
    *(("cnv_2w2a", "alveo-u250", fps) for fps in (None, 5_000, 2_000, 1_000)),
    *(("mobilenet_v1_w4a4", "alveo-u250", fps) for fps in (None, 400, 350, 300, 250, 200, 150, 120, 100)),
)
"""Plans whose pblocks are drawn, at a rate or at the highest: more than 200 pblocks."""
DRAWN_HEAD = ("example", "on", "frames/s", "pblocks", "told 90%: hold", "as planned: told", "as planned: hold")
DRAWS = 200
"""Draws for each pblock and origin."""

Module = Sequence[Part]
Errors = dict[tuple[str, str], NDArray[np.float64]]
"""Measured over told, by kind and resource."""
Outcomes = dict[str, NDArray[np.float64]]
"""What a module needs of each resource, a number for each draw."""


def amounts(part: Part, fit: Fit) -> Resources:
    """Return what a part is estimated to need."""
    return Resources.from_dict({name: round(fit.part(part, name)) for name in RESOURCES})


def measured(module: Module) -> dict[str, int]:
    """Return what all parts of a module took; what a report does not tell counts as nothing."""
    found: Counter[str] = Counter()
    for part in module:
        found.update(dict(zip(RESOURCES, part.measured or (), strict=False)))
    return dict(found)


def overflows(use: dict[str, Resources], took: dict[str, int], band_of: BandOf) -> list[str]:
    """Return the resources of which a pblock that is just as large as its confidence asks holds too few."""
    supply = uncertain_sum(use, band_of).supply(Resources(), CONFIDENCE)
    have = {**supply.as_dict(), "FF": max(supply.ff, FF_PER_LUT * supply.lut)}
    return [name for name, amount in took.items() if amount > have[name]]


def module_overflows(module: Module, fit: Fit, band_of: BandOf) -> list[str]:
    use: dict[str, Resources] = defaultdict(Resources)
    for part in module:
        use[part.kind] += amounts(part, fit)
    return overflows(use, measured(module), band_of)


def alone(build: Build) -> list[Module]:
    """Return the engines, FIFOs and converters that were measured, each by itself."""
    return [[part] for part in build.parts if part.measured]


def stages(build: Build) -> list[Module]:
    """Return runs of engines in the order of the stream, each with one matrix unit or pool."""
    runs: list[list[Part]] = [[]]
    for (part,) in alone(build):
        if part.kind == FIFO or part.kind.startswith("IODMA"):
            continue
        if any(held.kind.startswith(CORES) for held in runs[-1]) and not part.kind.startswith(BEHIND):
            runs.append([])
        runs[-1].append(part)
    return [run for run in runs if run]


def without(builds: tuple[Build, ...], fits: dict[str, Fit], network: str = "", origin: str = "") -> BandOf:
    """Return the bands that all other networks, or all other origins, give."""
    seen = tuple(build for build in builds if build.network != network and build.origin != origin)
    known: Bands = bands(*samples(seen, fits))

    def band(kind: str, resource: str) -> Band:
        usual = LOGIC_UNMEASURED if resource in {"LUT", "FF"} else BLOCKS_UNMEASURED
        return known.get(SAME_BAND.get(kind, kind), {}).get(resource, usual)

    return band


def too_small(builds: tuple[Build, ...], fits: dict[str, Fit]) -> Iterator[list[str]]:
    """Yield the real stages that need more of some resource than a pblock told 90% would have."""
    for build in builds:
        for module in stages(build):
            if lacking := module_overflows(module, fits[build.name], without(builds, fits, build.network)):
                took = measured(module)
                needs = ", ".join(f"{name} {took[name]:,}" for name in lacking)
                yield [build.name, " + ".join(part.kind for part in module), needs]


def real_modules(builds: tuple[Build, ...], fits: dict[str, Fit]) -> Iterator[list[str]]:
    """Yield for each network how many of its modules fit."""
    told = [build for build in builds if alone(build)]
    for name, parts_of in (("engine by engine", alone), ("stages", stages)):
        sums = [0, 0, 0]
        for network in dict.fromkeys(build.network for build in told):
            left_out = without(builds, fits, network)
            modules = [(build, module) for build in told if build.network == network for module in parts_of(build)]
            fitting = [
                sum(not module_overflows(module, fits[build.name], band_of) for build, module in modules)
                for band_of in (relative_band, left_out)
            ]
            row = [len(modules), *fitting]
            sums = [one + more for one, more in zip(sums, row, strict=True)]
            yield [name, network, *_shares(row)]
        yield [name, "all", *_shares(sums)]


def _shares(row: Sequence[int]) -> list[str]:
    count, *fitting = row
    return [str(count), *(f"{fit} ({fit / count:.1%})" for fit in fitting)]


def designs(builds: tuple[Build, ...], fits: dict[str, Fit]) -> Iterator[list[str]]:
    """Yield each whole design with the resources of which it needs more than at that confidence."""
    unsure = {name: shell_band(builds, fits, name) for name in RESOURCES}
    for build in builds:
        fit, left_out = fits[build.name], without(builds, fits, build.network)
        use: dict[str, Resources] = defaultdict(Resources)
        for part in build.parts:
            use[part.kind] += amounts(part, fit)
        if build.shell is None:
            use[SHELL_PART] = Resources.from_dict({n: round(amount) for n, amount in fit.shells[build.board].items()})
        shell = build.shell or dict.fromkeys(RESOURCES, 0)
        told = LOGIC if build.shell_is_assumed else (*LOGIC, "BRAM18")
        took = {name: build.measured[name] - shell.get(name, 0) for name in told}
        found = [overflows(use, took, _with_shell(band_of, unsure)) for band_of in (relative_band, left_out)]
        yield [build.name, *(", ".join(names) or "fits" for names in found)]


def _with_shell(band_of: BandOf, unsure: dict[str, Band]) -> BandOf:
    return lambda kind, name: unsure.get(name, (1.0, 1.0)) if kind == SHELL_PART else band_of(kind, name)


def planned(name: str, board: str, fpgas: int) -> list[str]:
    """Plan an example both ways; return a row of the table."""
    by_fill = {"fill": DEFAULT_FILL, "confidence": "none", "constraint_style": "hard"}
    row = [name, f"{fpgas} x {board}"]
    for options in (by_fill, {}):
        started = time.perf_counter()
        plan = flow.plan(Request(EXAMPLES / f"{name}.onnx", board, fpgas=fpgas, plots=False, **options)).plan
        phase = plan.phases[0]
        entries = [entry for held in phase.floorplan.values() for entry in held.pblocks.values()]
        hard = [entry for entry in entries if phase.constraint_styles[entry.slot] == "hard"]
        hpwl = sum(held.hpwl for held in phase.floorplan.values())
        row += [str(len(entries)), overflow(entries), overflow(hard), str(sum(map(is_doubtful, entries)))]
        row += [f"{min(entry.likelihood or 0.0 for entry in entries):.1%}", f"{hpwl:,.0f}"]
        row += [f"{plan.networks[0].search.interval_cycles:,}", f"{time.perf_counter() - started:.1f}"]
    return [*row, str(sum(entry.short for entry in entries)), styles(phase)]


def overflow(entries: Iterable[PblockEntry]) -> str:
    return f"{sum(1 - (entry.likelihood or 0.0) for entry in entries):.2f}"


def is_doubtful(entry: PblockEntry) -> bool:
    return (entry.likelihood or 0.0) < CONFIDENCE


def styles(phase: PhaseEntry) -> str:
    used = Counter(phase.constraint_styles[slot] for slot in set(phase.partition.assignment.values()))
    return ", ".join(f"{count} {style}" for style, count in sorted(used.items()))


def examples(only: str) -> None:
    of_each = ("pblocks", "overflow", "hard ones", "below 0.9", "least likely", "HPWL", "interval", "s")
    headings = ["example", "on", *(f"by fills: {name}" for name in of_each), *(f"now: {name}" for name in of_each)]
    rows = []
    for plan in PLANS:
        if plan[0].startswith(only):
            rows.append(planned(*plan))
            print(*rows[-1], flush=True)
    print(markdown([*headings, "now: short", "now: slots"], rows))


def errors(builds: tuple[Build, ...], fits: dict[str, Fit], origin: str) -> Errors:
    """Return what was measured over what was told by fits that did not see it, by kind and resource."""
    own = samples(tuple(build for build in builds if build.origin == origin), fits)[0]
    return {key: np.array([ratio for _, ratio in each]) for key, each in own.items()}


def pieces_of(phase: PhaseEntry, kinds: dict[str, str]) -> dict[str, list[tuple[str, Resources]]]:
    """Return the engines, FIFOs and converters of each module, each with its kind."""
    found: dict[str, list[tuple[str, Resources]]] = {module.name: [] for module in phase.modules}
    for module in phase.modules:
        for engine in module.engines:
            found[module.name].append((kinds[engine], _resources(phase.engines[engine].resources)))
    for channel in phase.channels:
        found[channel.fifo_module].append((phase.fifo_kind, _resources(channel.fifo_resources)))
        if channel.converter is not None:
            found[channel.converter_module].append((channel.converter, _resources(channel.converter_resources)))
    return found


def _resources(amounts: Amounts) -> Resources:
    return Resources.from_dict(amounts.model_dump())


def drawn(pieces: Sequence[tuple[str, Resources]], own: Errors, every: Sequence[Errors], rng: Generator) -> Outcomes:
    """Return what a module turns out to need in each draw: its parts err as those of their kind did in one origin.

    A kind that the origin did not have errs as in another that had it; one that nobody had as any part of the origin.
    """
    needed = {name: np.zeros(DRAWS) for name in RESOURCES}
    for kind, use in pieces:
        for name, amount in use.as_dict().items():
            if amount and name in RESOURCES:
                needed[name] += amount * rng.choice(_ratios(SAME_BAND.get(kind, kind), name, own, every), DRAWS)
    return needed


def _ratios(kind: str, resource: str, own: Errors, every: Sequence[Errors]) -> NDArray[np.float64]:
    others = [each[kind, resource] for each in every if (kind, resource) in each]
    if (kind, resource) in own:
        return own[kind, resource]
    if others:
        return np.concatenate(others)
    alike = [ratios for (_, name), ratios in own.items() if name == resource]
    return np.concatenate(alike) if alike else np.ones(1)


def draws(builds: tuple[Build, ...], fits: dict[str, Fit], only: str) -> Iterator[list[str]]:
    """Yield for each plan the share of draws that hold: in pblocks told 90%, and in the planned ones as told."""
    origins = sorted({build.origin for build in builds})
    of = {origin: errors(builds, fits, origin) for origin in origins}
    band_of = {origin: without(builds, fits, origin=origin) for origin in origins}
    rng, sums = np.random.default_rng(0), Counter[str]()
    for name, board, fps in (plan for plan in DRAWN if plan[0].startswith(only)):
        row: Counter[str] = Counter()
        for pieces, entry in planned_pblocks(name, board, fps):
            row += Counter(pblocks=1, told=entry.likelihood or 0.0)
            use: dict[str, Resources] = defaultdict(Resources)
            for kind, amounts_ in pieces:
                use[kind] += amounts_
            for origin in origins:
                needed = drawn(pieces, of[origin], list(of.values()), rng)
                asked = uncertain_sum(use, band_of[origin]).supply(Resources(), CONFIDENCE)
                row["at 90%"] += _holding(needed, asked) / len(origins)
                row["planned"] += _holding(needed, _resources(entry.supply)) / len(origins)
        sums += row
        print(name, board, fps, *_held(row), file=sys.stderr, flush=True)
        yield [name, board, "-" if fps is None else f"{fps:,}", *_held(row)]
    yield ["all", "", "", *_held(sums)]


def _holding(needed: Outcomes, have: Resources) -> float:
    supply = {**have.as_dict(), "FF": max(have.ff, FF_PER_LUT * have.lut)}
    return float(np.mean(np.all([amounts <= supply[name] for name, amounts in needed.items()], axis=0)))


def _held(row: Counter[str]) -> list[str]:
    count = int(row["pblocks"])
    return [str(count), *(f"{row[name] / count:.1%}" for name in ("at 90%", "told", "planned"))]


def planned_pblocks(
    name: str, board: str, fps: int | None
) -> Iterator[tuple[list[tuple[str, Resources]], PblockEntry]]:
    """Plan an example with a hard pblock for every module; yield what is in each."""
    options = {"plots": False, "effort": "fast", "constraint_style": "hard", "backend_options": {"vivado": "2022.2"}}
    plan = flow.plan(Request(EXAMPLES / f"{name}.onnx", board, fps=fps, **options)).plan
    phase = plan.phases[0]
    pieces = pieces_of(phase, {engine.name: engine.kind for network in plan.networks for engine in network.engines})
    for held in phase.floorplan.values():
        for module, entry in held.pblocks.items():
            yield pieces[module], entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", action="store_true", help="plan the examples instead")
    parser.add_argument("--only", default="", help="examples whose name begins so")
    parser.add_argument("--draws", action="store_true", help="draw what pblocks of planned examples turn out to need")
    chosen = parser.parse_args()
    if chosen.plans:
        examples(chosen.only)
        return
    builds = read_builds()
    fits = cross_validated(builds)
    if chosen.draws:
        print(markdown(DRAWN_HEAD, draws(builds, fits, chosen.only)))
        return
    headings = ["modules", "network left out", "count", f"fit at {CONFIDENCE}", "with bands of other networks alone"]
    print(markdown(headings, real_modules(builds, fits)))
    print(markdown(["build", "stage that does not hold", "needs more than there is"], too_small(builds, fits)))
    print(markdown(["design", f"at {CONFIDENCE}", "with bands of other networks alone"], designs(builds, fits)))


if __name__ == "__main__":
    main()
