"""Planted mistakes against areas that the options state: keep-outs, and pblocks that lie elsewhere than told."""

from __future__ import annotations

from tests.verify.planting import Files, Plan, first, mutant, pblocks


def sites_of(entry: Plan) -> str:
    """Return the first range of SLICEs of a pblock."""
    return str(first(text for text in entry["ranges"] if text.startswith("SLICE")))


@mutant("shell-touched")
def pblock_over_a_keep_out(plan: Plan, files: Files) -> None:
    plan["options"]["keep_out"] = [sites_of(first(pblocks(plan).values()))]


@mutant("available-mismatch")
def keep_out_that_takes_nothing(plan: Plan, files: Files) -> None:
    plan["options"]["keep_out"] = [sites_of(first(pblocks(plan).values()))]


@mutant("platform-malformed")
def keep_out_beyond_the_device(plan: Plan, files: Files) -> None:
    plan["options"]["keep_out"] = ["SLICE_X0Y0:SLICE_X99999Y9"]


@mutant("fixed-pblock")
def fixed_pblock_that_moved(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    low, high = sites_of(entry).split(":")
    x, y = high.removeprefix("SLICE_X").split("Y")
    low = f"SLICE_X{int(x) - 1}Y{int(y) - 1}"
    plan["options"]["fix_pblock"] = {name: f"{low}:{high}"}


@mutant("fixed-pblock")
def fixed_pblock_of_no_module(plan: Plan, files: Files) -> None:
    entry = first(pblocks(plan).values())
    plan["options"]["fix_pblock"] = {"nobody": sites_of(entry)}


@mutant("fixed-pblock")
def fixed_pblock_on_another_fpga(plan: Plan, files: Files) -> None:
    name, entry = first(pblocks(plan).items())
    plan["options"]["fix_pblock"] = {name: f"fpga9/{sites_of(entry)}"}
