"""Readers of what Vivado reports after a build, one file a format; each row names an instance."""

from floorflow.study.reports.folder import Folder, read_reports

__all__ = ["Folder", "read_reports"]
