"""Plan slow rows under time limits, and draw how near to the bound the plan is that each limit leaves.

    python benchmarks/anytime.py [FOLDER] [--rows FILE] [--picture FILE.png] [--limits 5 10 20 40] [--only-table]

Every run is a command of its own with `--time-limit`, one at a time, without pictures, judged by `check`. The ratio is
the interval over the joint bound that any of the runs of the row knew, or over the folding bound. Finished runs are
kept in ``--rows`` and are not made again. FOLDER holds the models (default: ../shared/models). Wants a quiet machine.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import matplotlib as mpl
from joint import MODELS, Case, found
from runs import Row, command_of, keep, markdown, planned, rows_of

mpl.use("Agg")
from matplotlib import pyplot as plt

CASES = (
    Case("resnet50_w1a2", "alveo-u250"),
    Case("resnet50_w1a2", "alveo-u250", ("--fpgas", "2")),
    Case("brevitas_RESNET18_4W4A_ts.light", "alveo-u250"),
    Case("brevitas_RESNET18_4W4A_ts.light", "alveo-u250", ("--fpgas", "2")),
    Case("resnet18_int8_qdq.light", "alveo-u250"),
    Case("mobilenet_v2_w4a4.light.qonnx", "alveo-u250"),
    Case("mobilenet_v2_w4a4.light.qonnx", "zcu104"),
    Case("brevitas_quant_mobilenet_v1_4b.light", "alveo-u250"),
    Case("brevitas_quant_mobilenet_v1_4b.light", "zcu104"),
    Case("densenet121_w4a4", "alveo-u250", ("--fpgas", "2")),
)
"""Ten rows of `speed.py` that take long without a limit."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=MODELS, help="folder of models")
    parser.add_argument("--rows", type=Path, default=Path("anytime_rows.jsonl"), help="JSON lines of finished runs")
    parser.add_argument("--limits", nargs="+", type=float, default=[5, 10, 20, 40], help="seconds on the clock")
    parser.add_argument("--picture", type=Path, help="file of the picture")
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    chosen = parser.parse_args()
    done = {row["key"]: row for row in rows_of(chosen.rows)}
    for case in CASES:
        for limit in chosen.limits:
            key = f"{case.key} | {limit:g}"
            if key not in done and not chosen.only_table:
                done[key] = {"key": key, "limit_s": limit, **limited(case, limit, chosen.folder)}
                keep(done[key], chosen.rows)
    rows = {case.key: [done.get(f"{case.key} | {limit:g}", {}) for limit in chosen.limits] for case in CASES}
    known = {key: ratios(own) for key, own in rows.items() if any(own)}
    late = [row["key"] for own in rows.values() for row in own if row and row["wall_s"] > row["limit_s"] + 1]
    illegal = [row["key"] for own in rows.values() for row in own if row.get("check") == "ILLEGAL"]
    headings = ["case", *(f"{limit:g} s" for limit in chosen.limits)]
    print(markdown(headings, [[key, *map(told, own)] for key, own in known.items()]))
    print(f"* more than a second late: {', '.join(late) or 'none'}; illegal by check: {', '.join(illegal) or 'none'}")
    if chosen.picture:
        draw(known, chosen.limits, chosen.picture)


def limited(case: Case, limit_s: float, models: Path) -> Row:
    """Plan one case under a time limit."""
    model = found(case.model, models)
    if model is None:
        raise SystemExit(2)
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(model), "-p", case.board, *case.options, "--no-plots", "--time-limit", f"{limit_s:g}"]
        return planned(command_of(None), arguments, Path(folder) / "out", 3 * limit_s)


def ratios(rows: list[Row]) -> list[float | None]:
    """Return the interval over the highest bound that any of the runs knew, None where there was no plan."""
    bound = max((row.get("joint_bound_cycles") or row.get("bound_cycles") or 0 for row in rows), default=0)
    return [row["interval_cycles"] / bound if "interval_cycles" in row else None for row in rows]


def told(ratio: float | None) -> str:
    return "no plan" if ratio is None else f"{ratio:.2f}"


def draw(known: dict[str, list[float | None]], limits_s: list[float], path: Path) -> None:
    """Draw the ratios of all rows over their time limits."""
    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for number, (key, own) in enumerate(known.items()):
        at = [(limit, ratio) for limit, ratio in zip(limits_s, own, strict=True) if ratio is not None]
        axes.plot(*zip(*at, strict=True), marker="os^Dv<>Ph*"[number % 10], markersize=5, linewidth=1.2, label=key)
    axes.axhline(1.5, color="0.6", linewidth=0.8, linestyle="--")
    axes.set(xscale="log", yscale="log", xlabel="time limit, seconds", ylabel="interval over the bound")
    axes.set_xticks(limits_s, [f"{limit:g}" for limit in limits_s])
    axes.set_yticks([1, 1.5, 2, 3, 5, 10], ["1", "1.5", "2", "3", "5", "10"])
    axes.minorticks_off()
    figure.legend(loc="outside right upper", fontsize=6, frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
