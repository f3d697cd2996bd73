"""What silicon would hold: how likely a folding fits all that is there, and the caps that a risk allows.

Caps and fills are a user's margins, and estimates may be off (`floorflow.dataflow.bands`): a request that these refuse
may fit all the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import NormalDist

from floorflow.backends.backend import Costs
from floorflow.dataflow.bands import LESS, MORE, fit_likelihood, moments
from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.options import OptionGroup
from floorflow.errors import InputError
from floorflow.folding import FoldingSolution
from floorflow.request import Request
from floorflow.resources import RESOURCE_NAMES, ZERO, Fractions, Resources, SomeFractions, scaled_down, total
from floorflow.search.candidate.context import PlanningContext

Use = Mapping[str, Resources]
"""Estimates by kind."""


def likelihood(context: PlanningContext, folding: FoldingSolution) -> float | None:
    """Return how likely all that is available, in all slots together, holds a folding; None if errors are not known."""
    if not context.costs.has_bands:
        return None
    engines = {engine.name: engine for engine in context.dataflow.engines}
    use: dict[str, Resources] = defaultdict(lambda: ZERO)
    for name, option in folding.options.items():
        use[option.kind or engines[name].kind] += option.resources
        for kind, doubt in zip((LESS, MORE), context.costs.doubt(engines[name], option), strict=True):
            use[kind] += doubt
    # The rest is width converters and FIFOs.
    use[context.costs.fifo_kind] += folding.resources - total(option.resources for option in folding.options.values())
    available = total(slot.available for slot in context.platform.slots)
    return fit_likelihood(use, available, context.costs.band)


def at_risk(request: Request, dataflow: Dataflow, groups: Iterable[OptionGroup], costs: Costs) -> Request:
    """Return the request with the caps that its risk allows, and pblocks as full as they can be; without one as it is.

    A slot that is filled up to such a cap by estimate needs more than it has with that probability, resource by
    resource: by the errors of the network's kinds, which weigh as the least that its engines may need.

    Raises
    ------
    InputError
        If nothing is known of how far the cost model may be off.

    """
    if request.risk is None:
        return request
    if not costs.has_bands:
        raise InputError(
            f"--risk {request.risk:g}: how far these costs may be off is not known", hint="use --costs calibrated"
        )
    caps = _caps(request.risk, _least_by_kind(dataflow, groups), costs)
    return request.changed(cap=Fractions(**caps), fill=SomeFractions(**dict.fromkeys(RESOURCE_NAMES, 1.0)))


def least_risk(context: PlanningContext, folding: FoldingSolution) -> float | None:
    """Return the least risk, in hundredths, whose caps hold a folding in all slots together, up to one half."""
    least = _least_by_kind(context.dataflow, context.problem.groups)
    for hundredths in range(1, 51):
        caps = _caps(hundredths / 100, least, context.costs)
        if folding.resources.fits(total(scaled_down(slot.available, caps) for slot in context.platform.slots)):
            return hundredths / 100
    return None


def _caps(risk: float, least: Use, costs: Costs) -> dict[str, float]:
    z = NormalDist().inv_cdf(1 - risk)
    return {name: _cap(least, name, z, costs) for name in RESOURCE_NAMES}


def _cap(use: Use, resource: str, z: float, costs: Costs) -> float:
    """Return estimate over the amount that is exceeded by chance beyond ``z`` standard deviations, at most 1."""
    estimate = total(use.values()).as_dict()[resource]
    mean, deviation = moments(use, resource, costs.band)
    return min(1.0, estimate / (mean + z * deviation)) if estimate and mean + z * deviation > 0 else 1.0


def _least_by_kind(dataflow: Dataflow, groups: Iterable[OptionGroup]) -> Use:
    """Return the least of each resource that the engines of each kind may need."""
    kinds = {engine.name: engine.kind for engine in dataflow.engines}
    use: dict[str, Resources] = defaultdict(lambda: ZERO)
    for group in groups:
        for engine, least in zip(group.engines, group.engine_use.min(axis=0).tolist(), strict=True):
            use[kinds[engine]] += Resources(*least)
    return use
