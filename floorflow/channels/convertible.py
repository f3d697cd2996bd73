"""Whether the streams of a given folding can be joined at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from floorflow.dataflow.model import Dataflow
from floorflow.dataflow.options import OptionGroup


class _Costs(Protocol):
    def convertible(self, input_bits: int, output_bits: int) -> bool: ...


def not_convertible(dataflow: Dataflow, groups: Sequence[OptionGroup], costs: _Costs) -> Iterator[str]:
    """Yield the channels, with their two widths, that no converter can join; ``groups`` have a row each."""
    options = {name: option for group in groups for name, option in zip(group.engines, group.rows[0], strict=True)}
    for stream in dataflow.streams:
        if not (stream.from_outside or stream.to_outside):
            source = options[stream.source].output_widths_bits[stream.source_port]
            target = options[stream.target].input_widths_bits[stream.target_port]
            if not costs.convertible(source, target):
                yield f"{stream.channel} ({source} to {target} bit)"
