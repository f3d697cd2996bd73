"""Planted mistakes in a plan on a platform of resources alone: partitions, sums, times, memory, files, claims."""

from tests.verify.planting import Files, Plan, Registry

ON_RESOURCES = Registry()
mutant = ON_RESOURCES.mutant
CONFIG = "phases/p1/hls4ml/hls_config.json"


def first_engine(plan: Plan, partition: int = 0) -> Plan:
    engine: Plan = next(iter(plan["partitions"][partition]["engines"].values()))
    return engine


@mutant("platform-mismatch")
def platform_that_is_larger_than_its_file(plan: Plan, files: Files) -> None:
    for key in ("resources", "limits"):
        plan["platform"][key]["DSP"] *= 2
    for part in plan["partitions"]:
        part["shares"]["DSP"] /= 2


@mutant("wrong-budget")
def limits_that_no_cap_gives(plan: Plan, files: Files) -> None:
    plan["platform"]["limits"]["FF"] -= 1000
    for part in plan["partitions"]:
        part["shares"]["FF"] = part["resources"]["FF"] / plan["platform"]["limits"]["FF"]
