"""Fitted values of the ``calibrated`` cost model, written by ``benchmarks/calibration.py --write``."""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.backends.finn.cost.estimated import Coefficients

CALIBRATED = Coefficients(
    hls_lut=38.7,
    hls_ff=28.1,
    hls_lut_per_port_bit=0.96,
    hls_ff_per_port_bit=2.28,
    streamer_lut=35.9,
    streamer_lut_per_bit=0.49,
    streamer_ff_per_bit=1,
    buffer_lut_per_bit=0.359,
    buffer_lut_per_word=1.29,
    buffer_ff_per_bit=1.09,
    mvau_hls_lut=73.1,
    mvau_hls_ff=109,
    product_lut_share=0.805,
    product_ff_per_bit=0.4,
    gate_lut_share=1.02,
    gate_ff_per_bit=0.978,
    gate_ff_per_bit_of_main=0.488,
    dsp_adder_lut_share=0.274,
    dsp_product_ff_per_bit=1.32,
    threshold_lut_per_bit=0.377,
    threshold_ff_per_bit=0.521,
    rtl_lut=39.9,
    rtl_lut_per_product_bit=1.85,
    rtl_ff_per_product_bit=3.78,
    window_lut=156,
    window_ff=83.7,
    window_lut_share=1.13,
    window_lut_per_word_bit=0.331,
    window_ff_per_bank=0.38,
    point_window_lut=54.2,
    point_window_ff=39.7,
    padding_lut=22.1,
    padding_lut_per_bit=0.534,
    padding_ff=18.7,
    padding_ff_per_bit=1.97,
    pool_lut=87,
    pool_ff=59.3,
    threshold_rtl_lut=9.1,
    threshold_rtl_lut_per_bit=0.73,
    threshold_rtl_memory_share=1.06,
    threshold_rtl_ff_per_bit=1.32,
    widening_lut_per_bit=0.436,
    narrowing_lut_per_bit=0.535,
    converter_ff_share=1.03,
    fifo_lut_share=1,
    fifo_ff_per_bit=0.995,
)
"""docs/cost-model.md has their sources and how far each moves if one network is left out."""

MEASURED_BANDS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "AddStreams_hls": {"FF": (0.5, 2), "LUT": (0.5, 2)},
    "ConvolutionInputGenerator_rtl": {"FF": (0.5, 2), "LUT": (0.5, 2)},
    "DuplicateStreams_hls": {"FF": (0.5, 2), "LUT": (0.5, 2)},
    "FMPadding_rtl": {"FF": (0.5, 2), "LUT": (0.5, 2)},
    "IODMA_hls": {"BRAM18": (0.8, 1.25), "FF": (0.5, 2), "LUT": (0.5, 2)},
    "LabelSelect_hls": {"FF": (0.5, 2), "LUT": (0.5, 2)},
    "MVAU_hls": {"BRAM18": (0.86, 1.05), "DSP": (0.9, 1.1), "FF": (0.75, 1.1), "LUT": (0.81, 1.16)},
    "MVAU_rtl": {"BRAM18": (0.8, 1.25), "DSP": (1, 1), "FF": (0.5, 2), "LUT": (0.5, 2)},
    "Pool_hls": {"FF": (0.5, 2), "LUT": (0.5, 2)},
    "StreamingDataWidthConverter_rtl": {"FF": (0.9, 1.21), "LUT": (0.88, 1.1)},
    "StreamingFIFO_rtl": {"BRAM18": (0.89, 1), "FF": (0.9, 1.1), "LUT": (0.9, 1.1)},
    "StreamingMaxPool_hls": {"BRAM18": (0.8, 1.25), "FF": (0.5, 2), "LUT": (0.5, 2)},
    "Thresholding_rtl": {"FF": (0.5, 2), "LUT": (0.5, 2)},
}
"""Factors on an estimate between which four fifths of the measured ones lie, by kind and resource."""
