"""A legal plan passes, whatever the spelling of its constraint files; other folders are no plans or lack files."""

import copy
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from floorflow.verify import VIOLATIONS, NotAPlan, Violation, check
from floorflow.verify.finn.judge import findings as finn_findings
from tests.verify.dies import SEEDS
from tests.verify.mutants_files import add_extras, extras
from tests.verify.mutants_floorplan import cut
from tests.verify.mutants_plan import lead_in_a_circle
from tests.verify.planting import part_of
from tests.verify.tiny import CASES, Files, Plan, tiny_plan, write_folder


@cache
def legal(case: str) -> tuple[Plan, Files]:
    return tiny_plan(case)


def names(violations: list[Violation]) -> set[str]:
    return {violation.name for violation in violations}


@pytest.mark.parametrize("case", CASES)
def test_a_legal_plan_has_no_violations(case: str, tmp_path: Path) -> None:
    assert check(write_folder(tmp_path, *legal(case))) == []


@pytest.mark.parametrize("left", [0, 2])
@pytest.mark.parametrize("case", CASES)
def test_extras_of_the_plan_are_legal_whether_or_not_some_are_left_out(case: str, left: int, tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal(case))
    told = extras(plan)
    rows = told["bargains"]["rows"]
    missing = [rows.pop() for _ in range(left)][::-1]
    if left:
        less = [row["less"] for row in missing]
        told["left_out"] = [{"what": "bargains", "less": less, "option": "--bargains fold"}]
    add_extras(plan, files, told)
    assert check(write_folder(tmp_path, plan, files)) == []


@pytest.mark.parametrize("case", CASES)
def test_a_pblock_may_have_several_rectangles(case: str, tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal(case))
    cut(plan, files)
    assert check(write_folder(tmp_path, plan, files)) == []


def test_modules_that_are_alone_in_their_slots_may_feed_each_other(tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal("alveo-u250"))
    lead_in_a_circle(plan)
    assert "module-cycle" not in names(check(write_folder(tmp_path, plan, files)))


@pytest.mark.parametrize("case", CASES)
def test_a_plan_for_latency_has_the_longest_path_as_its_objective(case: str, tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal(case))
    phase = plan["phases"][0]
    engines = part_of(plan)["folding"]["engines"]

    def done(name: str) -> int:
        sources = [c["source"] for c in phase["channels"] if c["target"] == name and c["source"] in engines]
        return int(engines[name]["cycles"]) + max(map(done, sources), default=0)

    cycles = max(done(name) for name in engines)
    plan["options"]["objective"] = "latency"
    plan["networks"][0]["search"]["joint_bound_cycles"] = None
    plan["summary"]["networks"][0]["joint_bound_cycles"] = None
    part_of(plan)["folding"]["stats"] |= {"status": "optimal", "objective": cycles, "bound": cycles, "gap": 0.0}
    part_of(plan)["folding"]["whole_budget_bound"] = cycles / 2
    assert check(write_folder(tmp_path, plan, files)) == []


@pytest.mark.parametrize("case", CASES)
def test_a_fifo_may_be_deeper_than_its_route_asks_for(case: str, tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal(case))
    for channel in plan["phases"][0]["channels"]:
        channel["fifo_depth"] += 100
        channel["fifo_style"] = "distributed"
    assert check(write_folder(tmp_path, plan, files)) == []


@pytest.mark.parametrize(("needed", "expected"), [(0, {"wrong-fifo-depth"}), (3, set()), (33, {"wrong-fifo-depth"})])
def test_what_waits_at_a_join_must_be_kept_there_only_where_no_depth_is_known(
    needed: int, expected: set[str], tmp_path: Path
) -> None:
    """Else it may wait in other FIFOs, as the analysis tells by its depths."""
    plan, files = copy.deepcopy(legal("join"))
    short = next(c for c in plan["phases"][0]["channels"] if c["target_port"] == 1)
    assert short["fifo_depth"] > 33
    short |= {"fifo_depth": 32, "fifo_needed": needed, "fifo_style": "auto"}
    assert names(check(write_folder(tmp_path, plan, files))) == expected


def by_continued_lines(text: str) -> str:
    return text.replace(" -add ", " \\\n    -add ")


def by_bare_parent(text: str) -> str:
    return text.replace("PARENT [get_pblocks {pblock_dynamic_SLR0}]", "PARENT pblock_dynamic_SLR0")


def by_windows_lines(text: str) -> str:
    return text.replace("\n", "\r\n")


def by_semicolons(text: str) -> str:
    return ";".join(text.split("\n")[1:])


def by_split_ranges(text: str) -> str:
    return text.replace(" RAMB36", "}\n resize_pblock [get_pblocks pblock_front] -add {RAMB36", 1)


def by_comments(text: str) -> str:
    return "# foreach x {\n" + text.replace("}]\n", "}] ;# a * comment\n")


@pytest.mark.parametrize(
    "spell", [by_continued_lines, by_bare_parent, by_windows_lines, by_semicolons, by_split_ranges, by_comments]
)
def test_other_spellings_of_the_same_constraints_pass(spell: Callable[[str], str], tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal("alveo-u250"))
    spelt = spell(files["fpga0/pblocks.xdc"])
    assert spelt != files["fpga0/pblocks.xdc"]
    files["fpga0/pblocks.xdc"] = spelt
    assert check(write_folder(tmp_path, plan, files)) == []


def test_a_folder_without_a_plan_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("x", encoding="utf-8")
    for out in (tmp_path, tmp_path / "missing", tmp_path / "other.txt"):
        with pytest.raises(NotAPlan, match=r"is no folder|holds neither plan\.json nor platform/"):
            check(out)


@pytest.mark.parametrize("name", [*sorted(tiny_plan("xcku5p")[1]), "plan.json"])
def test_a_missing_or_corrupt_file_is_a_violation(name: str, tmp_path: Path) -> None:
    out = write_folder(tmp_path, *legal("xcku5p"))
    (out / name).write_bytes(b"{\xff")
    assert "file-corrupt" in names(check(out))
    (out / name).unlink()
    assert "file-missing" in names(check(out))


@pytest.mark.parametrize(
    "content", ["[]", '{"schema": 1, "schema": 2}', '{"a": NaN}', '{"a": ' + "[" * 100_000, "x: [", "null"]
)
def test_what_is_no_json_object_is_corrupt(content: str, tmp_path: Path) -> None:
    out = write_folder(tmp_path, *legal("xcku5p"))
    (out / "plan.json").write_text(content, encoding="utf-8")
    assert names(check(out)) == {"file-corrupt"}


def test_another_schema_is_malformed(tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal("xcku5p"))
    plan["schema"] = "floorflow-plan/1"
    assert names(check(write_folder(tmp_path, plan, files))) == {"plan-malformed"}


@pytest.mark.parametrize("seed", SEEDS)
def test_random_damage_never_stops_the_check(seed: int, tmp_path: Path) -> None:
    case = ("xcku5p", "two join")[seed % 2]
    plan, files = copy.deepcopy(legal(case))
    chance = random.Random(seed)
    name = chance.choice(sorted(set(files) - {"platform/devices/xcku5p.yaml"}))
    at = chance.randrange(len(files[name]))
    files[name] = files[name][:at] + chance.choice(["", "{", "}", "[", "]", "$", '"', "0", "-1", "null", "\\\n"])
    files[name] += legal(case)[1][name][at + chance.randrange(4) :]
    assert names(check(write_folder(tmp_path, plan, files))) <= {*VIOLATIONS, *finn_findings}


def test_every_violation_is_told_in_one_line() -> None:
    assert all(meaning and "\n" not in meaning and not meaning.endswith(".") for meaning in VIOLATIONS.values())
