"""FINN's partitions end where weights are written at run time, also where a skip branch leads around."""

from __future__ import annotations

from pathlib import Path

from floorflow.backends.finn.export import floorplans
from floorflow.schema import Plan, read_plan


def with_written_weights(plan: Plan, engine: str) -> Plan:
    """Return the plan with one engine written at run time and everything in one SLR."""
    phase = plan.phases[0]
    (part,) = phase.networks
    entries = part.folding.engines
    attributes = entries[engine].attributes | {"runtime_writeable_weights": 1}
    written = entries | {engine: entries[engine].model_copy(update={"attributes": attributes})}
    folded = part.model_copy(update={"folding": part.folding.model_copy(update={"engines": written})})
    assignment = dict.fromkeys(phase.partition.assignment, "fpga0.SLR1")
    partition = phase.partition.model_copy(update={"assignment": assignment})
    changed = phase.model_copy(update={"networks": [folded], "partition": partition})
    return plan.model_copy(update={"phases": [changed]})


def test_no_successor_of_written_weights_shares_their_partition(branches_on_two_u250: Path) -> None:
    plan = read_plan(branches_on_two_u250 / "plan.json")
    channels = plan.phases[0].channels
    for engine in plan.phases[0].engines:
        (places,) = floorplans(with_written_weights(plan, engine), 0).values()
        followers = [c.target for c in channels if c.source == engine and not c.target.startswith("host:")]
        for follower in followers:
            assert places[follower]["partition_id"] != places[engine]["partition_id"], (engine, follower)
