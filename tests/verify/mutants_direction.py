"""Planted mistakes in the direction of data over all phases, and in what names channels and boundaries."""

from __future__ import annotations

import copy

from tests.verify.mutants_phases import PHASES, channel
from tests.verify.planting import TWO_SLRS, Files, Plan, first, mutant, phase_of


@PHASES.mutant("cyclic-dataflow")
def engines_in_a_circle_over_two_phases(plan: Plan, files: Files) -> None:
    """The sum of p1 hands to p0, whose unit hands to p1 again."""
    channel(plan, 1, "radar_sum")["target"] = "radar/phase:p0/echo"
    channel(plan, 0, "radar_echo")["source"] = "radar/phase:p1/echo"


@PHASES.mutant("handover-backwards")
def stream_handed_to_a_phase_before(plan: Plan, files: Files) -> None:
    channel(plan, 1, "radar_sum")["target"] = "radar/phase:p0/sum"


@PHASES.mutant("engine-order")
def engine_before_the_buffer_that_it_reads_is_written(plan: Plan, files: Files) -> None:
    engines = plan["networks"][0]["engines"]
    engines.insert(0, engines.pop())


@mutant("engine-order")
def engine_before_its_producer(plan: Plan, files: Files) -> None:
    inner = first(c for c in phase_of(plan)["channels"] if ":" not in c["source"] + c["target"])
    engines = plan["networks"][0]["engines"]
    producer, consumer = (next(e for e in engines if e["name"] == inner[end]) for end in ("source", "target"))
    engines.remove(producer)
    engines.insert(engines.index(consumer) + 1, producer)


@PHASES.mutant("channel-name")
def channel_called_as_before_it_was_cut(plan: Plan, files: Files) -> None:
    channel(plan, 0, "camera_features")["name"] = "camera/MVAU_hls_0.0->camera/MVAU_hls_1.0"


@mutant("channel-name")
def channel_of_a_short_name(plan: Plan, files: Files) -> None:
    inner = first(c for c in phase_of(plan)["channels"] if "host:" not in c["source"] + c["target"])
    inner["name"] = "hidden"


@mutant("boundary-mismatch", TWO_SLRS)
def boundary_of_another_name(plan: Plan, files: Files) -> None:
    first(plan["platform"]["boundaries"])["name"] = "sll0"


@mutant("boundary-mismatch", TWO_SLRS)
def boundary_listed_twice(plan: Plan, files: Files) -> None:
    plan["platform"]["boundaries"].append(copy.deepcopy(first(plan["platform"]["boundaries"])))
