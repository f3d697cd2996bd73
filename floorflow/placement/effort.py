"""How much work each effort allows."""

from __future__ import annotations

from dataclasses import dataclass

from floorflow.placement.problem import Effort


@dataclass(frozen=True, slots=True)
class Limits:
    """How much work an effort allows; none of it is wall time.

    ``improve_rounds`` are for ten modules and one start of a draft. Else rounds of annealing are counted by module:
    ``tight_rounds`` over the smallest rectangles, then ``every_rounds`` over those of every span. Up to
    ``complete_limit`` legal rectangles in all, CP-SAT sees every one of them, for ``complete_work`` of its
    deterministic seconds.
    Where a slot's modules are not all placed by the constructions, each try to pack them has ``packing_rounds``.
    Up to ``complete_modules`` modules CP-SAT then looks for anything shorter among all legal rectangles, for
    ``proof_work`` seconds of its own count; of the processor's these are about three; up to
    ``searched_modules`` for ``searched_work``. Up to ``ordered_modules`` it
    looks for the best layout of the same order, for ``ordered_work`` each time that it found a better one.
    For the bound of more than ``complete_modules`` it proves how short the wires inside each full slot of at most
    ``full_slot_modules`` can be, for ``full_slot_work`` each (0: not at all).
    """

    repaired_starts: int
    repair_rounds: int
    improved_starts: int
    improve_rounds: int
    complete_limit: int = 4000
    complete_work: float = 2.0
    packing_rounds: int = 300
    tight_rounds: int = 180
    every_rounds: int = 80
    complete_modules: int = 6
    proof_work: float = 10.0
    searched_modules: int = 9
    searched_work: float = 0.6
    ordered_modules: int = 12
    ordered_work: float = 0.2
    full_slot_modules: int = 6
    full_slot_work: float = 0.0


LIMITS: dict[Effort, Limits] = {
    "fast": Limits(
        2,
        100,
        1,
        200,
        packing_rounds=100,
        tight_rounds=50,
        every_rounds=20,
        complete_modules=5,
        proof_work=1.0,
        searched_modules=5,
        ordered_modules=5,
    ),
    "default": Limits(4, 400, 1, 400),
    "best": Limits(
        8,
        2000,
        2,
        800,
        complete_work=10.0,
        packing_rounds=1000,
        tight_rounds=1500,
        every_rounds=700,
        complete_modules=8,
        proof_work=60.0,
        ordered_modules=60,
        ordered_work=5.0,
        full_slot_work=3.0,
    ),
}
