"""Several networks at one external memory: a static schedule of who moves bytes when.

problem          networks, repetitions, schedules and answers as values; a bound on every period
constant_shares  the least period where each network has a fixed share
fixed_speed      list scheduling at given speeds; the paper's integer programme at full speed, by CP-SAT
lookahead        good orders of completions and ways to begin a period: a beam of fluid schedules
fixed_order      the best slow-downs for an order, by linear programming
exact            the best of all of these, and proof for small problems: branching over orders
rates            rates with a share or without a schedule, and what they are worth together: eq. 5 and 6
joint            one engine a network and its share, exact over Pareto fronts
infeasible       why there are no engines, or which rates a schedule misses
repetitions      how often each network runs in a period, and the schedule of it
slots            a schedule as slots of the memory: the hardware scheduler's table
"""
