"""FINN+'s own packing of values for DMA engines, and that of host/run.py."""

import random

import numpy as np
import pytest

from floorflow.backends.finn.host.run import packed, unpacked
from tests.tools_finn.oracle import FinnPlus

pytestmark = pytest.mark.tools
TYPES = {
    "BIPOLAR": (1, -1, 1),
    "BINARY": (1, 0, 1),
    "TERNARY": (2, -1, 1),
    "INT3": (3, -4, 3),
    "UINT4": (4, 0, 15),
    "UINT8": (8, 0, 255),
    "INT8": (8, -128, 127),
    "INT13": (13, -4096, 4095),
    "UINT16": (16, 0, 65535),
    "INT21": (21, -(1 << 20), (1 << 20) - 1),
}


def rounded(value: float) -> float:
    """Return the value in single precision."""
    return float(np.float32(value))


@pytest.mark.parametrize("each", [1, 3])
def test_floats_are_packed_as_finn_plus_does(each: int, finn_plus: FinnPlus) -> None:
    draw = random.Random(each)
    own = [0.0, -1.5, 1 / 3, 3.4e38, -1.2e-38, 1e-45, 16777217.0, float("inf"), -2.0]
    values = [rounded(value) for value in (*own, *(draw.gauss(0, 100) for _ in range(12)))]
    words = [values[first : first + each] for first in range(0, len(values), each)]
    end = {"type": "FLOAT32", "element_bits": 32, "elements_per_word": each, "least": None, "most": None}
    told = finn_plus.ask(do="pack", type="FLOAT32", words=words)
    assert list(packed(values, end)) == told["bytes"]
    assert unpacked(bytes(told["bytes"]), end) == values == told["values"]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("each", [1, 3, 8])
def test_frames_are_packed_as_finn_plus_does(kind: str, each: int, finn_plus: FinnPlus) -> None:
    bits, least, most = TYPES[kind]
    draw = random.Random(each)  # of a bipolar type 0 is no value
    choose = (lambda: draw.choice([-1, 1])) if kind == "BIPOLAR" else (lambda: draw.randint(least, most))
    words = [[choose() for _ in range(each)] for _ in range(5)]
    values = [value for word in words for value in word]
    end = {"type": kind, "element_bits": bits, "elements_per_word": each, "least": least, "most": most}
    told = finn_plus.ask(do="pack", type=kind, words=words)
    assert list(packed(values, end)) == told["bytes"]
    assert unpacked(bytes(told["bytes"]), end) == values == told["values"]
