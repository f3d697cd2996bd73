"""Window fill: how long an engine holds back its first word (docs/plan.md, *Window fill*)."""

from __future__ import annotations

from fractions import Fraction

from floorflow.verify.finn.engines import AttributeProblem, FoldedEngine


def window_fill(engine: FoldedEngine) -> Fraction:
    """Return the share of a frame until the first word: of a sliding window, all for a global sum, else 0."""
    if engine.kind == "GlobalAccPool_hls":
        return Fraction(1)
    if not engine.kind.startswith("ConvolutionInputGenerator"):
        return Fraction(0)
    try:
        (height, width), (kernel_h, kernel_w) = engine.pair("IFMDim"), engine.pair("ConvKernelDim")
        dilation_h, dilation_w = engine.pair("Dilation", [1, 1])
    except AttributeProblem:
        return Fraction(0)  # reported where the folding is checked
    image = height * width
    pixels = (kernel_h - 1) * dilation_h * width + (kernel_w - 1) * dilation_w + 1
    return Fraction(min(pixels, image), image) if image else Fraction(0)


def reads_only_padding(window: FoldedEngine, padding: FoldedEngine) -> bool:
    """Whether all that a window reads of a padded image comes before the image's first own pixel."""
    if not (window.kind.startswith("ConvolutionInputGenerator") and padding.kind.startswith("FMPadding")):
        return False
    try:
        width, (top, left) = window.pair("IFMDim")[1], tuple(padding.numbers("Padding")[:2])
        last_row, last_column = (
            (outputs - 1) * stride + (kernel - 1) * dilation
            for outputs, stride, kernel, dilation in zip(
                window.pair("OFMDim"),
                window.pair("Stride"),
                window.pair("ConvKernelDim"),
                window.pair("Dilation", [1, 1]),
                strict=True,
            )
        )
    except (AttributeProblem, ValueError):
        return False  # reported where the folding is checked
    return last_row * width + last_column < top * width + left
