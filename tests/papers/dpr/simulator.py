"""A simulator of chunks in reconfigured regions that knows nothing of the scheduler: event by event, image by image.

What it takes from a plan: the cycles of each layer of each chunk in order, the bits an image that a chunk reads and
writes. When it is loaded and run is *not* taken but comes about: one configuration port, one batch that runs through a
chunk entirely before the next may begin, one memory for reading and writing.
"""

import heapq
from collections import deque
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SimulatedChunk:
    """Cycles of its layers an image, the bits an image that it moves, its region and how long that takes to load."""

    cycles: tuple[int, ...]
    bits: int
    region: int
    load_us: float


@dataclass
class Log:
    """When things happened, by chunk, in microseconds."""

    load_start: dict[int, float] = field(default_factory=dict)
    load_end: dict[int, float] = field(default_factory=dict)
    run_start: dict[int, float] = field(default_factory=dict)
    run_end: dict[int, float] = field(default_factory=dict)


def simulate(chunks: list[SimulatedChunk], batch: int, clock_mhz: float, memory_gbs: float | None = None) -> Log:
    """Run a batch from empty regions to the last image's last word."""
    log, events, counter = Log(), [], iter(range(1 << 60))

    def at(time: float, what: str, chunk: int) -> None:
        heapq.heappush(events, (time, next(counter), what, chunk))

    to_load = deque(range(len(chunks)) if len(chunks) > 1 else ())
    loaded = set() if to_load else {0}
    busy: set[int] = set()  # regions that load, hold a chunk still to run, or run
    state = {"port": False, "next": 0, "running": False}

    def begin(now: float) -> None:
        if to_load and not state["port"] and chunks[to_load[0]].region not in busy:
            chunk = to_load.popleft()
            busy.add(chunks[chunk].region)
            state["port"] = True
            log.load_start[chunk] = now
            at(now + chunks[chunk].load_us, "loaded", chunk)
        if state["next"] in loaded and not state["running"]:
            chunk = state["next"]
            state["running"] = True
            log.run_start[chunk] = now
            at(now + _batch_us(chunks[chunk], batch, clock_mhz, memory_gbs), "ran", chunk)

    begin(0.0)
    while events:
        now, _, what, chunk = heapq.heappop(events)
        if what == "loaded":
            log.load_end[chunk] = now
            loaded.add(chunk)
            state["port"] = False
        else:
            log.run_end[chunk] = now
            busy.discard(chunks[chunk].region)
            state["running"] = False
            state["next"] += 1
        begin(now)
    return log


def _batch_us(chunk: SimulatedChunk, batch: int, clock_mhz: float, memory_gbs: float | None) -> float:
    """Push images through the layers: each works on one at a time, while the memory moves their words in turn."""
    per_cycle = float("inf") if memory_gbs is None else memory_gbs * 8000 / clock_mhz
    free = [0.0] * len(chunk.cycles)
    memory_free = end = 0.0
    for _ in range(batch):
        start = max(memory_free, free[0])
        moved = start + chunk.bits / per_cycle
        memory_free = moved
        ready = start
        for layer, cycles in enumerate(chunk.cycles):
            ready = max(ready, free[layer]) + cycles
            free[layer] = ready
        end = max(end, ready, moved)
    return end / clock_mhz
