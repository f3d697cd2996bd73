"""Fitted values of the ``calibrated`` cost model, written by ``benchmarks/calibration.py --write``."""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.backends.finn.cost.estimated import Coefficients

CALIBRATED = Coefficients(
    hls_lut=39.6,
    hls_ff=34.2,
    hls_lut_per_port_bit=0.889,
    hls_ff_per_port_bit=1.83,
    streamer_lut=37.4,
    streamer_lut_per_bit=0.496,
    streamer_ff_per_bit=1.03,
    buffer_lut_per_bit=0.317,
    buffer_lut_per_word=0.963,
    buffer_ff_per_bit=1.1,
    mvau_hls_lut=152,
    mvau_hls_ff=156,
    product_lut_share=0.818,
    product_ff_per_bit=1.59,
    gate_lut_share=0.98,
    gate_ff_per_bit=1.15,
    dsp_adder_lut_share=0.469,
    dsp_product_ff_per_bit=1.06,
    threshold_lut_per_bit=0.362,
    rtl_lut=40.1,
    rtl_lut_per_product_bit=1.79,
    rtl_ff_per_product_bit=3.75,
    window_lut=167,
    window_ff=76.9,
    window_lut_share=1.14,
    window_lut_per_word_bit=0.319,
    window_ff_per_bank=0.41,
    point_window_lut=54.2,
    point_window_ff=39.7,
    padding_lut=22.1,
    padding_lut_per_bit=0.534,
    padding_ff=18.7,
    padding_ff_per_bit=1.98,
    pool_lut=87.5,
    pool_ff=62.9,
    threshold_rtl_lut=9.09,
    threshold_rtl_lut_per_bit=0.728,
    threshold_rtl_memory_share=1.06,
    threshold_rtl_ff_per_bit=1.32,
    widening_lut_per_bit=0.46,
    narrowing_lut_per_bit=0.53,
    converter_ff_share=1.05,
    fifo_lut_share=0.996,
    fifo_ff_per_bit=0.993,
)
"""docs/cost-model.md has their sources and how far each moves if one network is left out."""

MEASURED_BANDS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "AddStreams_hls": {"FF": (0.8, 1.67), "LUT": (0.8, 1.3)},
    "ConvolutionInputGenerator_rtl": {"FF": (0.7, 1.25), "LUT": (0.79, 1.25)},
    "DuplicateStreams_hls": {"FF": (0.8, 1.6), "LUT": (0.8, 1.31)},
    "FMPadding_rtl": {"FF": (0.8, 1.25), "LUT": (0.8, 1.8)},
    "IODMA_hls": {"BRAM18": (0.8, 1.25), "FF": (0.8, 1.25), "LUT": (0.8, 1.25)},
    "LabelSelect_hls": {"FF": (0.67, 1.25), "LUT": (0.79, 1.25)},
    "MVAU_hls": {"BRAM18": (0.86, 1.08), "DSP": (0.8, 1.25), "FF": (0.73, 1.12), "LUT": (0.82, 1.23)},
    "MVAU_rtl": {"BRAM18": (0.8, 1.25), "DSP": (1, 1), "FF": (0.8, 1.25), "LUT": (0.8, 1.25)},
    "Pool_hls": {"FF": (0.63, 1.25), "LUT": (0.78, 1.25)},
    "StreamingDataWidthConverter_rtl": {"FF": (0.8, 1.25), "LUT": (0.8, 1.25)},
    "StreamingFIFO_rtl": {"BRAM18": (0.8, 1.25), "FF": (0.8, 1.25), "LUT": (0.8, 1.25)},
    "Thresholding_rtl": {"FF": (0.6, 1.74), "LUT": (0.8, 1.25)},
}
"""Factors on an estimate between which four fifths of the measured ones lie, by kind and resource."""
