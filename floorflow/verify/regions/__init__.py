"""Reconfigurable regions, judged by the rules of Dynamic Function eXchange (UG909, UG912)."""

from floorflow.verify.regions.confined import confined_boards, confined_phase
from floorflow.verify.regions.files import check_region_files
from floorflow.verify.regions.rules import check_regions
from floorflow.verify.regions.timeline import check_timeline

__all__ = ["check_region_files", "check_regions", "check_timeline", "confined_boards", "confined_phase"]
