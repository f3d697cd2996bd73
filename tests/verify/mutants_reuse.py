"""Planted mistakes in what a plan says of modules that are made once."""

from __future__ import annotations

from tests.verify.planting import Files, NotApplicable, Plan, first, mutant, part_of, pblocks, phase_of


def made_as_the_first(plan: Plan) -> tuple[Plan, Plan]:
    """Say that the second module is made with the first; return both."""
    modules = phase_of(plan)["modules"]
    if len(modules) < 2:
        raise NotApplicable
    original, module = modules[:2]
    module["implementation"] = original["implementation"]
    original["reused"] = module["reused"] = True
    phase_of(plan)["implementations"] = [
        made for made in phase_of(plan)["implementations"] if made["name"] != module["name"]
    ]
    return original, module


@mutant("wrong-likeness")
def like_another(plan: Plan, files: Files) -> None:
    modules = phase_of(plan)["modules"]
    modules[0]["like"] = modules[-1]["name"] + "_too"


@mutant("wrong-reuse")
def reuse_that_is_none(plan: Plan, files: Files) -> None:
    module = first(module for module in phase_of(plan)["modules"] if not module["reused"])
    module["reused"] = True


@mutant("wrong-reuse")
def reason_that_nobody_asks_for(plan: Plan, files: Files) -> None:
    module = first(module for module in phase_of(plan)["modules"] if not module["why_not"])
    module["why_not"] = "its window is elsewhere"


@mutant("implementation-constants")
def constants_made_once(plan: Plan, files: Files) -> None:
    for module in made_as_the_first(plan):
        for engine in module["engines"]:
            folding = part_of(plan)["folding"]["engines"][engine]["attributes"]
            if "mem_mode" in folding:
                folding |= {"mem_mode": "internal_embedded", "runtime_writeable_weights": 0}
                return
    raise NotApplicable


@mutant("implementation-moved")
def made_once_on_other_columns(plan: Plan, files: Files) -> None:
    original, module = made_as_the_first(plan)
    placed = pblocks(plan)
    if original["name"] not in placed or module["name"] not in placed:
        raise NotApplicable
    (area, *_), (other, *_) = (placed[one["name"]]["rectangles"] for one in (original, module))
    # As many columns and rows, one column further on.
    other |= {"bottom": area["bottom"], "top": area["top"], "left": area["left"] + 1, "right": area["right"] + 1}
