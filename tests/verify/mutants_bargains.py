"""Planted mistakes in extras.json: in what less rate would free, and in the bound without limits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

from tests.verify.planting import Files, NotApplicable, Plan, mutant
from tests.verify.tiny_network import RESOURCES

LESS = (0.01, 0.02, 0.05, 0.1, 0.2)


def extras(plan: Plan) -> Plan:
    """Return extras of a plan of one network: bargains that change nothing, and limits that cost nothing."""
    if len(plan["phases"]) > 1 or len(plan["networks"]) > 1:
        raise NotApplicable
    (phase,), (network,) = plan["phases"], plan["networks"]
    search, fullest = network["search"], plan["summary"]["fullness"]
    rate = plan["options"]["clock_mhz"] * 1e6 / search["interval_cycles"]
    name, engine = next(iter(phase["networks"][0]["folding"]["engines"].items()))
    used, slots = phase["partition"]["utilisation"], [s for f in plan["platform"]["fpgas"] for s in f["slots"]]
    now = {key: fullest[key] for key in ("slot", "resource", "share")} | {
        "engine": name,
        "engine_resource": "LUT",
        "amount": engine["resources"]["LUT"],
        "resources": {r: sum(round(used[s["name"]][r] * s["available"][r]) for s in slots) for r in RESOURCES},
        "hpwl": sum(held["hpwl"] for held in phase["floorplan"].values()),
    }
    rows = [
        {"less": less, "fps": rate * (1 - less), "interval_cycles": search["interval_cycles"], "figures": None}
        for less in LESS
    ]
    beside = [f"--fpgas {len(plan['platform']['fpgas'])}"] if plan["options"]["fpgas"] == "auto" else []
    return {
        "schema": "floorflow-extras/1",
        "without_limits": None,
        "bargains": {"planned": False, "beside": beside, "now": now, "rows": rows},
        "left_out": [],
    }


def add_extras(plan: Plan, files: Files, told: Plan) -> None:
    """Lay extras beside a plan as the tests write it."""
    digest = hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()
    files["extras.json"] = json.dumps({"plan_sha256": digest, **told})


def beside(expected: str) -> Callable[[Callable[[Plan, Plan], None]], None]:
    """Take a function that spoils a plan or its extras as a mutant."""

    def register(spoil: Callable[[Plan, Plan], None]) -> None:
        def spoiled(plan: Plan, files: Files) -> None:
            told = extras(plan)
            spoil(plan, told)
            add_extras(plan, files, told)

        spoiled.__name__ = spoil.__name__
        mutant(expected)(spoiled)

    return register


@beside("wrong-bargain")
def a_bargain_of_another_rate(plan: Plan, told: Plan) -> None:
    told["bargains"]["rows"][2]["less"] = 0.06


@beside("wrong-bargain")
def a_bargain_of_no_rate_at_all(plan: Plan, told: Plan) -> None:
    told["bargains"]["rows"][4]["less"] = 1


@beside("wrong-bargain")
def a_bargain_in_no_time(plan: Plan, told: Plan) -> None:
    told["bargains"]["rows"][4]["interval_cycles"] = 0


@beside("wrong-bargain")
def a_resource_of_an_engine_that_no_fpga_has(plan: Plan, told: Plan) -> None:
    told["bargains"]["now"]["engine_resource"] = "X"


@beside("wrong-bargain")
def a_bargain_that_is_asked_for_at_another_rate(plan: Plan, told: Plan) -> None:
    told["bargains"]["rows"][2]["fps"] *= 1.01


@beside("wrong-bargain")
def a_bargain_whose_rate_is_rounded_up(plan: Plan, told: Plan) -> None:
    told["bargains"]["rows"][2]["fps"] *= 1.0005


@beside("wrong-bargain")
def a_bargain_on_another_number_of_fpgas(plan: Plan, told: Plan) -> None:
    told["bargains"]["beside"].append("--fpgas 3")


@beside("wrong-bargain")
def a_bargain_on_any_number_of_fpgas(plan: Plan, told: Plan) -> None:
    plan["options"]["fpgas"], told["bargains"]["beside"] = "auto", []


@beside("wrong-bargain")
def a_bargain_of_what_a_build_measured(plan: Plan, told: Plan) -> None:
    plan["calibration"] = {"measured": [], "factors": {}, "reports": []}


@beside("wrong-bargain")
def a_bargain_that_misses_its_rate(plan: Plan, told: Plan) -> None:
    own = told["bargains"]
    own["rows"][0] |= {
        "interval_cycles": own["rows"][0]["interval_cycles"] * 2,
        "figures": {**own["now"], "hpwl": None},
    }


@beside("wrong-bargain")
def a_bargain_of_another_interval_without_figures(plan: Plan, told: Plan) -> None:
    told["bargains"]["rows"][4]["interval_cycles"] -= 1


@beside("wrong-bargain")
def wire_length_of_what_was_not_placed(plan: Plan, told: Plan) -> None:
    own = told["bargains"]
    own["rows"][4] |= {"interval_cycles": own["rows"][4]["interval_cycles"] - 1, "figures": own["now"]}


@beside("wrong-bargain")
def less_full_now_than_it_is(plan: Plan, told: Plan) -> None:
    told["bargains"]["now"]["share"] /= 2


@beside("wrong-bargain")
def a_share_of_what_is_available_told_as_one_of_the_cap(plan: Plan, told: Plan) -> None:
    now = told["bargains"]["now"]
    now["share"] *= plan["options"]["cap"][now["resource"]]


@beside("wrong-bargain")
def more_in_all_now_than_there_is(plan: Plan, told: Plan) -> None:
    told["bargains"]["now"]["resources"]["LUT"] += 1


@beside("wrong-bargain")
def a_larger_engine_now_than_there_is(plan: Plan, told: Plan) -> None:
    told["bargains"]["now"]["amount"] += 1


@beside("wrong-bargain")
def shorter_wires_now_than_there_are(plan: Plan, told: Plan) -> None:
    told["bargains"]["now"]["hpwl"] += 1.0


@beside("wrong-bargain")
def a_bargain_left_out_without_a_word(plan: Plan, told: Plan) -> None:
    told["bargains"]["rows"].pop()


@beside("wrong-bargain")
def a_bargain_that_is_there_and_left_out(plan: Plan, told: Plan) -> None:
    told["left_out"] = [{"what": "bargains", "less": [0.2], "option": "--bargains fold"}]


@beside("wrong-bargain")
def something_else_left_out(plan: Plan, told: Plan) -> None:
    told["left_out"] = [{"what": "pictures", "less": [], "option": "--plots"}]


@beside("wrong-bargain")
def left_out_without_an_option_that_brings_it(plan: Plan, told: Plan) -> None:
    told["left_out"] = [{"what": "without_limits", "less": [], "option": ""}]


@beside("foreign-extras")
def extras_of_another_plan(plan: Plan, told: Plan) -> None:
    told["plan_sha256"] = "0" * 64


@beside("plan-malformed")
def extras_of_another_version(plan: Plan, told: Plan) -> None:
    told["schema"] = "floorflow-extras/0"


@beside("plan-malformed")
def extras_without_a_part(plan: Plan, told: Plan) -> None:
    del told["left_out"]


@mutant("file-corrupt")
def extras_that_are_cut_short(plan: Plan, files: Files) -> None:
    files["extras.json"] = json.dumps(extras(plan))[:-1]


@beside("wrong-bound")
def bound_without_limits_above_that_under_them(plan: Plan, told: Plan) -> None:
    told["without_limits"] = {"bound_cycles": bound(plan) + 1, "options": []}


@beside("wrong-bound")
def lower_bound_without_lifting_a_limit(plan: Plan, told: Plan) -> None:
    told["without_limits"] = {"bound_cycles": bound(plan) - 1, "options": []}


@beside("wrong-bound")
def limit_lifted_that_was_not_set(plan: Plan, told: Plan) -> None:
    plan["options"]["max_products"] = "none"
    told["without_limits"] = {"bound_cycles": bound(plan) - 1, "options": ["max_products"]}


def bound(plan: Plan) -> int:
    return int(plan["networks"][0]["search"]["bound_cycles"])
