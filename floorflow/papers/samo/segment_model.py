"""A segment's options as a graph of stream foldings: relaxed by prices on resources, solved by variable elimination.

Each node has a folding at its input and one at its output. Where a rule makes foldings equal they are one variable; a
node is a table over one or two variables, a rule of divisibility a table of allowed pairs. At prices on the resources
the cheapest folding within each interval is found exactly, for many prices and intervals at once. That is a bound: if
it costs more than the limits are worth, no folding within that interval keeps them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from floorflow.folding.variable_elimination import FORBIDDEN, Elimination, plan_elimination
from floorflow.papers.samo.problem import Floats, Ints, Node, ScheduleProblem, joined

Mask = NDArray[np.bool_]
WORTH = 1 << 40
"""What all of a limit is worth at a price of 1: prices a unit are integers of that scale, so that bounds are exact."""


@dataclass(frozen=True)
class Cheapest:
    """The cheapest selections in k cases: ``bound`` (k,), FORBIDDEN where none is; ``rows`` (k, n_nodes)."""

    bound: Ints
    rows: Ints
    use: Ints
    """Limited resources, (k, n_limited)."""


class SegmentModel:
    """Some nodes of a problem by position, with the streams between them; of a segment they are contiguous."""

    def __init__(self, problem: ScheduleProblem, positions: Sequence[int]) -> None:
        self.problem, self.positions = problem, tuple(positions)
        place = {position: number for number, position in enumerate(self.positions)}
        self.nodes = tuple(problem.nodes[position] for position in self.positions)
        self.edges = tuple((place[a], place[b]) for a, b in problem.edges if a in place and b in place)
        self.limits = np.array([problem.limits[column] for column in problem.limited])
        self._variables = _Variables(self.nodes, self.edges)
        self._lay_out()

    def _lay_out(self) -> None:
        """Put the rows of all nodes behind each other, those with equal foldings at their ports together."""
        ends, rows, entries = self._variables.ends, [], []
        levels = self.problem.levels
        self.table_slices: list[slice] = []
        start = 0
        for node, pair in zip(self.nodes, ends, strict=True):
            entry, size = self._variables.entries(node, pair)
            kept = np.flatnonzero((entry >= 0) & self._fits_alone(node))
            order = kept[np.argsort(entry[kept], kind="stable")]
            rows.append(order)
            entries.append(start + entry[order])
            self.table_slices.append(slice(start, start + size))
            start += size
        self.table_size = start
        self.row_number = np.concatenate(rows)
        self.row_node = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        entry_of = np.concatenate(entries)
        self.entries, self.class_starts = np.unique(entry_of, return_index=True)
        self.class_sizes = np.diff([*self.class_starts, len(entry_of)])
        together = list(zip(self.nodes, rows, strict=True))
        columns = list(self.problem.limited)
        self.use = np.concatenate([node.use[some][:, columns] for node, some in together])
        self.level = np.searchsorted(levels, np.concatenate([node.cycles[some] for node, some in together]))
        self.has_rows = bool(self.row_number.size) and all(some.size for some in rows)

    def _fits_alone(self, node: Node) -> Mask:
        return np.asarray((node.use <= np.array(self.problem.limits)).all(axis=1))

    @cached_property
    def candidates(self) -> Ints:
        """The levels that can be the segment's interval, ascending: none below the fastest row of each node."""
        if not self.has_rows:
            return np.empty(0, dtype=np.int64)
        starts = np.flatnonzero(np.diff(self.row_node, prepend=-1))
        return np.unique(self.level[self.level >= np.minimum.reduceat(self.level, starts).max()])

    @cached_property
    def _elimination(self) -> Elimination:
        sizes = [len(domain) for domain in self._variables.domains]
        return plan_elimination(
            sizes, [*{pair for pair in self._variables.pairs if pair[0] != pair[1]}, *self._allowed]
        )

    @cached_property
    def _allowed(self) -> dict[tuple[int, int], Ints]:
        """What pairs of variables that need only divide each other cost, (a, b, 1)."""
        return self._variables.allowed(self.nodes, self.edges)

    forbidden = FORBIDDEN
    """The bound of a case in which nothing may be selected."""

    @property
    def is_exact(self) -> bool:
        """Whether the cheapest selections keep all rules of folding; else some streams were relaxed."""
        return not self._elimination.cut

    def cheapest(self, prices: Floats, highest: Ints, keep: Mask | None = None) -> Cheapest:
        """Return the cheapest selection at prices, shares of the limits (k, n_limited), among rows up to a level (k,).

        ``keep``, (n_rows, k), leaves out more rows.
        """
        unit = self.unit_prices(prices)
        row_prices = self.use @ unit.T
        row_prices[self.level[:, None] > highest] = FORBIDDEN
        if keep is not None:
            row_prices[~keep] = FORBIDDEN
        least = np.minimum.reduceat(row_prices, self.class_starts, axis=0)
        dense = np.full((self.table_size, len(highest)), FORBIDDEN, dtype=np.int64)
        dense[self.entries] = least
        bound, selection = self._eliminated(dense, len(highest))
        rows = self._rows(row_prices, least, selection)
        return Cheapest(bound, rows, self._use(rows))

    def unit_prices(self, prices: Floats) -> Ints:
        """Return integer prices a unit of each limited resource."""
        return np.asarray(np.rint(prices * (WORTH / np.maximum(self.limits, 1))), dtype=np.int64)

    def exceeds(self, prices: Floats, bound: Ints) -> Mask:
        """Mark the cases in which the cheapest selection costs more than the limits are worth: none keeps them."""
        worth = (self.unit_prices(prices) * self.limits.astype(np.int64)).sum(axis=1)
        return np.asarray(bound > worth)

    def row(self, node: int, number: int) -> int:
        """Return the row of a node's option."""
        return int(np.flatnonzero((self.row_node == node) & (self.row_number == number))[0])

    def narrowest(self, node: int) -> int:
        """Return a node's row of least folding."""
        rows = np.flatnonzero(self.row_node == node)
        folding = self.nodes[node].foldings[self.row_number[rows]]
        return int(rows[np.lexsort((*folding.T, folding.prod(axis=1)))[0]])

    def around(self, node: int) -> tuple[int, ...]:
        """Return a node and those on its streams, which share a folding with it."""
        free = set(self._variables.ends[node])
        return tuple(n for n, pair in enumerate(self._variables.ends) if n == node or free.intersection(pair))

    def keeps_far_ends(self, node: int, near: Sequence[int], rows: Ints) -> list[tuple[NDArray[np.bool_], ...]]:
        """Mark for each near node and side the foldings of its options that suit what does not change around a node."""
        free = self._variables.ends[node]
        return [self._suiting(n, free, set(near), rows) for n in near]

    def _suiting(self, n: int, free: tuple[int, int], near: set[int], rows: Ints) -> tuple[NDArray[np.bool_], ...]:
        folding, now = self.nodes[n].foldings, self.nodes[n].foldings[self.row_number[rows[n]]]
        sides = []
        for side, variable in enumerate(self._variables.ends[n]):
            sides.append(
                folding[:, side] == now[side] if variable not in free else np.ones(len(folding), dtype=np.bool_)
            )
        for a, b in self.edges:
            for end, other, side in ((a, b, 1), (b, a, 0)):
                if end == n and other not in near:
                    far = self.nodes[other].foldings[self.row_number[rows[other]], 1 - side : 2 - side]
                    sides[side] = sides[side] & joined(self.nodes[a], folding[:, side], far)
        return tuple(sides)

    def keeps_rules(self, rows: Ints) -> bool:
        """Whether the foldings of a selection match along all streams."""
        numbers = self.numbers(rows)
        ends = (
            (self.nodes[a], self.nodes[a].foldings[numbers[a], 1:2], self.nodes[b].foldings[numbers[b], 0:1])
            for a, b in self.edges
        )
        return all(joined(*end).all() for end in ends)

    def numbers(self, rows: Ints) -> tuple[int, ...]:
        """Return the options of the problem's nodes, by `Node`, that a selection of this model's rows stands for."""
        return tuple(int(number) for number in self.row_number[rows])

    def _eliminated(self, dense: Ints, cases: int) -> tuple[Ints, Ints]:
        domains = self._variables.domains
        alone = [np.zeros((len(domain), cases), dtype=np.int64) for domain in domains]
        pairs: dict[tuple[int, int], Ints] = {}
        for (a, b), part in zip(self._variables.ends, self.table_slices, strict=True):
            if a == b:
                alone[a] = np.minimum(alone[a] + dense[part], FORBIDDEN)
                continue
            table = dense[part].reshape(len(domains[a]), len(domains[b]), cases)
            key, table = ((a, b), table) if a < b else ((b, a), table.transpose(1, 0, 2))
            pairs[key] = np.minimum(pairs[key] + table, FORBIDDEN) if key in pairs else table
        for key, table in self._allowed.items():
            pairs[key] = np.minimum(pairs[key] + table, FORBIDDEN) if key in pairs else table
        return self._elimination.least(alone, pairs)

    def _rows(self, row_prices: Ints, least: Ints, selection: Ints) -> Ints:
        """Return the rows that selections of variables stand for, (k, n_nodes)."""
        position = np.full(self.table_size, 0, dtype=np.int64)
        position[self.entries] = np.arange(len(self.entries))
        is_least = row_prices == np.repeat(least, self.class_sizes, axis=0)
        number = np.where(is_least, np.arange(len(row_prices))[:, None], len(row_prices))
        first = np.minimum.reduceat(number, self.class_starts, axis=0)
        chosen = np.empty((len(selection), len(self.nodes)), dtype=np.int64)
        case = np.arange(len(selection))
        for number_of_node, ((a, b), part) in enumerate(zip(self._variables.ends, self.table_slices, strict=True)):
            entry = selection[:, a] if a == b else selection[:, a] * len(self._variables.domains[b]) + selection[:, b]
            chosen[:, number_of_node] = first[position[part.start + entry], case]
        return chosen

    def _use(self, rows: Ints) -> Ints:
        return np.asarray(self.use[rows].sum(axis=1))


class _Variables:
    """The foldings of a segment's streams: which ports share one, and which values it may have."""

    def __init__(self, nodes: tuple[Node, ...], edges: tuple[tuple[int, int], ...]) -> None:
        same = nx.Graph()
        same.add_nodes_from(range(2 * len(nodes)))
        for number, node in enumerate(nodes):
            if (node.foldings[:, 0] == node.foldings[:, 1]).all():
                same.add_edge(2 * number, 2 * number + 1)
        same.add_edges_from((2 * a + 1, 2 * b) for a, b in edges if nodes[a].equal_folding)
        variables = sorted(map(sorted, nx.connected_components(same)))
        of_port = {port: variable for variable, ports in enumerate(variables) for port in ports}
        self.ends = tuple((of_port[2 * n], of_port[2 * n + 1]) for n in range(len(nodes)))
        self.pairs = tuple((min(pair), max(pair)) for pair in self.ends)
        self.domains = [np.empty(0, dtype=np.int64)] * len(variables)
        seen: set[int] = set()
        for port, variable in sorted(of_port.items()):
            values = np.unique(nodes[port // 2].foldings[:, port % 2])
            self.domains[variable] = np.intersect1d(self.domains[variable], values) if variable in seen else values
            seen.add(variable)

    def entries(self, node: Node, pair: tuple[int, int]) -> tuple[Ints, int]:
        """Return where each option of a node stands in the table over its variables (-1: nowhere), and its size."""
        (first, valid), (second, also) = (
            _places(self.domains[variable], node.foldings[:, side]) for side, variable in enumerate(pair)
        )
        size = len(self.domains[pair[0]])
        if pair[0] == pair[1]:
            return np.where(valid & also & (first == second), first, -1), size
        return np.where(valid & also, first * len(self.domains[pair[1]]) + second, -1), size * len(
            self.domains[pair[1]]
        )

    def allowed(self, nodes: tuple[Node, ...], edges: tuple[tuple[int, int], ...]) -> dict[tuple[int, int], Ints]:
        """Return for each pair of variables that a stream ties, though not as equal, what must not be, (a, b, 1)."""
        tables: dict[tuple[int, int], Ints] = {}
        for a, b in self._tied(nodes, edges):
            source, target = self.ends[a][1], self.ends[b][0]
            if source == target:
                continue
            may = joined(nodes[a], self.domains[source][:, None], self.domains[target])
            key, may = ((source, target), may) if source < target else ((target, source), may.T)
            barred = np.where(may, 0, FORBIDDEN)[..., None]
            tables[key] = np.maximum(tables[key], barred) if key in tables else barred
        return tables

    @staticmethod
    def _tied(nodes: tuple[Node, ...], edges: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
        return ((a, b) for a, b in edges if nodes[a].divisible_folding)


def _places(domain: Ints, values: Ints) -> tuple[Ints, Mask]:
    """Return where values stand in a sorted domain, and whether they do."""
    place = np.minimum(np.searchsorted(domain, values), max(0, len(domain) - 1))
    return place, domain[place] == values if domain.size else np.zeros(len(values), dtype=np.bool_)


ROUNDS = 40
"""Prices that are tried for a case."""
STEP = 1.5
"""By how much prices follow the excess in the first round; less by the root of the round."""
MOST_EXCESS = 1.0


@dataclass
class Verdicts:
    """What is known of k cases: ``fits`` has the rows of a selection, or None; ``refuted``: proven to have none."""

    fits: list[Ints | None]
    refuted: NDArray[np.bool_]
    prices: Floats
    """The last prices, (k, n_limited)."""

    @property
    def open(self) -> NDArray[np.bool_]:
        """The cases that are not decided."""
        return ~self.refuted & np.array([rows is None for rows in self.fits], dtype=np.bool_)


def decide(
    model: SegmentModel,
    highest: Ints,
    prices: Floats,
    keep: NDArray[np.bool_] | None = None,
    rounds: int = ROUNDS,
) -> Verdicts:
    """Look for a selection within the limits among rows up to a level, for k levels; ``prices`` (n_limited,) first.

    ``keep``, (n_rows, k), leaves out more rows.
    """
    cases = len(highest)
    verdicts = Verdicts([None] * cases, np.zeros(cases, dtype=np.bool_), np.tile(prices, (cases, 1)))
    for turn in range(rounds):
        at = np.flatnonzero(verdicts.open)
        if not at.size:
            break
        some = verdicts.prices[at]
        cheapest = model.cheapest(some, highest[at], None if keep is None else keep[:, at])
        impossible = cheapest.bound >= FORBIDDEN
        verdicts.refuted[at] = impossible | model.exceeds(some, cheapest.bound)
        # A stream that was relaxed may be broken: then the selection is no folding.
        within = ~impossible & (cheapest.use <= model.limits).all(axis=1)
        for case in np.flatnonzero(within & ~verdicts.refuted[at]).tolist():
            if model.is_exact or model.keeps_rules(cheapest.rows[case]):
                verdicts.fits[at[case]] = cheapest.rows[case]
        verdicts.prices[at] = _raised(some, cheapest.use / np.maximum(model.limits, 1) - 1, turn)
    return verdicts


def _raised(prices: Floats, excess: Floats, turn: int) -> Floats:
    """Return prices that follow the excess, (k, n_limited), on the simplex."""
    moved = np.maximum(prices, 1e-6) * np.exp(STEP / np.sqrt(turn + 1) * np.clip(excess, -MOST_EXCESS, MOST_EXCESS))
    return np.asarray(moved / np.maximum(moved.sum(axis=1, keepdims=True), 1e-300))
