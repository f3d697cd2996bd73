"""Plans above a limit, or with weights for the host to write, are legal where they say why."""

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from floorflow.verify import check
from tests.verify.mutants_plan import listed, written
from tests.verify.planting import charge, part_of, phase_of
from tests.verify.tiny import Files, Plan, tiny_plan, write_folder


def found(tmp_path: Path, change: Callable[[Plan, Files], object]) -> list[str]:
    plan, files = copy.deepcopy(tiny_plan("xcku5p"))
    change(plan, files)
    return [str(violation) for violation in check(write_folder(tmp_path, plan, files))]


@pytest.mark.parametrize("reason", ["none of the engine", "none of the network", "no plan found"])
def test_an_engine_above_a_limit_is_legal_where_it_is_listed(tmp_path: Path, reason: str) -> None:
    assert not found(tmp_path, lambda plan, _: listed(plan, reason=reason))


def test_a_kept_folding_is_the_reason_where_foldings_are_kept(tmp_path: Path) -> None:
    def kept(plan: Plan, _: Files) -> None:
        listed(plan, reason="folding kept")
        plan["options"]["keep_folding"] = True

    assert not found(tmp_path, kept)


def test_an_engine_may_have_so_many_luts_however_small_its_share(tmp_path: Path) -> None:
    def largest(plan: Plan, _: Files) -> None:
        module = phase_of(plan)["modules"][0]
        own = part_of(plan)["folding"]["engines"][module["engines"][0]]["resources"]["LUT"]
        plan["options"]["max_engine_share"]["LUT"] = 1e-9
        charge(plan, module["name"], "LUT", 20_000 - own)

    assert not any("engine-above-limit" in told for told in found(tmp_path, largest))


def test_weights_for_the_host_are_legal_where_without_them_the_rate_falls_by_more_than_a_tenth(tmp_path: Path) -> None:
    assert not found(tmp_path, written)


@pytest.mark.parametrize(
    "changes",
    [
        {"without_bound_cycles": None},
        {"sought": True},
        {"sought": True, "without_cycles": 10**6, "without_bound_cycles": 1},
        {"least": 0},
    ],
    ids=["nothing fits", "none was found", "a slow one was found", "the fewest are not proven"],
)
def test_what_else_makes_them_legal(tmp_path: Path, changes: dict[str, object]) -> None:
    assert not found(tmp_path, lambda plan, files: written(plan, files, **changes))


def test_at_a_requested_rate_only_that_nothing_else_fits(tmp_path: Path) -> None:
    def asked(plan: Plan, files: Files) -> None:
        written(plan, files)
        plan["options"]["objective"] = "resources"

    told = found(tmp_path, asked)
    assert any("host-weights-needless" in violation for violation in told)
