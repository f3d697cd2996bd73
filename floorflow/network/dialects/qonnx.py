"""Bring a file of any dialect into QONNX, the one form that the reader knows."""

from __future__ import annotations

from floorflow.network.dialects import channels_last, floats, qcdq, qlinear, thresholds
from floorflow.network.dialects.floats import FloatBits
from floorflow.network.onnx_file import OnnxFile
from floorflow.network.standard import check_standard


def to_qonnx(source: OnnxFile, bits: FloatBits) -> OnnxFile:
    """Return the file as channels-first QONNX; ``bits`` are for a network without quantisers.

    InputError if a node of a dialect cannot be read, or breaks ONNX's standard; names file, node and reason.
    """
    for rewrite in (thresholds.rewrite, channels_last.spelled_out, qlinear.rewrite, qcdq.rewrite):
        source = rewrite(source)
    check_standard(source)
    return floats.rewrite(channels_last.channels_first(source), bits)
