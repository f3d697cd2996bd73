"""report.txt: what an engineer wants to know before spending a week of Vivado time, as plain text."""

from floorflow.emit.report.report import report

__all__ = ["report"]
