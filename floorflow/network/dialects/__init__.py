"""One module for each dialect of ONNX: it rewrites what is its own into QONNX and leaves all else alone.

* ``channels_last``: data with channels last, of Keras' exports or of QONNX's channels-last operators, becomes channels
  first; ``layouts`` says which data that is;
* ``qlinear``: QLinearConv, ConvInteger and their kind become plain layers between quantisers;
* ``qcdq``: QuantizeLinear, Clip and DequantizeLinear become Quant;
* ``thresholds``: MultiThreshold and annotated types, as FINN converts QONNX, become Quant again;
* ``floats``: a network without any quantiser gets a Quant of a chosen width before every layer.
"""

from floorflow.network.dialects import channels_last, floats, qcdq, qlinear, thresholds
from floorflow.network.dialects.floats import EIGHT_BITS, FloatBits
from floorflow.network.dialects.thresholds import annotated
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
