"""FINN as a back end: what each question of the planner is answered by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Backend, Parallelism, Proposal, WeightMemory
from floorflow.backends.binding import Binding
from floorflow.backends.builds import Build
from floorflow.backends.clock import ClockTarget, LikelyClock
from floorflow.backends.finn import export, report_words
from floorflow.backends.finn.binding import bind
from floorflow.backends.finn.clock.likely import likely_clock
from floorflow.backends.finn.config.folding_file import with_given_folding
from floorflow.backends.finn.config.folding_texts import folding_texts
from floorflow.backends.finn.config.style_file import style_file_beside
from floorflow.backends.finn.constants import constants_in_logic
from floorflow.backends.finn.cost_command import CostOptions, cost_lines
from floorflow.backends.finn.flow_files import check_flow, unbuilt
from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.folding.given_folding import given_folding_groups
from floorflow.backends.finn.folding.proposals import proposed, rules_by_method
from floorflow.backends.finn.kernel_cuts import unbuildable_engines, unlinkable_streams
from floorflow.backends.finn.names import RUNTIME_WEIGHTS, family
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.parallelism import KNOWN_PRODUCTS, PARALLEL, parallelism, products
from floorflow.backends.finn.rates.patterns import actor_of
from floorflow.backends.finn.rates.stages import stages
from floorflow.backends.finn.rates.start_up import expected_interval
from floorflow.backends.finn.read.source import Source, read_source
from floorflow.backends.finn.reports import files as own_reports
from floorflow.backends.finn.reports.build_files import report_files
from floorflow.backends.finn.reports.build_folder import read_build
from floorflow.backends.finn.reports.build_target import PART_OF_BOARD, host_port_bits
from floorflow.backends.finn.reports.instances import FinnInstances, instances
from floorflow.backends.finn.specialise import respecialised, specialised
from floorflow.backends.finn.version import VERSION_NAMES
from floorflow.backends.finn.warnings import warnings_of
from floorflow.backends.finn.weight_memory import MEMORY_ATTRIBUTES, weight_memory
from floorflow.backends.placed import Home, PlacedStream
from floorflow.backends.reports import BuiltFoldings, Report
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.dataflow.options import OptionGroup, OptionTable
from floorflow.facts import EngineEntry, Plan
from floorflow.network import FloatBits
from floorflow.rates import Actor
from floorflow.resources import Resources
from floorflow.technology import Technology


class FinnBackend(Backend):
    """FINN's engines, from QONNX and its like or from FINN's own dataflow graphs."""

    name = "finn"
    parallel_attributes = PARALLEL
    folding_limit = report_words.FOLDING_LIMIT
    start_ups = report_words.START_UPS
    fifo_depths = report_words.FIFO_DEPTHS
    boards = PART_OF_BOARD
    memory_attributes = MEMORY_ATTRIBUTES
    names_are_read = True
    own_reports = own_reports.KNOWN
    known_products = KNOWN_PRODUCTS

    def read(self, path: Path, options: FinnOptions) -> Source:
        """Read a model file; ``weight_bits`` and ``activation_bits`` are for a network without quantisers."""
        return read_source(path, FloatBits(options.weight_bits, options.activation_bits))

    def lower(self, source: Source, technology: Technology, options: FinnOptions) -> Dataflow:
        """Return the engines as that FINN makes them."""
        return source.lower(technology, options.label_select, options.finn)

    def costs(self, technology: Technology, options: FinnOptions, *, own_kinds: bool = False) -> CostTable:
        """Return the prices of the cost model that was asked for."""
        first, free = options.impl_style == "auto", options.styles_are_open and not own_kinds
        weights = options.runtime_weights != "never"
        technology = replace(technology, vivado=options.vivado_version)
        given = "finn" in options.model_fields_set
        own = CostTable(
            technology, options.costs, weights, options.finn, free, own_kinds_first=first, finn_is_given=given
        )
        return replace(own, tool_sizes_fifos=options.fifo_sizing == "finn")

    def tool(self, options: FinnOptions) -> str:
        """Return which FINN builds the engines."""
        return VERSION_NAMES[options.finn]

    def with_folding(self, dataflow: Dataflow, path: Path, technology: Technology) -> Dataflow:
        """Return the engines with the folding of a folding_config.json."""
        return with_given_folding(dataflow, path, technology)

    def folding_inputs(self, dataflow: Dataflow, path: Path) -> Sequence[Path]:
        """Return the file, and that of styles beside it, which engines that were lowered are made by."""
        styles = style_file_beside(path) if dataflow.unspecialised else None
        return (path,) if styles is None else (path, styles)

    def folding_files(self, folded: FoldedDataflow) -> Mapping[str, str]:
        """Return folding_config.json, and specialize_layers_config.json where hls or rtl is not FINN's own choice."""
        return folding_texts(folded)

    def folding_file(self, plan: Plan, phase: int, network: str, /) -> str:  # noqa: ARG002
        """Return the path of folding_config.json."""
        return export.folding_file(plan, network)

    def given_groups(self, dataflow: Dataflow, costs: CostTable, *, carried: bool = True) -> tuple[OptionGroup, ...]:
        """Return the folding that the engines have."""
        return given_folding_groups(dataflow, costs, carried=carried)

    def fold_methods(self, options: FinnOptions) -> Mapping[str, Proposal]:
        """Return SetFolding, with and without its limit on the width of weights."""
        return {name: partial(proposed, rules=rules) for name, rules in rules_by_method(options.finn).items()}

    def finished(self, folded: FoldedDataflow) -> FoldedDataflow:
        """Return the engines hls or rtl as their options say, numbered as FINN does."""
        return specialised(folded)

    def with_kinds(self, dataflow: Dataflow, kinds: Mapping[str, str]) -> Dataflow:
        """Return the engines hls or rtl as the kinds say, numbered as FINN does; other layers than theirs are left."""
        layer = {engine.name: family(engine.kind) for engine in dataflow.engines}
        own = {name: kind for name, kind in kinds.items() if family(kind) == layer[name]}
        return respecialised(dataflow, own) if own else dataflow

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        """Return when a folded engine reads and writes."""
        return actor_of(engine, option, inputs, outputs)

    def stages(self, engine: Engine, option: Option) -> int:
        """Return the cycles from a word in to what comes of it at the output port."""
        return stages(engine, option)

    def expected_interval(self, folded: FoldedDataflow) -> int:
        """Return the interval with what starting anew each frame adds."""
        return expected_interval(folded)

    def likely_clock(self, folded: FoldedDataflow, target: ClockTarget, /) -> LikelyClock | None:
        """Return it by levels of logic, with what in the folding limits it."""
        return likely_clock(folded, target)

    def parallelism(self, engine: Engine, option: Option) -> tuple[Parallelism, ...]:
        """Return PE, SIMD and whether a window is parallel."""
        return parallelism(engine, option)

    def products(self, engine: Engine, options: OptionTable, /) -> NDArray[np.int64]:
        """Return PE x SIMD of HLS engines with weights."""
        return products(engine, options)

    def host_writes(self, engine: Engine, options: OptionTable, /) -> NDArray[np.bool_]:
        """Mark the options whose weights are written at run time."""
        given = engine.attributes.get(RUNTIME_WEIGHTS, 0)
        return np.asarray(options.attribute(RUNTIME_WEIGHTS, given if isinstance(given, int) else 0) == 1)

    def spares_host(self, options: FinnOptions) -> bool:
        """Whether weights are written at run time only where much rests on it."""
        return options.runtime_weights == "auto"

    def loosened(self, options: FinnOptions) -> Iterable[tuple[str, FinnOptions]]:
        """Yield options with weights written at run time where these were ruled out."""
        if options.runtime_weights == "never":
            yield "--runtime-weights auto", options.model_copy(update={"runtime_weights": "auto"})

    def weight_memory(self, engine: Engine, option: Option) -> WeightMemory | None:
        """Return the weights of MVAU and VVAU."""
        return weight_memory(engine, option)

    def in_logic(self, engine: Engine, option: Option) -> str:
        """Return weights and thresholds that lie in LUTs, and other constants."""
        return constants_in_logic(engine, option)

    def check_boards(self, options: FinnOptions, boards: Mapping[str, str]) -> None:
        """Refuse a flow that a board does not take."""
        check_flow(options, boards)

    def unbuildable(
        self,
        folded: FoldedDataflow,
        streams: Sequence[PlacedStream],
        home: Mapping[str, Home],
        options: FinnOptions,
    ) -> tuple[str, ...]:
        """Return the engines of kernels that would wait for themselves."""
        return unbuildable_engines(folded, streams, home, options.finn)

    def unbuilt(self, boards: Sequence[str], networks: int, options: FinnOptions, *, in_regions: bool) -> Sequence[str]:  # noqa: ARG002
        """Return that FINN makes one design of one network for one card that it has a shell for."""
        return unbuilt(boards, networks, in_regions=in_regions)

    def unlinkable(
        self,
        folded: FoldedDataflow,
        streams: Sequence[PlacedStream],
        home: Mapping[str, Home],
        shells: Sequence[str],
        options: FinnOptions,
    ) -> Mapping[str, tuple[int, int]]:
        """Return the streams that v++ does not link between the kernels that FINN makes."""
        return unlinkable_streams(folded, streams, home, shells, options.finn)

    def builds_slices(self, options: FinnOptions, *, knows_depths: bool) -> bool:
        """Whether the step that sets FIFOs runs, which inserts slices as FIFOs of two words."""
        return options.sets_fifos(knows_depths=knows_depths)

    def warnings(self, folded: FoldedDataflow, clock_mhz: float, options: FinnOptions) -> Sequence[str]:
        """Return what the user has to know."""
        return tuple(warnings_of(folded, clock_mhz, options))

    def files(self, plan: Plan, phase: int, /) -> Mapping[str, str]:
        """Return FINN's configuration files."""
        return export.files(plan, phase)

    def cells(self, plan: Plan, phase: int, cell_pattern: str, hierarchy: str, /) -> Mapping[str, str]:  # noqa: ARG002
        """Return every engine's cell, which the board's pattern names."""
        return export.cells(plan, phase, cell_pattern)

    def bound_files(
        self, plan: Plan, phase: int, fpgas: Sequence[Mapping[str, Any]], library: str, /
    ) -> Mapping[str, str]:
        """Return the steps for FINN's build, which read what cells are called."""
        return export.bound_files(plan, phase, fpgas, library)

    def bind(self, plan: Plan, files: Mapping[str, bytes], build: Path, /) -> Binding:
        """Return the plan's constraints by the names of FINN's kernels, or of its stitched design."""
        return bind(plan, files, build)

    def next_step(self, plan: Plan, phase: int, folder: Path, /) -> str:
        """Return where FINN takes the folding."""
        return report_words.next_step(plan, phase, folder)

    def cost_model(self, plan: Plan, /) -> str:
        """Return in words what the plan's resources are."""
        return report_words.cost_model(plan)

    def steps(self, plan: Plan, phase: int, free: Resources, /) -> Iterable[str]:
        """Return what to try next."""
        return report_words.steps(plan, phase, free)

    def faster_by_hand(self, engines: Sequence[EngineEntry], /) -> str:
        """Return what in the network would shorten engines that are folded as wide as can be."""
        return report_words.faster_by_hand(engines)

    def read_report(self, file: str, text: str, /) -> Report | BuiltFoldings | None:
        """Return what a file of FINN's holds, told by its name or its contents."""
        return own_reports.read_report(file, text)

    def report_files(self, folder: Path, /, *, several: bool = False) -> Sequence[Path]:
        """Return the files of an ``output_dir`` that lie in no scratch folder; of any other folder of one build all."""
        return report_files(folder, several=several)

    def instances(self, plan: Plan, phase: int, reports: Sequence[Report], /) -> FinnInstances:
        """Return the nodes that FINN made of the engines, kernel by kernel."""
        return instances(plan, phase, reports)

    def read_build(self, folder: Path, /) -> Build:
        """Return what an ``output_dir`` of FINN or FINN+ holds."""
        return read_build(folder)

    def host_port_bits(self, board: str, part: str, /) -> int | None:
        """Return how wide FINN makes the memory's side of a DMA engine at most."""
        return host_port_bits(board, part)

    def cost_lines(self, lines: Iterable[str], part: str, options: FinnOptions) -> Iterator[dict[str, Any]]:
        """Price one engine a line, by FINN's op types and attributes; with FINN's own costs unless others are asked."""
        costs = options.costs if "costs" in options.model_fields_set else "finn"
        return cost_lines(lines, CostOptions(costs, options.finn, part, options.vivado_version))


BACKEND = FinnBackend()
