"""What a request may ask of FINN and of the cost models of its engines, and its registration; imports nothing slow."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from floorflow.errors import InputError
from floorflow.plugins import BackendOptions, Registration
from floorflow.request import ENGINES, NETWORK, Spelling

CostModelName = Literal["calibrated", "estimated", "finn", "samo"]
FinnName = Literal["main", "dev", "plus"]
ImplStyle = Literal["auto", "default", "free"]
FlowName = Literal["auto", "vitis", "zynq", "stitch"]
FifoSizing = Literal["floorflow", "finn"]
Crossings = Literal["fifo", "vendor", "none"]
RuntimeWeights = Literal["auto", "never", "always"]
Thresholds = Literal["fused", "apart"]


def _word(value: object) -> object:
    """Return the word for yes or no, as plans had it and as Python says it."""
    return {True: "always", False: "never"}[value] if isinstance(value, bool) else value


def _release(value: object) -> object:
    """Return a release of Vivado as it was given."""
    if value is not None and re.fullmatch(r"20[0-9]{2}\.[1-9]", str(value)) is None:
        raise InputError(f"--vivado {value}: expected a year and a release, such as 2022.2")
    return value if value is None else str(value)


class FinnOptions(BackendOptions):
    """The options of the back end ``finn``.

    ``impl_style``: engines are hls or rtl as FINN itself chooses (``default``), or as is best (``free``); ``auto`` is
    free where that serves the objective, and never with FINN's own costs. ``vivado``: what HLS makes of products whose
    ``resType`` is ``auto``, and of their registers; if not given, prices are of the one that FINN names, 2022.2 of main
    and dev and 2024.2 of FINN+; what may be needed spans both. ``runtime_weights``: whether weights may lie in URAM,
    which has no initial contents, so that software writes them before the first frame: ``auto`` only where without it
    nothing fits or the rate falls by more than a tenth, and then for as few engines as can be. ``fifo_sizing``:
    ``finn`` plans and prices the depths that FINN's automatic sizing is foreseen to set, and lets it. ``crossings``:
    what the step that sets FIFOs builds at SLR boundaries; ``vendor``: nothing, but a script inserts AMD's register
    slices when v++ links; ``none`` plans registers that somebody else has to make.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = MappingProxyType({"max": {"runtime_weights": "always"}})

    costs: Annotated[CostModelName, ENGINES] = Field("calibrated", description="Cost model.")
    finn: Annotated[FinnName, ENGINES] = Field("main", description="Which FINN.")
    vivado: Annotated[str | None, BeforeValidator(_release), ENGINES] = Field(
        None, description="The Vivado that will build, such as 2022.2; if not given, the one that FINN names."
    )
    impl_style: Annotated[ImplStyle, ENGINES] = Field(
        "auto", description="hls or rtl: as FINN itself chooses, as is best, or that where it serves the objective."
    )
    runtime_weights: Annotated[
        RuntimeWeights, BeforeValidator(_word), Spelling(ENGINES.panel, short_for=("--no-runtime-weights", "never"))
    ] = Field(
        "auto", description="Weights in URAM, which software writes at run time: auto only where much rests on it."
    )
    thresholds: Annotated[Thresholds, ENGINES] = Field(
        "fused", description="Thresholds behind HLS units: part of these, or engines of their own, in RTL."
    )
    fifo_sizing: Annotated[FifoSizing, ENGINES] = Field(
        "floorflow",
        description="Whose FIFO depths are planned and built: floorflow's, or those that FINN's automatic sizing is "
        "foreseen to set.",
    )
    crossings: Annotated[Crossings, ENGINES] = Field(
        "fifo",
        description="What streams have at SLR boundaries: FIFOs of two words on each side, which are built; AMD's "
        "register slices, which an emitted script inserts when v++ links; or nothing.",
    )
    flow: Annotated[FlowName, ENGINES] = Field(
        "auto",
        description="The way into Vivado that files are written for: the board's own, Alveo's, Zynq's, or, for a bare "
        "part, modules that are implemented one by one and stitched.",
    )
    label_select: Annotated[bool, NETWORK] = Field(default=False, description="Add LabelSelect after the last layer.")
    weight_bits: Annotated[int | None, NETWORK] = Field(
        None, ge=1, le=16, description="Bits of weights in a network without quantisers; 8 if not given."
    )
    activation_bits: Annotated[int | None, NETWORK] = Field(
        None, ge=1, le=8, description="Bits of activations in a network without quantisers; 8 if not given."
    )

    @model_validator(mode="after")
    def _styles_have_prices(self) -> Self:
        if self.impl_style == "free" and self.costs in {"finn", "samo"}:
            raise InputError(
                f"--impl-style free: --costs {self.costs} prices FINN's own choices, and some hardware at nothing",
                hint="use --costs calibrated or estimated to choose between hls and rtl",
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _stitched_without_ports_for_weights(cls, given: Any) -> Any:
        """Let no weights be written at run time where modules are stitched, which have streams alone."""
        if not isinstance(given, Mapping) or given.get("flow") != "stitch":
            return given
        found = {"runtime_weights": "never", **given}
        if found["runtime_weights"] not in ("never", False):
            asked = f"--runtime-weights {found['runtime_weights']}"
            raise InputError(
                f"--flow stitch: modules have streams alone, {asked} needs a port", hint=f"leave {asked} out"
            )
        return found

    def for_reuse(self) -> Self:
        """Return the same with thresholds apart, whose memories can be written, as fused ones cannot."""
        return self.model_copy(update={"thresholds": "apart"})

    @property
    def stitches(self) -> bool:
        """Whether modules are implemented one by one and stitched."""
        return self.flow == "stitch"

    @property
    def vivado_version(self) -> tuple[int, int] | None:
        """Year and release of Vivado; None if not given."""
        if self.vivado is None:
            return None
        year, release = self.vivado.split(".")
        return int(year), int(release)

    @property
    def crossing_fifos(self) -> bool:
        """Whether there are FIFOs at SLR boundaries: only the step that sets FIFOs inserts them."""
        return self.crossings == "fifo" and self.sets_fifos(knows_depths=True)

    @property
    def crossing_slices(self) -> bool:
        """Whether vitis/crossings.tcl is to insert AMD's register slices."""
        return self.crossings == "vendor"

    @property
    def crossing_advice(self) -> str:
        """Return the option that makes FINN's step insert FIFOs, or what else does where that step does not run."""
        if self.crossing_slices:
            return "vitis/relink.sh inserts AMD's register slices; only its run shows that they are there"
        return "--crossings fifo" if self.sets_fifos(knows_depths=True) else super().crossing_advice

    def sets_fifos(self, *, knows_depths: bool) -> bool:
        """Whether floorflow's steps set FIFOs: it prices them, and knows what the plan's depths keep."""
        return self.costs != "finn" and knows_depths and self.fifo_sizing == "floorflow"

    def fifos_told(self, *, knows_depths: bool) -> str:
        """Return whose depths the plan assumes, and what the emitted build sets."""
        if self.fifo_sizing == "finn":
            how = "the emitted build lets it: auto_fifo_depths=True"
            return f"as FINN's automatic sizing is foreseen to set them (--fifo-sizing finn); {how}"
        if self.sets_fifos(knows_depths=knows_depths):
            return "floorflow's depths, which the emitted build gives FINN: auto_fifo_depths=False"
        why = "FINN's own costs" if self.costs == "finn" else "rates that are not known"
        return f"the least depths, as of {why}; FINN sizes them when it builds, and deeper: auto_fifo_depths=True"

    @property
    def styles_are_open(self) -> bool:
        """Whether engines may be hls where FINN would make them rtl, and the other way."""
        return self.impl_style != "default" and self.costs not in {"finn", "samo"}


FINN = Registration("floorflow.backends.finn.backend:BACKEND", FinnOptions, ("finn", "finn-wide"))
