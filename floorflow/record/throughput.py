"""What one frame takes, in the form that plan.json holds, and the warnings that follow from it."""

from __future__ import annotations

from collections.abc import Callable

from floorflow.errors import Refusal, some
from floorflow.facts import ShallowEntry, ThroughputEntry
from floorflow.search.candidate.candidate import Candidate, route_delays, words_held
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.fifo_sizing import throughput


def throughput_of(context: PlanningContext, candidate: Candidate, name: Callable[[str], str] = str) -> ThroughputEntry:
    """Analyse the finished design with its planned FIFO depths and what lies on the channels' routes.

    ``name`` tells how the plan names a channel of the candidate.
    """
    depths = words_held(candidate)
    inside = {channel.name: channel.fifo_depth_words for channel in candidate.channels}
    found = throughput(
        candidate.folded, depths, route_delays(context, candidate), slack=candidate.fifo_slack, known=context.backend
    )
    return ThroughputEntry(
        full_rate_cycles=found.full_rate_cycles,
        interval_cycles=found.interval_cycles,
        first_word_cycles=found.first_word_cycles,
        first_frame_cycles=found.first_frame_cycles,
        deadlock=[f"{name(row.fifo)} ({row.state})" for row in found.deadlock],
        shallow=[
            ShallowEntry(
                channel=name(row.channel),
                planned=inside[row.channel],
                needed=row.needed_words - row.planned_words + inside[row.channel],
            )
            for row in found.shallow
        ],
        not_analysed=found.not_analysed,
    )


def sustained_fps(found: ThroughputEntry, clock_mhz: float) -> float | None:
    """Return the frame rate that the planned FIFOs keep: 0 if they deadlock, None if it is not known."""
    if found.deadlock:
        return 0.0
    return None if found.interval_cycles is None else clock_mhz * 1e6 / found.interval_cycles


def expected_cycles(sustained_cycles: int | None, interval_cycles: int, rough_cycles: int) -> int:
    """Return the interval to believe: the sustained one where it is known, else what small FIFOs would make of it.

    It is never below that of the slowest engine.
    """
    return max(rough_cycles if sustained_cycles is None else sustained_cycles, interval_cycles)


def throughput_warnings(found: ThroughputEntry | None, slack: float = 0) -> list[str]:
    """Warn of a rate that the planned FIFOs do not keep, by choice where they have a ``slack``, and of the unknown."""
    if found is None:
        return []
    warnings = []
    shallow = [Refusal("shallow FIFO", "words", row.channel, row.needed, row.planned) for row in found.shallow]
    deepen = some(shallow)
    if found.deadlock:
        warnings.append(f"{Refusal('deadlock', names=tuple(found.deadlock))}; deepen {deepen}")
    elif shallow:
        rate = f"a frame takes {found.interval_cycles:,} cycles" if found.interval_cycles else "the full rate is lost"
        chosen = f"FIFOs are planned for an interval {slack:.0%} longer than the engines', as deeper ones did not fit"
        warnings.append(f"{chosen}; {rate}" if slack else f"FIFOs are too shallow, {rate}: {deepen}")
    if found.not_analysed:
        warnings.append(f"FIFO depths, latency and sustained rate were not analysed: {found.not_analysed}")
    return warnings
