"""Method ``exact``: the best order of completions, the best slow-downs for it, and a proven bound.

Constant shares and the list schedule first: where they meet the bound nothing is left to do. Then orders, from a beam
over ways to begin the period and, where there are few runs, from CP-SAT at full speed; the linear programme finds the
slow-downs of each, and lets neighbours change places. Branching over orders proves small problems.
"""

import heapq
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from floorflow.bandwidth.constant_shares import shared
from floorflow.bandwidth.fixed_order import FluidModel, Order, completions, improved, scheduled
from floorflow.bandwidth.fixed_speed import listed, placed
from floorflow.bandwidth.lookahead import Begin, FoundOrder, looked_ahead
from floorflow.bandwidth.problem import BandwidthAnswer, BandwidthProblem, BandwidthSchedule, answer
from floorflow.solver import run_highs

FEW_JOBS = 24
"""Runs up to which branching is tried, and CP-SAT for an order."""
FEW_BEGINS = 64
BEGINS = 200
"""Ways to begin the period that are tried first, and in each round about the best."""
MOST_STATES = 40_000
"""Runs times begins of a beam: fewer begins are tried where there are many runs."""
ROUNDS, POLISHED = 3, 3
"""Rounds of begins, and orders of each round that the linear programme sees."""
MANY_JOBS = 300
"""Runs beyond which one round is enough: linear programmes take seconds."""
_CPSAT_WORK = 2.0


def solve(problem: BandwidthProblem, seed: int = 0) -> BandwidthAnswer:
    """Return the best schedule found, and the bound that is proven."""
    problem = problem.beginning_with([0] * len(problem.networks))
    best = min((shared(problem), listed(problem)), key=lambda schedule: schedule.period_us)
    for schedule in _ordered(problem, seed):
        best = min(best, schedule, key=lambda each: each.period_us)
        if _is_bound(problem, best):
            break
    bound = problem.bound_us
    if problem.jobs <= FEW_JOBS and not _is_bound(problem, best):
        proof = proven(problem, best.period_us, all_begins(problem))
        bound = proof.bound_us
        if proof.begin is not None and proof.order is not None:
            best = min(best, *_polished(problem, [(proof.begin, proof.order)]), key=lambda each: each.period_us)
    return answer("exact", problem, best, bound)


def _is_bound(problem: BandwidthProblem, schedule: BandwidthSchedule) -> bool:
    return schedule.period_us <= problem.bound_us * (1 + 1e-9)


def _ordered(problem: BandwidthProblem, seed: int) -> Iterator[BandwidthSchedule]:
    """Yield schedules of more and more orders, as far as anybody asks."""
    zero = (0,) * len(problem.networks)
    best = min((shared(problem), listed(problem)), key=lambda schedule: schedule.period_us)
    if _is_bound(problem, best):
        yield best
        return
    yield from _polished(problem, [(found.begin, found.order) for found in looked_ahead(problem, [zero], 20)])
    if problem.jobs <= FEW_JOBS:
        at_full_speed = placed(problem, seed, _CPSAT_WORK).schedule
        yield at_full_speed
        yield from _polished(problem, [(zero, completions(at_full_speed))])
    draw, known = random.Random(seed), dict[Begin, FoundOrder]()
    for _ in range(ROUNDS if problem.jobs <= MANY_JOBS else 1):
        new = _begins(problem, draw, known)
        known |= {found.begin: found for found in looked_ahead(problem, new, 2)} if new else {}
        leading = sorted((known[begin] for begin in new), key=lambda found: found.period_us)
        yield from _polished(problem, [(found.begin, found.order) for found in leading[:POLISHED]])


def _begins(problem: BandwidthProblem, draw: random.Random, known: dict[Begin, FoundOrder]) -> list[Begin]:
    """Return new ways to begin: all if they are few, else random ones, and such as differ from the best a little."""
    counts = [len(network.subgraphs) for network in problem.networks]
    possible = 1
    for count in counts:
        possible *= count
    if possible <= FEW_BEGINS:
        return [begin for begin in all_begins(problem) if begin not in known]
    leading = sorted(known.values(), key=lambda found: found.period_us)[:10]
    wanted = max(10, min(BEGINS, MOST_STATES // problem.jobs))
    new: dict[Begin, None] = {}
    for _ in range(4 * wanted):
        if leading:
            old = draw.choice(leading).begin
            begin = tuple((at + draw.choice((-1, 0, 0, 1))) % count for at, count in zip(old, counts, strict=True))
        else:
            begin = tuple(draw.randrange(count) for count in counts)
        if begin not in known and len(new) < wanted:
            new[begin] = None
    return list(new)


def _polished(
    problem: BandwidthProblem, orders: Iterable[tuple[Begin, tuple[int, ...]]]
) -> Iterator[BandwidthSchedule]:
    for begin, order in orders:
        rotated = problem.beginning_with(begin)
        better, solution = improved(rotated, order)
        if solution is not None:
            yield scheduled(rotated, better, solution)


NODES = 600
"""Linear programmes at most."""
_ENOUGH = 1e-7
"""Relative gap that is none."""


@dataclass(frozen=True)
class Proof:
    """What branching found: a bound, and the best begin and order if they beat the start."""

    bound_us: float
    begin: Begin | None
    order: Order | None


def all_begins(problem: BandwidthProblem) -> list[Begin]:
    """Return every way to begin the period, that of the networks' first subgraphs first."""
    return list(product(*(range(len(network.subgraphs)) for network in problem.networks)))


def proven(problem: BandwidthProblem, period_us: float, begins: Sequence[Begin], nodes: int = NODES) -> Proof:
    """Return a bound on every schedule that begins in one of these ways; ``period_us``: of the best one known.

    Best first, so that the bound is the least of what is open when the nodes run out.
    """
    best, found = period_us, Proof(problem.bound_us, None, None)
    heap: list[tuple[float, int, Begin, Order]] = [(problem.bound_us, n, begin, ()) for n, begin in enumerate(begins)]
    number, totals = len(heap), [network.jobs for network in problem.networks]
    while heap and heap[0][0] < best * (1 - _ENOUGH) and nodes > 0:
        _, _, begin, prefix = heapq.heappop(heap)
        rotated = problem.beginning_with(begin)
        for network, total in enumerate(totals):
            if prefix.count(network) == total:
                continue
            order = (*prefix, network)
            bound, nodes, number = max(prefix_bound(rotated, order), problem.bound_us), nodes - 1, number + 1
            if bound >= best * (1 - _ENOUGH):
                continue
            if len(order) == problem.jobs:
                best, found = bound, Proof(bound, begin, order)
            else:
                heapq.heappush(heap, (bound, number, begin, order))
    return Proof(min(heap[0][0], best) if heap else best, found.begin, found.order)


def prefix_bound(problem: BandwidthProblem, prefix: Order) -> float:
    """Return a period that no schedule beats whose first completions are these; exact if they are all."""
    fluid, bandwidth = FluidModel.of(problem, prefix), problem.bytes_per_us
    model = fluid.model
    tail, moved, bytes_left = model.column(1.0), [], 0.0
    for number, (latency, demand) in enumerate(zip(problem.latencies, problem.demands, strict=True)):
        done = prefix.count(number)
        for place in range(done):
            fluid.finish((number, place), float(latency[place]))
        open_ = list(fluid.work.get((number, done), {}).values())
        if open_:
            model.row([(c, 1.0) for c in open_], upper=float(latency[done]))
        model.row([(tail, 1.0), *((c, 1.0) for c in open_)], lower=float(latency[done:].sum()))
        moved += [(c, float(demand[done]) / bandwidth) for c in open_]
        bytes_left += float((latency[done:] * demand[done:]).sum()) / bandwidth
    model.row([(tail, 1.0), *moved], lower=bytes_left)
    answer = run_highs(model, 1)
    return answer.objective if answer.values is not None else 0.0
