"""Wishes for slots: read strictly, kept by the whole plan, priced by a solve without each."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from floorflow import flow
from floorflow.api import command
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.errors import InfeasibleError, InputError, Refused, required
from floorflow.facts import Plan, read_plan
from floorflow.hardware.load import load_platform
from floorflow.partition import PartitionSolution, partition
from floorflow.request import Request
from floorflow.search.candidate.preparing import prepare, with_wishes
from floorflow.search.candidate.slot_problem import partition_problem
from floorflow.search.candidate.wishes import Wishes, read_wishes
from floorflow.search.interval.search import search
from floorflow.several import SeveralRequest
from floorflow.verify import check
from tests.conftest import make_plan
from tests.plans import FAST, TFC
from tests.search.test_search import fits, placed_by

U250 = load_platform("alveo-u250", 1)
DATAFLOW = prepare(read_source(TFC), Request(TFC, "alveo-u250"), 1).dataflow
WISHES: Mapping[str, Any] = {
    "fix": {"MVAU_hls_1": "SLR1"},
    "forbid": {"MVAU_hls_3": ["fpga0.SLR2"]},
    "together": [["MVAU_hls_1", "MVAU_hls_2"]],
    "apart": [["MVAU_hls_1", "MVAU_hls_3"]],
    "beside": {"Thresholding_rtl_0": "host"},
}


def written(folder: Path, wishes: object) -> Path:
    file = folder / "pins.yaml"
    file.write_text(wishes if isinstance(wishes, str) else yaml.safe_dump(wishes), encoding="utf-8")
    return file


def read(folder: Path, wishes: object, *stages: tuple[str, ...], fpgas: int = 1) -> Wishes:
    platform = U250 if fpgas == 1 else load_platform("alveo-u250", fpgas)
    return read_wishes(written(folder, wishes), DATAFLOW, platform, stages, by_engine=not stages)


def test_names_patterns_and_operations_mean_engines(tmp_path: Path) -> None:
    homes = read(tmp_path, {"fix": {"MVAU_hls_[01]": ["SLR0", "SLR1"]}, "forbid": {"Gemm_1": "fpga0.SLR1"}}).homes
    assert homes["MVAU_hls_0"] == {"fpga0.SLR0", "fpga0.SLR1"}
    assert homes["MVAU_hls_1"] == {"fpga0.SLR0"}
    assert {engine for engine in homes if not engine.startswith("MVAU")} == set()


def test_an_fpga_stands_for_its_slots_and_a_port_for_that_of_either_end(tmp_path: Path) -> None:
    wishes = read(tmp_path, {"fix": {"MVAU_hls_0": "fpga1"}, "beside": {"MVAU_hls_1": "host"}}, fpgas=2)
    assert wishes.homes["MVAU_hls_0"] == {f"fpga1.SLR{slr}" for slr in range(4)}
    assert wishes.homes["MVAU_hls_1"] == {"fpga0.SLR0", "fpga1.SLR0"}
    assert read(tmp_path, {"beside": {"MVAU_hls_1": "DDR[1]"}}).homes["MVAU_hls_1"] == {"fpga0.SLR1"}
    assert len(read(tmp_path, {"beside": {"MVAU_hls_1": "memory"}}).homes["MVAU_hls_1"]) == 4


@pytest.mark.parametrize(
    ("wishes", "told", "hint"),
    [
        (
            {"fix": {"MVAU_hls_9": "SLR0"}},
            "fix.MVAU_hls_9: there is no engine or operation MVAU_hls_9",
            "did you mean MVAU_hls_",
        ),
        ({"fix": {"MVAU_hls_0": "SLR7"}}, "fix.MVAU_hls_0: there is no slot SLR7", "slots are fpga0.SLR0"),
        ({"forbid": {"MVAU_hls_0": "*"}}, "forbid.MVAU_hls_0: expected a slot, and not all of them", ""),
        ({"fix": {"MVAU_hls_0": []}}, "fix.MVAU_hls_0: expected a slot", ""),
        ({"fix": {"MVAU_hls_0": 3}}, "fix.MVAU_hls_0", ""),
        ({"fixed": {}}, "fixed: unknown field", ""),
        ({"together": [["MVAU_hls_0"]]}, "together[0]: expected two engines or more", ""),
        ({"apart": [["MVAU_hls_*", "Thresholding_rtl_0"]]}, "apart[0]: 5 engines for 4 slots", "FPGAs"),
        ({"beside": {"MVAU_hls_0": "HBM[0]"}}, "beside.MVAU_hls_0: the board has no HBM[0]", "host"),
        ("fix: {a: b, a: c}", "the field 'a' stands twice, in line 1", ""),
        ("fix: [", "not valid YAML", ""),
        ("", "the file", ""),
    ],
)
def test_what_is_not_as_expected_is_refused_by_file_key_and_near_names(
    wishes: object, told: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, wishes)
    assert str(caught.value).startswith("pins.yaml: ")
    assert told in str(caught.value)
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("wishes", "told"),
    [
        ({"fix": {"MVAU_hls_0": "SLR0"}, "forbid": {"MVAU_hls_*": "SLR0"}}, "'fix MVAU_hls_0: SLR0', 'forbid"),
        (
            {"fix": {"MVAU_hls_0": "SLR0", "MVAU_hls_1": "SLR1"}, "together": [["MVAU_hls_0", "MVAU_hls_1"]]},
            "no slot is left for MVAU_hls_0, MVAU_hls_1",
        ),
        (
            {"together": [["MVAU_hls_0", "MVAU_hls_1"]], "apart": [["MVAU_hls_0", "MVAU_hls_1"]]},
            "'apart MVAU_hls_0, MVAU_hls_1': MVAU_hls_0 and MVAU_hls_1 share a slot",
        ),
    ],
)
def test_lines_that_contradict_each_other_are_refused_by_name(wishes: object, told: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, wishes)
    assert told in str(caught.value)


def test_engines_of_a_stage_come_apart_by_granularity_alone(tmp_path: Path) -> None:
    wishes = {"apart": [["MVAU_hls_0", "MVAU_hls_1"]]}
    with pytest.raises(InputError) as caught:
        read(tmp_path, wishes, ("MVAU_hls_0", "MVAU_hls_1"))
    assert "--granularity layer" in caught.value.hint
    assert read(tmp_path, wishes).apart == (("MVAU_hls_0", "MVAU_hls_1"),)


def test_a_file_that_is_not_there_and_other_modes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--constraints"):
        Request(TFC, "alveo-u250", constraints=tmp_path / "none.yaml").require_files()
    file = written(tmp_path, {})
    with pytest.raises(InputError, match="--constraints"):
        Request(TFC, "alveo-u250", constraints=file, reconfigure="full")
    one = Request(TFC, "alveo-u250", constraints=file)
    with pytest.raises(InputError, match="one network"):
        SeveralRequest(("a", "b"), (one, one))


@pytest.fixture(scope="module")
def wished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wished")
    return make_plan(
        folder / "plan", Request(TFC, "alveo-u250", constraints=written(folder, WISHES), bargains="none", **FAST)
    )


def slot_of(plan: Plan) -> dict[str, str]:
    (phase,) = plan.phases
    return {engine: phase.partition.assignment[m.name] for m in phase.modules for engine in m.engines}


def test_a_whole_plan_keeps_to_wishes_and_the_judge_agrees(wished: Path) -> None:
    plan = read_plan(wished / "plan.json")
    slots = slot_of(plan)
    assert slots["MVAU_hls_1"] == slots["MVAU_hls_2"] == "fpga0.SLR1"
    assert slots["MVAU_hls_3"] not in {"fpga0.SLR1", "fpga0.SLR2"}
    assert slots["Thresholding_rtl_0"] == "fpga0.SLR0"
    assert check(wished) == []
    assert plan.options.constraints == Path("pins.yaml")
    assert "pins.yaml" in [file.path for file in plan.inputs]
    told = (wished / "report.txt").read_text(encoding="utf-8")
    assert "without apart MVAU_hls_1, MVAU_hls_3" in told


def test_each_price_is_the_difference_of_two_solves(tmp_path: Path) -> None:
    request = Request(TFC, "alveo-u250", constraints=written(tmp_path, WISHES), **FAST)
    context = prepare(read_source(TFC), request, 1)
    found = required(search(context))
    priced, candidate = found.wishes, found.candidate
    assert priced is not None
    assert priced.stats is not None

    def least(wishes: Wishes) -> float | None:
        narrowed = with_wishes(context, wishes)
        problem = partition_problem(
            narrowed, candidate.modules, candidate.demands, candidate.channels, folded=candidate.folded
        )
        answer = partition(problem, "cuts")
        assert isinstance(answer, PartitionSolution)
        assert answer.stats.status == "optimal"
        return answer.stats.objective

    assert priced.stats.objective == least(context.wishes)
    assert [str(line) for line in priced.lines] == [line.text for line in context.wishes.lines]
    costs = [line.without and line.without.stats.objective for line in priced.lines]
    assert costs == [least(context.wishes.without(line)) for line in context.wishes.lines]
    assert min(cost for cost in costs if cost is not None) < priced.stats.objective


def test_the_file_survives_another_plan(wished: Path, tmp_path: Path) -> None:
    file = wished.parent / "pins.yaml"
    before = file.read_bytes()
    request = Request(TFC, "alveo-u250", constraints=file, stay_near=wished, bargains="none", **FAST)
    again = read_plan(make_plan(tmp_path / "again", request) / "plan.json")
    assert slot_of(again) == slot_of(read_plan(wished / "plan.json"))
    assert file.read_bytes() == before
    words = command.command_line("plan", request)
    assert words[words.index("--constraints") + 1] == str(file)


def refusal(folder: Path, wishes: object, **options: Any) -> InfeasibleError:
    request = Request(TFC, "alveo-u250", constraints=written(folder, wishes), bargains="none", **options, **FAST)
    with pytest.raises(InfeasibleError) as caught:
        flow.plan(request)
    return caught.value


def test_the_one_wish_that_stands_in_the_way_is_named(tmp_path: Path) -> None:
    wishes = {"fix": {"MVAU_hls_1": "SLR3"}, "forbid": {"MVAU_hls_2": "SLR2"}}
    refused = refusal(tmp_path, wishes, max_hops=1)
    assert "as pins.yaml asks" in str(refused)
    assert refused.hint == "there is a plan, which was sought and found, without 'fix MVAU_hls_1: SLR3'"


@pytest.mark.slow
def test_two_wishes_that_stand_in_the_way_each_are_named_together(tmp_path: Path) -> None:
    refused = refusal(tmp_path, {"fix": {"MVAU_hls_1": "SLR3", "MVAU_hls_2": "SLR3"}}, max_hops=1)
    assert refused.hint.endswith("without 'fix MVAU_hls_1: SLR3' and 'fix MVAU_hls_2: SLR3'")


@pytest.mark.slow
def test_the_slot_that_is_short_is_named_with_the_limit_that_does(tmp_path: Path) -> None:
    options: dict[str, Any] = {"fps": 30e6, "cap": {"LUT": 0.048}}
    refused = refusal(tmp_path, {"together": [["MVAU_*"]]}, **options)
    short = re.search(r"(fpga0\.SLR\d) is short: ([\d,]+) LUT needed, ([\d,]+) allowed", str(refused))
    wide = re.search(r"with a LUT limit of ([\d,]+) in (fpga0\.SLR\d) \((0\.\d+) of it, 0\.048 now\)", refused.hint)
    assert short is not None
    assert wide is not None
    needed, allowed, told = (int(text.replace(",", "")) for text in (*short.groups()[1:], wide[1]))
    assert wide[2] == short[1]
    assert allowed < needed <= told
    assert "without 'together MVAU_*' or with" in refused.hint
    # All that the wish ties fits where each slot allows as much.
    wider = Request(
        TFC, "alveo-u250", constraints=tmp_path / "pins.yaml", fps=30e6, cap={"LUT": float(wide[3])}, **FAST
    )
    assert not isinstance(search(placed_by(fits, prepare(read_source(TFC), wider, 1))), Refused)
