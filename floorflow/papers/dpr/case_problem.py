"""A row of a case as a chunk problem: which foldings a layer may have, and what they take."""

from __future__ import annotations

from collections.abc import Sequence

from floorflow.papers.dpr.case_file import FITTED, ChunkCase, Row
from floorflow.papers.dpr.paper_models import AnyModel, PaperLayer, layer_with_options
from floorflow.papers.dpr.piecewise import fit_model
from floorflow.papers.dpr.problem import RESOURCES, ChunkProblem, Load, in_units


def problem_of_row(case: ChunkCase, row: Row) -> ChunkProblem:
    """Return the problem that rows of one network, model and rule share."""
    base = row.model.removesuffix(FITTED)
    model: AnyModel = case.models[row.net, base]
    if base != row.model:
        model = fit_model(case.models[row.net, base], case.layers, (case.pe_values, case.simd_values))
    layers = tuple(
        layer_with_options(number, layer, foldings_of(case, layer, row.rule), model, window=row.finn_latency)
        for number, layer in enumerate(case.layers)
    )
    device = tuple(case.device.get(name, 0) for name in RESOURCES)
    load = Load(case.us_per_area, case.offset_us)
    fixed = in_units(case.fixed[base, row.infra])
    return ChunkProblem(layers, device, load, case.batch, case.clock_mhz, fixed)


def foldings_of(case: ChunkCase, layer: PaperLayer, rule: str) -> Sequence[tuple[int, int]]:
    """Return PE and SIMD: ``paper`` the listed values, ``finn`` the divisors of the channels up to the largest listed.

    PE divides the output channels, SIMD the input channels, of a dense layer the matrix's width.
    """
    if rule == "paper":
        return [(pe, simd) for pe in case.pe_values for simd in case.simd_values]
    lanes = layer.channels_in if layer.is_conv else layer.matrix_width
    pes = [pe for pe in range(1, max(case.pe_values) + 1) if layer.matrix_height % pe == 0]
    return [(pe, simd) for pe in pes for simd in range(1, max(case.simd_values) + 1) if lanes % simd == 0]
