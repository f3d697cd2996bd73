"""Studies of plans and builds.

`comparison`: folding methods side by side; `pareto`: rate against resources; `calibration`: a plan made again from what
a build measured; `reports`: readers of what builds report.
"""
