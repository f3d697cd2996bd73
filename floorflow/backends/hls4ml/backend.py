"""hls4ml as a back end: what each question of the planner is answered by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from floorflow.backends.backend import Costs, Parallelism, Unplaced, WeightMemory
from floorflow.backends.builds import Build
from floorflow.backends.hls4ml import export, project
from floorflow.backends.hls4ml.costs import Hls4mlCosts, Shape
from floorflow.backends.hls4ml.foldings import layer_of
from floorflow.backends.hls4ml.kinds import WEIGHTED
from floorflow.backends.hls4ml.lower import DEFAULT_BITS, lowered
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.layered.areas import DEEPEST_IN_LUTS
from floorflow.backends.layered.backend import NamedByUser
from floorflow.backends.layered.rows import by_rows, rows_written
from floorflow.backends.layered.source import LayerSource, read_layers
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.network import FloatBits
from floorflow.rates import Actor
from floorflow.schema import EngineEntry, Plan
from floorflow.technology import Technology

UNCALIBRATED = (
    "areas are not calibrated: DSPs and cycles are SAMO's model of hls4ml, LUT, FF and BRAM are counted from structure"
)
SAMO_ONLY = (
    "costs=samo: LUT, FF and BRAM of engines count as nothing, as in SAMO's model; the plan may not fit the device"
)


class Hls4mlBackend(NamedByUser):
    """hls4ml's layers with streams of whole pixels, from ONNX and QONNX."""

    name = "hls4ml"
    folding_limit = "are no reuse factors of hls4ml"
    start_ups = "dense layers read a frame before they start"
    tool_name = "hls4ml"
    config_file = export.HLS_CONFIG

    def read(self, path: Path, options: Hls4mlOptions) -> LayerSource:
        """Read a model file; ``weight_bits`` and ``activation_bits`` are for a network without quantisers."""
        weights, activations = (bits or DEFAULT_BITS for bits in (options.weight_bits, options.activation_bits))
        return read_layers(path, FloatBits(weights, activations))

    def lower(self, source: LayerSource, technology: Technology, options: Hls4mlOptions) -> Dataflow:  # noqa: ARG002
        """Return the layers."""
        return lowered(source, options.activation_bits or DEFAULT_BITS)

    def costs(
        self,
        technology: Technology,  # noqa: ARG002
        options: Hls4mlOptions,
        *,
        own_kinds: bool = False,  # noqa: ARG002
    ) -> Hls4mlCosts:
        """Return SAMO's model with area by structure."""
        return Hls4mlCosts(options)

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        """Return when a layer reads and writes: by rows of its input."""
        sizes = Shape(engine).sizes
        rows = sizes.get("in_height", 1)
        written = np.eye(1, rows, rows - 1, dtype=np.int64)[0]
        if "pads" in engine.attributes:
            pads = engine.attributes["pads"]
            window = (sizes["filter"], sizes["stride"], int(pads[0]))  # type: ignore[index]
            written = rows_written(rows, sizes["out_height"], window)
        elif engine.kind not in {"Dense", "GlobalPooling2D"}:
            written = np.ones(rows, dtype=np.int64)
        return by_rows(engine.name, option.cycles, (inputs, outputs), written)

    def parallelism(self, engine: Engine, option: Option) -> tuple[Parallelism, ...]:
        """Return the multipliers of a layer with weights, of all that it could have."""
        if engine.kind not in WEIGHTED:
            return ()
        most = layer_of(engine).products
        return (("multipliers", most // int(option.folding["ReuseFactor"]), most),)  # type: ignore[arg-type]

    def weight_memory(self, engine: Engine, option: Option) -> WeightMemory | None:
        """Return the weights and where they lie by structure."""
        if engine.kind not in WEIGHTED:
            return None
        bits, reuse = layer_of(engine).products * engine.weight_bits, int(option.folding["ReuseFactor"])  # type: ignore[arg-type]
        deep = reuse > DEEPEST_IN_LUTS and option.folding["Strategy"] == "Resource"
        return WeightMemory(bits, "block" if deep else "distributed")

    def warnings(self, folded: FoldedDataflow, clock_mhz: float, options: Hls4mlOptions) -> Sequence[str]:  # noqa: ARG002
        """Return what stands behind the areas."""
        return (SAMO_ONLY if options.costs == "samo" else UNCALIBRATED,)

    def files(self, plan: Plan, phase: int, /) -> Mapping[str, str]:
        """Return hls4ml's configuration and the table of cells."""
        return export.files(plan, phase)

    def unplaced_files(self, part: Unplaced) -> Mapping[str, str]:
        """Return hls4ml's configuration."""
        return export.unplaced_files(part)

    def cost_model(self, plan: Plan, /) -> str:  # noqa: ARG002
        """Return in words what the plan's resources are."""
        return "SAMO's model of hls4ml, area by structure, not calibrated (docs/samo-backends.md)"

    def recognises_build(self, folder: Path, /) -> bool:
        """Whether a folder holds a project of hls4ml."""
        return project.recognises(folder)

    def read_build(self, folder: Path, /) -> Build:
        """Return what a project of hls4ml holds: its layers, and what HLS and Vivado reported."""
        return project.read_project(folder)

    def built_options(self, folder: Path, costs: Costs, /) -> Mapping[str, Option]:
        """Return the prices of a project's layers at the reuse factors that they were built with."""
        return project.project_options(folder, costs) if isinstance(costs, Hls4mlCosts) else {}

    def faster_by_hand(self, engines: Sequence[EngineEntry], /) -> str:
        """Return what would shorten engines at a reuse factor of 1: hls4ml takes one pixel a time."""
        sizes = sorted({(e.attributes.get("in_height", 1), e.attributes.get("in_width", 1)) for e in engines})
        return f"a smaller feature map than {' or '.join(f'{rows}x{columns}' for rows, columns in sizes)}"


BACKEND = Hls4mlBackend()
