"""A plan whose modules share implementations: two equal layers, in windows one clock region above the other."""

from pathlib import Path

import onnx

import floorflow as ff
from examples.make_models import ModelBuilder

WINDOWS = {"FMPadding_rtl": (60, 63), "ConvolutionInputGenerator_rtl": (40, 51), "MVAU_rtl": (64, 76)}
"""First and last column of SLICEs."""


def twins(folder: Path) -> Path:
    """Return the folder of the plan, on a Kintex."""
    builder = ModelBuilder("twins", (1, 4, 8, 8))
    builder.quantise(4, signed=False, narrow=False)
    for _ in range(2):
        builder.conv(4, (3, 3), 4, pads=(1, 1, 1, 1))
        builder.relu()
        builder.quantise(4, signed=False, narrow=False)
    builder.flatten()
    onnx.save(builder.model(), folder / "twins.onnx")
    fixed = {
        f"{name}_{number}": f"SLICE_X{first}Y{bottom}:SLICE_X{last}Y{bottom + 59}"
        for name, (first, last) in WINDOWS.items()
        for number, bottom in enumerate((60, 120))
    }
    ff.plan(
        folder / "twins.onnx",
        "xcku5p",
        flow="stitch",
        granularity="layer",
        fix_pblock=fixed,
        effort="fast",
        plots=False,
    ).save(folder / "out")
    return folder / "out"
