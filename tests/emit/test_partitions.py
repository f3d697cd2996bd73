"""FINN's kernels end where weights are written at run time, also where a skip branch leads around."""

from pathlib import Path

import pytest

from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.step_data import foreseen, networks_in
from floorflow.facts import Plan, read_plan


def with_written_weights(plan: Plan, engine: str) -> Plan:
    """Return the plan with one engine written at run time and everything in one SLR."""
    phase = plan.phases[0]
    (part,) = phase.networks
    entries = part.folding.engines
    attributes = entries[engine].attributes | {"runtime_writeable_weights": 1, "mem_mode": "internal_decoupled"}
    written = entries | {engine: entries[engine].model_copy(update={"attributes": attributes})}
    folded = part.model_copy(update={"folding": part.folding.model_copy(update={"engines": written})})
    assignment = dict.fromkeys(phase.partition.assignment, "fpga0.SLR1")
    partition = phase.partition.model_copy(update={"assignment": assignment})
    changed = phase.model_copy(update={"networks": [folded], "partition": partition})
    return plan.model_copy(update={"phases": [changed]})


@pytest.mark.parametrize("finn", ["main", "plus"])
def test_no_kernel_goes_on_past_written_weights(finn: str, branches_on_two_u250: Path) -> None:
    """In FINN main what follows begins a kernel, in FINN+ the node itself."""
    plan = read_plan(branches_on_two_u250 / "plan.json")
    options = plan.options.model_copy(update={"backend_options": FinnOptions(finn=finn)})
    engines = [e.name for e in plan.networks[0].engines if e.kind.startswith(("MVAU", "Thresholding"))]
    for engine in engines:
        changed = with_written_weights(plan.model_copy(update={"options": options}), engine)
        (one,) = networks_in(changed, 0)
        graph = foreseen(one)
        node = graph.bound.nodes[engine]
        follower = next(other for other in graph.bound.graph.nodes if set(other.inputs) & set(node.outputs))
        before = next(other for other in graph.bound.graph.nodes if set(other.outputs) & set(node.inputs))
        apart = follower if finn == "main" else before
        assert graph.ids[apart] != graph.ids[node], engine
