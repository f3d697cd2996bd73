"""Small problems by seed: a few networks with a few subgraphs, at a memory that is short."""

import random

from floorflow.bandwidth.problem import BandwidthProblem, ScheduledNetwork
from floorflow.dataflow.traffic import Subgraph


def random_problem(seed: int, networks: int = 2, subgraphs: int = 2, repetitions: int = 2) -> BandwidthProblem:
    draw = random.Random(seed)
    made = []
    for number in range(networks):
        latencies = [draw.uniform(5, 60) for _ in range(draw.randint(1, subgraphs))]
        parts = [Subgraph(f"c{n}.0", each, each * draw.uniform(100, 1200)) for n, each in enumerate(latencies)]
        made.append(ScheduledNetwork(f"n{number}", tuple(parts), draw.randint(1, repetitions)))
    return BandwidthProblem(tuple(made), draw.choice([0.6, 1.0, 1.4]))
