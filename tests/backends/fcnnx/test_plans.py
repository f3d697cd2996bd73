"""Networks at one memory from model files: what is asked for is reached, named or refused, and drawn."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import floorflow as ff
from floorflow.api.command import command_line_of_several
from floorflow.errors import Refused, required
from floorflow.facts import MemoryScheduleEntry
from floorflow.request import Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Outcome
from floorflow.search.candidate.preparing import read
from floorflow.search.candidate.progress import SILENT
from floorflow.search.interval.search import search
from floorflow.search.many.at_memory import networks_at_memory, search_at_memory
from floorflow.several import SeveralOptions, SeveralRequest
from floorflow.view.pictures.memory import frames_of, joint_front_chart, memory_chart, rates_chart, used_gbs
from tests.plans import EXAMPLES, TFC

SEVERAL = EXAMPLES / "several"
LENET, CIFAR = SEVERAL / "lenet5.onnx", SEVERAL / "cifar10.onnx"
QUICK: dict[str, Any] = {"backend": "fcnnx", "memory_gbs": 0.5, "effort": "fast", "plots": False}


MADE: dict[str, ff.Plan] = {}
"""Plans of this module by what is asked for."""


def plan_of(*models: Path, platform: str = "zcu104", **options: Any) -> ff.Plan:
    asked = {**QUICK, **options}
    key = repr((models, platform, sorted(asked.items())))
    if key not in MADE:
        MADE[key] = ff.plan([*models], platform, **asked)
    return MADE[key]


def planned(*models: Path, platform: str = "zcu104", **options: Any) -> MemoryScheduleEntry:
    shared = plan_of(*models, platform=platform, **options).plan.memory_schedule
    assert shared is not None
    return shared


def test_targets_in_reach_are_met_with_few_resources() -> None:
    made = ff.plan([LENET, CIFAR], "zcu104", fps={"lenet5": 500, "cifar10": 200}, **QUICK)
    shared = made.plan.memory_schedule
    assert shared is not None
    assert (shared.error, shared.choice.status) == (0.0, "optimal")
    assert not any(network.starved for network in shared.networks)
    assert all(network.fps >= network.target_fps for network in shared.networks)
    most = plan_of(LENET, CIFAR)
    dsp = [sum(e.resources.DSP for e in plan.plan.phases[0].engines.values()) for plan in (made, most)]
    assert dsp[0] < dsp[1] / 2


def test_one_network_has_the_memory_alone_and_bare_names() -> None:
    made = ff.plan(LENET, "zcu104", fps=700, **QUICK)
    shared = made.plan.memory_schedule
    assert shared is not None
    assert shared.networks[0].engine == "engine"
    assert shared.networks[0].asked_fps == 700
    assert made.plan.options.rates == {"lenet5": 700}
    assert ff.check(made).violations == ()


def test_without_rates_each_network_is_measured_by_its_most_alone() -> None:
    by_most, by_fps = planned(LENET, CIFAR), planned(LENET, CIFAR, fps={"lenet5": 10}, fairness="throughput-error")
    for network in (*by_most.networks, *by_fps.networks):
        assert network.target_fps == network.alone_fps


def test_a_least_rate_is_kept_though_another_network_pays_for_it() -> None:
    free = planned(LENET, CIFAR)
    least = free.network("cifar10").fps * 1.25
    kept = planned(LENET, CIFAR, min_rate={"cifar10": least})
    assert kept.network("cifar10").must
    assert kept.network("cifar10").fps >= least
    assert kept.network("lenet5").fps < free.network("lenet5").fps
    assert kept.error > free.error


def test_more_than_a_target_is_a_fault_only_if_asked_for() -> None:
    asked = {"fps": {"lenet5": 300.0, "cifar10": 250.0}}
    one, two = planned(LENET, CIFAR, **asked), planned(LENET, CIFAR, two_sided=True, **asked)
    away = [(network.fps / network.target_fps - 1) ** 2 for network in two.networks]
    assert one.error == 0
    assert two.error == pytest.approx(sum(away))


def test_no_engine_takes_more_than_a_limit_on_engines_that_was_asked_for() -> None:
    ample = {**QUICK, "memory_gbs": 4}
    made = ff.plan([LENET, CIFAR], "zcu104", max_engine_share={"LUT": 0.2, "DSP": 0.05}, **ample)
    assert all(engine.resources.DSP <= 128 for engine in made.plan.phases[0].engines.values())
    assert made.plan.limits_lifted == []
    free = ff.plan([LENET, CIFAR], "zcu104", **ample)
    assert any(engine.resources.DSP > 128 for engine in free.plan.phases[0].engines.values())


def test_weights_that_are_read_first_cost_rate() -> None:
    overlapped, serial = (
        planned(LENET, memory_gbs=4, backend_options={"weights": each}) for each in ("overlapped", "serial")
    )
    assert serial.networks[0].alone_fps < overlapped.networks[0].alone_fps


def test_without_a_memory_that_is_given_it_is_the_boards() -> None:
    made = planned(LENET, platform="zc706", fps={"lenet5": 100}, memory_gbs=None)
    assert made.memory_gbs == pytest.approx(34.1 / 8)


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"fps": {"vgg": 3}}, ff.InputError, r"--fps vgg=\.\.\.: there is no such network"),
        ({"min_rate": {"vgg": 3}}, ff.InputError, r"--min-rate vgg=\.\.\.: there is no such network"),
        ({"fps": ["lenet5"]}, ff.InputError, "expected NAME=RATE"),
        ({"min_rate": {"lenet5": 1e6}}, ff.Infeasible, "lenet5: 1e\\+06 frames/s at the least are asked for, alone"),
        ({"min_rate": {"lenet5": 4000, "cifar10": 1500}}, ff.Infeasible, r"move at least .* GB/s, 0\.45 allowed"),
        ({"cap": {"BRAM18": 0.01}}, ff.Infeasible, r"lenet5: .*BRAM18, the limit of the largest slot .* is 10"),
        ({"cap": {"DSP": 0.002}}, ff.Infeasible, r"lenet5, cifar10: DSP: 2 needed, all slots together allow 1"),
        ({"fpgas": 2}, ff.InputError, "--fpgas 2: networks that share the memory of one board"),
        ({"objective": "latency"}, ff.InputError, "--objective latency"),
        ({"fold_method": "rule"}, ff.InputError, "--fold-method rule"),
        ({"fairness": "equal"}, ff.InputError, "--fairness equal: expected fps-error or throughput-error"),
        ({"memory_gbs": 0}, ff.InputError, "--memory-gbs 0"),
        ({"backend": "finn"}, ff.InputError, "--memory-gbs: engines of back end finn share no memory"),
    ],
)
def test_what_cannot_be_is_refused_with_what_is_short(options: dict[str, Any], error: type, told: str) -> None:
    with pytest.raises(error, match=told):
        planned(LENET, CIFAR, platform="zc706", **options)


def test_networks_of_one_name_are_refused(tmp_path: Path) -> None:
    again = Path(shutil.copy(LENET, tmp_path))
    with pytest.raises(ff.InputError, match="would be called lenet5 as that of"):
        planned(LENET, again)


def test_a_board_of_several_dies_is_refused() -> None:
    with pytest.raises(ff.InputError, match="has 4 slots"):
        planned(LENET, CIFAR, platform="u250")


def test_a_network_without_convolutions_is_refused_by_name() -> None:
    with pytest.raises(ff.InputError, match="tfc_1w1a"):
        planned(LENET, TFC)


def test_the_command_line_of_a_request_asks_for_the_same() -> None:
    each = tuple(Request(model=m, platform="zcu104", backend="fcnnx", fps=f) for m, f in ((LENET, 5.0), (CIFAR, None)))
    own = SeveralOptions(memory_gbs=1.5, fairness="throughput-error", two_sided=True, min_rate={"lenet5": 2})
    words = command_line_of_several("plan", SeveralRequest(("lenet5", "cifar10"), each, own))
    assert words[2:4] == [str(LENET), str(CIFAR)]
    told = " ".join(words[4:])
    for option in (
        "--memory-gbs 1.5",
        "--fairness throughput-error",
        "--two-sided",
        "--fps lenet5=5",
        "--min-rate lenet5=2",
    ):
        assert option in told


@pytest.fixture(scope="module")
def plan() -> dict[str, Any]:
    options = {**QUICK, "effort": "default", "fps": {"lenet5": 9000, "cifar10": 300}}
    return ff.plan([LENET, CIFAR], "zcu104", **options).plan.model_dump(by_alias=True)


def test_what_is_drawn_of_the_memory_never_exceeds_what_is_planned_with(plan: dict[str, Any]) -> None:
    shared = plan["memory_schedule"]
    _, used = used_gbs(shared)
    assert np.sum(used, axis=0).max() <= shared["bandwidth_gbs"] * (1 + 1e-6)
    for network in shared["networks"]:
        assert {frame for _, _, frame in frames_of(shared, network)} == set(range(network["repetitions"]))


def test_a_network_has_the_same_colour_in_all_pictures_and_its_rates_stand_there(plan: dict[str, Any]) -> None:
    rates = rates_chart(plan)
    told = [text.get_text() for text in rates.axes[0].texts]
    for network in plan["memory_schedule"]["networks"]:
        assert f"{network['fps']:.4g}" in told
        assert f"{network['unaware_fps']:.4g}" in told
    stack = memory_chart(plan).axes[0].collections[0].get_facecolor()
    bar = rates.axes[0].patches[0].get_facecolor()
    assert np.allclose(stack[0], bar)


def test_the_joint_front_falls_and_ends_at_what_was_chosen(plan: dict[str, Any]) -> None:
    front = plan["memory_schedule"]["front"]
    errors = [point["stats"]["objective"] for point in front]
    assert errors == sorted(errors, reverse=True)
    (line, *_) = joint_front_chart(plan).axes[0].lines
    assert list(line.get_ydata()) == errors


def test_engines_that_cannot_be_placed_are_chosen_anew_for_less_area() -> None:
    each = tuple(Request(model=m, platform="zcu104", backend="fcnnx", effort="fast") for m in (LENET, CIFAR))
    request = SeveralRequest(("lenet5", "cifar10"), each, SeveralOptions(memory_gbs=4))
    networks, asked = networks_at_memory(request, [read(one) for one in each])
    before: list[int] = []

    def fails(context: PlanningContext) -> Outcome:
        before.append(sum(group.use[0, 4] for group in context.problem.groups))
        if len(before) > 1:
            return search(context)
        return Refused("no room")

    found = required(search_at_memory(request, networks, asked, fails, SILENT))
    assert found.choice.chosen.limits_share == 0.95
    assert found.tried == ("engines within 100% of the limits were not placed: no room",)
    assert before[1] <= before[0]

    def always_fails(context: PlanningContext) -> Outcome:
        return Refused(f"no room for {len(context.dataflow.engines)}")

    assert search_at_memory(request, networks, asked, always_fails, SILENT) == Refused("no room for 2")
