"""Reconfigurable regions: which rectangles of a die hold what is swapped, at the fewest frames to load."""

from floorflow.placement.region.candidates import Candidates, candidates
from floorflow.placement.region.choice import ChosenRegion, RegionChoice, choose_regions
from floorflow.placement.region.problem import RegionNeed, RegionProblem, StaticPart

__all__ = [
    "Candidates",
    "ChosenRegion",
    "RegionChoice",
    "RegionNeed",
    "RegionProblem",
    "StaticPart",
    "candidates",
    "choose_regions",
]
