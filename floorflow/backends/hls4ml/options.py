"""What a request may ask of hls4ml and of the model of its engines."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from floorflow.plugins import BackendOptions, Registration

StrategyChoice = Literal["auto", "resource", "latency"]
LegalSet = Literal["hls4ml", "samo"]
CostsName = Literal["structure", "samo"]


class Hls4mlOptions(BackendOptions):
    """The options of the back end ``hls4ml``."""

    strategy: StrategyChoice = Field(
        "auto", description="Strategy of layers with weights: one for all, or that which suits each layer."
    )
    legal_set: LegalSet = Field(
        "hls4ml", description="Which reuse factors are legal: those that hls4ml takes, or those that SAMO searches."
    )
    costs: CostsName = Field(
        "structure",
        description="SAMO's DSPs with LUT, FF and BRAM by structure (uncalibrated), or as SAMO has it: DSPs alone.",
    )
    weight_bits: int | None = Field(
        None, ge=1, le=18, description="Bits of weights in a network without quantisers; 16 if not given."
    )
    activation_bits: int | None = Field(
        None, ge=1, le=18, description="Bits of activations in a network without quantisers; 16 if not given."
    )


HLS4ML = Registration("floorflow.backends.hls4ml.backend:BACKEND", Hls4mlOptions)
