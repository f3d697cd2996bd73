"""When layers are there at all: a network cut into partitions that one device runs one after another.

problem         the problem on given options, and answers as values
case_file       a case from a JSON file
evaluation      what a design costs, and which rules it breaks
segment_model   a segment's options as a graph of stream foldings: the cheapest at prices on resources
relaxation      whether a segment has a folding within an interval, as far as prices tell
proof           what they do not tell, as a folding problem
intervals       the shortest interval of each segment
annealing       simulated annealing over cuts and foldings
methods         all methods by name: `exact` and the published ones (rule, annealing, brute)
"""

from floorflow.papers.samo.case_file import read_case
from floorflow.papers.samo.evaluation import Evaluation, evaluate
from floorflow.papers.samo.problem import Design, Node, ScheduleAnswer, ScheduleProblem

__all__ = ["Design", "Evaluation", "Node", "ScheduleAnswer", "ScheduleProblem", "evaluate", "read_case"]
