"""What a request may ask of f-CNN^x' engine."""

from typing import Literal

from pydantic import Field

from floorflow.plugins import BackendOptions, Registration

Weights = Literal["overlapped", "serial"]


class FcnnxOptions(BackendOptions):
    """The options of the back end ``fcnnx``."""

    weights: Weights = Field(
        "overlapped",
        description="When weights of a subgraph are read: while it computes, or before (eq. 2 of f-CNN^x literally).",
    )


FCNNX = Registration("floorflow.backends.fcnnx.backend:BACKEND", FcnnxOptions, shares_memory=True)
