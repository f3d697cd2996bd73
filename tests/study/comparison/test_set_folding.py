"""SetFolding folds as FINN does, row by row of what FINN recorded, and floorflow is never worse."""

from dataclasses import replace

import pytest

from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.folding.set_folding import Rules, proposed, rules_of, set_folding
from floorflow.folding import FoldingSolution
from floorflow.folding.methods import FoldingMethod
from floorflow.resources import Resources
from floorflow.search.candidate.engine_limits import EngineLimits
from floorflow.search.candidate.solvers import NoProposal, Pricer, method_of
from tests.study.recorded import CHOSEN, Recorded, recorded_networks
from tests.study.reference import POSSIBLE, Reference, reference_of

NETWORKS = sorted(recorded_networks())
RULES = {
    "stock": rules_of("main"),
    "fmpad": Rules("main", folds_rtl_padding=True),
    "fmpad+le": Rules("main", folds_rtl_padding=True, target_is_enough=True),
}
EVERY_NETWORK = pytest.mark.parametrize("name", NETWORKS)


def finn_method(reference: Reference) -> FoldingMethod:
    limits = EngineLimits.none(reference.dataflow, BACKEND)
    return method_of(Pricer("finn", reference.dataflow, BACKEND, reference.costs, limits), proposed)


def sweep(name: str) -> list[Recorded]:
    return [row for row in recorded_networks()[name].rows if not row.by_hand]


@EVERY_NETWORK
def test_every_recorded_folding_is_reproduced(name: str) -> None:
    network = recorded_networks()[name]
    rows = sweep(name)
    assert {row.made_by for row in rows} == set(RULES)
    assert {row.weight_bits_limit for row in rows} == {36, 10_000}
    # ResNet-50 takes 40 ms a row; `benchmarks/setfolding.py` goes through all.
    for row in rows[:: 1 + len(network.dataflow.engines) // 25]:
        rules = replace(RULES[row.made_by], weight_bits_limit=row.weight_bits_limit)
        expected = {engine: {k: v for k, v in f.items() if k in CHOSEN} for engine, f in row.folding.items()}
        assert set_folding(network.dataflow, row.target_cycles, rules) == expected


@EVERY_NETWORK
@pytest.mark.parametrize("counted", ["engines", "converters"])
def test_floorflow_is_never_scarcer_than_setfolding_by_finns_own_costs(name: str, counted: str) -> None:
    rows = [row for row in sweep(name) if row.legal]
    reference = reference_of(recorded_networks()[name].dataflow, rows[0], "finn", counted)
    for row in rows:
        least = reference.least(row.cycles)
        assert least is not None
        recorded = row.total if counted == "engines" else row.converted
        assert reference.scarcity(least.resources) <= reference.scarcity(recorded) + 1e-12


@EVERY_NETWORK
def test_recorded_resources_are_those_of_the_reference(name: str) -> None:
    network = recorded_networks()[name]
    rows = [row for row in network.rows if row.legal]
    for row in (rows[0], rows[-1]):
        priced = reference_of(network.dataflow, row).priced(row)
        assert isinstance(priced, FoldingSolution)
        assert (priced.resources, priced.interval_cycles) == (row.total, row.cycles)


@pytest.mark.parametrize("case", sorted(POSSIBLE), ids=lambda case: case[0])
def test_what_is_possible_beside_hand_foldings_is_reached(case: tuple[str, str, int]) -> None:
    name, board, cycles = case
    network = recorded_networks()[name]
    row = next(r for r in network.rows if r.made_by == board and r.cycles == cycles)
    reference = reference_of(network.dataflow, row)
    least = reference.least(cycles)
    assert least is not None
    lut, _, bram18, uram, dsp = least.resources.as_tuple()
    expected, fastest = POSSIBLE[case]
    if name.startswith("mobilenet"):
        # Parallel depthwise windows, which that program did not know, do better.
        assert reference.scarcity(least.resources) < reference.scarcity(Resources(expected[0], 0, *expected[1:]))
        assert reference.shortest_within(reference.scarcity(row.total)) < fastest
        return
    # ResNet-50's best has a parallel window of 512 channels x 9 taps x 2 bits: 9,216 bits, and 8,191 can be built.
    too_wide = 108 if name == "resnet50-w1a2" else 0
    assert (lut - too_wide, bram18, uram, dsp) == expected
    assert reference.shortest_within(reference.scarcity(row.total)) == fastest


@pytest.mark.parametrize("name", ["cnv-w2a2", "tfc-w1a1"])
def test_with_free_memories_and_floorflows_own_costs_it_is_never_scarcer(name: str) -> None:
    network = recorded_networks()[name]
    rows = [row for row in sweep(name) if row.legal][::12]
    reference = reference_of(network.dataflow, rows[0], "estimated", "streams")
    for row in rows:
        priced, least = reference.priced(row), reference.least(row.cycles)
        assert isinstance(priced, FoldingSolution)
        assert least is not None
        assert reference.scarcity(least.resources) <= reference.scarcity(priced.resources) + 1e-12


def reference_of_cnv() -> Reference:
    return reference_of(recorded_networks()["cnv-w2a2"].dataflow, sweep("cnv-w2a2")[0], counted="streams")


def test_as_a_method_it_keeps_the_interval_and_the_budget() -> None:
    reference = reference_of_cnv()
    method = finn_method(reference)
    free = method(reference.problem, 50_176)
    assert isinstance(free, FoldingSolution)
    assert free.interval_cycles <= 50_176
    assert free.stats.status == "heuristic"
    tight = reference.problem.with_budget(replace(free.resources, lut=free.resources.lut - 1))
    refused = method(tight, 50_176)
    assert isinstance(refused, NoProposal)
    assert str(refused) == "what finn proposes exceeds the budget by 1 LUT"
    shortest = method(tight)
    assert isinstance(shortest, FoldingSolution)
    assert shortest.resources.fits(tight.budget)
    assert shortest.interval_cycles > free.interval_cycles


def test_as_a_method_it_says_what_finn_cannot_build_or_reach() -> None:
    reference = reference_of_cnv()
    assert "what finn proposes cannot be built: engine MVAU_hls_3" in str(
        finn_method(reference)(reference.problem, 10**9)
    )
    too_fast = finn_method(reference)(reference.problem, 100)
    assert "finn reaches" in str(too_fast)
    assert isinstance(too_fast, NoProposal)
