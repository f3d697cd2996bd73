"""FINN's partitions end where weights are written at run time, also where a skip branch leads around."""

from __future__ import annotations

from pathlib import Path

from floorflow.emit.finn import floorplan
from floorflow.plan import Plan, read_plan


def with_written_weights(plan: Plan, engine: str) -> Plan:
    entries = plan.phases[0].folding.engines
    written = entries | {engine: entries[engine].model_copy(update={"runtime_writeable_weights": 1})}
    folding = plan.phases[0].folding.model_copy(update={"engines": written})
    return plan.model_copy(update={"phases": [plan.phases[0].model_copy(update={"folding": folding})]})


def test_no_successor_of_written_weights_shares_their_partition(branches_on_two_u250: Path) -> None:
    plan = read_plan(branches_on_two_u250 / "plan.json")
    channels = plan.phases[0].channels
    for engine in plan.phases[0].folding.engines:
        places = floorplan(with_written_weights(plan, engine))
        followers = [c.target for c in channels if c.source == engine and not c.target.startswith("host:")]
        for follower in followers:
            assert places[follower]["partition_id"] != places[engine]["partition_id"], (engine, follower)
