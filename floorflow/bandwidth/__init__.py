"""Several networks at one external memory: a static schedule of who moves bytes when.

problem          networks, repetitions, schedules and answers as values; a bound on every period
list_schedule    resource-constrained list scheduling at given speeds
pattern_search   slow-downs for it, by Algorithm 1 of f-CNN^x
constant_shares  the least period where each network has a fixed share
fixed_speed      the paper's integer programme: starts at full speed, by CP-SAT
lookahead        good orders of completions and ways to begin a period: a beam of fluid schedules
fixed_order      the best slow-downs for an order, by linear programming
branching        proof for small problems: branching over orders
methods          all methods by name: rcls, rcls-search, constant, ilp, exact
unaware          rates without a schedule: a memory port shared by engines that do not know of each other
slots            a schedule as slots of the memory: the hardware scheduler's table
fairness         what rates are worth together: eq. 5 and 6
joint            one engine a network and its share, exact over Pareto fronts
repetitions      how often each network runs in a period, and the schedule of it
"""

from floorflow.bandwidth.fairness import Fairness, Wish, wish
from floorflow.bandwidth.joint import JointAnswer, JointProblem, choose
from floorflow.bandwidth.methods import bandwidth_methods, solve_by
from floorflow.bandwidth.problem import BandwidthAnswer, BandwidthProblem, BandwidthSchedule, ScheduledNetwork
from floorflow.bandwidth.repetitions import scheduled_period

__all__ = [
    "BandwidthAnswer",
    "BandwidthProblem",
    "BandwidthSchedule",
    "Fairness",
    "JointAnswer",
    "JointProblem",
    "ScheduledNetwork",
    "Wish",
    "bandwidth_methods",
    "choose",
    "scheduled_period",
    "solve_by",
    "wish",
]
