"""hls4ml as a back end: what each question of the planner is answered by."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from floorflow.backends.backend import Costs, Parallelism, WeightMemory
from floorflow.backends.hls4ml import export, project
from floorflow.backends.hls4ml.costs import MEASURED, UNMEASURED, Hls4mlCosts, Shape
from floorflow.backends.hls4ml.foldings import GLOBAL_POOLS, WEIGHTED, products
from floorflow.backends.hls4ml.given import beside, config_file, given_groups, in_project, with_config
from floorflow.backends.hls4ml.lower import DEFAULT_BITS, Hls4mlSource, lowered
from floorflow.backends.hls4ml.options import Hls4mlOptions
from floorflow.backends.hls4ml.weights import weights_of
from floorflow.backends.layered.areas import DEEPEST_IN_LUTS
from floorflow.backends.layered.backend import NamedByUser, by_rows, rows_written
from floorflow.backends.layered.graph import layers_from
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.errors import some
from floorflow.facts import EngineEntry, Plan
from floorflow.facts.guide import BuildStep, Place
from floorflow.network import FloatBits
from floorflow.network.onnx_file import load
from floorflow.rates import Actor
from floorflow.technology import Technology

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

    def tool_steps(self, plan: Plan, place: Place) -> Iterable[BuildStep]:
        if len(plan.networks) > 1 or not place.has(f"{self.name}/{export.PROJECT}"):
            return super().tool_steps(plan, place)
        name = plan.networks[0].name
        return [
            BuildStep(
                "Convert and build with hls4ml",
                (
                    f"(cd {place.path(self.name)} && hls4ml convert -c {export.PROJECT})",
                    f"(cd {place.path(self.name)} && hls4ml build -p {name}_prj -l)",
                ),
                f"hls4ml (1.3.0 was tried) and Vitis HLS; {place.path(self.name)}/{name}_channels_last.onnx: the model "
                "behind qonnx's cleanup, GemmToMatMul and ConvertToChannelsLast",
                f"{name}_prj is the project; the second command lists how it is built on",
            )
        ]

    given_groups = staticmethod(given_groups)
    files = staticmethod(export.files)
    unplaced_files = staticmethod(export.unplaced_files)
    recognises_build = staticmethod(project.recognises)
    read_build = staticmethod(project.read_project)

    def read(self, path: Path, options: Hls4mlOptions) -> Hls4mlSource:
        """Read a model file; ``weight_bits`` and ``activation_bits`` are for a network without quantisers."""
        weights, activations = (bits or DEFAULT_BITS for bits in (options.weight_bits, options.activations))
        file = load(path)
        values = weights_of(file)  # before dialects rewrite the model in place
        read = layers_from(file, FloatBits(weights, activations))
        return Hls4mlSource(read.network, read.sha256, read.clean_names, read.has_quantisers, values, beside(path))

    def lower(self, source: Hls4mlSource, technology: Technology, options: Hls4mlOptions) -> Dataflow:
        """Return the layers, with the reuse factors and types of the hls4ml project that the model lies in, if any."""
        found = lowered(source, options.weight_bits)
        return found if source.project is None else in_project(found, source.project)

    def with_folding(self, dataflow: Dataflow, path: Path, technology: Technology) -> Dataflow:
        """Return the layers with the reuse factors and types of a configuration of hls4ml's."""
        return with_config(dataflow, path)

    def folding_inputs(self, dataflow: Dataflow, path: Path) -> Sequence[Path]:
        return (config_file(path),)

    def costs(self, technology: Technology, options: Hls4mlOptions, *, own_kinds: bool = False) -> Hls4mlCosts:
        return Hls4mlCosts(options)

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        """Return when a layer reads and writes: by rows of its input."""
        sizes = Shape(engine).sizes
        rows = sizes.get("in_height", 1)
        written = np.eye(1, rows, rows - 1, dtype=np.int64)[0]
        if "pads" in engine.attributes and engine.kind not in GLOBAL_POOLS:
            pads = engine.attributes["pads"]
            window = (sizes["filt_height"], sizes["stride_height"], int(pads[0]))  # type: ignore[index]
            written = rows_written(rows, sizes["out_height"], window)
        elif engine.kind not in GLOBAL_POOLS | {"Dense"}:
            written = np.ones(rows, dtype=np.int64)
        return by_rows(engine.name, option.cycles, (inputs, outputs), written)

    def parallelism(self, engine: Engine, option: Option) -> tuple[Parallelism, ...]:
        """Return the multipliers of a layer with weights, of all that it could have."""
        if engine.kind not in WEIGHTED:
            return ()
        most = products(engine)
        return (("multipliers", -(-most // int(option.folding["ReuseFactor"])), most),)  # type: ignore[arg-type]

    def weight_memory(self, engine: Engine, option: Option) -> WeightMemory | None:
        if engine.kind not in WEIGHTED:
            return None
        bits, reuse = products(engine) * engine.weight_bits, int(option.folding["ReuseFactor"])  # type: ignore[arg-type]
        deep = reuse > DEEPEST_IN_LUTS and option.folding["Strategy"] == "Resource"
        return WeightMemory(bits, "block" if deep else "distributed")

    def warnings(self, folded: FoldedDataflow, clock_mhz: float, options: Hls4mlOptions) -> Sequence[str]:
        """Return what stands behind the areas: which kinds nobody measured, and how far off they may be."""
        if options.costs == "samo":
            return (SAMO_ONLY,)
        kinds, (least, most) = sorted({engine.kind for engine in folded.dataflow.engines} - MEASURED.keys()), UNMEASURED
        off = f"they are priced by structure and may be {least:g} to {most:g} times what is told"
        return (f"areas of {some(kinds)} are not calibrated: no build shows them, {off}",) if kinds else ()

    def cost_model(self, plan: Plan, /) -> str:
        return "products as HLS makes them, area by structure; SAMO's cycles (docs/hls4ml.md)"

    def built_options(self, folder: Path, costs: Costs, /) -> Mapping[str, Option]:
        """Return the prices of a project's layers at the reuse factors that they were built with."""
        return project.project_options(folder, costs) if isinstance(costs, Hls4mlCosts) else {}

    def faster_by_hand(self, engines: Sequence[EngineEntry], /) -> str:
        """Return what would shorten engines at a reuse factor of 1: hls4ml takes one pixel a time."""
        sizes = sorted({(e.attributes.get("in_height", 1), e.attributes.get("in_width", 1)) for e in engines})
        return f"a smaller feature map than {' or '.join(f'{rows}x{columns}' for rows, columns in sizes)}"


BACKEND = Hls4mlBackend()
