"""FINN as a back end: what each question of the planner is answered by."""

# ruff: noqa: ARG002, D102 - an interface says what its methods return, and not every answer needs all that it is told

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.backend import Backend, Proposal
from floorflow.backends.finn import card_builds, export, guide, report_words
from floorflow.backends.finn.card_links import unjoined
from floorflow.backends.finn.clock import likely_clock
from floorflow.backends.finn.config import folding_texts, style_file_beside, with_given_folding
from floorflow.backends.finn.cost_command import CostOptions, cost_lines
from floorflow.backends.finn.export import bind
from floorflow.backends.finn.folding.cost_table import CostTable, given_folding_groups
from floorflow.backends.finn.folding.set_folding import proposed, rules_by_method
from floorflow.backends.finn.kernel_cuts import unbuildable_engines, unlinkable_streams, unwritable_engines
from floorflow.backends.finn.names import RUNTIME_WEIGHTS, VERSION_NAMES, family
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.rates.patterns import actor_of
from floorflow.backends.finn.rates.start_up import expected_interval, stages
from floorflow.backends.finn.read.dataflow import Source, read_source
from floorflow.backends.finn.report_words import warnings_of
from floorflow.backends.finn.reports import node_reports
from floorflow.backends.finn.reports.build_files import report_files
from floorflow.backends.finn.reports.build_folder import read_build
from floorflow.backends.finn.reports.build_target import PART_OF_BOARD, host_port_bits
from floorflow.backends.finn.reports.instances import instances
from floorflow.backends.finn.roles import (
    KNOWN_PRODUCTS,
    MEMORY_ATTRIBUTES,
    PARALLEL,
    constants_in_logic,
    parallelism,
    products,
    weight_memory,
)
from floorflow.backends.finn.specialise import respecialised, specialised
from floorflow.backends.finn.step_files import STITCHED, check_flow, flow_of, unbuilt
from floorflow.backends.placed import Home, PlacedStream
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow
from floorflow.dataflow.options import OptionTable
from floorflow.facts import PhaseEntry, Plan
from floorflow.facts.platform import PlatformEntry
from floorflow.network import FloatBits
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
    own_reports = node_reports.KNOWN
    known_products = KNOWN_PRODUCTS

    # Questions that one function answers as they are asked

    with_folding = staticmethod(with_given_folding)
    folding_files = staticmethod(folding_texts)
    given_groups = staticmethod(given_folding_groups)
    finished = staticmethod(specialised)
    actor = staticmethod(actor_of)
    stages = staticmethod(stages)
    expected_interval = staticmethod(expected_interval)
    likely_clock = staticmethod(likely_clock)
    parallelism = staticmethod(parallelism)
    products = staticmethod(products)
    weight_memory = staticmethod(weight_memory)
    in_logic = staticmethod(constants_in_logic)
    files = staticmethod(export.files)
    bound_files = staticmethod(export.bound_files)
    card_kernels = staticmethod(card_builds.card_kernels)
    bind = staticmethod(bind)
    build_steps = staticmethod(guide.build_steps)
    cost_model = staticmethod(report_words.cost_model)
    steps = staticmethod(report_words.steps)
    faster_by_hand = staticmethod(report_words.faster_by_hand)
    read_report = staticmethod(node_reports.read_report)
    report_files = staticmethod(report_files)
    instances = staticmethod(instances)
    read_build = staticmethod(read_build)
    host_port_bits = staticmethod(host_port_bits)
    check_boards = staticmethod(check_flow)

    def read(self, path: Path, options: FinnOptions) -> Source:
        """Read a model file; ``weight_bits`` and ``activation_bits`` are for a network without quantisers."""
        return read_source(path, FloatBits(options.weight_bits, options.activation_bits))

    def lower(self, source: Source, technology: Technology, options: FinnOptions) -> Dataflow:
        return source.lower(technology, options.label_select, options.finn, apart=options.thresholds == "apart")

    def costs(self, technology: Technology, options: FinnOptions, *, own_kinds: bool = False) -> CostTable:
        first, free = options.impl_style == "auto", options.styles_are_open and not own_kinds
        weights = options.runtime_weights != "never"
        technology = replace(technology, vivado=options.vivado_version)
        given = "finn" in options.model_fields_set
        own = CostTable(
            technology, options.costs, weights, options.finn, free, own_kinds_first=first, finn_is_given=given
        )
        return replace(own, tool_sizes_fifos=options.fifo_sizing == "finn", registers_ports=options.stitches)

    def tool(self, options: FinnOptions) -> str:
        return VERSION_NAMES[options.finn]

    def streams_a_cable(self, options: FinnOptions) -> int | None:
        return 1 if options.finn == "plus" else None

    def folding_inputs(self, dataflow: Dataflow, path: Path) -> Sequence[Path]:
        """Return the file, and that of styles beside it, which engines that were lowered are made by."""
        styles = style_file_beside(path) if dataflow.unspecialised else None
        return (path,) if styles is None else (path, styles)

    def folding_file(self, plan: Plan, phase: int, network: str, /) -> str:
        return export.folding_file(plan, network)

    def fold_methods(self, options: FinnOptions) -> Mapping[str, Proposal]:
        """Return SetFolding, with and without its limit on the width of weights."""
        return {name: partial(proposed, rules=rules) for name, rules in rules_by_method(options.finn).items()}

    def with_kinds(self, dataflow: Dataflow, kinds: Mapping[str, str]) -> Dataflow:
        """Return the engines hls or rtl as the kinds say, numbered as FINN does; other layers than theirs are left."""
        layer = {engine.name: family(engine.kind) for engine in dataflow.engines}
        own = {name: kind for name, kind in kinds.items() if family(kind) == layer[name]}
        return respecialised(dataflow, own) if own else dataflow

    def host_writes(self, engine: Engine, options: OptionTable, /) -> NDArray[np.bool_]:
        given = engine.attributes.get(RUNTIME_WEIGHTS, 0)
        return np.asarray(options.attribute(RUNTIME_WEIGHTS, given if isinstance(given, int) else 0) == 1)

    def unwritable(
        self, dataflow: Dataflow, engines: Iterable[str], slots: Sequence[int], options: FinnOptions
    ) -> frozenset[str]:
        return unwritable_engines(dataflow, engines, slots, options.finn)

    def spares_host(self, options: FinnOptions) -> bool:
        """Whether weights are written at run time only where much rests on it."""
        return options.runtime_weights == "auto"

    def loosened(self, options: FinnOptions) -> Iterable[tuple[str, FinnOptions]]:
        """Yield options with weights written at run time where these were ruled out."""
        if options.runtime_weights == "never":
            yield "--runtime-weights auto", options.model_copy(update={"runtime_weights": "auto"})

    def unbuildable(
        self,
        folded: FoldedDataflow,
        streams: Sequence[PlacedStream],
        home: Mapping[str, Home],
        options: FinnOptions,
    ) -> tuple[str, ...]:
        return unbuildable_engines(folded, streams, home, options.finn)

    def unbuilt(self, boards: Sequence[str], networks: int, options: FinnOptions, *, in_regions: bool) -> Sequence[str]:
        """Return that FINN makes one design of one network for one card, FINN+ for several, that it has a shell for."""
        if options.stitches:
            return [STITCHED]
        return unbuilt(boards, networks, in_regions=in_regions, joins_cards=options.finn == "plus")

    def unjoined(self, platform: PlatformEntry, phases: Sequence[PhaseEntry], options: FinnOptions) -> Sequence[str]:
        """Return why FINN+ does not join the cards as planned, or FINN main builds none of them by itself."""
        return unjoined(platform, phases) if options.finn == "plus" else card_builds.not_by_card(phases)

    def links_copies(self, boards: Mapping[str, str], /) -> bool:
        """Whether v++ links them."""
        return all(flow_of(board, shell) == "vitis" for board, shell in boards.items())

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
        return tuple(warnings_of(folded, clock_mhz, options))

    def cells(self, plan: Plan, phase: int, cell_pattern: str, hierarchy: str, /) -> Mapping[str, str]:
        """Return every engine's cell, which the board's pattern names."""
        return export.cells(plan, phase, cell_pattern)

    def cost_lines(self, lines: Iterable[str], part: str, options: FinnOptions) -> Iterator[dict[str, Any]]:
        """Price one engine a line, by FINN's op types and attributes; with FINN's own costs unless others are asked."""
        costs = options.costs if "costs" in options.model_fields_set else "finn"
        return cost_lines(lines, CostOptions(costs, options.finn, part, options.vivado_version))


BACKEND = FinnBackend()
