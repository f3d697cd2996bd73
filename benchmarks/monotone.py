"""Plan chains of requests, each of which allows more than the one before, and print every pair that got worse by it.

    python -m benchmarks.monotone [FOLDER] [--requests 200] [--rows FILE] [--timeout 600] [--effort default]

Five models: TFC and CNV of the examples, small random residual networks, and MobileNet-v2 and ResNet-18 4W4A of FOLDER
(default: ../shared/models; the example MobileNet-v1 stands for what is not there). A chain begins with few resources,
one to three FPGAs, and narrow choices; each step raises caps or fills, adds a card, or frees hls and rtl, run-time
weights or merging. Behind the last stands the request for the very rate that it got. Every pair of a chain is compared:
no plan (exit 3 or 5) is an infinite interval; a request that was stopped at ``--timeout`` is left out and counted.
Every request is a command of its own, and finished ones are kept in ``--rows``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import inf
from pathlib import Path

from benchmarks.runs import Row, command_of, keep, planned, rows_of
from floorflow.request import Request
from tests.monotone_cases import Chain, Ground, at_its_own_rate, random_chain_of_requests, saved, style_of
from tests.random_models import random_residual

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
SMALL = (Ground("pynq-z1", 0.1), Ground("xcku5p", 0.03), Ground("alveo-u250", 0.01), Ground("zcu104", 0.05))
LARGE = (Ground("alveo-u250", 0.3), Ground("xcku5p", 0.5), Ground("zcu104", 0.5))
MODELS = (
    ("tfc", "tfc_1w1a.onnx", SMALL),
    ("cnv", "cnv_2w2a.onnx", SMALL),
    ("residual", "", SMALL),
    ("mobilenet_v2", "mobilenet_v2_w4a4.light.qonnx.onnx", LARGE),
    ("resnet18_4w4a", "brevitas_RESNET18_4W4A_ts.light.onnx", LARGE),
)
STAND_IN = "mobilenet_v1_w4a4.onnx"
LENGTH = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT.parent / "shared" / "models")
    parser.add_argument("--requests", type=int, default=200, help="at least so many")
    parser.add_argument(
        "--rows", type=Path, default=Path("monotone_rows.jsonl"), help="JSON lines of finished requests"
    )
    parser.add_argument("--timeout", type=float, default=600, help="seconds a request")
    parser.add_argument("--effort", choices=["fast", "default", "best"], default="default")
    parser.add_argument("--models", nargs="+", help="only these of the five", default=[name for name, *_ in MODELS])
    chosen = parser.parse_args()
    done = {row["key"]: row for row in rows_of(chosen.rows)}
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, chain in chains(chosen, Path(folder)):
            rows = measured(chain, f"{name} {counts['chains']}", done, chosen)
            counts += Counter({"chains": 1, "requests": len(rows)}) + judged(f"{name} {counts['chains']}", chain, rows)
    print(", ".join(f"{what}: {count}" for what, count in counts.items()))


def chains(chosen: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Chain]]:
    """Yield chains, the models in turn."""
    models = [model for model in MODELS if model[0] in chosen.models]
    for seed in range(-(-chosen.requests // (LENGTH + 1))):
        name, file, grounds = models[seed % len(models)]
        made = saved(random_residual(seed), folder) if name == "residual" else existing(file, chosen.folder)
        ground = grounds[seed // len(models) % len(grounds)]
        yield name, random_chain_of_requests(made, ground, seed, LENGTH, chosen.effort)


def existing(file: str, folder: Path) -> Path:
    """Return the file of a model, or of the one that stands for it."""
    for path in (EXAMPLES / file, folder / file):
        if path.exists():
            return path
    return EXAMPLES / STAND_IN


def measured(chain: Chain, name: str, done: dict[str, Row], chosen: argparse.Namespace) -> list[Row]:
    """Plan the requests of a chain, and the last that has a plan again at its own rate."""
    rows = [row_of(request, f"{name}.{index}", done, chosen) for index, request in enumerate(chain.requests)]
    last = rows[-1]
    if "interval_cycles" in last and not last["timed_out"]:
        asked = at_its_own_rate(chain.requests[-1], last["interval_cycles"], last["clock_mhz"])
        rows.append(row_of(asked, f"{name}.rate", done, chosen))
    return rows


def row_of(request: Request, key: str, done: dict[str, Row], chosen: argparse.Namespace) -> Row:
    """Plan one request, unless it was planned before."""
    key = f"{key} {' '.join(arguments(request)[1:])}"
    if key not in done:
        with tempfile.TemporaryDirectory() as folder:
            found = planned(command_of(None), arguments(request), Path(folder) / "out", chosen.timeout)
        done[key] = {"key": key, **found}
        keep(done[key], chosen.rows)
    return done[key]


def arguments(request: Request) -> list[str]:
    """Return what the command line is given for a request."""
    words = [str(request.model), "-p", request.platform, "--fpgas", str(request.fpgas), "--no-plots"]
    for option, shares in (("--cap", request.cap), ("--fill", request.fill)):
        for name, share in shares.as_dict().items():
            words += [option, f"{name}={share!r}"]
    words += ["--impl-style", style_of(request), "--granularity", request.granularity, "--effort", request.effort]
    words += [] if request.backend_options.model_dump()["runtime_weights"] else ["--no-runtime-weights"]
    words += ["--keep-granularity"] if request.keep_granularity else []
    return words if request.fps is None else [*words, "--fps", repr(request.fps)]


def interval_of(row: Row) -> float | None:
    """Return the interval, infinite without a plan, None where the request was stopped."""
    return None if row["timed_out"] else row.get("interval_cycles", inf)


def judged(name: str, chain: Chain, rows: list[Row]) -> Counter[str]:
    """Compare every pair of a chain, print those that got worse, and count."""
    counts: Counter[str] = Counter(stopped=sum(row["timed_out"] for row in rows))
    counts["not legal"] = sum(row.get("check") == "ILLEGAL" for row in rows)
    counts["other exits"] = sum(row["exit"] not in {0, 3, 5} and not row["timed_out"] for row in rows)
    changes = [*chain.changes, "its own rate"]
    for a, b in combinations(range(len(rows)), 2):
        smaller, larger = interval_of(rows[a]), interval_of(rows[b])
        if smaller is None or larger is None:
            continue
        counts += Counter({"pairs": 1, "pairs of plans": max(smaller, larger) < inf, "shorter": larger < smaller})
        if larger > smaller:
            counts["LONGER"] += 1
            print(f"{name}: {smaller} -> {larger} by {', '.join(changes[a:b])}: {rows[b]['key']}", flush=True)
    return counts


if __name__ == "__main__":
    main()
