"""One module for each dialect of ONNX: it rewrites what is its own into QONNX and leaves all else alone.

* ``channels_last``: data with channels last, of Keras' exports or of QONNX's channels-last operators, becomes channels
  first; ``layouts`` says which data that is;
* ``qlinear``: QLinearConv, ConvInteger and their kind become plain layers between quantisers;
* ``qcdq``: QuantizeLinear, Clip and DequantizeLinear become Quant;
* ``thresholds``: MultiThreshold and annotated types, as FINN converts QONNX, become Quant again;
* ``floats``: a network without any quantiser gets a Quant of a chosen width before every layer.
"""

from floorflow.network.dialects.floats import EIGHT_BITS, FloatBits
from floorflow.network.dialects.qonnx import to_qonnx
from floorflow.network.dialects.thresholds import annotated

__all__ = ["EIGHT_BITS", "FloatBits", "annotated", "to_qonnx"]
