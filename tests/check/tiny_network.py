"""Four small engines in two modules: foldings, cycles, widths and words worked out on paper."""

from __future__ import annotations

from typing import Any

RESOURCES = ("LUT", "FF", "BRAM18", "URAM", "DSP")
PADDING, WINDOW, FIRST, LAST = "FMPadding_rtl_0", "ConvolutionInputGenerator_rtl_0", "MVAU_hls_0", "MVAU_hls_1"


def amounts(lut: int = 0, ff: int = 0, bram18: int = 0, uram: int = 0, dsp: int = 0) -> dict[str, int]:
    return dict(zip(RESOURCES, (lut, ff, bram18, uram, dsp), strict=True))


def add(*parts: dict[str, int]) -> dict[str, int]:
    return {name: sum(part[name] for part in parts) for name in RESOURCES}


ENGINES = [
    (PADDING, {"ImgDim": [6, 6], "Padding": [1, 1, 1, 1], "NumChannels": 4, "numInputVectors": 1}, 0, 4, 4),
    (
        WINDOW,
        {
            "IFMChannels": 4,
            "IFMDim": [8, 8],
            "OFMDim": [6, 6],
            "ConvKernelDim": [3, 3],
            "Stride": [1, 1],
            "Dilation": [1, 1],
            "depthwise": 0,
            "inputDataType": "UINT4",
        },
        *(0, 4, 4),
    ),
    (FIRST, {"MW": 36, "MH": 8, "numInputVectors": [1, 6, 6], "noActivation": 0}, 2, 4, 4),
    (LAST, {"MW": 8, "MH": 4, "numInputVectors": [1, 6, 6], "noActivation": 1}, 2, 4, 8),
]
"""Name, attributes, bits of weights, inputs and outputs."""

WEIGHTS = {"mem_mode": "internal_decoupled", "ram_style": "block", "res_type": "lut"}
FOLDING = {
    PADDING: {"simd": 2, "cycles": 128, "resources": amounts(120, 90)},
    WINDOW: {
        "simd": 2,
        "parallel_window": 0,
        "ram_style": "distributed",
        "cycles": 686,
        "resources": amounts(400, 310),
    },
    FIRST: {"pe": 2, "simd": 6, **WEIGHTS, "cycles": 864, "resources": amounts(900, 800, 2)},
    LAST: {"pe": 4, "simd": 4, **WEIGHTS, "cycles": 72, "resources": amounts(700, 650, 1)},
}
INTERVAL, LATENCY = 864, 128 + 686 + 864 + 72
MODULES = {"front": [PADDING, WINDOW, FIRST], "back": [LAST]}

STREAMS = [
    ("in", "host:in0", PADDING, 8, 8, 72),
    ("padded", PADDING, WINDOW, 8, 8, 128),
    ("window", WINDOW, FIRST, 8, 24, 216),
    ("hidden", FIRST, LAST, 8, 16, 72),
    ("out", LAST, "host:out0", 32, 32, 36),
]
"""Name, source, target, their widths in bits, words a frame at the larger width."""


def module_of(engine: str) -> str:
    return next(name for name, engines in MODULES.items() if engine in engines)


def channel(name: str, source: str, target: str, widths: tuple[int, int], words: int) -> dict[str, Any]:
    narrow = module_of(source) if widths[0] < widths[1] else None
    fifo = amounts(40, 30)
    converter = amounts(25, 20) if narrow else amounts()
    return {
        "name": name,
        "source": source,
        "source_port": 0,
        "target": target,
        "target_port": 0,
        "source_width_bits": widths[0],
        "target_width_bits": widths[1],
        "width_bits": max(widths),
        "words_per_frame": words,
        "converter": "StreamingDataWidthConverter_rtl" if narrow else None,
        "converter_module": narrow,
        "fifo_depth": 32,
        "fifo_module": module_of(target if source.startswith("host:") else source),
        "crossing_registers": 0,
        "link": None,
        "resources": add(fifo, converter),
        "fifo_resources": fifo,
        "converter_resources": converter,
        "crossing_resources": {},
    }
