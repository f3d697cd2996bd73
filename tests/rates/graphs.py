"""Small random pipelines with branches that join again."""

import random

import numpy as np

from floorflow.rates import Actor, Fifo, Moves, RateProblem


def moves(rows: list[tuple[int, int, int]]) -> Moves:
    counts, first, stride = np.array(rows, dtype=np.int64).T
    return Moves(counts, first, stride)


def random_problem(seed: int) -> RateProblem:
    rng = random.Random(seed)
    names = [f"a{i}" for i in range(rng.randint(2, 6))]
    links = [(rng.randrange(max(0, i - 2), i), i) for i in range(1, len(names))]
    links += [(i, j) for i in range(len(names)) for j in range(i + 1, len(names)) if rng.random() < 0.2]
    words = [rng.randint(1, 6) for _ in links]
    actors = []
    for place, name in enumerate(names):
        bursts = rng.randint(1, 3)
        ins = [_port(rng, words[k], bursts) for k, (_, target) in enumerate(links) if target == place]
        outs = [_port(rng, words[k], bursts) for k, (source, _) in enumerate(links) if source == place]
        actors.append(_actor(rng, name, bursts, ins, outs))
    used = {name: [0, 0] for name in names}
    fifos = []
    for (source, target), _ in zip(links, words, strict=True):
        ends = names[source], names[target]
        ports = used[ends[0]][1], used[ends[1]][0]
        used[ends[0]][1] += 1
        used[ends[1]][0] += 1
        name = f"{ends[0]}.{ports[0]}->{ends[1]}.{ports[1]}"
        ways = rng.choice((1, 1, 2, 4)), rng.choice((1, 1, 1, 3))
        fifos.append(Fifo(name, *ends, rng.choice((1, 4, 8, 8)), *ports, *ways))
    return RateProblem(tuple(actors), tuple(fifos))


def _port(rng: random.Random, words: int, bursts: int) -> list[tuple[int, int, int]]:
    cuts = sorted(rng.randint(0, words) for _ in range(bursts - 1))
    counts = [high - low for low, high in zip([0, *cuts], [*cuts, words], strict=True)]
    return [(count, rng.randint(0, 2) if count else 0, rng.randint(1, 3)) for count in counts]


def _actor(
    rng: random.Random,
    name: str,
    bursts: int,
    ins: list[list[tuple[int, int, int]]],
    outs: list[list[tuple[int, int, int]]],
) -> Actor:
    steps = []
    for burst in range(bursts):
        needed = [first + stride * (count - 1) + 1 for count, first, stride in (p[burst] for p in ins + outs) if count]
        steps.append(max(needed, default=1) + rng.randint(0, 2))
    frees = []
    for port in ins:
        late = rng.random() < 0.3
        frees.append([(n, steps[b] - 1, 0) if late and n else (n, f, s) for b, (n, f, s) in enumerate(port)])
    return Actor(
        name,
        np.array(steps, dtype=np.int64),
        tuple(moves(port) for port in ins),
        tuple(moves(port) for port in outs),
        tuple(moves(port) for port in frees),
    )
