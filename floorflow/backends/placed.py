"""Engines and streams where they are planned to lie, as back ends are told of them."""

from dataclasses import dataclass

Home = tuple[str, int, int]
"""Module of an engine, number of its FPGA and of its SLR there."""


@dataclass(frozen=True)
class PlacedStream:
    """A stream: its ends (None outside) with their ports and widths in bits, its converter, and where its parts lie.

    ``converter_module`` holds the converter, ``fifo_module`` the FIFO. ``slices``: numbers of FPGA and SLR of each
    register slice, from source to target.
    """

    name: str
    source: str | None
    source_port: int
    target: str | None
    target_port: int
    source_width: int
    target_width: int
    converter: str | None
    converter_module: str | None
    fifo_module: str
    slices: tuple[tuple[int, int], ...] = ()
