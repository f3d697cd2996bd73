"""What a request may ask of hls4ml and of the model of its engines."""

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
        description="Products as HLS makes them, all else by structure; or as SAMO has it, a DSP a multiplier alone.",
    )
    weight_bits: int | None = Field(
        None, ge=1, le=18, description="Bits of weights in a network without quantisers; 16 if not given."
    )
    activation_bits: int | None = Field(
        None,
        ge=1,
        le=18,
        description=(
            "Bits of what activations make in a network without quantisers; as many as weights if not given. "
            "Its inputs and sums have 16."
        ),
    )

    @property
    def activations(self) -> int | None:
        """Bits that were asked for activations; those of weights if for weights alone."""
        return self.weight_bits if self.activation_bits is None else self.activation_bits


HLS4ML = Registration("floorflow.backends.hls4ml.backend:BACKEND", Hls4mlOptions)
