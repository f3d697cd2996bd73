"""Where the small networks lie: on one FPGA or two, with depths, routes and latencies worked out on paper.

The clock runs at 200 MHz. A link of the U250 takes 1 us and ends in SLR2, so that a round trip is 400 cycles; one of
the KU5P takes 5 us: 2000 cycles. The window of the joining network is full after 23 of 100 pixels: 552 cycles.
"""

from dataclasses import dataclass, field
from typing import Any

from floorflow.verify.hardware.geometry import Rectangle
from tests.verify.tiny_network import CHAIN, JOIN, Network

CLOCK_MHZ = 200.0


@dataclass(frozen=True)
class Crossing:
    """One step of a channel's route between slots."""

    source: str
    target: str
    hops: int
    kind: str = "sll"


@dataclass(frozen=True)
class Case:
    """A network on a board: rectangle and slot of each module, FIFO depths, and the routes between slots."""

    board: str
    fpgas: int
    network: Network
    layout: dict[str, tuple[Rectangle, str]]
    depths: dict[str, int]
    latency_us: float
    routes: dict[str, list[Crossing]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    link_kernels: list[dict[str, Any]] = field(default_factory=list)
    max_hops: int | None = None
    allow_cycles: bool = False

    def slot_of(self, engine: str) -> str:
        return self.layout[self.network.module_of(engine)][1]


LOW_LEFT, LOW_RIGHT, UPPER_LEFT = Rectangle(5, 0, 59, 59), Rectangle(60, 0, 101, 59), Rectangle(5, 60, 59, 119)
U250_SLR0, U250_SLR1 = Rectangle(3, 60, 61, 119), Rectangle(3, 240, 61, 299)
CHAIN_DEPTHS = {"in": 32, "padded": 2, "window": 2, "hidden": 32, "out": 32}
JOIN_DEPTHS = {
    "in": 32,
    "main": 2,
    "copy": 32,
    "padded": 2,
    "window": 32,
    "product": 32,
    "sum": 2,
    "out": 32,
    "skip": 32 + 59,  # 552 * 256 / 2396 = 58.98
    "side": 32 + 15,  # 552 * 64 / 2396 = 14.7
}
PORTS = {
    "xcku5p": (
        {"left": 204, "bottom": 0, "right": 204, "top": 59},
        {"left": 204, "bottom": 0, "right": 204, "top": 59},
    ),
    "alveo-u250": (
        {"left": 226, "bottom": 60, "right": 280, "top": 239},
        {"left": 445, "bottom": 600, "right": 445, "top": 719},
    ),
}
"""The host's and the links' port of each board."""

OUT = [Crossing("fpga0.SLR0", "fpga1.SLR0", 1, "link")]
BACK = [Crossing("fpga1.SLR0", "fpga0.SLR0", 1, "link")]

CASES: dict[str, Case] = {
    "xcku5p": Case(
        board="xcku5p",
        fpgas=1,
        network=CHAIN,
        layout={"front": (LOW_LEFT, "fpga0.SLR0"), "back": (LOW_RIGHT, "fpga0.SLR0")},
        depths=CHAIN_DEPTHS,
        latency_us=1750 / 200,
    ),
    "alveo-u250": Case(
        board="alveo-u250",
        fpgas=1,
        network=CHAIN,
        layout={"front": (U250_SLR0, "fpga0.SLR0"), "back": (U250_SLR1, "fpga0.SLR1")},
        depths=CHAIN_DEPTHS | {"hidden": 36, "out": 36},
        latency_us=1750 / 200,
        routes={"hidden": [Crossing("fpga0.SLR0", "fpga0.SLR1", 1)], "out": [Crossing("fpga0.SLR1", "fpga0.SLR0", 1)]},
    ),
    "two alveo-u250": Case(
        board="alveo-u250",
        fpgas=2,
        network=CHAIN,
        layout={"front": (U250_SLR0, "fpga0.SLR0"), "back": (U250_SLR1, "fpga1.SLR1")},
        depths=CHAIN_DEPTHS | {"hidden": 32 + 3 * 4 + 34, "out": 36},  # 400 * 72 / 864 = 33.3
        latency_us=1750 / 200 + 1,
        routes={
            "hidden": [
                Crossing("fpga0.SLR0", "fpga0.SLR2", 2),
                Crossing("fpga0.SLR2", "fpga1.SLR2", 1, "link"),
                Crossing("fpga1.SLR2", "fpga1.SLR1", 1),
            ],
            "out": [Crossing("fpga1.SLR1", "fpga1.SLR0", 1)],
        },
        links={"hidden": "fpga0-fpga1"},
        link_kernels=[
            {
                "name": "floorflow_link_fpga0_0",
                "slot": "fpga0.SLR2",
                "sends": ["MVAU_hls_0.0->MVAU_hls_1.0"],
                "receives": [],
                "resources": {"LUT": 2367, "FF": 2113, "BRAM18": 0, "URAM": 0, "DSP": 0},
            },
            {
                "name": "floorflow_link_fpga1_0",
                "slot": "fpga1.SLR2",
                "sends": [],
                "receives": ["MVAU_hls_0.0->MVAU_hls_1.0"],
                "resources": {"LUT": 1275, "FF": 1595, "BRAM18": 16, "URAM": 0, "DSP": 0},
            },
        ],
        max_hops=2,
    ),
    "three xcku5p": Case(  # the FPGA in the middle is empty
        board="xcku5p",
        fpgas=3,
        network=CHAIN,
        layout={"front": (LOW_LEFT, "fpga0.SLR0"), "back": (LOW_RIGHT, "fpga2.SLR0")},
        depths=CHAIN_DEPTHS | {"hidden": 32 + 167 + 167},  # 2000 * 72 / 864 = 166.7
        latency_us=1750 / 200 + 10,
        routes={
            "hidden": [Crossing("fpga0.SLR0", "fpga1.SLR0", 1, "link"), Crossing("fpga1.SLR0", "fpga2.SLR0", 1, "link")]
        },
        links={"hidden": "fpga0-fpga1,fpga1-fpga2"},
    ),
    "join": Case(
        board="xcku5p",
        fpgas=1,
        network=JOIN,
        layout={
            "head": (LOW_LEFT, "fpga0.SLR0"),
            "body": (UPPER_LEFT, "fpga0.SLR0"),
            "tail": (LOW_RIGHT, "fpga0.SLR0"),
        },
        depths=JOIN_DEPTHS,
        latency_us=5676 / 200,
    ),
    "two join": Case(
        board="xcku5p",
        fpgas=2,
        network=JOIN,
        layout={"head": (LOW_LEFT, "fpga0.SLR0"), "body": (LOW_LEFT, "fpga1.SLR0"), "tail": (LOW_RIGHT, "fpga0.SLR0")},
        depths=JOIN_DEPTHS | {"copy": 32 + 214, "window": 32 + 481, "product": 32 + 214, "out": 32 + 54},
        latency_us=5676 / 200 + 15,
        routes={"copy": OUT, "window": OUT, "product": BACK, "out": OUT},
        links=dict.fromkeys(("copy", "window", "product", "out"), "fpga0-fpga1"),
        allow_cycles=True,
    ),
}
"""Legal places, by name."""
