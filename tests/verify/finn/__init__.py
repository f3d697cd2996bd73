"""Tests of floorflow.verify.finn."""
