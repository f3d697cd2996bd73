"""Planted mistakes in what less rate would free; plans without bargains are first given some that are right."""

from __future__ import annotations

from tests.verify.planting import Files, NotApplicable, Plan, mutant
from tests.verify.tiny_network import RESOURCES

LESS = (0.01, 0.02, 0.05, 0.1, 0.2)


def bargains(plan: Plan) -> Plan:
    """Give a plan of one network bargains that change nothing, and return them."""
    if len(plan["phases"]) > 1 or len(plan["networks"]) > 1:
        raise NotApplicable
    (phase,), (network,) = plan["phases"], plan["networks"]
    search, fullest = network["search"], plan["summary"]["fullest"]
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
    search["bargains"] = {"planned": False, "now": now, "rows": rows}
    return search["bargains"]


@mutant("wrong-bargain")
def a_bargain_of_another_rate(plan: Plan, files: Files) -> None:
    bargains(plan)["rows"][2]["less"] = 0.06


@mutant("wrong-bargain")
def a_bargain_that_is_asked_for_at_another_rate(plan: Plan, files: Files) -> None:
    bargains(plan)["rows"][2]["fps"] *= 1.01


@mutant("wrong-bargain")
def a_bargain_that_misses_its_rate(plan: Plan, files: Files) -> None:
    told = bargains(plan)
    told["rows"][0] |= {
        "interval_cycles": told["rows"][0]["interval_cycles"] * 2,
        "figures": {**told["now"], "hpwl": None},
    }


@mutant("wrong-bargain")
def a_bargain_of_another_interval_without_figures(plan: Plan, files: Files) -> None:
    bargains(plan)["rows"][4]["interval_cycles"] -= 1


@mutant("wrong-bargain")
def wire_length_of_what_was_not_placed(plan: Plan, files: Files) -> None:
    told = bargains(plan)
    told["rows"][4] |= {"interval_cycles": told["rows"][4]["interval_cycles"] - 1, "figures": told["now"]}


@mutant("wrong-bargain")
def less_full_now_than_it_is(plan: Plan, files: Files) -> None:
    bargains(plan)["now"]["share"] /= 2


@mutant("wrong-bargain")
def more_in_all_now_than_there_is(plan: Plan, files: Files) -> None:
    bargains(plan)["now"]["resources"]["LUT"] += 1


@mutant("wrong-bargain")
def a_larger_engine_now_than_there_is(plan: Plan, files: Files) -> None:
    bargains(plan)["now"]["amount"] += 1


@mutant("wrong-bargain")
def shorter_wires_now_than_there_are(plan: Plan, files: Files) -> None:
    bargains(plan)["now"]["hpwl"] += 1.0
