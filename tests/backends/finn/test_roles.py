"""Engines tell what others ask of their kinds: role, window fill, label."""

from __future__ import annotations

from fractions import Fraction

import pytest

from floorflow.backends.finn.read.dataflow import read_source
from floorflow.backends.finn.roles import described
from floorflow.dataflow.model import Engine
from floorflow.technology import technology_of
from tests.conftest import CNV


def of_kind(kind: str, **attributes: int | tuple[int, ...]) -> Engine:
    return described(Engine("e", kind, "", attributes, 0, 4, 4))


@pytest.mark.parametrize(
    ("kind", "role", "label"),
    [
        ("MVAU_hls", "core", "MVAU"),
        ("StreamingMaxPool_hls", "core", "max pool"),
        ("FMPadding_rtl", "front", "pad"),
        ("AddStreams_hls", "front", "add"),
        ("Thresholding_rtl", "behind", "threshold"),
        ("ElementwiseSub_hls", "behind", "ElementwiseSub"),
    ],
)
def test_kinds_have_a_role_and_a_short_word(kind: str, role: str, label: str) -> None:
    engine = of_kind(kind)
    assert (engine.role, engine.label, engine.window_fill) == (role, label, 0)


def test_fill_is_the_share_of_the_frame_before_the_first_window() -> None:
    def fill(kernel: int, dilation: int = 1) -> Fraction:
        sizes = {"IFMDim": (10, 10), "ConvKernelDim": (kernel, kernel), "Dilation": (dilation, dilation)}
        return of_kind("ConvolutionInputGenerator_rtl", **sizes).window_fill

    assert fill(3) == Fraction(23, 100)  # 2 rows of 10 and 3 pixels of 100
    assert fill(1) == Fraction(1, 100)
    assert fill(3, 2) == Fraction(45, 100)
    assert fill(3, 5) == 1
    assert of_kind("GlobalAccPool_hls").window_fill == 1


def test_every_lowered_engine_has_them() -> None:
    engines = read_source(CNV).lower(technology_of("xcu250-figd2104-2L-e")).engines
    assert all(engine.label for engine in engines)
    assert [engine.role for engine in engines[:4]] == ["behind", "front", "core", "front"]
