"""What one step of the folding costs or frees, by a plan's own cost model: all else as planned, nothing searched anew.

The plan is taken up where it ended: its foldings, modules and slots. A step gives some engines other foldings; every
stream is then realised again, so that converters and FIFOs count with the depths that the full rate needs of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor
from pathlib import Path, PurePosixPath
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import backend_named
from floorflow.dataflow.bands import EXACT, moments
from floorflow.dataflow.model import AttributeValue, Option
from floorflow.dataflow.modules import Module
from floorflow.dataflow.options import UNBUILDABLE
from floorflow.errors import InputError, Refusal, required
from floorflow.facts import Plan
from floorflow.facts.estimates import expected_cycles
from floorflow.facts.steps import FoldingChange, Step, Way
from floorflow.folding.problem import FoldingSolution
from floorflow.partition.problem import PartitionSolution
from floorflow.rates.fifo_sizing import full_rate
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, total
from floorflow.search.candidate.candidate import Candidate, connected, folded_by, realised, slot_demands, slot_uses
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.engine_limits import PRODUCTS
from floorflow.search.candidate.preparing import context_of, priced, read, settled
from floorflow.stats import SolveStats
from floorflow.study.calibration.replan import Overrides, replanned_request

Rows = tuple[int, ...]
"""The row that each option group takes."""
_AS_PLANNED = SolveStats("as planned", "heuristic")
_DEVIATIONS = NormalDist().inv_cdf(0.9)
"""From the middle of a band to the tenth at either end."""


@dataclass(frozen=True)
class Steps:
    """A plan taken up again. ``planned``: the rows of its folding, ``names``: its engines by the context's names."""

    plan: Plan
    context: PlanningContext
    planned: Rows
    names: Mapping[str, str]

    @classmethod
    def of(cls, out: Path, plan: Plan) -> Steps:
        """Take up the plan in a folder.

        Raises InputError if it has several networks, phases or copies, if its model is not found, or if a folding of
        its is none that floorflow would choose from.
        """
        if len(plan.networks) != 1 or len(plan.phases) != 1 or plan.replicas is not None:
            raise InputError("steps are priced of plans of one network in one phase", "plan one of them alone")
        if plan.calibration is not None:
            raise InputError("steps are not priced where a build measured engines", "plan without --calibration")
        request = replanned_request(out, plan, Overrides()).changed(keep_folding=False, folding=None)
        request = settled(request.changed(fps=None, objective=None))
        context = required(context_of(priced(read(request), request, len(plan.platform.fpgas))))
        entries = plan.only_network.engines
        names = {engine.name: entry.name for engine, entry in zip(context.dataflow.engines, entries, strict=True)}
        found = cls(plan, context, (), names)
        return cls(plan, context, found._planned(), names)

    def _planned(self) -> Rows:
        folded, kinds = self.plan.only_phase.engines, {name: e.kind for name, e in self.plan.engines.items()}
        rows = []
        for group in self.context.unlimited.groups:
            same = np.ones(len(group.rows), dtype=np.bool_)
            for engine in group.engines:
                own, attributes = self.names[engine], folded[self.names[engine]].attributes
                options, kind = group.options_of(engine), self.context.dataflow.engine(engine).kind
                same &= (options.cycles == folded[own].cycles) & ((options.kinds == kinds[own]) | (kind == kinds[own]))
                alike = [row for row in np.flatnonzero(same) if dict(options[int(row)].folding) == attributes]
                same[:] = np.isin(np.arange(len(same)), alike)
            if not same.any():
                named = ", ".join(self.plan.named(self.names[engine]) for engine in group.engines)
                raise InputError(f"{named}: the planned folding is none of those that are priced", "plan anew")
            rows.append(int(np.argmax(same)))
        return tuple(rows)

    @cached_property
    def _now(self) -> Candidate:
        return self._candidate(self.planned)

    def of_engine(self, engine: str, way: Way) -> Step | None:
        """Return the step of an engine, by its name in the plan, and of those tied to it; None where there is none."""
        at = next(i for i, g in enumerate(self.context.unlimited.groups) if engine in map(self.names.get, g.engines))
        row = self._next(at, way)
        return None if row is None else self._step(way, self._with({at: row}))

    def of_rate(self, way: Way) -> Step | None:
        """Return the step of the whole: all slowest engines faster by one; or slower, and what that allows all others.

        None where some engine has no faster folding, or the slowest have none that takes less.
        """
        groups = self.context.unlimited.groups
        cycles = [int(group.cycles[row]) for group, row in zip(groups, self.planned, strict=True)]
        slowest = [at for at, count in enumerate(cycles) if count == max(cycles)]
        found = {at: self._next(at, way) for at in slowest}
        rows = {at: row for at, row in found.items() if row is not None}
        if way == "faster":
            return self._step(way, self._with(rows)) if len(rows) == len(slowest) else None
        if not rows:
            return None
        most = max(int(groups[at].cycles[row]) for at, row in rows.items())
        after = self._with(rows)
        for at in range(len(groups)):
            costs = self._costs(at, after)
            costs[(groups[at].cycles > most) | ~self._alike(at)] = np.inf
            best = int(np.argmin(costs))
            after = self._with({at: best}, after) if costs[best] < costs[after[at]] else after
        return self._step(way, after)

    def _with(self, rows: Mapping[int, int], before: Rows | None = None) -> Rows:
        return tuple(rows.get(at, row) for at, row in enumerate(before or self.planned))

    def _next(self, at: int, way: Way) -> int | None:
        """Return the row of the next step of a group: the cheapest that is faster, or the first slower that is cheaper.

        Where there is one, engines are only more or less parallel, with the memories and multipliers that they have;
        a faster one within the limits on single engines comes before one beyond.
        """
        context, group, row = self.context, self.context.unlimited.groups[at], self.planned[at]
        costs, cycles = self._costs(at, self.planned), group.cycles
        alike, allowed = self._alike(at), context.engine_limits.allowed(group, context.places)
        if way == "slower":
            slower = (cycles > cycles[row]) & (costs < costs[row])
            found = np.flatnonzero(slower & alike if (slower & alike).any() else slower)
            return int(min(found, key=lambda each: (cycles[each], costs[each]))) if found.size else None
        for keep in (alike & allowed, allowed, alike, np.ones_like(alike)):
            faster = np.where(keep & (cycles < cycles[row]), costs, np.inf)
            if np.isfinite(faster).any():
                return int(np.argmin(faster))
        return None

    def _alike(self, at: int) -> NDArray[np.bool_]:
        """Mark the rows of a group that differ from the planned one in how parallel engines are, and in nothing else."""
        group, row = self.context.unlimited.groups[at], self.planned[at]
        alike = np.ones(len(group.rows), dtype=np.bool_)
        for name in group.engines:
            engine, options = self.context.dataflow.engine(name), group.options_of(name)
            ways = {way[0] for way in self.context.backend.parallelism(engine, options[row])}
            own = _without(options[row], ways)
            alike &= options.of_styles(lambda option, own=own, ways=ways: _without(option, ways) == own)
        return alike

    def _costs(self, at: int, rows: Rows) -> NDArray[np.float64]:
        """Return the scarcity of each row of a group with its streams beside the others' rows, (n_rows,).

        It is infinite where the kind of an engine would change, or a stream could not be built.
        """
        problem, group = self.context.unlimited, self.context.unlimited.groups[at]
        use = group.use.copy()
        for stream in problem.couplings:
            source = stream.source_class if stream.source == at else stream.source_class[rows[stream.source]]
            target = stream.target_class if stream.target == at else stream.target_class[rows[stream.target]]
            use += stream.use[source, target] if at in (stream.source, stream.target) else 0
        kinds = group.engine_kinds
        can_be = (kinds == kinds[rows[at]]).all(axis=1) & (use < UNBUILDABLE).all(axis=1)
        return np.where(can_be, use @ np.array(self.context.scarcity_prices), np.inf)

    def _candidate(self, rows: Rows) -> Candidate:
        """Return the design with other foldings, in the plan's modules and slots."""
        context, phase, groups = self.context, self.plan.only_phase, self.context.unlimited.groups
        chosen = [(g.engines, g.rows[row]) for g, row in zip(groups, rows, strict=True)]
        options = {name: option for engines, row in chosen for name, option in zip(engines, row, strict=True)}
        interval = max(option.cycles for option in options.values())
        folding = FoldingSolution(options, interval, ZERO, ZERO, _AS_PLANNED)
        modules = [Module(module.name, tuple(module.engines)) for module in phase.modules]
        slots = list(context.limits)
        place = {name: slots.index(slot) for name, slot in phase.partition.assignment.items()}
        streams = connected(context, folded_by(context, folding))
        return realised(context, folding, modules, streams, PartitionSolution(place, _AS_PLANNED))

    def _step(self, way: Way, rows: Rows) -> Step:
        context, groups = self.context, self.context.unlimited.groups
        now, then = self._now, self._candidate(rows)
        before, after = slot_demands(now), slot_demands(then)
        changed = [at for at, row in enumerate(rows) if row != self.planned[at]]
        over = [limit for at in changed for limit in context.engine_limits.exceeded(groups[at], rows[at])]
        engines = [engine for at in changed for engine in groups[at].engines]
        sustained = full_rate(then.folded, known=context.backend).interval_cycles
        rough = context.backend.expected_interval(then.folded)
        cycles = expected_cycles(sustained, then.interval_cycles, rough)
        return Step(
            way=way,
            engines={self.names[engine]: self._change(engine, now, then) for engine in engines},
            interval_cycles=then.interval_cycles,
            fps=context.platform.clock_mhz * 1e6 / cycles,
            resources=(total(after.values()) - total(before.values())).as_dict(),
            within=self._spread(now, then),
            short=tuple(map(str, self._short(then, after))),
            lifts=tuple(dict.fromkeys(_option(limit) for _, limit in over)),
        )

    def _change(self, engine: str, now: Candidate, then: Candidate) -> FoldingChange:
        options = [candidate.folding.options[engine] for candidate in (now, then)]
        (a, b) = (dict(sorted(option.folding.items())) for option in options)
        return FoldingChange(
            attributes=b,
            changed={name: (a[name], b[name]) for name in b if a.get(name) != b[name]},
            cycles=(options[0].cycles, options[1].cycles),
            resources=(options[0].resources.as_dict(), options[1].resources.as_dict()),
        )

    def _spread(self, now: Candidate, then: Candidate) -> dict[str, tuple[int, int]]:
        """Return between which amounts each change lies in eight of ten cases; each kind errs by one factor."""
        change: dict[str, Resources] = defaultdict(lambda: ZERO)
        for candidate, times in ((now, -1), (then, 1)):
            for use in slot_uses(self.context, candidate).values():
                for kind, need in use.items():
                    change[kind] += need.times(times)
        costs = self.context.costs
        found = {}
        for name in RESOURCE_NAMES:
            mean, deviation = moments(change, name, costs.band if costs.has_bands else lambda *_: EXACT)
            found[name] = floor(mean - _DEVIATIONS * deviation), ceil(mean + _DEVIATIONS * deviation)
        return found

    def _short(self, then: Candidate, demands: Mapping[str, Resources]) -> Iterable[Refusal]:
        for slot in then.problem.slots:
            for name in RESOURCE_NAMES:
                need, have = (amounts.as_dict()[name] for amounts in (demands[slot.name], slot.limit))
                if need > have:
                    yield Refusal("slot", name, slot.name, need, have)


def _without(option: Option, ways: Collection[str]) -> dict[str, AttributeValue]:
    return {name: value for name, value in option.folding.items() if name not in ways}


def _option(limit: str) -> str:
    """Return the option that lifts a limit on single engines."""
    return "--max-products none" if limit == PRODUCTS else f"--max-engine-share {limit}=1"


def folding_files(plan: Plan, step: Step) -> tuple[str, dict[str, str]]:
    """Return the back end's file of a plan's folding after a step, and that with the files that belong beside it.

    FIFOs are left out, which are to be found anew. Raises InputError if the back end writes no such file.
    """
    backend, (network,) = backend_named(plan.options.backend), plan.networks
    file = backend.folding_file(plan, 0, network.name)
    if file is None:
        raise InputError(f"--{step.way}: back end {backend.name} writes no file of its folding", "change it by hand")
    (phase,) = plan.phases
    (part,) = phase.networks
    changed = {
        name: part.folding.engines[name].model_copy(update={"attributes": dict(change.attributes)})
        for name, change in step.engines.items()
    }
    folding = part.folding.model_copy(update={"engines": {**part.folding.engines, **changed}})
    estimates = part.estimates.model_copy(update={"throughput": None})
    part = part.model_copy(update={"folding": folding, "estimates": estimates})
    after = plan.model_copy(update={"phases": [phase.model_copy(update={"networks": [part]})]})
    made, folder = backend.files(after, 0), PurePosixPath(file).parent
    kept = [name for name in made if PurePosixPath(name).parent == folder and name.endswith("_config.json")]
    return PurePosixPath(file).name, {PurePosixPath(name).name: made[name] for name in {file, *kept}}
