"""Small networks: a chain, and two branches that join. Foldings, cycles, widths and words are worked out on paper."""

from dataclasses import dataclass
from typing import Any

RESOURCES = ("LUT", "FF", "BRAM18", "URAM", "DSP")
PADDING, WINDOW, FIRST, LAST = "FMPadding_rtl_0", "ConvolutionInputGenerator_rtl_0", "MVAU_hls_0", "MVAU_hls_1"
COPY, ADD, CONCAT = "DuplicateStreams_hls_0", "AddStreams_hls_0", "StreamingConcat_hls_0"


def amounts(lut: int = 0, ff: int = 0, bram18: int = 0, uram: int = 0, dsp: int = 0) -> dict[str, int]:
    return dict(zip(RESOURCES, (lut, ff, bram18, uram, dsp), strict=True))


def add(*parts: dict[str, int]) -> dict[str, int]:
    return {name: sum(part[name] for part in parts) for name in RESOURCES}


def is_outside(end: str) -> bool:
    return ":" in end


@dataclass(frozen=True)
class Stream:
    """A channel: ends as ``name`` or ``name.port``, widths in bits at its ends, words a frame at the larger width.

    ``name`` is short, for depths and routes here; the plan has ``full_name``.
    """

    name: str
    source: str
    target: str
    widths: tuple[int, int]
    words: int

    @property
    def full_name(self) -> str:
        ends = (end if end.rpartition(".")[2].isdecimal() else f"{end}.0" for end in (self.source, self.target))
        return "->".join(ends)


EngineRow = tuple[str, dict[str, Any], int, int, int]
"""Name, attributes, bits of weights, inputs and outputs."""


@dataclass(frozen=True)
class Network:
    """Engines (name, attributes, bits of weights, inputs and outputs), modules and streams.

    ``interval`` is the most cycles of an engine, ``path_cycles`` the most along a path.
    """

    engines: tuple[EngineRow, ...]
    folding: dict[str, dict[str, Any]]
    modules: dict[str, list[str]]
    streams: tuple[Stream, ...]
    interval: int
    path_cycles: int
    bottleneck: str

    def module_of(self, engine: str) -> str:
        return next(name for name, engines in self.modules.items() if engine in engines)

    def attributes_of(self, engine: str) -> dict[str, Any]:
        """Return the attributes of an engine, by its name or its id."""
        return next(row[1] for row in self.engines if row[0] == engine.rpartition("/")[2])


WEIGHTS = {"mem_mode": "internal_decoupled", "ram_style": "block", "resType": "lut"}


def window(channels: int, size: int, out: int) -> dict[str, Any]:
    return {
        "IFMChannels": channels,
        "IFMDim": [size, size],
        "OFMDim": [out, out],
        "ConvKernelDim": [3, 3],
        "Stride": [1, 1],
        "Dilation": [1, 1],
        "depthwise": 0,
        "inputDataType": "UINT4",
    }


def padding(size: int) -> dict[str, Any]:
    return {"ImgDim": [size, size], "Padding": [1, 1, 1, 1], "NumChannels": 4, "numInputVectors": 1}


CHAIN = Network(
    engines=(
        (PADDING, padding(6), 0, 4, 4),
        (WINDOW, window(4, 8, 6), 0, 4, 4),
        (FIRST, {"MW": 36, "MH": 8, "numInputVectors": [1, 6, 6], "noActivation": 0}, 2, 4, 4),
        (LAST, {"MW": 8, "MH": 4, "numInputVectors": [1, 6, 6], "noActivation": 1}, 2, 4, 8),
    ),
    folding={
        PADDING: {"SIMD": 2, "cycles": 128, "resources": amounts(120, 90)},
        WINDOW: {
            "SIMD": 2,
            "parallel_window": 0,
            "ram_style": "distributed",
            "cycles": 686,
            "resources": amounts(400, 310),
        },
        FIRST: {"PE": 2, "SIMD": 6, **WEIGHTS, "cycles": 864, "resources": amounts(900, 800, 2)},
        LAST: {"PE": 4, "SIMD": 4, **WEIGHTS, "cycles": 72, "resources": amounts(700, 650, 1)},
    },
    modules={"front": [PADDING, WINDOW, FIRST], "back": [LAST]},
    streams=(
        Stream("in", "host:in0", PADDING, (8, 8), 72),
        Stream("padded", PADDING, WINDOW, (8, 8), 128),
        Stream("window", WINDOW, FIRST, (8, 24), 216),
        Stream("hidden", FIRST, LAST, (8, 16), 72),
        Stream("out", LAST, "host:out0", (32, 32), 36),
    ),
    interval=864,
    path_cycles=128 + 686 + 864 + 72,
    bottleneck=FIRST,
)

JOIN = Network(
    engines=(
        (COPY, {"NumChannels": 4, "numInputVectors": [1, 8, 8], "NumOutputStreams": 3}, 0, 4, 4),
        (PADDING, padding(8), 0, 4, 4),
        (WINDOW, window(4, 10, 8), 0, 4, 4),
        (FIRST, {"MW": 36, "MH": 4, "numInputVectors": [1, 8, 8], "noActivation": 0}, 2, 4, 4),
        (ADD, {"NumChannels": 4, "numInputVectors": [1, 8, 8]}, 0, 4, 5),
        (
            CONCAT,
            {"ElemsPerStream": [4, 2], "numInputVectors": [1, 8, 8], "inputDataTypes": ["UINT5", "UINT2"]},
            *(0, 5, 5),
        ),
    ),
    folding={
        COPY: {"PE": 1, "cycles": 256, "resources": amounts(60, 50)},
        PADDING: {"SIMD": 1, "cycles": 400, "resources": amounts(110, 80)},
        WINDOW: {
            "SIMD": 1,
            "parallel_window": 0,
            "ram_style": "distributed",
            "cycles": 2396,  # (2 * 10 + 2 + 1) * 4 and eight rows of 8 * 9 * 4
            "resources": amounts(390, 300),
        },
        FIRST: {"PE": 1, "SIMD": 4, **WEIGHTS, "cycles": 2304, "resources": amounts(500, 400, 1)},
        ADD: {"PE": 1, "cycles": 256, "resources": amounts(70, 60)},
        CONCAT: {"cycles": 64, "resources": amounts(80, 70)},
    },
    modules={"head": [COPY, PADDING, WINDOW], "body": [FIRST], "tail": [ADD, CONCAT]},
    streams=(
        Stream("in", "host:in0", COPY, (4, 4), 256),
        Stream("main", COPY, PADDING, (4, 4), 256),
        Stream("skip", f"{COPY}.1", f"{ADD}.1", (4, 4), 256),
        Stream("copy", f"{COPY}.2", "host:out1", (4, 4), 256),
        Stream("padded", PADDING, WINDOW, (4, 4), 400),
        Stream("window", WINDOW, FIRST, (4, 16), 576),
        Stream("product", FIRST, ADD, (4, 4), 256),
        Stream("sum", ADD, CONCAT, (5, 20), 64),
        Stream("side", "host:in1", f"{CONCAT}.1", (4, 4), 64),
        Stream("out", CONCAT, "host:out0", (30, 30), 64),
    ),
    interval=2396,
    path_cycles=256 + 400 + 2396 + 2304 + 256 + 64,
    bottleneck=WINDOW,
)
