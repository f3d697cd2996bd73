"""Readers of what FINN and Vivado report after a build, one file a format; each row names an instance."""

from floorflow.study.reports.folder import Folder, read_reports
from floorflow.study.reports.rows import HLS, POWER, SYNTHESIS, Report, Row

__all__ = ["HLS", "POWER", "SYNTHESIS", "Folder", "Report", "Row", "read_reports"]
