"""Words that FIFOs hold because routes take time: those on the route itself, and on shorter branches into a join."""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.dataflow.model import Dataflow
from floorflow.hardware import Route


def words_on_routes(dataflow: Dataflow, routes: Mapping[str, Route]) -> dict[str, int]:
    """Return how many words more each FIFO may hold than it would without routes, by channel.

    Routes delay a schedule of the pipeline: each engine starts later by the longest sum of them before it. A FIFO then
    keeps its words for as much longer as its reader is delayed more than its writer, and until their places are
    known to be free again; at most a word comes in each of these cycles.
    """
    late: dict[str, int] = {}
    for engine in dataflow.engines:
        arriving = [s for s in dataflow.streams if s.target == engine.name]
        late[engine.name] = max((late.get(s.source, 0) + _cycles(routes, s.channel) for s in arriving), default=0)
    more = {}
    for stream in dataflow.streams:
        back, source = _cycles(routes, stream.channel), late.get(stream.source, 0)
        more[stream.channel] = late.get(stream.target, source + back) - source + back
    return more


def _cycles(routes: Mapping[str, Route], channel: str) -> int:
    return routes[channel].cycles if channel in routes else 0
