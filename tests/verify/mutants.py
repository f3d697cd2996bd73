"""The table of all planted mistakes, for plans made by hand and for real ones."""

from __future__ import annotations

from tests.verify import (
    mutants_areas,
    mutants_bargains,
    mutants_chains,
    mutants_claims,
    mutants_direction,
    mutants_engines,
    mutants_files,
    mutants_finn,
    mutants_floorplan,
    mutants_fullness,
    mutants_hops,
    mutants_joins,
    mutants_limits,
    mutants_memory,
    mutants_phase_files,
    mutants_phases,
    mutants_placed_ports,
    mutants_ports,
    mutants_reuse,
    mutants_room,
    mutants_script,
    mutants_slots,
    mutants_statements,
    mutants_structure,
    mutants_summary,
    mutants_told,
    mutants_unions,
)
from tests.verify.mutants_phases import PHASES
from tests.verify.planting import ONE_NETWORK, Files, Mutant, NotApplicable, Plan

TABLES = (
    *(mutants_structure, mutants_engines, mutants_joins, mutants_slots, mutants_chains, mutants_hops),
    *(mutants_floorplan, mutants_room, mutants_unions, mutants_ports, mutants_files, mutants_finn, mutants_script),
    *(mutants_statements, mutants_phases, mutants_phase_files, mutants_summary, mutants_direction, mutants_claims),
    mutants_fullness,
    mutants_limits,
    mutants_placed_ports,
    mutants_memory,
    mutants_told,
    mutants_bargains,
    mutants_reuse,
    mutants_areas,
)
MUTANTS: tuple[Mutant, ...] = tuple(ONE_NETWORK.mutants)
ACROSS: tuple[Mutant, ...] = tuple(PHASES.mutants)

__all__ = ["ACROSS", "MUTANTS", "TABLES", "Files", "Mutant", "NotApplicable", "Plan"]
