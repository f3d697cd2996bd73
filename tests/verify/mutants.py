"""The table of all planted mistakes, for plans made by hand and for real ones."""

from __future__ import annotations

from tests.verify import (
    mutants_chains,
    mutants_engines,
    mutants_files,
    mutants_finn,
    mutants_floorplan,
    mutants_joins,
    mutants_ports,
    mutants_script,
    mutants_slots,
    mutants_statements,
    mutants_structure,
)
from tests.verify.planting import REGISTERED, Files, Mutant, NotApplicable, Plan

TABLES = (
    *(mutants_structure, mutants_engines, mutants_joins, mutants_slots, mutants_chains),
    *(mutants_floorplan, mutants_ports, mutants_files, mutants_finn, mutants_script, mutants_statements),
)
MUTANTS: tuple[Mutant, ...] = tuple(REGISTERED)

__all__ = ["MUTANTS", "TABLES", "Files", "Mutant", "NotApplicable", "Plan"]
