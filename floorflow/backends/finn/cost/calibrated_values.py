"""Fitted values of the ``calibrated`` cost model, written by ``benchmarks/calibration.py --write``."""

from __future__ import annotations

from collections.abc import Mapping

from floorflow.backends.finn.cost.estimated import Coefficients

CALIBRATED = Coefficients(
    hls_lut=41.9,
    hls_ff=39.8,
    hls_lut_per_port_bit=0.982,
    hls_ff_per_port_bit=1.92,
    streamer_lut=38.9,
    streamer_ff_per_bit=3.18,
    buffer_lut_per_bit=0.312,
    buffer_lut_per_word=1.04,
    buffer_ff_per_bit=1.03,
    mvau_hls_lut=232,
    mvau_hls_ff=181,
    product_lut_share=0.968,
    product_ff_per_bit=1.55,
    gate_lut_share=0.603,
    gate_ff_per_bit=0.765,
    dsp_adder_lut_share=0.486,
    dsp_product_ff_per_bit=1.01,
    threshold_lut_per_bit=0.316,
    rtl_lut=40.1,
    rtl_lut_per_product_bit=1.85,
    rtl_ff_per_product_bit=2.5,
    window_lut=167,
    window_ff=76.7,
    window_lut_share=1.16,
    window_lut_per_word_bit=0.323,
    window_ff_per_bank=0.409,
    point_window_lut=54.3,
    point_window_ff=39.6,
    padding_lut=22.1,
    padding_lut_per_bit=0.535,
    padding_ff=18.7,
    padding_ff_per_bit=1.96,
    pool_lut=86.8,
    pool_ff=62.2,
    threshold_rtl_lut=8.57,
    threshold_rtl_lut_per_bit=0.738,
    threshold_rtl_memory_share=1.12,
    threshold_rtl_ff_per_bit=1.99,
    widening_lut_per_bit=0.491,
    narrowing_lut_per_bit=0.534,
    converter_ff_share=0.99,
    fifo_lut_share=1.04,
    fifo_ff_per_bit=1.87,
    auto_block_depth=32,
)
"""docs/cost-model.md has their sources and how far each moves if one network is left out."""

MEASURED_BANDS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "AddStreams_hls": {"FF": (0.8, 1.25), "LUT": (0.8, 1.25)},
    "ConvolutionInputGenerator_rtl": {"FF": (0.7, 1.25), "LUT": (0.8, 1.25)},
    "DuplicateStreams_hls": {"FF": (0.8, 1.25), "LUT": (0.8, 1.25)},
    "FMPadding_rtl": {"FF": (0.8, 1.25), "LUT": (0.8, 1.8)},
    "MVAU_hls": {"BRAM18": (0.84, 1.08), "DSP": (0.8, 1.25), "FF": (0.97, 1.48), "LUT": (0.83, 1.29)},
    "MVAU_rtl": {"BRAM18": (0.8, 1.25), "DSP": (1, 1), "FF": (0.8, 1.25), "LUT": (0.8, 1.25)},
    "Pool_hls": {"FF": (0.63, 1.25), "LUT": (0.78, 1.25)},
    "StreamingDataWidthConverter_rtl": {"FF": (0.8, 1.25), "LUT": (0.8, 1.25)},
    "StreamingFIFO_rtl": {"BRAM18": (0.8, 1.25), "FF": (0.56, 1.25), "LUT": (0.8, 1.34)},
    "Thresholding_rtl": {"FF": (0.7, 1.26), "LUT": (0.71, 1.25)},
}
"""Factors on an estimate between which four fifths of the measured ones lie, by kind and resource."""
