"""Rates of a pipeline with bounded FIFOs: interval, latency, smallest depths, deadlocks. Knows no kind of engine."""

from floorflow.rates.analysis import Sized, blocked, first_frame, keeps, peak_words, size
from floorflow.rates.deadlock import Blocked
from floorflow.rates.fifo_graph import Depths, StepLimit
from floorflow.rates.pipeline import Actors, LinkPace, RouteDelay, rate_problem
from floorflow.rates.problem import Actor, Fifo, Moves, RateProblem, moves, repeated
