"""What floorflow has to know of toykit before it is imported."""

from typing import Literal

from pydantic import Field

from floorflow.plugins import BackendOptions, Registration


class ToyOptions(BackendOptions):
    """Options of toykit."""

    most_lanes: int = Field(64, ge=1, le=4096, description="Most multiplications of a filter in one cycle.")
    maths: Literal["free", "dsp", "fabric"] = Field("free", description="What multiplies: DSPs, LUTs or the better.")


TOYKIT = Registration("toykit.backend:BACKEND", ToyOptions, fold_methods=("thrifty",))
