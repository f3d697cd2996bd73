"""What one step of the folding costs or frees, by a plan's own cost model: all else as planned, nothing searched anew.

The plan is taken up where it ended: its foldings, modules and slots. A step gives some engines other foldings; every
stream is then realised again, so that converters and FIFOs count with the depths that the full rate needs of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil, floor
from pathlib import Path, PurePosixPath
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import backend_named
from floorflow.dataflow.bands import moments
from floorflow.dataflow.model import Attributes, Option
from floorflow.dataflow.modules import Module
from floorflow.dataflow.options import UNBUILDABLE
from floorflow.errors import InputError, required
from floorflow.facts import Plan
from floorflow.facts.estimates import expected_cycles
from floorflow.facts.steps import FoldingChange, Step, Way
from floorflow.facts.values import AttributeValue
from floorflow.folding.problem import FoldingSolution
from floorflow.partition.problem import PartitionSolution
from floorflow.rates.fifo_sizing import full_rate
from floorflow.resources import RESOURCE_NAMES, ZERO, Resources, total
from floorflow.search.candidate.candidate import Candidate, connected, folded_by, realised, slot_demands, slot_uses
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.engine_limits import PRODUCTS
from floorflow.search.candidate.preparing import context_of, priced, read, settled
from floorflow.search.candidate.slot_problem import limits_beside
from floorflow.search.interval.least_full import comfortable_limits
from floorflow.stats import SolveStats
from floorflow.study.calibration.replan import Overrides, replanned_request

Rows = tuple[int, ...]
"""The row that each option group takes."""
_AS_PLANNED = SolveStats("as planned", "heuristic")
_TRIED = 5
"""Next lower rates of which the first is told that is worth it."""
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
        evenness = plan.only_phase.partition.evenness
        if evenness is not None and evenness.rule == "comfortable":  # memories of FIFOs were chosen within these
            context = replace(context, narrowed=comfortable_limits(context))
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
        """Return the step of the whole: the slowest engines faster, or a lower rate that is worth it.

        That is the highest of the few next lower ones; at it every engine takes the cheapest folding that keeps it and
        takes no more of anything. None where one of the slowest has no faster folding, or no such rate is worth it.
        """
        groups = self.context.unlimited.groups
        cycles = [int(group.cycles[row]) for group, row in zip(groups, self.planned, strict=True)]
        most = max(cycles)
        if way == "faster":
            slowest = [at for at, count in enumerate(cycles) if count == most]
            rows = {at: row for at in slowest if (row := self._next(at, way)) is not None}
            return self._step(way, self._with(rows)) if len(rows) == len(slowest) else None
        lower = {
            int(c) for at in range(len(groups)) for c in groups[at].cycles[self._frees(at, self.planned)] if c > most
        }
        for interval in sorted(lower)[:_TRIED]:
            step = self._step(way, self._freed(interval))
            if step.is_worth:
                return step
        return None

    def _freed(self, interval: int) -> Rows:
        """Return the rows with which the design takes least at an interval, and no engine more of anything."""
        after = self.planned
        for at, group in enumerate(self.context.unlimited.groups):
            costs = np.where(self._frees(at, after) & (group.cycles <= interval), self._costs(at, after), np.inf)
            best = int(np.argmin(costs))
            after = self._with({at: best}, after) if np.isfinite(costs[best]) else after
        return after

    def _frees(self, at: int, rows: Rows) -> NDArray[np.bool_]:
        """Mark the rows of a group, as parallel in other ways alone, that take less of something and no more of any."""
        use = self._use(at, rows)
        change = (use - use[rows[at]])[:, np.array(self.context.scarcity_prices) > 0]
        return np.asarray(self._alike(at) & (change <= 0).all(axis=1) & (change < 0).any(axis=1))

    def _scarcity(self, change: Mapping[str, int]) -> float:
        return sum(
            price * change[name] for name, price in zip(RESOURCE_NAMES, self.context.scarcity_prices, strict=True)
        )

    def _with(self, rows: Mapping[int, int], before: Rows | None = None) -> Rows:
        return tuple(rows.get(at, row) for at, row in enumerate(before or self.planned))

    def _next(self, at: int, way: Way) -> int | None:
        """Return the row of the next step of a group: the cheapest that is faster, or the first slower that is cheaper.

        Where there is one, engines are only more or less parallel, with the memories and multipliers that they have; a
        slower one best takes no more of anything, a faster one is within the limits on single engines.
        """
        context, group, row = self.context, self.context.unlimited.groups[at], self.planned[at]
        costs, cycles, alike = self._costs(at, self.planned), group.cycles, self._alike(at)
        if way == "slower":
            for keep in (self._frees(at, self.planned), alike, np.ones_like(alike)):
                found = np.flatnonzero(keep & (cycles > cycles[row]) & (costs < costs[row]))
                if found.size:
                    return int(min(found, key=lambda each: (cycles[each], costs[each])))
            return None
        allowed = context.engine_limits.allowed(group, context.places)
        for keep in (alike & allowed, allowed, alike, np.ones_like(alike)):
            faster = np.where(keep & (cycles < cycles[row]), costs, np.inf)
            if np.isfinite(faster).any():
                return int(np.argmin(faster))
        return None

    def _alike(self, at: int) -> NDArray[np.bool_]:
        """Mark the rows of a group that differ from the planned one in nothing but how parallel engines are."""
        group, row = self.context.unlimited.groups[at], self.planned[at]
        alike = np.ones(len(group.rows), dtype=np.bool_)
        for name in group.engines:
            engine, options = self.context.dataflow.engine(name), group.options_of(name)
            ways = {way[0] for way in self.context.backend.parallelism(engine, options[row])}
            alike &= options.of_styles(partial(_differs_in, ways, options[row]))
        return alike

    def _use(self, at: int, rows: Rows) -> NDArray[np.int64]:
        """Return what each row of a group takes with its streams beside the others' rows, (n_rows, 5)."""
        use = self.context.unlimited.groups[at].use.copy()
        for stream in self.context.unlimited.couplings:
            if at in (stream.source, stream.target):
                source = stream.source_class if stream.source == at else stream.source_class[rows[stream.source]]
                target = stream.target_class if stream.target == at else stream.target_class[rows[stream.target]]
                use += stream.use[source, target]
        return use

    def _costs(self, at: int, rows: Rows) -> NDArray[np.float64]:
        """Return the scarcity of that; infinite where an engine's kind would change or a stream could not be built."""
        use, kinds = self._use(at, rows), self.context.unlimited.groups[at].engine_kinds
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
        fps = context.platform.clock_mhz * 1e6 / expected_cycles(sustained, then.interval_cycles, rough)
        own = self.plan.only_phase.networks[0]
        same = then.interval_cycles == own.interval_cycles
        whole, change = total(before.values()), total(after.values()) - total(before.values())
        return Step(
            way=way,
            engines={self.names[engine]: self._change(engine, now, then) for engine in engines},
            interval_cycles=then.interval_cycles,
            fps=fps,
            resources=change.as_dict(),
            within=self._spread(now, then),
            frees=-self._scarcity(change.as_dict()) / (self._scarcity(whole.as_dict()) or 1.0),
            loses=0.0 if same else 1 - fps / own.estimates.believed_fps,
            short=tuple(self._short(then, after)),
            lifts=tuple(dict.fromkeys(_option(limit) for _, limit in over)),
        )

    def _change(self, engine: str, now: Candidate, then: Candidate) -> FoldingChange:
        options = [candidate.folding.options[engine] for candidate in (now, then)]
        a, b = (_told(option.folding) for option in options)
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
        costs, found = self.context.costs, {}
        for name in RESOURCE_NAMES if costs.has_bands else ():
            mean, deviation = moments(change, name, costs.band)
            found[name] = floor(mean - _DEVIATIONS * deviation), ceil(mean + _DEVIATIONS * deviation)
        return found

    def _short(self, then: Candidate, demands: Mapping[str, Resources]) -> Iterator[str]:
        limits = limits_beside(replace(self.context, narrowed=None), then.link_kernels)
        for slot, limit in limits.items():
            for name in RESOURCE_NAMES:
                need, have = (amounts.as_dict()[name] for amounts in (demands[slot], limit))
                if need > have:
                    yield f"{name} of {slot}, {need:,} needed, {have:,} allowed"


def _differs_in(ways: Collection[str], planned: Option, option: Option) -> bool:
    """Whether an option differs from the planned one in these attributes alone."""
    names = {*planned.folding, *option.folding} - {*ways}
    return all(planned.folding.get(name) == option.folding.get(name) for name in names)


def _told(folding: Attributes) -> dict[str, AttributeValue]:
    """Return a folding as plan.json has it."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in sorted(folding.items())}  # type: ignore[misc]


def _option(limit: str) -> str:
    """Return the option that lifts a limit on single engines."""
    return "--max-products none" if limit == PRODUCTS else f"--max-engine-share {limit}=1"


def folding_name(plan: Plan) -> str | None:
    """Return the path of the back end's file of a plan's folding, None if it writes none."""
    return backend_named(plan.options.backend).folding_file(plan, 0, plan.only_network.name)


def folding_files(plan: Plan, step: Step) -> dict[str, str]:
    """Return the back end's file of a plan's folding after a step, with the files that belong beside it.

    FIFOs are left out, which are to be found anew. Raises InputError if the back end writes no such file.
    """
    backend, file = backend_named(plan.options.backend), folding_name(plan)
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
    return {PurePosixPath(name).name: made[name] for name in {file, *kept}}
