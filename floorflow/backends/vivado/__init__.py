"""Readers of what Vivado reports after a build; a report is known by its contents."""
