"""Tests of floorflow.backends.finn.read."""
