"""Regions as they are chosen are legal, and every mistake in one is found by the rule that it breaks."""

from dataclasses import replace

import pytest

from floorflow.verify.hardware.boards import Board
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.rules.region_fabric import Fabric, confined_boards
from floorflow.verify.rules.regions import check_regions
from floorflow.verify.violations import Findings
from tests.verify.dies import device
from tests.verify.mutants import REGIONS, Mutant, Plan
from tests.verify.planting import NotApplicable
from tests.verify.region_cases import NEEDS, boards_of, case, facts_of


def found_in(plan: Plan, boards: dict[str, Board]) -> set[str]:
    findings = Findings()
    kept = plan.get("kept")
    if kept:
        boards = {name: replace(board, kept_free=(Rectangle(**kept),)) for name, board in boards.items()}
    check_regions(plan, facts_of(plan, findings), boards, findings)
    return {violation.name for violation in findings.violations}


@pytest.mark.parametrize("name", NEEDS)
def test_chosen_regions_are_legal(name: str) -> None:
    assert found_in(case(name), boards_of(name)) == set()


@pytest.mark.parametrize("mutant", REGIONS.mutants, ids=lambda mutant: mutant.title)
def test_a_mistake_is_found_wherever_it_can_be_made(mutant: Mutant) -> None:
    made = 0
    for name in NEEDS:
        plan = case(name)
        try:
            mutant.spoil(plan, {})
        except NotApplicable:
            continue
        made += 1
        assert mutant.expected in found_in(plan, boards_of(name)), name
    assert made


def test_a_mistake_is_called_by_its_own_name_alone_where_nothing_follows_from_it() -> None:
    alone = {"region-order", "region-load-time", "region-property", "region-static-missing", "region-repeated"}
    for mutant in REGIONS.mutants:
        if mutant.expected in alone:
            plan = case("pynq-z1, two")
            mutant.spoil(plan, {})
            assert found_in(plan, boards_of("pynq-z1, two")) - {"region-frames"} <= {mutant.expected}


def test_edges_of_published_regions_on_xc7z020_may_be_edges() -> None:
    # artico3's slot 3 (SLICE_X0Y0 to X31Y49), and pr_join of PYNQ's composable pipeline (SLICE_X94Y100 to X101Y149).
    fabric = Fabric(device("xc7z020"))
    columns = fabric.device.raw["site_columns"]["SLICE"]
    for left, right, row in ((0, 31, 0), (94, 101, 2)):
        assert fabric.partners(columns[left]).start == columns[left]
        assert fabric.partners(columns[right]).stop == columns[right] + 1
        assert fabric.may_edge(columns[left], range(row, row + 1))


def test_a_phase_in_a_region_may_be_built_on_what_the_region_owns_and_nowhere_else() -> None:
    name = "zcu104, one with a gap"
    plan = case(name)
    board = confined_boards(plan, facts_of(plan)[0], boards_of(name))["fpga0"]
    kept = sum((r.right - r.left + 1) * (r.top - r.bottom + 1) for r in board.keep_outs)
    owned = plan["reconfigurable"]["regions"][0]["owned"]
    free = sum((r["right"] - r["left"] + 1) * (r["top"] - r["bottom"] + 1) for r in owned)
    assert kept + free == board.device.columns * board.device.rows
