"""What Vivado takes for a stitched plan: seconds and memory of each run, and what runs at once take together.

Figures are of real runs of FINN's modules by others (Vivado 2023.1, 32 cores, xczu7ev and xcu250, 5 ns): a module's
synthesis takes 72 to 100 s, its placement and routing 150 to 390 s, of which 80 s even for a FIFO of 15 LUTs; the
whole of TFC took 286 s out of context, the whole of CNV 726 s. Nobody has measured runs of floorflow's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from floorflow.facts.partition import PartitionEntry
from floorflow.facts.phase import PhaseEntry
from floorflow.facts.stitched import by_implementation, stitched_modules
from floorflow.facts.text import table, wrapped

SYNTHESIS_S, PLACER_S = 72.0, 80.0
"""Least that synthesis and the placer were seen to take, whatever the size."""
AGAIN_S = 5.0
"""What a second synthesis in the same session saves: 16 s of RTL became 11."""
PER_LUT_S = (726 - 286) / 27_000
"""CNV less TFC, out of context; that they differ by some 27,000 LUTs is assumed, as their folding is not told."""
TOP_S, READ_PER_LUT_S = 16.0, 19 / 35_000
"""Synthesis of a top of our RTL, and reading a checkpoint: 15 to 23 s where it was the whole of CNV."""
ROUTE_S, ROUTE_PER_LUT_S = 46.0, (137 - 46) / 27_000
"""Routing between modules, of TFC and of CNV."""
RUN_MB = 4_600
"""Memory of a module's run."""
CARD_MB = 32_000
"""Memory of a card's assembly: all that the paper's machine had, which stitched xcku5p; how much of it is not told."""
SMALL_LUT = 1_000
"""Below so many LUTs a module's run lasts hardly longer than it takes to start: it shares one."""
MOST_SHARING, SHARED_S = 6, 900.0
"""Modules that share a run, and how long it may last, if no module takes longer alone."""


@dataclass(frozen=True)
class Run:
    """Modules of one implementation: one synthesis, ``places`` times placed and routed; ``lut`` of one of them."""

    name: str
    lut: int
    places: int = 1

    @property
    def seconds(self) -> float:
        """What it takes in a session of its own."""
        return SYNTHESIS_S + self.places * (PLACER_S + PER_LUT_S * self.lut)


def runs_of(phase: PhaseEntry) -> list[Run]:
    """Return a run for each implementation of a stitched plan, in the order of its modules."""
    need = {module.name: module.resources.LUT for module in phase.modules}
    made = by_implementation(stitched_modules(phase).values())
    return [Run(name, max(need[module.name] for module in held), len(held)) for name, held in made.items()]


def session_s(runs: Sequence[Run]) -> float:
    """Return what runs in one session of Vivado take, one after another.

    Six small modules were seen placed together in 95 s; but Vivado keeps no routing of a part of a design that it
    writes as a checkpoint, so that here each is placed for itself.
    """
    return sum(run.seconds for run in runs) - AGAIN_S * (len(runs) - 1)


def sessions(runs: Iterable[Run]) -> list[list[Run]]:
    """Share sessions out: small modules by several, which starts Vivado and asks for a licence less often."""
    alone, small = list[list[Run]](), list[Run]()
    for run in runs:
        small.append(run) if run.lut < SMALL_LUT else alone.append([run])
    longest = max([SHARED_S, *map(session_s, alone)])
    shared = list[list[Run]]()
    for run in small:
        if shared and len(shared[-1]) < MOST_SHARING and session_s([*shared[-1], run]) <= longest:
            shared[-1].append(run)
        else:
            shared.append([run])
    return [*alone, *shared]


def assembly_s(lut: int) -> float:
    """Return what it takes to stitch a card whose modules have so many LUTs, without a bitstream (25 to 30 s)."""
    return TOP_S + ROUTE_S + (READ_PER_LUT_S + ROUTE_PER_LUT_S) * lut


def wall_s(seconds: Iterable[float], at_once: int) -> float:
    """Return how long runs take so many at once, the longest begun first."""
    ends = [0.0] * at_once
    for each in sorted(seconds, reverse=True):
        ends.sort()
        ends[0] += each
    return max(ends)


def luts_by_card(phase: PhaseEntry, fpga_of: Mapping[str, str]) -> dict[str, int]:
    """Return the LUTs of the modules of each card; ``fpga_of``: by slots."""
    found: dict[str, int] = {}
    partition: PartitionEntry = phase.partition
    for module in phase.modules:
        fpga = fpga_of[partition.assignment[module.name]]
        found[fpga] = found.get(fpga, 0) + module.resources.LUT
    return found


def run_times(phase: PhaseEntry, fpga_of: Mapping[str, str]) -> list[str]:
    """Return the lines of the report on what the library and the assembly of a stitched plan take."""
    held = sessions(runs_of(phase))
    library = [session_s(session) for session in held]
    cards = {fpga: assembly_s(lut) for fpga, lut in luts_by_card(phase, fpga_of).items()}
    rows: list[tuple[str, ...]] = [("runs at once", "library", "all cards then", "memory")]
    for at_once in (1, 4, 16):
        ends = wall_s(library, at_once), wall_s(cards.values(), at_once)
        most = max(min(at_once, len(library)) * RUN_MB, min(at_once, len(cards)) * CARD_MB) / 1000
        rows.append((str(at_once), *map(minutes, ends), f"{most:.0f} GB"))
    many = sum(len(session) for session in held if len(session) > 1)
    told = (
        f"{sum(map(len, held))} implementations in {len(held)} runs of Vivado ({many} small ones share runs), the "
        f"longest {minutes(max(library))}, {RUN_MB / 1000:g} GB each; "
        f"{', '.join(f'{fpga} {minutes(seconds)}' for fpga, seconds in cards.items())} to stitch. By the seconds of "
        "others' runs of small designs: a full device takes longer (docs/stitching.md). floorflow build OUT -j N runs "
        "them."
    )
    return [*table(rows), *wrapped([told])]


def minutes(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 3600:.1f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"
