"""How engines of several networks share the external memory: a static schedule of who moves bytes when."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from floorflow.facts.values import Amount, PlainName, PlanModel, Stats

Count = Annotated[int, Field(ge=1)]


class SubgraphEntry(PlanModel):
    """A part of a network that its engine runs in one go: time at full speed, and bytes to and from memory."""

    name: str
    latency_us: float
    traffic_bytes: float


class SharingNetwork(PlanModel):
    """What a network gets of the memory, and what it reaches with it, in frames a second.

    It runs ``repetitions`` times a period, which begins with subgraph ``first``. ``asked_fps``: null if nobody asked
    for a rate. ``target_fps``: what the error is measured from; ``least_fps``: below it the network is ``starved``,
    which one of ``must`` never is. ``alone_fps``: with the whole platform to itself. ``fps``: by the schedule;
    ``unaware_fps``: the same engines without one, simulated. ``latency_us``: the longest that a frame takes.
    """

    network: PlainName
    engine: str
    repetitions: Count
    first: Amount
    asked_fps: float | None
    target_fps: float
    least_fps: float
    must: bool
    alone_fps: float
    fps: float
    unaware_fps: float
    latency_us: float
    starved: bool
    subgraphs: Annotated[list[SubgraphEntry], Field(min_length=1)]


class TransferEntry(PlanModel):
    """A run of a subgraph, or a part of one: the bytes that it moves from one time to another.

    ``slots`` of each round are its own; ``speed``: of what the engine does at full speed, a slow-down of f-CNN^x.
    """

    network: PlainName
    run: Amount
    subgraph: str
    start_us: float
    end_us: float
    traffic_bytes: float
    slots: Count
    speed: float


class JointFrontEntry(PlanModel):
    """The least error of engines and constant shares within a share of the limits, least rates aside."""

    share: float
    fps: dict[str, float]
    stats: Stats


class MemoryScheduleEntry(PlanModel):
    """The periodic schedule of the external memory (f-CNN^x, FPL 2018).

    ``memory_gbs``: what the memory carries, GB/s; ``bandwidth_gbs``: what is planned with. ``period_us`` is that of the
    table, whose shares are ``slots`` of ``slots_total``; ``schedule`` is about the period before they were rounded.
    ``error``: eq. 5 or 6 of the rates; ``error_bound``: no engines with any schedule are below it, least rates aside.
    ``choice``: of the engines with constant shares, chosen within ``limits_share`` of the limits: less than all where
    what was chosen within more could not be placed.
    """

    memory_gbs: float
    bandwidth_gbs: float
    fairness: Literal["fps-error", "throughput-error"]
    two_sided: bool
    burst_beats: Count
    slots_total: Count
    period_us: float
    error: float
    error_bound: float
    limits_share: Annotated[float, Field(gt=0, le=1)]
    choice: Stats
    schedule: Stats
    networks: Annotated[list[SharingNetwork], Field(min_length=1)]
    transfers: Annotated[list[TransferEntry], Field(min_length=1)]
    front: list[JointFrontEntry]

    def network(self, name: str) -> SharingNetwork:
        """Return the network of that name."""
        return next(network for network in self.networks if network.network == name)

    @property
    def starved(self) -> list[str]:
        """The networks that miss their least rates."""
        return [network.network for network in self.networks if network.starved]
