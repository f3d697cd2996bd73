"""What a design costs, and which rules it breaks: SAMO's recorded designs, and each rule broken alone."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from floorflow.papers.samo.problem import Design, Node, ScheduleProblem, evaluate
from tests.papers.samo.samo_cases import CASES, problem, recorded

RECORDED = [
    (name, method)
    for name, case in CASES.items()
    for method in ("optimum", "samo_rule", "samo_brute")
    if (case.get(method) or {}).get("folding")
]


def test_recorded_designs_cost_what_was_recorded_and_break_no_rule() -> None:
    assert len(RECORDED) == 287
    for name, method in RECORDED:
        design = CASES[name][method]
        found = evaluate(problem(name), recorded(name, design))
        assert not found.broken, name
        assert (found.us, found.run_us) == pytest.approx((design["us"], design["run_us"]), rel=1e-6), name


def node(name: str, **other: Any) -> Node:
    plain = Node(
        name,
        foldings=np.array([[1, 1, 1], [2, 2, 1], [3, 3, 1]]),
        cycles=np.array([600.0, 300.0, 200.0]),
        use=np.array([[10, 1, 1, 10], [20, 2, 2, 20], [30, 3, 3, 30]]),
        size_in=50,
        size_out=30,
        equal_folding=True,
        divisible_folding=False,
        cut_behind=True,
    )
    return replace(plain, **other)


def two_nodes(*nodes: Node, **other: Any) -> ScheduleProblem:
    plain = ScheduleProblem(
        nodes or (node("a"), node("b")), ((0, 1),), (50.0, 10.0, 10.0, 100.0), 1000.0, 16, 100.0, 7.0
    )
    return replace(plain, **other)


def test_latency_is_the_slowest_of_each_partition_and_a_reconfiguration_for_each_cut() -> None:
    found = evaluate(two_nodes(), Design((0,), (2, 0)))
    assert (found.us, found.run_us, found.broken) == (200 / 100 + 600 / 100 + 7, 8, ())


def test_a_batch_takes_its_share_of_one_reconfiguration() -> None:
    batch = two_nodes(objective="throughput", batch=256, cycles_scale=256)
    assert evaluate(batch, Design((0,), (2, 0))).us == 256 * 8 + 7


def test_resources_of_a_partition_are_summed() -> None:
    found = evaluate(two_nodes(), Design((), (2, 2)))
    assert found.broken == ("a to b: 60 LUT needed, 50 allowed",)
    assert not evaluate(two_nodes(), Design((0,), (2, 2))).broken


def test_too_fast_for_the_memory_is_broken_and_the_limit_itself_too() -> None:
    # (50 + 30) words of 16 bits in 600 cycles of 10 ns are 0.2133 Gbit/s, in 300 cycles 0.4267.
    assert evaluate(two_nodes(bandwidth_gbit_s=0.3), Design((), (0, 0))).broken == ()
    assert evaluate(two_nodes(bandwidth_gbit_s=0.3), Design((), (1, 1))).broken
    exactly = two_nodes(bandwidth_gbit_s=0.64)
    assert evaluate(exactly, Design((), (2, 2))).broken[-1] == "a to b: too fast for the memory, 200 cycles"


def test_foldings_match_within_a_partition_only() -> None:
    assert evaluate(two_nodes(), Design((), (0, 1))).broken == ("a to b: foldings 1 and 2 do not match",)
    assert evaluate(two_nodes(), Design((0,), (0, 1))).broken == ()


def test_divisible_foldings_need_only_divide() -> None:
    divisible = two_nodes(node("a", equal_folding=False, divisible_folding=True), node("b"))
    assert evaluate(divisible, Design((), (0, 1))).broken == ()
    assert evaluate(divisible, Design((), (1, 2))).broken == ("a to b: foldings 2 and 3 do not match",)


def test_cuts_stand_only_where_one_stream_is_live() -> None:
    nodes = (node("a"), node("b"), node("c"))
    residual = two_nodes(*nodes, edges=((0, 1), (1, 2), (0, 2)))
    assert residual.may_end == (True, False, True)
    assert evaluate(residual, Design((1,), (0, 0, 0))).broken == ("a partition may not end behind b",)
    barred = two_nodes(node("a", cut_behind=False), node("b"))
    assert evaluate(barred, Design((0,), (0, 0))).broken == ("a partition may not end behind a",)
