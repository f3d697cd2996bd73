"""All planted mistakes, of the table and of the modules beside it, for plans made by hand and for real ones."""

from tests.verify import (
    mutants_files,
    mutants_floorplan,
    mutants_phases,
    mutants_plan,
    mutants_regions,
    mutants_resource_plan,
    mutants_streams,
    planting,
)
from tests.verify.mutants_phases import AT_MEMORY, COPIES, LINKED, PHASES, RECONFIGURED, TARGETS
from tests.verify.mutants_regions import REGIONS
from tests.verify.mutants_resource_plan import ON_RESOURCES
from tests.verify.planting import ONE_NETWORK, Files, Mutant, NotApplicable, Plan

ONE_NETWORK.rows("one network", planting, mutants_files, mutants_floorplan, mutants_plan, mutants_streams)
ONE_NETWORK.rows("extras", mutants_files, second="told", around=mutants_files.beside)
PHASES.rows("two by two", planting, mutants_files, mutants_plan, mutants_streams, mutants_phases)
for registry, section in (
    (AT_MEMORY, "at memory"),
    (RECONFIGURED, "reconfigured"),
    (TARGETS, "targets"),
    (COPIES, "copies"),
    (LINKED, "linked"),
):
    registry.rows(section, planting, mutants_phases)
REGIONS.rows("regions", planting, mutants_regions)
ON_RESOURCES.rows("on resources", planting, mutants_resource_plan)

MUTANTS: tuple[Mutant, ...] = tuple(ONE_NETWORK.mutants)
ACROSS: tuple[Mutant, ...] = tuple(PHASES.mutants)
FAMILIES: dict[str, list[Mutant]] = {}
"""Mistakes in plans of one network by the violation that each leads to."""
for mutant in MUTANTS:
    FAMILIES.setdefault(mutant.expected, []).append(mutant)

__all__ = [
    "ACROSS",
    "AT_MEMORY",
    "COPIES",
    "FAMILIES",
    "LINKED",
    "MUTANTS",
    "ON_RESOURCES",
    "RECONFIGURED",
    "REGIONS",
    "TARGETS",
    "Files",
    "Mutant",
    "NotApplicable",
    "Plan",
]
