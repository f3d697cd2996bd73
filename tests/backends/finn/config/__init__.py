"""Tests of floorflow.backends.finn.config."""
