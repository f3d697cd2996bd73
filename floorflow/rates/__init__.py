"""Rates of a pipeline with bounded FIFOs: interval, latency, smallest depths, deadlocks. Knows nothing of FINN."""

from floorflow.rates.analysis import Rates, Sized, analyse, blocked, first_frame, keeps, size
from floorflow.rates.deadlock import Blocked
from floorflow.rates.fifo_graph import Depths
from floorflow.rates.problem import Actor, Fifo, Moves, RateProblem, cut
from floorflow.rates.work import Work

__all__ = [
    "Actor",
    "Blocked",
    "Depths",
    "Fifo",
    "Moves",
    "RateProblem",
    "Rates",
    "Sized",
    "Work",
    "analyse",
    "blocked",
    "cut",
    "first_frame",
    "keeps",
    "size",
]
