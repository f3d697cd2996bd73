"""Compare the FIFOs that FINN's automatic sizing is foreseen to set with those of real builds, and print Markdown.

    python benchmarks/finn_fifo_sizes.py FOLDER [FOLDER ...] [--platform BOARD] [--streams]
                                         [--examples finn_examples --models finn/models]

Takes folders of builds, read as `floorflow audit` reads them; the published ResNet-50 and MobileNet come with
``--examples`` and ``--models``. Every build is told by all three models: FINN main's, dev's and FINN+'s. Bits count all
FIFOs of a stream; LUT, FF and BRAM18 are told as `--fifo-sizing finn` prices them, built as Vivado counted them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fifo_depths import Queue, bits_of_queues, from_chain, from_example

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.kinds.fifo import tool_fifo
from floorflow.backends.finn.names import FINN_VERSIONS, FinnVersion
from floorflow.backends.finn.tool_depths import tool_depths
from floorflow.dataflow.model import FoldedDataflow
from floorflow.errors import InputError
from floorflow.rates import RateProblem, rate_problem, size
from floorflow.resources import Resources, total
from floorflow.study.audit.audit import audit
from floorflow.technology import technology_of

U250 = "xcu250-figd2104-2L-e"


@dataclass(frozen=True)
class Build:
    """A folded network on a part, its FIFOs as built by stream, and what Vivado counted for all of them, if known."""

    name: str
    folded: FoldedDataflow
    queues: Mapping[str, list[Queue]]
    part: str
    built: Resources | None = None


@dataclass(frozen=True)
class Told:
    """Bits of all FIFOs, and their LUT, FF and block RAM of 18 Kbit."""

    bits: int
    lut: int
    ff: int
    bram18: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--platform", help="board or part of builds that tell none")
    parser.add_argument("--examples", type=Path)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--streams", action="store_true", help="a row for each stream, too")
    chosen = parser.parse_args()
    builds = [build_of(folder, chosen.platform) for folder in chosen.folders]
    if chosen.examples and chosen.models:
        builds.append(Build("MobileNet-v1 on U250", *from_chain(chosen.examples, chosen.models), U250))
        builds.append(Build("ResNet-50 on U250", *from_example(chosen.examples, chosen.models), U250))
    print("| build | needed, kbit | main | dev | FINN+ | built, kbit | built LUT / FF / BRAM18 | main | dev | FINN+ |")
    print("|---|--:|--:|--:|--:|--:|---|---|---|---|")
    details = [row for build in builds for row in compared(build)]
    if chosen.streams:
        print("\n| stream | bits | needed | main | dev | FINN+ | built, words x bits |\n|---|--:|--:|--:|--:|--:|---|")
        print("\n".join(details))


def build_of(folder: Path, platform: str | None) -> Build:
    """Read a build as `floorflow audit` does, of FINN main or, where its graph is none, of FINN+."""
    try:
        found = audit(folder, platform, options={"finn": "main"})
    except InputError:
        found = audit(folder, platform, options={"finn": "plus"})
    queues: dict[str, list[Queue]] = {}
    fifos = [node for node in found.build.nodes if node.role == "FIFO"]
    for node in fifos:
        if node.channel is not None and node.depth_words is not None and node.input_bits is not None:
            queues.setdefault(node.channel, []).append(Queue(node.depth_words, node.input_bits))
    rows = [node.built for node in fifos if node.built is not None]
    return Build(folder.name, found.folded, queues, found.target.part, total(rows) if rows else None)


def compared(build: Build) -> Iterator[str]:
    """Print the row of a build, and yield one a stream."""
    problem = rate_problem(build.folded, known=BACKEND)
    needed = size(problem).depths
    depths = {finn: tool_depths(build.folded, needed, finn, BACKEND) for finn in FINN_VERSIONS}
    known = [fifo for fifo in problem.fifos if fifo.name in build.queues]
    own = sum(needed[fifo.name] * fifo.width_bits for fifo in known)
    built = sum(bits_of_queues(build.queues[fifo.name]) for fifo in known)
    told = {finn: told_of(problem, depths[finn], build, finn) for finn in FINN_VERSIONS}
    bits = " | ".join(f"{t.bits / 1000:,.1f}" for t in told.values())
    vivado = "not known"
    if build.built is not None:
        vivado = f"{build.built.lut:,} / {build.built.ff:,} / {build.built.bram18:,}"
    prices = " | ".join(f"{t.lut:,} / {t.ff:,} / {t.bram18:,}" for t in told.values())
    print(f"| {build.name} | {own / 1000:,.1f} | {bits} | {built / 1000:,.1f} | {vivado} | {prices} |")
    for fifo in known:
        words = " | ".join(f"{depths[finn][fifo.name]:,}" for finn in FINN_VERSIONS)
        queues = ", ".join(f"{queue.depth_words} x {queue.width_bits}" for queue in build.queues[fifo.name])
        yield f"| {fifo.name} | {fifo.width_bits} | {needed[fifo.name]:,} | {words} | {queues} |"


def told_of(problem: RateProblem, depths: Mapping[str, int], build: Build, finn: FinnVersion) -> Told:
    """Return what FIFOs of these depths hold and cost, as a plan would price them."""
    bits, technology = 0, technology_of(build.part)
    costs = []
    for fifo in problem.fifos:
        if fifo.name in build.queues:
            at_end = "host:" in fifo.source or "host:" in fifo.target
            depth = depths[fifo.name]
            bits += depth * fifo.width_bits
            costs.append(tool_fifo(fifo.width_bits, depth, technology, "calibrated", finn, at_end=at_end).resources)
    return Told(bits, sum(c.lut for c in costs), sum(c.ff for c in costs), sum(c.bram18 for c in costs))


if __name__ == "__main__":
    main()
