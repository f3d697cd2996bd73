"""Tests of floorflow.backends.finn.cost."""
