"""Small networks of every shape, on boards, by granularities and back ends, one and two together: what comes of each.

    python -m benchmarks.small_networks [--cases 200] [--first 0]

None may be illegal by `check`, end with an internal error, or take more than 120 s of processor at ``--effort fast``.
Two minutes for ten cases on quiet cores.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import floorflow as ff
from tests.random_cases import small_case

MOST_S = 120


def outcome(seed: int, folder: Path) -> tuple[str, str, float]:
    """Plan a case and judge it; return the kind of its end, what to tell of it, and seconds of processor."""
    case = small_case(seed, folder)
    started = time.process_time()
    try:
        models = case.models if len(case.models) > 1 else case.models[0]
        ff.plan(models, case.board, effort="fast", plots=False, **case.options).save(folder / "out")
        violations = ff.check(folder / "out").violations
        kind, told = ("illegal", str(violations[0])) if violations else ("planned", "")
    except ff.FloorflowError as error:
        kind, told = {2: "refused", 3: "infeasible", 5: "limit"}.get(error.exit_code, "internal"), str(error)
    except Exception:  # noqa: BLE001  (an internal error is what is looked for)
        kind, told = "internal", traceback.format_exc()
    seconds = time.process_time() - started
    return ("slow" if seconds > MOST_S else kind), f"{case}: {told}" if told else str(case), seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    wanted = parser.parse_args()
    count: Counter[str] = Counter()
    longest = 0.0
    for seed in range(wanted.first, wanted.first + wanted.cases):
        with tempfile.TemporaryDirectory() as folder:
            kind, told, seconds = outcome(seed, Path(folder))
        count[kind] += 1
        longest = max(longest, seconds)
        if kind != "planned":
            print(f"{seed:4d} {kind:10s} {seconds:6.1f} s  {told}", flush=True)
    ends = ", ".join(f"{number} {kind}" for kind, number in sorted(count.items()))
    print(f"{ends}; longest {longest:.1f} s of processor")


if __name__ == "__main__":
    main()
