"""Window fill by formula."""

from fractions import Fraction

import pytest

from floorflow.verify.finn.engines import FoldedEngine
from floorflow.verify.finn.kinds import window_fill
from tests.verify.tiny_network import window


def windowed(size: int, **changes: object) -> FoldedEngine:
    attributes = window(4, size, size - 2) | changes
    return FoldedEngine("w", {"kind": "ConvolutionInputGenerator_rtl", "attributes": attributes}, {})


@pytest.mark.parametrize(
    ("engine", "share"),
    [
        (windowed(10), Fraction(23, 100)),  # 2 rows of 10, 2 pixels and one: 23 of 100
        (windowed(9), Fraction(21, 81)),
        (windowed(10, Dilation=[2, 3]), Fraction(47, 100)),  # 40 + 6 + 1
        (windowed(10, ConvKernelDim=[1, 1]), Fraction(1, 100)),
        (windowed(10, IFMDim=[1, 20], ConvKernelDim=[1, 5]), Fraction(5, 20)),  # 5 of 20
        (windowed(3), 1),
        (windowed(3, Dilation=[9, 9]), 1),  # never more than the image
        (FoldedEngine("p", {"kind": "FMPadding_rtl", "attributes": {}}, {}), 0),
    ],
)
def test_a_window_is_full_after_its_first_rows(engine: FoldedEngine, share: Fraction) -> None:
    assert window_fill(engine) == share
