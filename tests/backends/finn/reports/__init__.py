"""Tests of floorflow.backends.finn.reports."""
