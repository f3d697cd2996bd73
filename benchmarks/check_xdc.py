"""Time `floorflow check` on a floorplan of 100,000 commands (20,000 pblocks), without a plan.

    python benchmarks/check_xdc.py [--commands 100000] [--most-seconds 20]

It ends with an error if reading and judging took longer than is asked for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import floorflow as ff

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.verify.xdc.large import large_floorplan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", type=int, default=100_000)
    parser.add_argument("--most-seconds", type=float, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.xdc"
        file.write_text(large_floorplan(chosen.commands), encoding="utf-8")
        begin = time.perf_counter()
        verdict = ff.check_floorplan(file, part="xcu250")
        seconds = time.perf_counter() - begin
    print(f"{verdict.checked['commands']:,} commands, {verdict.checked['pblocks']:,} pblocks: {seconds:.1f} s")
    print(", ".join(f"{count:,} {kind}" for kind, count in verdict.checked.items() if kind.endswith("s")))
    if seconds > chosen.most_seconds:
        sys.exit(f"more than the {chosen.most_seconds:g} s asked for")


if __name__ == "__main__":
    main()
