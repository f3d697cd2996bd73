"""Tests of floorflow.backends.finn.folding."""
