"""Print f-CNN^x' tables I to IV beside ours as Markdown, and draw its figures 4 and 6.

    python -m benchmarks.fcnnx [--tables 1 2 3 joint 4] [--figures FOLDER]

Rows of Table III have the reference designs of the case; ``joint`` chooses engines anew on the whole device. Unaware
rates are simulated with demand-proportional sharing at an efficiency of 0.45, which is not tuned.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import geometric_mean

from benchmarks.fcnnx_methods import solve_by
from floorflow.backends.fcnnx.backend import front
from floorflow.bandwidth.joint import JointProblem, bound_on_any_schedule, choose, total_error
from floorflow.bandwidth.problem import BandwidthProblem, ScheduledNetwork
from floorflow.bandwidth.rates import Wish, most_fps, rate, unaware_rates, wish
from floorflow.bandwidth.repetitions import scheduled_period
from floorflow.dataflow.traffic import EnginePoint
from floorflow.facts.power import FIGURES
from floorflow.resources import Resources, total
from tests.backends.fcnnx.case import (
    BURST_EFFICIENCY,
    FILES,
    TABLE_2,
    case,
    layers,
    reference,
    row_problem,
    set_problem,
)

ZC706 = Resources(lut=218_600, ff=437_200, bram18=1_090, dsp=900)
MOST_FOR_ILP = 100
"""Runs up to which the paper's programme is asked in Table II; it had no answer for sets 5 and 6 either."""
METHODS = ("constant", "rcls", "rcls-search", "ilp", "exact")
LEAST_DRAWN = 0.2
"""Of its target that an engine of figure 4 reaches alone."""
WATTS = {"three": 4.0, "four": 4.0}
"""Dynamic power of the board in Table IV: GOp/s over GOp/s/W in all of its rows."""
MHZ = 150.0


def head(*names: str) -> None:
    print("| " + " | ".join(names) + " |\n|" + "---|" * len(names), flush=True)


def line(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def listed(values: Iterable[float], digits: int = 2) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


def table_1() -> None:
    print("\n## Table I\n")
    head("network", "GOp: paper", "ours", "difference", "layers: paper", "convolutions, ReLU and pools here")
    for name in FILES:
        given = case()["networks"][name]["table1"]
        own = sum(layer.operations for layer in layers(name)) / 1e9
        count = sum(1 + layer.has_relu + (layer.pool is not None) for layer in layers(name))
        line(name, given["GOps"], f"{own:.5f}", f"{own / given['GOps'] - 1:+.1%}", given["layers"], count)


def table_2() -> None:
    print("\n## Table II\n")
    head(
        "set",
        "subgraphs",
        "GB/s",
        "method",
        "status",
        "period, us",
        "bound, us",
        "gap",
        "seconds",
        "paper: MaxThrpt, time",
    )
    for number, (_, gbs, _) in TABLE_2.items():
        problem = set_problem(number)
        row = case()["table2"][number - 1]
        paper = {"ilp": f"{row[4]}, {row[5]}", "rcls": f"{row[6]}, {row[7]}"}
        for method in METHODS:
            if method == "ilp" and problem.jobs > MOST_FOR_ILP:
                line(number, problem.jobs, gbs, method, "not asked", "", "", "", "", paper[method].replace("None", "-"))
                continue
            told = solve_by(method, problem).as_dict()
            figures = (
                f"{told['objective']:,.1f}",
                f"{told['bound']:,.1f}",
                f"{told['gap']:.2%}",
                f"{told['seconds']:.2f}",
            )
            line(number, problem.jobs, gbs, method, told["status"], *figures, paper.get(method, ""))
    print()
    head("set", "MaxThrpt of the exact schedule here", "paper")
    for number in TABLE_2:
        line(number, f"{_max_throughput(number):.3f}", case()["table2"][number - 1][6])


def _max_throughput(number: int) -> float:
    """Return eq. 6: rates of the exact schedule against each network's best engine alone on the device."""
    problem = set_problem(number)
    fps = solve_by("exact", problem).schedule.frames_per_s(problem)
    names = [network.name.rpartition("_")[0] for network in problem.networks]
    fronts = {name: front(name, layers(name), ZC706) for name in set(names)}
    return total_error([Wish(most_fps(fronts[name], problem.bandwidth_gbs)) for name in names], fps)


def rows() -> list[tuple[int, str, float, list[int]]]:
    """Return number, designs, GB/s and repetitions of each row of Table III."""
    names = [expected["row"].partition("@") for expected in case()["expected"]]
    return [
        (n, key, float(gbs), case()["table3_derived_reps"][str(n)]["reps"]) for n, (key, _, gbs) in enumerate(names, 1)
    ]


def gop_per_s(key: str, fps: Iterable[float]) -> list[float]:
    """Return rates as the paper counts them, by the GOp of its Table I."""
    points = reference(key)
    return [f * case()["networks"][p.network]["table1"]["GOps"] for f, p in zip(fps, points, strict=True)]


def fps_objective(key: str, gops: Sequence[float]) -> float:
    """Return eq. 5 of rates in GOp/s with the targets as printed, excess punished."""
    points = reference(key)
    fps = [g / case()["networks"][p.network]["table1"]["GOps"] for g, p in zip(gops, points, strict=True)]
    return total_error([Wish(case()["targets_fps"][p.network], two_sided=True) for p in points], fps)


def table_3_periods() -> dict[int, dict[str, float]]:
    print("\n## Table III: periods of the reference designs, ms\n")
    head(
        "row", "designs, GB/s", "repetitions", "paper", "bound", *METHODS, "constant to paper", "exact: status, gap, s"
    )
    periods: dict[int, dict[str, float]] = {}
    for number, key, gbs, repetitions in rows():
        problem = row_problem(f"{key}@{gbs}", repetitions)
        answers = {method: solve_by(method, problem) for method in METHODS}
        periods[number] = {method: a.schedule.period_us / 1e3 for method, a in answers.items()}
        paper = case()["table3_derived_reps"][str(number)]["K_ms"]
        told = answers["exact"].as_dict()
        line(
            number,
            f"{key}, {gbs}",
            ":".join(map(str, repetitions)),
            paper,
            f"{problem.bound_us / 1e3:.1f}",
            *(f"{period:.1f}" for period in periods[number].values()),
            f"{periods[number]['constant'] / paper - 1:+.1%}",
            f"{told['status']}, {told['gap']:.2%}, {told['seconds']:.1f}",
        )
    return periods


def table_3_rates(periods: dict[int, dict[str, float]]) -> None:
    print("\n## Table III: rates, GOp/s\n")
    head("row", "unaware: paper", "simulated", "aware: paper", "constant", "exact",
         "speed-up: printed, recomputed, constant, exact", "FPSobj unaware to aware: of the paper's rates",
         "ours, exact",
         "gain: printed, recomputed, ours")  # fmt: skip
    for number, key, gbs, repetitions in rows():
        problem = row_problem(f"{key}@{gbs}", repetitions)
        _, _, _, old, new, speed_up, gain = case()["table3"][number - 1]
        base = gop_per_s(key, unaware_rates(problem, gbs))
        aware = {m: gop_per_s(key, [r / periods[number][m] * 1e3 for r in repetitions]) for m in ("constant", "exact")}
        errors = [fps_objective(key, each) for each in (old, new, base, aware["exact"])]
        ups = [_speed_up(old, new), *(_speed_up(base, each) for each in aware.values())]
        line(
            number, listed(old), listed(base), listed(new), listed(aware["constant"]), listed(aware["exact"]),
            f"{speed_up}%, " + ", ".join(f"{each:.1%}" for each in ups),
            f"{errors[0]:.3f} to {errors[1]:.3f}", f"{errors[2]:.3f} to {errors[3]:.3f}",
            f"{gain}%, {errors[0] / errors[1] - 1:.1%}, {errors[2] / errors[3] - 1:.1%}",
        )  # fmt: skip


def _speed_up(base: Sequence[float], new: Sequence[float]) -> float:
    return geometric_mean([n / b for b, n in zip(base, new, strict=True)]) - 1


def joint_problem(key: str, gbs: float, *, two_sided: bool = False) -> JointProblem:
    names = tuple(point.network for point in reference(key))
    fronts = tuple(front(name, layers(name), ZC706) for name in names)
    bandwidth = BURST_EFFICIENCY * gbs
    targets = [case()["targets_fps"][name] for name in names]
    wishes = tuple(wish(f, bandwidth, t, two_sided=two_sided) for f, t in zip(fronts, targets, strict=True))
    return JointProblem(names, fronts, wishes, ZC706, bandwidth)


def chosen_points(problem: JointProblem, points: tuple[int, ...]) -> list[EnginePoint]:
    return [engines[point] for engines, point in zip(problem.fronts, points, strict=True)]


def table_joint() -> None:
    print("\n## Joint choice on the whole device, each network at least half its target where feasible\n")
    head("row", "engines: N_PE x N_op (banks)", "DSP, BRAM18", "fps, constant shares", "FPSobj one-sided", "status",
         "bound, any engines and schedule", "in a period: repetitions, fps", "FPSobj", "starved",
         "paper's FPSobj")  # fmt: skip
    for number, key, gbs, _ in rows():
        problem = joint_problem(key, gbs)
        answer = choose(problem)
        if answer.points is None:
            line(number, answer.stats.status)
            continue
        engines = chosen_points(problem, answer.points)
        method = "exact" if key == "three" and gbs < 3 else "constant"
        period = scheduled_period(
            engines, problem.names, problem.wishes, problem.bandwidth_gbs, shares_gbs=answer.shares_gbs, method=method
        )
        new = case()["table3"][number - 1][4]
        line(
            number,
            "; ".join(f"{e.folding['N_PE']}x{e.folding['N_op']} ({e.folding['banks']})" for e in engines),
            f"{sum(e.resources.dsp for e in engines)}, {sum(e.resources.bram18 for e in engines)}",
            listed(answer.frames_per_s),
            f"{answer.stats.objective:.3f}",
            answer.stats.status,
            f"{bound_on_any_schedule(problem):.3f}",
            f"{':'.join(str(n.repetitions) for n in period.problem.networks)}, {listed(period.frames_per_s)}, {method}",
            f"{period.error:.3f}",
            ", ".join(answer.starved) or "none",
            f"{fps_objective(key, new):.3f}",
        )


def estimated_watts(key: str) -> float:
    """Return what the reference designs draw in use, by the figures of the power of plans."""
    use, figures = total(point.resources for point in reference(key)), FIGURES["7series"].dynamic_nw_per_mhz
    return MHZ * sum(figures[name] * amount for name, amount in use.as_dict().items()) / 1e9


def table_4() -> None:
    print("\n## Table IV: constant shares at 3.8 GB/s beside the paper\n")
    head("networks", "network", "GOp/s: paper", "ours", "fps: paper", "ours", "GOp/s/W: paper",
         "ours at the paper's 4.0 W", "ours at the watts estimated",
         "TX1 GOp/s, at 5 W (paper)", "gain GOp/s, at 5 W: paper", "ours")  # fmt: skip
    for key, row in (("three", 4), ("four", 8)):
        _, _, gbs, repetitions = rows()[row - 1]
        problem = row_problem(f"{key}@{gbs}", repetitions)
        fps = solve_by("constant", problem).schedule.frames_per_s(problem)
        gops, watts = gop_per_s(key, fps), estimated_watts(key)
        gains: list[tuple[float, float]] = []
        for given, own, frames in zip(case()["table4"][key], gops, fps, strict=False):
            name, paper, paper_fps, per_watt, _, tx1, _, tx1_5w = given[:8]
            gains.append((own / tx1, own / tx1_5w))
            line(key, name, paper, f"{own:.2f}", paper_fps, f"{frames:.2f}", per_watt, f"{own / WATTS[key]:.2f}",
                 f"{own / watts:.2f} ({watts:.1f} W)",
                 f"{tx1}, {tx1_5w}", f"{given[9]}, {given[11]}", listed(gains[-1]))  # fmt: skip
        means = [geometric_mean([gain[n] for gain in gains]) for n in range(2)]
        last = case()["table4"][key][-1]
        line(key, "geometric mean", *[""] * 8, f"{last[9]}, {last[11]}", listed(means))


def figure_4(file: Path, points: int = 120) -> None:
    """Draw objective over mean use of resources for joint points of benchmark 7: peak, unaware and aware."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    problem, gbs = joint_problem("four", 2.0), 2.0
    draw, found = random.Random(0), []
    able = [
        [engine for engine in engines if rate(engine, problem.bandwidth_gbs) > LEAST_DRAWN * wish.target_fps]
        for engines, wish in zip(problem.fronts, problem.wishes, strict=True)
    ]
    while len(found) < points:
        engines = [draw.choice(engines) for engines in able]
        use = [sum(each) for each in zip(*(e.resources.as_tuple() for e in engines), strict=True)]
        limits = ZC706.as_tuple()
        if all(u <= limit for u, limit in zip(use, limits, strict=True)):
            mean = sum(u / limit for u, limit in zip(use, limits, strict=True) if limit) / 4
            found.append((mean, *_three_errors(problem, engines, gbs)))
    figure, axes = plt.subplots(figsize=(6, 4))
    for column, (colour, label) in enumerate(
        (("tab:blue", "all bandwidth each"), ("tab:red", "unaware"), ("gold", "aware")), 1
    ):
        axes.scatter([f[0] for f in found], [f[column] for f in found], s=9, color=colour, label=label)
    axes.set(xlabel="mean use of LUT, FF, BRAM and DSP", ylabel="FPSobj, one-sided", title="Table III, row 7")
    axes.legend()
    figure.savefig(file, dpi=90, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    better = sum(aware < unaware for _, _, unaware, aware in found)
    print(f"\nFigure 4: of {points} joint points aware is better than unaware at {better}.")


def _three_errors(problem: JointProblem, engines: list[EnginePoint], gbs: float) -> tuple[float, float, float]:
    """Return errors with all the bandwidth for each, unaware, and with the best period of constant shares."""
    peak = [rate(engine, problem.bandwidth_gbs) for engine in engines]
    once = tuple(ScheduledNetwork(e.network, e.subgraphs, 1) for e in engines)
    unaware = unaware_rates(BandwidthProblem(once, problem.bandwidth_gbs), gbs)
    one_sided = [Wish(w.target_fps) for w in problem.wishes]
    aware = scheduled_period(engines, problem.names, one_sided, problem.bandwidth_gbs, method="constant")
    return total_error(problem.wishes, peak), total_error(problem.wishes, unaware), aware.error


def figure_6(file: Path) -> None:
    """Draw how much of the device each engine of the reference designs takes."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.5), sharey=True)
    names = ("LUT", "FF", "BRAM18", "DSP")
    for axis, key in zip(axes, ("three", "four"), strict=True):
        below = [0.0] * len(names)
        for point in reference(key):
            use = point.resources.as_dict()
            share = [use[name] / ZC706.as_dict()[name] for name in names]
            axis.bar(names, share, bottom=below, label=point.network)
            below = [a + b for a, b in zip(below, share, strict=True)]
        axis.set_title(f"{key} networks")
        axis.legend(fontsize=7)
    axes[0].set_ylabel("share of XC7Z045")
    figure.savefig(file, dpi=90, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)


def table_3() -> None:
    table_3_rates(table_3_periods())


TABLES: dict[str, Callable[[], None]] = {
    "1": table_1,
    "2": table_2,
    "3": table_3,
    "joint": table_joint,
    "4": table_4,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--figures", type=Path)
    chosen = parser.parse_args()
    for name in chosen.tables:
        TABLES[name]()
    if chosen.figures:
        chosen.figures.mkdir(parents=True, exist_ok=True)
        figure_4(chosen.figures / "fcnnx_figure_4.png")
        figure_6(chosen.figures / "fcnnx_figure_6.png")


if __name__ == "__main__":
    main()
