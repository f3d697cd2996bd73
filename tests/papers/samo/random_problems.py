"""Small scheduling problems of every kind, by seed: rules of folding, bandwidth, batches, residual edges."""

import random

import numpy as np

from floorflow.papers.samo.problem import Node, ScheduleProblem

FOLDINGS = (1, 2, 3, 4)


def random_problem(seed: int, *, residual: bool = False) -> ScheduleProblem:
    draw = random.Random(seed)
    count = draw.randint(3, 5) if residual else draw.randint(1, 5)
    nodes = tuple(_node(draw, f"n{number}") for number in range(count))
    edges = {(a, a + 1) for a in range(count - 1)}
    if residual:
        start = draw.randrange(count - 2)
        edges.add((start, draw.randrange(start + 2, count)))
    limits = tuple(draw.choice([np.inf, *[float(draw.randint(20, 120))] * 4]) for _ in range(4))
    batch = draw.choice([1, 1, 7, 256])
    return ScheduleProblem(
        nodes,
        tuple(sorted(edges)),
        limits,
        bandwidth_gbit_s=draw.choice([1000.0, 0.4, 0.2, 0.1]),
        wordlength_bits=draw.choice([4, 16]),
        clock_mhz=draw.choice([100.0, 200.0]),
        reconfiguration_us=draw.choice([0.0, 2.0, 50.0]),
        objective="latency" if batch == 1 else "throughput",
        batch=batch,
        cycles_scale=batch,
        words_scale=draw.choice([1, batch]),
    )


def _node(draw: random.Random, name: str) -> Node:
    intra = draw.random() < 0.4
    pairs = [(f, f) for f in FOLDINGS] if intra else [(a, b) for a in FOLDINGS for b in FOLDINGS]
    chosen = sorted(draw.sample(pairs, draw.randint(1, min(4, len(pairs)))) + [(1, 1)] * (draw.random() < 0.8))
    foldings = sorted({(a, b, k) for a, b in chosen for k in draw.sample((1, 3), draw.randint(1, 2))})
    work = draw.choice([60, 240, 1200])
    equal = draw.random() < 0.4
    return Node(
        name,
        np.array(foldings, dtype=np.int64),
        np.array([work / (a * b * k) for a, b, k in foldings]),
        np.array([[draw.randint(0, 6) + draw.randint(1, 4) * a * b * k for _ in range(4)] for a, b, k in foldings]),
        draw.choice([10, 100]),
        draw.choice([10, 100]),
        equal,
        not equal and draw.random() < 0.4,
        draw.random() < 0.8,
    )
