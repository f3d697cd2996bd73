"""When layers are there at all: a network cut into partitions that one device runs one after another.

problem         the problem on given options, answers as values, what a design costs and which rules it breaks
case_file       a case from a JSON file, and methods side by side on one
network         a network on a board as a problem
segment_model   a segment's options as a graph of stream foldings: the cheapest at prices on resources
methods         all methods by name: `exact` and the published ones (rule, annealing, brute)
"""
