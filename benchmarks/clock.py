"""How well the likely clock is told: every build by a fit that saw none of its source.

    python benchmarks/clock.py

Prints the coefficients, a row for each build, what simpler models do, and the band that holds nine of ten builds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, exp, log, sqrt
from pathlib import Path
from statistics import median

from floorflow.backends.clock import ClockTarget
from floorflow.backends.finn.clock import ERROR, BuiltEngine, Delays, slowest_path

PRIORS = {
    "7series": (0.7, 0.3),
    "ultrascale+": (0.35, 0.3),
    "control": (1.5, 0.3),
    "spread": (0.5, 0.7),
    "hls_level": (1.5, 0.1),
    "several_dies": (1.2, 0.2),
}
"""Before any build is seen, and the spread of its logarithm: a LUT and its net in both families (data sheets and rules
of thumb), what HLS puts in a stage by two stages that were built (8 levels and 13), the rest round numbers."""
BUILD_ERROR = 0.15
"""Expected error of a build, of the logarithm."""
Values = dict[str, float]


@dataclass(frozen=True)
class Build:
    """A build whose slack after routing is known."""

    name: str
    source: str
    target: ClockTarget
    reached_ns: float
    engines: tuple[BuiltEngine, ...]


def read_builds() -> tuple[Build, ...]:
    rows = json.loads((Path(__file__).parent / "data" / "clocks.json").read_text(encoding="utf-8"))
    return tuple(
        Build(
            row["name"],
            row["source"],
            ClockTarget(1e3 / row["asked_ns"], (row["part"],), row["several_dies"]),
            row["reached_ns"],
            tuple(
                BuiltEngine(f"{kind} {n}", kind, found, luts) for n, (kind, found, luts) in enumerate(row["engines"])
            ),
        )
        for row in rows
    )


def delays_of(values: Values) -> Delays:
    level_ns = {"7series": values["7series"], "ultrascale+": values["ultrascale+"]}
    return Delays(level_ns, values["control"], values["spread"], values["hls_level"], values["several_dies"])  # type: ignore[arg-type]


def period_ns(build: Build, values: Values) -> float:
    found = slowest_path(build.engines, build.target, delays_of(values))
    assert found is not None
    return found.period_ns


def fit(builds: Sequence[Build]) -> Values:
    """Return the coefficients with the least squared errors, those of the builds and those of the priors.

    Builds of one source count as the root of their number. A pattern search: the period is a maximum of paths.
    """
    many = {build.source: sum(1 for other in builds if other.source == build.source) for build in builds}

    def loss(values: Values) -> float:
        misses = sum(
            (log(period_ns(build, values) / build.reached_ns) / BUILD_ERROR) ** 2 / sqrt(many[build.source])
            for build in builds
        )
        return misses + sum((log(values[name] / prior) / wide) ** 2 for name, (prior, wide) in PRIORS.items())

    values, step = {name: prior for name, (prior, _) in PRIORS.items()}, 0.2
    best = loss(values)
    while step > 1e-3:
        moved = [{**values, name: values[name] * exp(sign * step)} for name in PRIORS for sign in (1, -1)]
        least = min((loss(each), n) for n, each in enumerate(moved))
        if least[0] < best - 1e-9:
            best, values = least[0], moved[least[1]]
        else:
            step /= 2
    return values


def by_source(builds: Sequence[Build], fitted: Callable[[Sequence[Build]], Values] = fit) -> dict[str, Values]:
    """Return for each source the coefficients of a fit that saw none of its builds."""
    return {
        source: fitted([build for build in builds if build.source != source])
        for source in dict.fromkeys(build.source for build in builds)
    }


def by_family(builds: Sequence[Build], build: Build) -> float:
    """Return the median period of other sources' builds of a family, whatever their engines; all if it has none."""
    others = [other for other in builds if other.source != build.source]
    seven = build.target.parts[0].startswith("xc7")
    alike = [other for other in others if other.target.parts[0].startswith("xc7") == seven] or others
    return median(other.reached_ns for other in alike)


def row(build: Build, left_out: Values, fitted: Values) -> str:
    """Return a line: clocks asked for, built and told by a fit without the source; its error and that of the fit."""
    found = slowest_path(build.engines, build.target, delays_of(left_out))
    assert found is not None
    told, seen = found.period_ns, period_ns(build, fitted)
    errors = f"{build.reached_ns / told - 1:+6.0%} {build.reached_ns / seen - 1:+6.0%}"
    clocks = f"{build.target.clock_mhz:6.0f} {1e3 / build.reached_ns:6.0f} {1e3 / told:6.0f}"
    return f"{build.name:22} {build.source:24} {clocks} {errors}  {found.path.what}"


def summary(name: str, told: Sequence[tuple[Build, float]]) -> str:
    """Return by which factor periods are off: the median, nine in ten, the most, and how many the band holds."""
    misses = sorted(exp(abs(log(build.reached_ns / period))) for build, period in told)
    held = sum(miss <= ERROR for miss in misses)
    nine = misses[ceil(0.9 * len(misses)) - 1]
    return f"{name:44} {median(misses):6.2f} {nine:6.2f} {misses[-1]:6.2f}   {held} of {len(misses)}"


def main() -> None:
    builds = read_builds()
    fitted, left_out = fit(builds), by_source(builds)
    print("coefficients")
    for name, each in (("all builds", fitted), *((f"without {source}", found) for source, found in left_out.items())):
        print(f"  {name:34}" + ", ".join(f"{key} {value:.3f}" for key, value in each.items()))
    print("\nclocks in MHz; errors of the clock told by a fit that saw no build of the source, and by that of all")
    print(f"{'build':22} {'source':24} {'asked':>6} {'built':>6} {'told':>6} {'error':>6} {'in fit':>6}  slowest path")
    for build in builds:
        print(row(build, left_out[build.source], fitted))
    print(f"\n{'factor on the period':44} {'median':>6} {'9/10':>6} {'most':>6}   within x{ERROR}")
    unspread = {source: {**each, "spread": 0.0} for source, each in left_out.items()}
    models: dict[str, Callable[[Build], float]] = {
        "levels, source left out": lambda build: period_ns(build, left_out[build.source]),
        "levels, all builds seen": lambda build: period_ns(build, fitted),
        "the same without the engine's size": lambda build: period_ns(build, unspread[build.source]),
        "median of the family, source left out": lambda build: by_family(builds, build),
        "the clock asked for is reached": lambda build: build.target.period_ns,
    }
    for name, model in models.items():
        print(summary(name, [(build, model(build)) for build in builds]))


if __name__ == "__main__":
    main()
