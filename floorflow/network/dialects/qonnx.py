"""Bring a file of any dialect into QONNX, the one form that the reader knows."""

from __future__ import annotations

from floorflow.network.dialects import channels_last, floats, qcdq, qlinear, thresholds
from floorflow.network.dialects.floats import FloatBits
from floorflow.network.onnx_file import OnnxFile


def to_qonnx(source: OnnxFile, bits: FloatBits) -> OnnxFile:
    """Return the file as channels-first QONNX; ``bits`` are for a network without quantisers.

    Raises
    ------
    InputError
        If a node of a dialect cannot be read; names file, node and reason.

    """
    for rewrite in (thresholds.rewrite, channels_last.rewrite, qlinear.rewrite, qcdq.rewrite):
        source = rewrite(source)
    return floats.rewrite(source, bits)
