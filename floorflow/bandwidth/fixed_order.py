"""The best slow-downs for a fixed order of completions: a linear programme, and orders beside it.

Between two completions each network is at one run. Variables are the lengths d_k of these intervals and the work
w_ik <= d_k that network i does in each, in time at full speed; ``sum_i b_i w_ik <= B d_k``, the work of a run is its
latency, and ``sum_k d_k`` is minimised. Two completions with no time between them may change places.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from floorflow.bandwidth.problem import BandwidthProblem, BandwidthSchedule, Floats, Piece
from floorflow.solver import LinearModel, run_highs

Order = tuple[int, ...]
"""The network of each completion, in time."""
_NOTHING = 1e-9
"""Relative to the period: shorter is no time."""
ROUNDS = 12
"""Of changing places at most."""


@dataclass(frozen=True)
class OrderedWork:
    """A solution: length of each interval, (n,), and each network's work in it, (n_networks, n), in us."""

    lengths: Floats
    work: Floats

    @property
    def period_us(self) -> float:
        """The sum of the intervals."""
        return float(self.lengths.sum())


def completions(schedule: BandwidthSchedule) -> Order:
    """Return the order in which a schedule's runs end."""
    ends = [
        (pieces[-1].end_us, place, number)
        for number, runs in enumerate(schedule.runs)
        for place, pieces in enumerate(runs)
    ]
    return tuple(number for _, _, number in sorted(ends))


def running(problem: BandwidthProblem, order: Order) -> list[list[int | None]]:
    """Return which run of each network is at work in each interval; None when it has no more."""
    places: list[list[int | None]] = []
    done = [0] * len(problem.networks)
    totals = [network.jobs for network in problem.networks]
    for number in order:
        places.append([at if at < total else None for at, total in zip(done, totals, strict=True)])
        done[number] += 1
    return places


@dataclass(frozen=True)
class FluidModel:
    """Lengths of the intervals as columns, and of each network's run (number, place) the column of its work in each."""

    model: LinearModel
    lengths: list[int]
    work: dict[tuple[int, int], dict[int, int]]

    @classmethod
    def of(cls, problem: BandwidthProblem, order: Order) -> "FluidModel":
        """Return the model in which no work takes more than its interval, nor all of it more than the bandwidth."""
        model, bandwidth = LinearModel(), problem.bytes_per_us
        lengths = [model.column(1.0) for _ in order]
        work: dict[tuple[int, int], dict[int, int]] = {}
        for interval, at in enumerate(running(problem, order)):
            terms = [(lengths[interval], -1.0)]
            for number, place in enumerate(at):
                if place is not None:
                    column = work.setdefault((number, place), {})[interval] = model.column()
                    model.row([(column, 1.0), (lengths[interval], -1.0)], upper=0.0)
                    terms.append((column, float(problem.demands[number][place]) / bandwidth))
            model.row(terms, upper=0.0)
        return cls(model, lengths, work)

    def finish(self, run: tuple[int, int], latency: float) -> None:
        """Have a run do all of its work."""
        self.model.row([(column, 1.0) for column in self.work[run].values()], latency, latency)


def best_speeds(problem: BandwidthProblem, order: Order) -> OrderedWork | None:
    """Return the shortest schedule with that order of completions; None if the solver gave none."""
    fluid = FluidModel.of(problem, order)
    for number, place in fluid.work:
        fluid.finish((number, place), float(problem.latencies[number][place]))
    answer = run_highs(fluid.model, 1)
    if answer.values is None:
        return None
    done = np.zeros((len(problem.networks), len(order)))
    for (number, _), columns in fluid.work.items():
        for interval, column in columns.items():
            done[number, interval] = max(answer.values[column], 0.0)
    return OrderedWork(np.maximum(answer.values[fluid.lengths], 0.0), done)


def improved(problem: BandwidthProblem, order: Order, rounds: int = ROUNDS) -> tuple[Order, OrderedWork | None]:
    """Return the order and its solution after neighbours without time between them have changed places for gain."""
    best = best_speeds(problem, order)
    for number in range(rounds):
        if best is None or best.period_us <= problem.bound_us * (1 + 1e-7):
            break
        other = _with_changes(order, best, number % 2)
        if other == order:
            other = _with_changes(order, best, 1 - number % 2)
        found = best_speeds(problem, other) if other != order else None
        if found is None or found.period_us > best.period_us * (1 + 1e-9):
            break
        order, best = other, found
    return order, best


def _with_changes(order: Order, solution: OrderedWork, parity: int) -> Order:
    """Change the places of neighbours that end together; of longer rows every other pair."""
    changed, free = list(order), solution.lengths <= _NOTHING * solution.period_us
    interval = 1 + parity
    while interval < len(changed):
        if free[interval] and changed[interval] != changed[interval - 1]:
            changed[interval - 1], changed[interval] = changed[interval], changed[interval - 1]
            interval += 1
        interval += 1
    return tuple(changed)


def scheduled(problem: BandwidthProblem, order: Order, solution: OrderedWork) -> BandwidthSchedule:
    """Return a solution as runs of pieces; work is scaled so that each run's is its latency exactly."""
    ends = np.cumsum(solution.lengths)
    starts = np.concatenate([[0.0], ends[:-1]])
    runs: list[list[list[Piece]]] = [[[] for _ in range(network.jobs)] for network in problem.networks]
    for interval, at in enumerate(running(problem, order)):
        length = float(solution.lengths[interval])
        if length <= 0:
            continue
        for number, place in enumerate(at):
            speed = float(solution.work[number, interval]) / length
            if place is not None and speed > _NOTHING:
                _append(runs[number][place], Piece(float(starts[interval]), float(ends[interval]), min(speed, 1.0)))
    return stretched(problem, float(ends[-1]), runs)


def _append(pieces: list[Piece], piece: Piece) -> None:
    if pieces and pieces[-1].end_us == piece.start_us and abs(pieces[-1].speed - piece.speed) < _NOTHING:
        pieces[-1] = Piece(pieces[-1].start_us, piece.end_us, pieces[-1].speed)
    else:
        pieces.append(piece)


def stretched(problem: BandwidthProblem, period: float, runs: Sequence[Sequence[Sequence[Piece]]]) -> BandwidthSchedule:
    """Return the schedule slowed down as a whole until every run does all of its work within the bandwidth.

    Tolerances of the linear programme are a millionth; behind this nothing is left of them.
    """
    shares = [
        [
            float(problem.latencies[number][place]) / sum(piece.work_us for piece in pieces)
            for place, pieces in enumerate(each)
        ]
        for number, each in enumerate(runs)
    ]
    factor = max(1.0, *map(max, shares)) * max(1.0, peak(problem, runs))
    exact = tuple(
        tuple(
            tuple(Piece(p.start_us * factor, p.end_us * factor, p.speed * share / factor) for p in pieces)
            for pieces, share in zip(each, of_network, strict=True)
        )
        for each, of_network in zip(runs, shares, strict=True)
    )
    return BandwidthSchedule(period * factor, exact, problem.first)


def peak(problem: BandwidthProblem, runs: Sequence[Sequence[Sequence[Piece]]]) -> float:
    """Return the most bandwidth that pieces use at a time, over what there is."""
    changes: dict[float, float] = {}
    for demands, each in zip(problem.demands, runs, strict=True):
        for demand, pieces in zip(demands.tolist(), each, strict=True):
            for piece in pieces:
                changes[piece.start_us] = changes.get(piece.start_us, 0.0) + demand * piece.speed
                changes[piece.end_us] = changes.get(piece.end_us, 0.0) - demand * piece.speed
    used = np.cumsum([changes[at] for at in sorted(changes)])
    return float(used.max()) / problem.bytes_per_us
