"""What Kwadjo, Tchinda and Bobda print: Coarse-Grained Floorplanning for streaming CNN applications on Multi-Die FPGAs.

Tables II to IV as printed; the figures are lost but for their captions.
"""

from __future__ import annotations

KU5P = {"LUT": 216_960, "FF": 433_920, "BRAM36": 480, "DSP": 1_824, "URAM": 64}
"""xcku5p, on which the paper builds; counted from the device's file by the part that prints it."""
CAPS = {"LUT": 0.70, "FF": 0.50, "BRAM36": 0.90}
FPGAS = 3
TABLE_3 = {
    "layer": {"KFF": 741.0, "KLUT": 421.0, "BRAM36": 821.5, "ms": 4.8, "MHz": 276.0},
    "block": {"KFF": 801.0, "KLUT": 479.0, "BRAM36": 761.6, "ms": 4.2, "MHz": 252.0},
    "flat": {"KFF": 935.0, "KLUT": 526.0, "BRAM36": 822.0, "ms": 6.3, "MHz": 201.0},
}
"""``flat`` is the paper's baseline, synthesised and placed by Vivado as a whole."""
TABLE_3_POWER = {"layer": (208.0, 29.79), "block": (225.0, 27.98), "flat": (235.0, 22.15)}
"""W and energy efficiency, which has no unit: GOP/s/W, if it is what its neighbours in the field print."""
PRINTED_GAIN = {"layer": {"KFF": 26, "KLUT": 24, "ms": 31, "MHz": 37}, "block": {"KFF": 16, "KLUT": 10, "ms": 33}}
"""Percent, as Table III has them beside its figures."""
TABLE_2 = (
    ("Ma et al.", "Arria 10", "ResNet-50", "w16a16", 200, 12.51),
    ("Cloud-DNN", "AWS", "ResNet-50", "w16a16", 125, 13.9),
    ("Biookaghazadeh et al.", "Arria 10", "ResNet-50", "w8a8", 212, 20.9),
    ("Elastic-DF", "2 x U250", "ResNet-50", "w1a2", 217, 2.3),
    ("Zhang et al.", "3 x Virtex UltraScale", "ResNet-152", "w16a16", 150, None),
    ("CNN-on-AWS", "5 x AWS F1", "ResNet-18", "w16a16", None, 2.1),
    ("the paper", "3 x xcku5p", "ResNet-50", "w1a4", 246, 4.2),
)
"""Work, platform, network, precision, MHz, ms an image."""
TABLE_4_HOURS = {
    "layer": {"pre-implemented modules": 1.14, "routing between modules": 4.82, "printed total": 5.96},
    "block": {"pre-implemented modules": 0.32, "routing between modules": 3.63, "printed total": 3.95},
    "flat": {"synthesis": 4.16, "place and route": 8.9, "printed total": 13.02},
}
FIGURE_4 = "BRAM goes from 10 to 18 when SIMD passes 32, whatever PE"
FIGURE_6 = "from 4 FPGAs some blocks fit no SLR; with 3 the blocks' latency is slightly lower"
REUSE = {"paper": 69.0, "ResNet-34 convolutions": 69.4, "ResNet-50 convolutions": (56.6, 62.3)}
"""Percent. The paper says 69 without a definition; the others are 1 - different shapes / convolutions."""
