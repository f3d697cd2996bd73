"""What a request may ask of fpgaConvNet."""

from typing import Literal

from pydantic import Field

from floorflow.plugins import BackendOptions, Registration

Matching = Literal["inter", "none"]


class FpgaConvNetOptions(BackendOptions):
    """The options of the back end ``fpgaconvnet``."""

    matching: Matching = Field(
        "inter",
        description="Foldings at the ends of a stream: equal (SAMO since 2022-09), or any with a squeeze layer between "
        "(SAMO's Table II).",
    )


FPGACONVNET = Registration("floorflow.backends.fpgaconvnet.backend:BACKEND", FpgaConvNetOptions)
