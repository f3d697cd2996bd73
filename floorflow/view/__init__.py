"""Pictures of a plan: search, folding, partition, the floorplan of each FPGA and of all together, phases in time.

Importing this package is cheap; matplotlib is loaded when the first picture is drawn.
"""
