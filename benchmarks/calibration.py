"""Fit floorflow's calibrated cost model to real builds: its tables, error bands, and the file of shipped values.

python benchmarks/calibration.py                 # the tables, from benchmarks/data/builds.jsonl.gz
python benchmarks/calibration.py --write         # and the shipped floorflow/backends/finn/cost/calibrated.yaml
python benchmarks/calibration_rows.py REFERENCE  # copies the rows anew from the reference folder
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from math import ceil, floor
from pathlib import Path
from statistics import median

import numpy as np
from calibration_fit import (
    FIFO,
    LOGIC,
    NAMES,
    PRIORS,
    Build,
    Fit,
    Part,
    cross_validated,
    fit,
    interval,
    read_builds,
    with_shells,
)

from floorflow.backends.finn.cost.calibrated import BLOCKS_UNMEASURED, LOGIC_UNMEASURED, relative_band
from floorflow.dataflow.bands import spread
from floorflow.resources import Resources

RESOURCES = ("LUT", "FF", "BRAM18", "DSP")
SHIPPED = Path(__file__).parents[1] / "floorflow/backends/finn/cost/calibrated.yaml"
Samples = dict[tuple[str, str], list[tuple[str, float]]]
"""By kind and resource: network, and measured over predicted."""
Bands = dict[str, dict[str, tuple[float, float]]]
LEAST_SHARE = 0.4
"""A whole design says something about a kind that makes up this share of it."""
LEAST_AMOUNT = {"LUT": 20, "FF": 20, "BRAM18": 1, "DSP": 1}
LEAST_OF_DESIGN = {"BRAM18": 10}
"""Of fewer blocks a design says nothing: those of its DMA engines may be two more or less."""
SHELL_PART = "shell"
ASSUMED_BLOCKS = (0.5, 2.0)
"""Block RAM of a shell that is taken for another board's: one or two in each DMA engine, or more."""
ENOUGH = 3
"""Origins from which tenths are taken as they are; of a kind seen in fewer the band is that of no build at all."""


NARROWEST = (0.9, 1.1)
"""What no band of LUTs or flip-flops is narrower than: small engines are off by a few LUTs, which is much of them; nor
of DSP that HLS decides on, whose rules were found with all builds in view."""


def samples(builds: tuple[Build, ...], fits: dict[str, Fit]) -> tuple[Samples, Mapping[str, set[str]]]:
    """Return measured over predicted for each kind and resource, each predicted by a fit that did not see it; and the
    origins of each kind's.

    Engines that were measured alone give one each. A design gives one for the kind that dominates it: all of the
    design's error is put on that kind. FIFOs were measured in sum once, in a build with FINN's older FIFO.
    """
    ratios: Samples = defaultdict(list)
    origins: dict[str, set[str]] = defaultdict(set)
    for build in builds:
        for resource in RESOURCES:
            seen = fits[build.name]
            for source in (_alone, _dominant, _fifos):
                for kind, ratio in source(build, seen, resource):
                    ratios[kind, resource].append((build.network, ratio))
                    origins[kind].add(build.origin)
    return ratios, origins


def _alone(build: Build, seen: Fit, resource: str) -> Iterator[tuple[str, float]]:
    for part in build.parts:
        predicted = seen.part(part, resource)
        if part.measured and predicted >= LEAST_AMOUNT[resource]:
            yield part.kind, part.measured[RESOURCES.index(resource)] / predicted


def _fifos(build: Build, seen: Fit, resource: str) -> Iterator[tuple[str, float]]:
    if build.fifos and resource != "DSP":
        predicted = sum(seen.part(part, resource) for part in build.parts if part.kind == FIFO)
        yield FIFO, build.fifos[RESOURCES.index(resource)] / predicted


def _dominant(build: Build, seen: Fit, resource: str) -> Iterator[tuple[str, float]]:
    total = seen.design(build, resource)
    by_kind: dict[str, float] = defaultdict(float)
    for part in build.parts:
        by_kind[part.kind] += seen.part(part, resource)
    if any(part.measured for part in build.parts):
        return
    for kind, amount in by_kind.items():
        if total and amount >= max(LEAST_SHARE * total, LEAST_OF_DESIGN.get(resource, 0)):
            yield kind, (build.measured[resource] - total + amount) / amount


def bands(samples_of: Samples, origins: Mapping[str, set[str]]) -> Bands:
    """Return for each kind the factors between which four fifths of its errors lie; 1 always lies between them."""
    result: Bands = defaultdict(dict)
    for (kind, resource), ratios in sorted(samples_of.items()):
        low, high = tenths(ratios)
        if len(origins[kind]) < ENOUGH:
            few = LOGIC_UNMEASURED if resource in LOGIC else BLOCKS_UNMEASURED
            low, high = min(few[0], low), max(few[1], high)
        if resource == "DSP" and kind.endswith("_rtl") and {ratio for _, ratio in ratios} == {1.0}:
            low = high = 1.0
        elif resource in LOGIC or (resource == "DSP" and kind.endswith("_hls")):
            low, high = min(low, NARROWEST[0]), max(high, NARROWEST[1])
        result[kind][resource] = (round(min(low, 1), 2), round(max(high, 1), 2))
    return dict(result)


def tenths(ratios: list[tuple[str, float]]) -> tuple[float, float]:
    """Return the ratios below and above which one tenth of the weight lies; networks weigh the same."""
    many = Counter(network for network, _ in ratios)
    ordered = sorted((ratio, 1 / many[network] / len(many)) for network, ratio in ratios)
    below = np.cumsum([weight for _, weight in ordered])
    first, last = np.searchsorted(below, (0.1 + 1e-9, 0.9 - 1e-9))
    return ordered[first][0], ordered[last][0]


def table(rows: Iterable[Iterable[str]]) -> str:
    head, *body = [list(row) for row in rows]
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def designs(builds: tuple[Build, ...], fits: dict[str, Fit], resource: str) -> Iterator[list[str]]:
    yield ["build", f"measured {resource}", "FINN", "error", "floorflow, cross-validated", "error"]
    errors: dict[str, dict[str, list[float]]] = {"FINN": defaultdict(list), "own": defaultdict(list)}
    for build in builds:
        real = build.measured[resource]
        if not real:
            continue
        own, told = fits[build.name].design(build, resource), build.told.get(resource, 0)
        errors["own"][build.network].append(abs(own / real - 1))
        finn = ["-", "-"]
        if build.told:
            errors["FINN"][build.network].append(abs(told / real - 1))
            finn = [f"{told:,}", percent(told, real)]
        yield [build.name, f"{real:,}", *finn, f"{own:,.0f}", percent(own, real)]
    medians = [_median(errors[who]) for who in ("FINN", "own")]
    yield ["median over networks", "", "", f"{medians[0]:.1%}", "", f"**{medians[1]:.1%}**"]


def _median(errors: dict[str, list[float]]) -> float:
    return median(median(each) for each in errors.values())


def percent(predicted: float, real: float) -> str:
    return f"{predicted / real - 1:+.1%}"


def kinds(builds: tuple[Build, ...], fits: dict[str, Fit]) -> Iterator[list[str]]:
    """Yield the errors of parts that were measured alone, by kind and by who measured them."""
    yield ["kind", "origin", "measured alone", "LUT: median", "from", "to", "FF: median", "from", "to"]
    off: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: {"LUT": [], "FF": []})
    for build, part in _alone_parts(builds):
        for index, name in enumerate(("LUT", "FF")):
            if part.measured[index] >= LEAST_AMOUNT[name]:
                off[part.kind, build.origin][name].append(fits[build.name].part(part, name) / part.measured[index] - 1)
    for (kind, origin), each in sorted(off.items()):
        spans = [f"{value:+.0%}" for name in each for value in _span(each[name])]
        yield [kind, origin, str(max(map(len, each.values()))), *spans]


def _alone_parts(builds: tuple[Build, ...]) -> Iterator[tuple[Build, Part]]:
    return ((build, part) for build in builds for part in build.parts if part.measured)


def _span(values: list[float]) -> tuple[float, float, float]:
    return (median(values), min(values), max(values)) if values else (0.0, 0.0, 0.0)


def worst(builds: tuple[Build, ...], fits: dict[str, Fit]) -> Iterator[list[str]]:
    """Yield the ten parts that were measured alone whose LUTs are missed by most."""
    yield ["build", "kind", "LUT", "predicted", "error"]
    rows = [(build, part, fits[build.name].part(part, "LUT")) for build, part in _alone_parts(builds)]
    rows.sort(key=lambda row: (-abs(row[2] - row[1].measured[0]), row[0].name))
    for build, part, own in rows[:10]:
        yield [build.name, part.kind, f"{part.measured[0]:,}", f"{own:,.0f}", percent(own, part.measured[0])]


def shells(full: Fit) -> Iterator[list[str]]:
    """Yield what the shell of each board takes."""
    yield ["part", "LUT", "FF", "BRAM18"]
    for part, amounts in full.shells.items():
        yield [part, *(f"{amounts[name]:,.0f}" for name in ("LUT", "FF", "BRAM18"))]


def cycles(builds: tuple[Build, ...]) -> Iterator[list[str]]:
    yield ["build", "measured cycles", "FINN", "error", "with start-up", "error"]
    errors: tuple[dict[str, list[float]], ...] = (defaultdict(list), defaultdict(list))
    for build in builds:
        real = build.measured["interval"]
        if not real:
            continue
        told, own = build.told["cycles"], interval(build)
        for which, predicted in zip(errors, (told, own), strict=True):
            which[build.network].append(abs(predicted / real - 1))
        yield [build.name, f"{real:,}", f"{told:,}", percent(told, real), f"{own:,}", percent(own, real)]
    yield ["median over networks", "", "", f"{_median(errors[0]):.1%}", "", f"**{_median(errors[1]):.1%}**"]


def coefficients(full: Fit, fits: dict[str, Fit]) -> Iterator[list[str]]:
    yield ["coefficient", "structure says", "fitted", "without one origin"]
    for index, name in enumerate(NAMES):
        resource = "FF" if "_ff" in name else "LUT"
        values = [each.prices[resource][index] for each in fits.values()]
        fitted = full.prices[resource][index]
        yield [f"`{name}`", f"{PRIORS[name][0]:g}", f"{fitted:.3g}", f"{min(values):.3g} to {max(values):.3g}"]


def band_rows(samples_of: Samples, result: Bands) -> Iterator[list[str]]:
    yield ["kind", "rows", *RESOURCES]
    for kind, each in result.items():
        spans = [f"{each[r][0]:g} to {each[r][1]:g}" if r in each else "-" for r in RESOURCES]
        yield [kind, str(max(len(samples_of[kind, resource]) for resource in each)), *spans]


def shipped(full: Fit, result: Bands) -> str:
    """Return the text of the file that holds the values."""
    prices = {name: full.prices["FF" if "_ff" in name else "LUT"][i] for i, name in enumerate(NAMES)}
    lines = [f"  {name}: {float(f'{value:.3g}'):g}" for name, value in prices.items()]
    rows = [
        f"  {kind}: {{" + ", ".join(f"{name}: [{low:g}, {high:g}]" for name, (low, high) in each.items()) + "}"
        for kind, each in result.items()
    ]
    return "\n".join(
        [
            "# Fitted values of the calibrated cost model, written by benchmarks/calibration.py --write.",
            "# docs/cost-model.md has their sources and how far each moves if one network is left out.",
            "coefficients:",
            *lines,
            "# Factors on an estimate between which four fifths of the measured ones lie, by kind and resource.",
            "bands:",
            *rows,
            "",
        ]
    )


def outside(builds: tuple[Build, ...], fits: dict[str, Fit], resource: str) -> list[str]:
    """Return the builds whose measured amount lies outside of the band of the sum.

    A shell that no report tells is a part like others: its band is how far what builds leave of it differs.
    """
    unsure = shell_band(builds, fits, resource)
    names = []
    for build in builds:
        seen, use = fits[build.name], defaultdict(float)
        for part in build.parts:
            use[part.kind] += seen.part(part, resource)
        told = build.shell is not None and not build.shell_is_assumed
        use[SHELL_PART] = 0.0 if told else seen.shells[build.board][resource]
        amounts = {kind: Resources.from_dict({resource: round(use[kind])}) for kind in use}
        of_shell = ASSUMED_BLOCKS if build.shell_is_assumed and resource not in LOGIC else unsure
        low, high = spread(amounts, partial(_band_or, of_shell))
        real = build.measured[resource] - (build.shell[resource] if build.shell is not None and told else 0)
        if not low.as_dict()[resource] <= real <= high.as_dict()[resource]:
            names.append(build.name)
    return names


def _band_or(of_shell: tuple[float, float], kind: str, resource: str) -> tuple[float, float]:
    return of_shell if kind == SHELL_PART else relative_band(kind, resource)


def shell_band(builds: tuple[Build, ...], fits: dict[str, Fit], resource: str) -> tuple[float, float]:
    """Return the tenths of what builds leave for a shell that no report tells, over what others leave; of blocks 1."""
    if resource not in LOGIC:
        return 1.0, 1.0
    ratios = [
        (build.network, (build.measured[resource] - seen.parts(build, resource)) / seen.shells[build.board][resource])
        for build in builds
        if build.shell is None and (seen := fits[build.name]).shells[build.board][resource]
    ]
    low, high = tenths(ratios)
    return min(low, 1.0), max(high, 1.0)


def in_bands(builds: tuple[Build, ...], fits: dict[str, Fit]) -> str:
    """Say how many figures of parts that were measured alone lie in the bands that all other origins give."""
    held, spans = [], []
    for origin in dict.fromkeys(build.origin for build in builds):
        known = bands(*samples(tuple(build for build in builds if build.origin != origin), fits))
        for build, part in _alone_parts(tuple(build for build in builds if build.origin == origin)):
            for index, name in enumerate(RESOURCES):
                told, took = fits[build.name].part(part, name), (*part.measured, 0)[index]
                if told < LEAST_AMOUNT[name] and not took:
                    continue
                low, high = known.get(part.kind, {}).get(name, LOGIC_UNMEASURED if name in LOGIC else BLOCKS_UNMEASURED)
                held.append(floor(told * low) <= took <= ceil(told * high))
                if name == "LUT":
                    spans.append((low, high))
    low, high = (median(ends) for ends in zip(*spans, strict=True))
    inside = (
        f"Of {len(held)} figures of engines, FIFOs and converters {sum(held) / len(held):.0%} lie in the bands that the"
    )
    return f"{inside} other origins give; the median band of LUT is {low:g} to {high:g}."


def pages(builds: tuple[Build, ...], fits: dict[str, Fit], full: Fit) -> list[str]:
    """Return every table, as docs/calibration.md holds them."""
    samples_of, origins = samples(builds, fits)
    missed = {resource: outside(builds, fits, resource) for resource in RESOURCES[:3]}
    inside = [f"{len(builds) - len(names)} of {len(builds)} in {resource}" for resource, names in missed.items()]
    named = [f"{resource} {', '.join(names)}" for resource, names in missed.items() if names]
    return [
        *(table(designs(builds, fits, resource)) for resource in RESOURCES),
        table(kinds(builds, fits)),
        table(worst(builds, fits)),
        table(shells(full)),
        table(cycles(builds)),
        table(coefficients(full, fits)),
        table(band_rows(samples_of, bands(samples_of, origins))),
        in_bands(builds, fits),
        f"Builds in the band of their sum: {', '.join(inside)}; not in it: {'; '.join(named)}.",
    ]


def main(*, write: bool) -> None:
    builds = read_builds()
    fits, full = cross_validated(builds), with_shells(fit(builds), builds)
    print("\n\n".join(pages(builds, fits, full)))
    if write:
        SHIPPED.write_text(shipped(full, bands(*samples(builds, fits))), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the shipped coefficients and bands")
    main(write=parser.parse_args().write)
