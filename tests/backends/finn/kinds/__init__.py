"""Tests of floorflow.backends.finn.kinds."""
