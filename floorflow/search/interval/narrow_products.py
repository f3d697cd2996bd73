"""Products of two bits: in LUT where every slot has enough of it, in DSP blocks only where it has not."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from floorflow.dataflow.model import Option, renamings
from floorflow.dataflow.modules import named
from floorflow.dataflow.options import OptionGroup
from floorflow.folding import FoldingSolution
from floorflow.resources import RESOURCE_NAMES, Resources
from floorflow.search.candidate.assignment import assign
from floorflow.search.candidate.candidate import Candidate, folded_by, naming_of, slot_demands
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.interval.least_full import crossings_of
from floorflow.search.interval.state import SearchState

NARROW_BITS = 2
"""Width of the wider operand up to which a product takes about as few LUTs as it takes to feed a DSP block."""
_BRAM18, _URAM, _DSP = (RESOURCE_NAMES.index(name) for name in ("BRAM18", "URAM", "DSP"))
ENOUGH_LUT = Fraction(1, 2)
"""Share of what a slot has available up to which LUT is plentiful there."""


def products_in_lut(run: SearchState) -> None:
    """Form the best plan's products of two bits in LUT where that will do: at the same rate, in the same slots.

    It does where no slot is above half of its LUT then, nothing else is exceeded, and crossings cost no more.
    """
    design, best = run.weighed, run.best
    if design is None or best is None or not _has_enough(run.context, design.candidate):
        return
    options = _in_lut(run.context, design.candidate.folding)
    tried = len(run.trace)
    candidate = _refolded(run, design.candidate, options) if options else None
    answer = None if candidate is None else run.place(candidate, "products of two bits in LUT: ")
    if (
        candidate is not None
        and answer is not None
        and _has_enough(run.context, answer.candidate)
        and crossings_of(answer.candidate) <= crossings_of(best.candidate)
    ):
        run.weighed, run.best = replace(design, candidate=candidate), answer
    else:
        # The trace ends with the plan.
        run.aside += run.trace[tried:]
        del run.trace[tried:]


def _in_lut(context: PlanningContext, folding: FoldingSolution) -> dict[str, Option]:
    """Return a folding with narrow products in LUT, as fast and with the same ports; empty if it has none elsewhere."""
    problem = context.problem
    weights, _ = problem.cost_weights()
    options = dict(folding.options)
    for group in problem.groups:
        chosen = tuple(options[name] for name in group.engines)
        row, takes = group.rows.index(chosen), _narrow_dsp(context, group)
        rows = np.flatnonzero(~takes & _alike(group, row)) if takes[row] else np.array([], dtype=np.int64)
        if rows.size:
            more = np.maximum(group.use[rows] - group.use[row], 0)[:, [_BRAM18, _URAM]].sum(axis=1)
            best = rows[np.lexsort((group.use[rows] @ weights, more))[0]]
            options |= zip(group.engines, group.rows[int(best)], strict=True)
    return options if options != folding.options else {}


def _alike(group: OptionGroup, row: int) -> NDArray[np.bool_]:
    """Mark the rows in which every engine is as fast as in one, and has ports as wide, (n_rows,)."""
    alike = (group.engine_cycles == group.engine_cycles[row]).all(axis=1)
    for widths in (group.options_of(engine).widths_bits for engine in group.engines):
        alike &= (widths == widths[:, [row]]).all(axis=0)
    return np.asarray(alike)


def _narrow_dsp(context: PlanningContext, group: OptionGroup) -> NDArray[np.bool_]:
    """Mark the rows in which an engine forms products of two bits in DSP blocks, (n_rows,)."""
    narrow = [context.dataflow.engine(name).operand_bits <= NARROW_BITS for name in group.engines]
    return np.asarray((group.engine_use[:, narrow, _DSP] > 0).any(axis=1))


def _refolded(run: SearchState, before: Candidate, options: dict[str, Option]) -> Candidate | None:
    """Return a candidate with other foldings of the same widths, its modules in their slots; None if LUT is not enough.

    The limits that it was made within are wider by the LUT that is enough.
    """
    context, narrowed = run.context, None
    if before.narrowed is not None:
        narrowed = {slot: limit.most(_enough(context)[slot]) for slot, limit in before.narrowed.items()}
        context = replace(context, narrowed=narrowed)
    folding = run.least_priced(options, before.folding.stats.method)
    # What it is held against had no more of anything else, and no more LUT than it takes.
    folding = replace(folding, budget=before.folding.budget.most(Resources(lut=folding.resources.lut)))
    folded = folded_by(context, folding)
    renamed = renamings(before.folded.dataflow, folded.dataflow)
    groups = [tuple(renamed[engine] for engine in module.engines) for module in before.modules]
    modules = named(groups, naming_of(context, folded))
    slots = {new.name: before.slot_of[old.name] for new, old in zip(modules, before.modules, strict=True)}
    found = assign(context, folding, modules, start=slots)
    return run.improved(found) if isinstance(found, Candidate) and _has_enough(context, found) else None


def _enough(context: PlanningContext) -> dict[str, Resources]:
    """Return the LUT of each slot that is enough, as far as it is allowed at all."""
    most = {slot.name: int(ENOUGH_LUT * slot.available.lut) for slot in context.platform.slots}
    return {slot: Resources(lut=min(most[slot], limit.lut)) for slot, limit in context.allowed.items()}


def _has_enough(context: PlanningContext, candidate: Candidate) -> bool:
    """Whether every slot keeps to the LUT that is enough."""
    enough = _enough(context)
    return all(demand.lut <= enough[slot].lut for slot, demand in slot_demands(candidate).items())
