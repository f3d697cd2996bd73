"""Planted mistakes in what a plan tells beside its design: balanced rates and their price."""

from __future__ import annotations

from tests.verify.planting import Files, Plan, mutant


@mutant("rates-unbalanced")
def layers_that_differ_more_than_was_asked_for(plan: Plan, files: Files) -> None:
    plan["options"]["epsilon"] = 0.0


@mutant("plan-malformed")
def balance_below_nothing(plan: Plan, files: Files) -> None:
    plan["options"]["epsilon"] = -0.5


def without_balance(plan: Plan, bound_cycles: int | None) -> None:
    plan["networks"][0]["search"]["without_balance"] = {"bound_cycles": bound_cycles, "folding_bound": None}


@mutant("wrong-bound")
def price_of_a_balance_that_nobody_asked_for(plan: Plan, files: Files) -> None:
    plan["options"]["epsilon"] = None
    without_balance(plan, None)


@mutant("wrong-bound")
def balance_that_shortens_the_interval(plan: Plan, files: Files) -> None:
    plan["options"]["epsilon"] = 1000.0
    without_balance(plan, plan["networks"][0]["search"]["bound_cycles"] + 1)


@mutant("wrong-bound")
def price_in_rate_where_no_rate_was_sought(plan: Plan, files: Files) -> None:
    plan["options"] |= {"epsilon": 1000.0, "objective": "latency"}
    without_balance(plan, 1)
